//! The contract must match the code: routes, codes, words and fields. The last test requires that the requests cover
//! every part of the contract.

mod systems;

use domain::account::audit_log::Event;
use domain::audit::result::AuditOutcome;
use domain::base::actor::Role;
use domain::base::id::WebhookId;
use domain::base::state::{ChangeType, ChargeType, Kind, RuntimeState};
use domain::catalog::service::ServiceState;
use domain::outreach::webhook::delivery::{Ended, GivenUp};
use domain::rules::visibility::Pov;
use domain::{ChangeId, State, Timestamp};
use dovetail_http::{Access, Code, ROUTES};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::contract::{self, DOCUMENT, Lines, OPERATIONS, examples, problems};
use support::{ApiRequest, Running, multipart, spawn_in_test};

const CONSUMER: &str = "/v1/orcabase/consumer";
const OWNER: &str = "/v1/orcabase/serviceowner";
/// A key of the role PLATFORM.
const OPERATOR: &str = "platform-key";

#[test]
fn the_contract_has_the_routes_of_the_code_and_no_others() {
    let documented: BTreeSet<(String, String)> = OPERATIONS
        .iter()
        .map(|operation| (operation.method.clone(), operation.path.trim_end_matches('/').to_owned()))
        .collect();
    let coded: BTreeSet<(String, String)> = ROUTES
        .iter()
        .flat_map(|route| route.methods.iter().map(|method| ((*method).to_owned(), route.path.to_owned())))
        .collect();
    assert_eq!(documented, coded);
    for route in ROUTES {
        for method in route.methods {
            let operation = contract::Operation::find(method, route.path).unwrap();
            let open = operation.definition["security"] == json!([]);
            assert_eq!(open, route.access == Access::Anyone, "{method} {}", route.path);
        }
    }
}

#[test]
fn the_contract_has_the_words_of_the_code() {
    let words = |schema: &str| DOCUMENT.pointer(&format!("/components/schemas/{schema}/enum")).cloned();
    assert_eq!(words("Code"), Some(Code::ALL.map(Code::name).to_vec().into()));
    assert_eq!(words("State"), Some(json!(State::ALL.map(State::name))));
    assert_eq!(words("RuntimeState"), Some(json!(RuntimeState::ALL.map(RuntimeState::name))));
    assert_eq!(words("ServiceState"), Some(json!(ServiceState::ALL.map(ServiceState::name))));
    assert_eq!(words("Role"), Some(json!(Role::ALL.map(Role::name))));
    assert_eq!(words("TeamRole"), Some(json!(Role::OF_TEAMS.map(Role::name))));
    assert_eq!(
        words("AuditResult/properties/result"),
        Some(json!(AuditOutcome::ALL.map(AuditOutcome::name)))
    );
    assert_eq!(words("Recorded/properties/event"), Some(json!(Event::ALL.map(Event::name))));
    assert_eq!(words("ChargeType"), Some(json!(ChargeType::ALL.map(ChargeType::name))));
    assert_eq!(words("ChangeType"), Some(json!(ChangeType::ALL.map(ChangeType::name))));
    assert_eq!(words("ChangeInstance/properties/kind"), Some(json!(Kind::ALL.map(Kind::name))));
    let povs = DOCUMENT.pointer("/components/parameters/Pov/schema/enum");
    assert_eq!(povs, Some(&json!(Pov::ALL.map(Pov::name))));
}

#[test]
fn the_contract_has_the_fields_that_bodies_set() {
    for route in ROUTES {
        for method in route.methods {
            let operation = contract::Operation::find(method, route.path).unwrap();
            let body = contract::resolved(&operation.definition["requestBody"]);
            let schema = contract::resolved(&body["content"]["application/json"]["schema"]);
            let Some(fields) = route.operation.fields() else { continue };
            let documented: BTreeSet<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            let field_names: BTreeSet<&str> = fields.iter().copied().collect();
            assert!(
                documented.is_subset(&field_names),
                "{method} {}: {documented:?} {field_names:?}",
                route.path
            );
            // A webhook cannot move to another service. Clients may repeat `service`, so the code knows the field.
            let unnamed: Vec<&&str> = field_names.difference(&documented).collect();
            assert!(unnamed.is_empty() || *unnamed == [&"service"], "{method} {}: {unnamed:?}", route.path);
        }
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let names: BTreeSet<&str> =
        OPERATIONS.iter().map(|operation| operation.definition["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), OPERATIONS.len());
    for route in ROUTES {
        let operation = contract::Operation::find(route.methods[0], route.path).unwrap();
        let name = format!("{:?}", route.operation);
        let operation_id = operation.definition["operationId"].as_str().unwrap();
        assert!(operation_id.eq_ignore_ascii_case(&name), "{operation_id} is {name}");
    }
}

#[test]
fn every_example_is_one() {
    let examples = examples();
    assert!(examples.len() > 10, "{}", examples.len());
    for (schema, example) in examples {
        assert_eq!(problems(schema, example), Vec::<String>::new(), "{example:#}");
    }
}

/// A system with two applications. Each has a load balancer and a VM, deployed and then modified.
struct World {
    system: Running,
    /// URL of an approved change instance.
    change: String,
    /// URL of the newest deployed item.
    deployed: String,
}

fn declaration(cpu: u64) -> Value {
    let application = json!({"metadata": {"env": "dev"}, "services": {
        "VM": [{"name": "one", "cpu": cpu}],
        "LoadBalancer": [{"name": "entry", "related_vms": ["one"]}]}});
    json!({"AwesomeConsumer": {"metadata": {"budget_code": 1}, "A": application, "B": application}})
}

impl World {
    fn new() -> Self {
        let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
        let keys = world.pointer_mut("/teams/3/api_keys").and_then(Value::as_array_mut).unwrap();
        keys.push(json!({"key": "read-key", "role": Role::ReadOnly.name()}));
        world["services"][0]["schema"]["metadata"] = json!({"cost_per_change": 5, "monthly_cost": 49.99});
        let system = Running::start(&world.to_string());
        let dependents =
            json!({"dependant_teams": [{"id": 3}], "allowed_teams": [], "approval_required": true});
        let vm = format!("{OWNER}/services/1/");
        assert_eq!(system.call("PATCH", &vm, "vm-owner-key", &dependents).status, 200);
        let submit = format!("{CONSUMER}/submissions/submit/");
        for (cpu, state) in [(1, "COMPLETED"), (2, "APPROVED")] {
            let answer = system.call("POST", &submit, "awesome-key", &declaration(cpu));
            assert_eq!(answer.status, 201, "{answer:?}");
            system.wait_idle();
            for (key, data) in [("vm-owner-key", true), ("lb-owner-key", true), ("np-owner-key", false)] {
                let list = format!("{OWNER}/change_instances/?state=PENDING");
                for change in system.get(&list, key).at("/results").as_array().unwrap() {
                    let url = change["url"].as_str().unwrap();
                    let approved = json!({"state": "APPROVED"});
                    assert_eq!(system.call("PATCH", url, key, &approved).status, 200);
                    let mut done = json!({"state": state, "log": "in the rack", "colour": "red"});
                    if data {
                        done["deployed_item"] = json!({"cpu": cpu});
                    }
                    assert_eq!(system.call("PUT", url, key, &done).status, 200);
                }
            }
        }
        let newest = |list: &str| {
            let list = system.get(&format!("{OWNER}/{list}&ordering=-created"), "vm-owner-key");
            list.at("/results/0/url").as_str().unwrap().to_owned()
        };
        let change = newest("change_instances/?state=APPROVED");
        let deployed = newest("deployed_items/?limit=1");
        Self { system, change, deployed }
    }

    fn call(&self, status: u16, method: &str, path: &str, key: &str, body: &Value) -> Value {
        let answer = self.system.call(method, path, key, body);
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        answer.body
    }

    /// Reads every resource in each role, with each parameter.
    fn read(&self) {
        let roles =
            [("consumer", "awesome-key"), ("serviceowner", "vm-owner-key"), ("serviceowner", "np-owner-key")];
        for operation in OPERATIONS.iter().filter(|operation| operation.method == "GET") {
            for (pov, key) in roles {
                let key = if operation.path.starts_with("/v1/platform/") { OPERATOR } else { key };
                let path = operation.path.replace("{pov}", pov).replace("{code}", "blocked");
                let (collection, below) = path.split_once("{id}").unwrap_or((&path, ""));
                let list = self.system.get(collection, key);
                let id = list.at("/results/0/id");
                let path = if collection == path { path } else { format!("{collection}{id}{below}") };
                self.system.get(&path, key);
                for parameter in operation.parameters.iter().filter(|parameter| parameter["in"] == "query") {
                    self.system.get(
                        &format!("{path}?{}={}", parameter["name"].as_str().unwrap(), value(parameter)),
                        key,
                    );
                }
                let is_list = operation.parameters.iter().any(|parameter| parameter["name"] == "cursor");
                let page = is_list.then(|| self.system.get(&format!("{path}?limit=1"), key));
                if let Some(next) = page.as_ref().and_then(|page| page.at("/next").as_str()) {
                    self.system.get(next, key);
                }
            }
        }
    }

    /// Requests the impact of a stricter definition, page by page.
    fn dry_run(&self) {
        let stricter = json!({"title": "VM", "type": "object", "required": ["name", "owner"],
            "properties": {"name": {"type": "string"}}});
        let mut next = Some(format!("{OWNER}/services/validate/?dry_run=true&limit=1"));
        while let Some(path) = next {
            let response = self.call(200, "POST", &path, "vm-owner-key", &stricter);
            next = response["dry_run"]["next"].as_str().map(str::to_owned);
        }
    }

    /// Submits and previews, with and without idempotency keys, and answers a rejection.
    fn declare(&self) {
        let (some, other) =
            (json!({"AwesomeConsumer": {"C": {"services": {"VM": [{"name": "two"}]}}}}), declaration(2));
        let keyed = |status: u16, method: &str, path: &str, key: &str, body: &Value| {
            let path =
                format!("{CONSUMER}/submissions/{path}/?commit_id=51e53e4&message=why&allow_removal=true");
            let (headers, body) = ([("idempotency-key", key)], body.to_string().into_bytes());
            let request =
                ApiRequest { method, path: &path, key: Some("awesome-key"), headers: &headers, body };
            let answer = self.system.send(&request);
            assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        };
        keyed(201, "PATCH", "submit", "1", &some);
        keyed(422, "PATCH", "submit", "1", &other);
        keyed(200, "PATCH", "submit", "2", &some);
        let pending = format!("{OWNER}/change_instances/?state=PENDING");
        let pending = self.call(200, "GET", &pending, "vm-owner-key", &Value::Null);
        let url = pending["results"][0]["url"].as_str().unwrap();
        self.call(200, "POST", url, "vm-owner-key", &json!({"state": "REJECTED"}));
        let illegal = self.call(400, "POST", url, "vm-owner-key", &json!({"state": "APPROVED"}));
        assert_eq!(illegal["code"], "illegal_transition");
        keyed(400, "PATCH", "submit", "7", &some);
        self.call(201, "POST", &format!("{url}retry/"), "vm-owner-key", &Value::Null);
        keyed(201, "POST", "submit", "3", &other);
        keyed(422, "POST", "submit", "3", &some);
        keyed(200, "POST", "submit", "4", &other);
        for method in ["POST", "PATCH"] {
            keyed(200, method, "validate", "5", &some);
            self.as_previewed(method);
        }
    }

    /// Reads and compares earlier declarations, and reverts to the first one. The second revert has no changes.
    fn history(&self) {
        let key = "awesome-key";
        let submissions = self.system.get(&format!("{CONSUMER}/submissions/?limit=100"), key);
        let ids: Vec<u64> = submissions
            .at("/results")
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_u64().unwrap())
            .collect();
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        let mut next = Some(format!("{CONSUMER}/submissions/{first}/difference/?to={last}&limit=1"));
        while let Some(path) = next {
            let page = self.call(200, "GET", &path, key, &Value::Null);
            next = page["next"].as_str().map(str::to_owned);
        }
        let refused = format!("{CONSUMER}/submissions/{first}/difference/");
        self.call(400, "GET", &refused, key, &Value::Null);
        let application = self.system.get(&format!("{CONSUMER}/applications/"), key);
        let url = application.at("/results/0/url").as_str().unwrap();
        let mut next = Some(format!("{url}?as_of={first}&limit=1"));
        while let Some(path) = next {
            let page = self.call(200, "GET", &path, key, &Value::Null);
            next = page["service_items_next"].as_str().map(str::to_owned);
        }
        self.call(400, "GET", &format!("{url}?as_of=yesterday"), key, &Value::Null);
        let team = self.system.get("/v1/account/teams/", key);
        let team = format!("/v1/account/teams/{}/", team.at("/results/0/id"));
        self.call(400, "GET", &format!("{team}?as_of=yesterday"), key, &Value::Null);
        let revert = format!("{CONSUMER}/submissions/{first}/revert/");
        let send = |status: u16, path: &str, headers: &[(&str, &str)]| {
            let request = ApiRequest { method: "POST", path, key: Some(key), headers, body: Vec::new() };
            let answer = self.system.send(&request);
            assert_eq!(answer.status, status, "{path}: {answer:?}");
            self.system.wait_idle();
            answer.body
        };
        let preview = format!("{revert}validate/?limit=1&offset=0&commit_id=51e53e4&message=why");
        let preview = send(200, &preview, &[("idempotency-key", "6")]);
        let plan = [("if-match", preview["plan"].as_str().unwrap())];
        send(201, &format!("{revert}?commit_id=51e53e4&message=why"), &plan);
        send(412, &revert, &plan);
        send(200, &revert, &[("idempotency-key", "6")]);
        send(422, &format!("{CONSUMER}/submissions/{last}/revert/"), &[("idempotency-key", "6")]);
        let body = json!({"AwesomeConsumer": {}});
        for path in [revert.clone(), format!("{revert}validate/")] {
            self.call(400, "POST", &path, key, &body);
        }
    }

    /// Previews page by page, then submits with the plan twice. The second time the plan is outdated.
    fn as_previewed(&self, method: &str) {
        let mut next = declaration(3);
        next["AwesomeConsumer"]["metadata"] = json!({"budget_code": method.len()});
        next["AwesomeConsumer"]["E"] = json!({"services": {"VM": [{"name": method}]}});
        let validate = format!("{CONSUMER}/submissions/validate/");
        let parameters = "?limit=1&offset=1&allow_removal=true";
        let page = self.call(200, method, &format!("{validate}{parameters}"), "awesome-key", &next);
        self.call(200, method, page["change_instances_next"].as_str().unwrap(), "awesome-key", &next);
        let preview = self.call(200, method, &validate, "awesome-key", &next);
        let headers = [("if-match", preview["plan"].as_str().unwrap())];
        for status in [201, 412] {
            let path = format!("{CONSUMER}/submissions/submit/?allow_removal=true");
            let body = next.to_string().into_bytes();
            let request =
                ApiRequest { method, path: &path, key: Some("awesome-key"), headers: &headers, body };
            let answer = self.system.send(&request);
            assert_eq!(answer.status, status, "{method}: {answer:?}");
            self.system.wait_idle();
        }
    }

    /// Forgets all applications, and changes the settings of the team.
    fn confirm(&self) {
        let nothing = json!({"AwesomeConsumer": {}});
        for (path, status) in [("validate", 200), ("submit", 400)] {
            let path = format!("{CONSUMER}/submissions/{path}/");
            self.call(status, "POST", &path, "awesome-key", &nothing);
        }
        let settings = json!({"confirm_removals": true, "colour": "red"});
        self.call(200, "PATCH", "/v1/account/teams/4/", "awesome-key", &settings);
        self.call(400, "PATCH", "/v1/account/teams/4/", "awesome-key", &json!({"confirm_removals": "no"}));
    }

    /// Sends an owner's requests other than decisions.
    fn own(&self) {
        let (services, deployed) = (format!("{OWNER}/services/"), format!("{OWNER}/deployed_items/"));
        let key = "vm-owner-key";
        let disk = json!({"title": "Disk", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        let data = json!({"data": {"ip": "10.0.0.1"}, "change_instance": self.change, "colour": "red"});
        self.call(200, "POST", &format!("{services}validate/?dry_run=true"), key, &disk);
        for status in [201, 200] {
            self.call(status, "POST", &services, key, &disk);
            self.call(status, "POST", &deployed, key, &data);
        }
        let change = self.call(200, "GET", &self.change, key, &Value::Null);
        let then = format!("{}?as_of=yesterday", change["service_item"]["url"].as_str().unwrap());
        self.call(400, "GET", &then, key, &Value::Null);
        let data = json!({"data": {"ip": "10.0.0.1"}, "service_item": change["service_item"]["url"]});
        self.call(200, "POST", &deployed, key, &data);
        for status in [201, 200] {
            let newest = format!("{deployed}?ordering=-created&limit=1");
            let newest = self.call(200, "GET", &newest, key, &Value::Null);
            let url = newest["results"][0]["url"].as_str().unwrap();
            self.call(status, "PATCH", url, key, &json!({"data": {"cpu": 9}}));
        }
        let settings = json!({"approval_required": true, "state": "IN_SERVICE", "allow_manual_approval": true,
            "allow_manual_completion": true, "minimum_version": 1, "tags": ["compute"],
            "dependent_teams": [{"id": 3}], "colour": "red"});
        self.call(200, "PUT", &format!("{services}1/"), key, &settings);
    }

    /// Uploads documentation and configs of a service.
    fn keep(&self) {
        let (key, docs) = ("vm-owner-key", format!("{OWNER}/services/1/docs/"));
        let configs = format!("{OWNER}/service_configs/");
        for status in [201, 200] {
            let (header, body) = multipart("md_file", b"# VM");
            let request =
                ApiRequest { method: "POST", path: &docs, key: Some(key), headers: &[header], body };
            assert_eq!(self.system.send(&request).status, status);
            self.call(
                201,
                "POST",
                &configs,
                key,
                &json!({"service": 1, "config": {"status": status}, "colour": 1}),
            );
        }
        self.call(400, "POST", &docs, key, &json!({}));
        self.call(400, "POST", &configs, key, &json!({}));
    }

    /// Creates, rotates and revokes an API key.
    fn keys(&self) {
        let (keys, admin) = ("/v1/account/api_keys/", "vm-owner-key");
        let body = json!({"name": "pipeline", "role": "GENERAL", "expires": "2099-12-31", "colour": "red"});
        let made = self.call(201, "POST", keys, admin, &body);
        let rotate = format!("{}rotate/", made["url"].as_str().unwrap());
        let overlap = json!({"overlap_seconds": 60, "expires": "2099-12-31"});
        self.call(201, "POST", &rotate, admin, &overlap);
        self.call(400, "POST", &rotate, admin, &Value::Null);
        self.call(400, "POST", keys, admin, &json!({}));
        self.call(200, "GET", made["url"].as_str().unwrap(), admin, &Value::Null);
        self.call(204, "DELETE", made["url"].as_str().unwrap(), admin, &Value::Null);
        self.call(200, "GET", keys, admin, &Value::Null);
    }

    /// Creates a team and reads all routes of operators, with known and unknown parameters.
    fn platform(&self) {
        let (teams, key) = ("/v1/platform/teams/", OPERATOR);
        let body =
            json!({"name": "Payments", "key_name": "first", "confirm_removals": false, "colour": "red"});
        self.call(201, "POST", teams, key, &body);
        self.call(400, "POST", teams, key, &body);
        let mut next = Some(format!("{teams}?limit=3"));
        while let Some(path) = next {
            next = self.call(200, "GET", &path, key, &Value::Null)["next"].as_str().map(str::to_owned);
        }
        self.call(400, "GET", &format!("{teams}?colour=red"), key, &Value::Null);
        for list in ["queues/?limit=1", "queues/?colour=red", "status/?colour=red"] {
            self.system.get(&format!("/v1/platform/{list}"), key);
        }
    }

    /// Adds, changes and removes a member.
    fn members(&self) {
        let (members, admin) = ("/v1/account/members/", "vm-owner-key");
        let body = json!({"subject": "u-1", "name": "Jane", "role": "GENERAL", "colour": "red"});
        let added = self.call(201, "POST", members, admin, &body);
        self.call(400, "POST", members, admin, &body);
        let url = added["url"].as_str().unwrap();
        self.call(200, "GET", members, admin, &Value::Null);
        self.call(200, "GET", url, admin, &Value::Null);
        self.call(200, "PATCH", url, admin, &json!({"name": "Jane Doe", "role": "ADMIN"}));
        self.call(400, "PATCH", url, admin, &json!({"role": 5}));
        self.call(204, "DELETE", url, admin, &Value::Null);
        self.call(200, "GET", "/v1/account/records/", admin, &Value::Null);
    }

    /// Creates, changes and triggers a webhook, and reads its failed deliveries.
    fn webhooks(&self) {
        let (webhooks, admin) = ("/v1/external/serviceowner/webhooks/", "vm-owner-key");
        // Port 1 has no listener, so the trigger gets a response without a real target.
        let body = json!({"service": 1, "name": "ansible", "description": "starts it", "target_url": "http://127.0.0.1:1/",
            "authorization": "Bearer one", "change_instance_state": "APPROVED", "active": false, "verify": true,
            "timeout": 5, "trust_env": false, "trigger_wait_time": 1, "trigger_cooling_time": 1, "colour": "red"});
        let made = self.call(201, "POST", webhooks, admin, &body);
        self.call(400, "POST", webhooks, admin, &json!({}));
        // A consumer's webhook may be for all services, and so may its entry in the audit log.
        let (of_consumer, target) =
            ("/v1/external/consumer/webhooks/", json!({"target_url": "http://127.0.0.1:1/"}));
        let for_all = self.call(201, "POST", of_consumer, admin, &target);
        self.call(200, "GET", of_consumer, admin, &Value::Null);
        self.call(204, "DELETE", for_all["url"].as_str().unwrap(), admin, &Value::Null);
        let url = made["url"].as_str().unwrap();
        for method in ["PATCH", "PUT"] {
            self.call(200, method, url, admin, &body);
            self.call(400, method, url, admin, &json!({"timeout": 0}));
        }
        self.call(200, "POST", &format!("{url}trigger/"), admin, &Value::Null);
        self.call(201, "POST", &format!("{url}rotate/"), admin, &Value::Null);
        let webhook = WebhookId::parse(made["id"].as_u64().unwrap()).unwrap();
        for (number, change) in [(1, None), (2, ChangeId::parse(137_438_953_488))] {
            let (event, at, ended) = (format!("e:{number}"), Timestamp::from_micros(number), Ended::TimedOut);
            let state = State::Approved.name().to_owned();
            let given_up = GivenUp { webhook, event, change, state, attempts: 8, at, ended };
            self.system.block_on(self.system.table.give_up(&given_up)).unwrap();
        }
        let failures = format!("{url}failures/?limit=1");
        let page = self.call(200, "GET", &failures, admin, &Value::Null);
        self.call(200, "GET", page["next"].as_str().unwrap(), admin, &Value::Null);
        self.call(400, "GET", &format!("{url}failures/?colour=red"), admin, &Value::Null);
        self.call(200, "GET", &format!("{webhooks}?service_id=1"), admin, &Value::Null);
        self.call(200, "GET", url, admin, &Value::Null);
        self.call(200, "GET", "/v1/account/records/", admin, &Value::Null);
        self.call(204, "DELETE", url, admin, &Value::Null);
    }

    /// Creates messages for the consumers of one service and of all, then changes and removes them.
    fn messages(&self) {
        let (messages, admin) = ("/v1/orcaexternal/serviceowner/messages/", "vm-owner-key");
        let service = format!("{OWNER}/services/1/");
        let body = json!({"description": "VMs rest on Sunday", "expiry_date": "2099-12-31T00:00:00Z",
            "scopes": [service], "colour": "red"});
        self.call(201, "POST", messages, admin, &json!({"description": "To all", "expiry_date": null}));
        let made = self.call(201, "POST", messages, admin, &body);
        self.call(400, "POST", messages, admin, &json!({}));
        self.call(404, "POST", &messages.replace("serviceowner", "consumer"), admin, &body);
        let url = made["url"].as_str().unwrap();
        for method in ["PATCH", "PUT"] {
            self.call(200, method, url, admin, &body);
            self.call(400, method, url, admin, &json!({"description": 5}));
        }
        self.call(200, "GET", url, admin, &Value::Null);
        let page = self.call(200, "GET", &format!("{messages}?limit=1"), admin, &Value::Null);
        self.call(200, "GET", page["next"].as_str().unwrap(), admin, &Value::Null);
        self.call(200, "GET", &messages.replace("serviceowner", "consumer"), "awesome-key", &Value::Null);
        let gone = self.call(201, "POST", messages, admin, &body);
        self.call(204, "DELETE", gone["url"].as_str().unwrap(), admin, &Value::Null);
        self.call(200, "GET", "/v1/account/records/", admin, &Value::Null);
    }

    /// Creates a healthcheck, checks one item and all items, and reads the results.
    fn healthchecks(&self) {
        let (checks, admin) = ("/v1/external/serviceowner/healthchecks/", "vm-owner-key");
        // Port 1 has no listener, so each check ends at once.
        let body = json!({"service": 1, "target_url": "http://127.0.0.1:1/", "authorization": "Bearer one",
            "schedule_enabled": true, "schedule_crontab": "0 3 * * *", "colour": "red"});
        let made = self.call(201, "POST", checks, admin, &body);
        self.call(200, "POST", checks, admin, &made);
        self.call(400, "POST", checks, admin, &json!({}));
        self.call(404, "POST", "/v1/external/consumer/healthchecks/", admin, &body);
        let item = self.call(200, "GET", &format!("{OWNER}/service_items/?name=one"), admin, &Value::Null);
        let path = format!("{checks}trigger/service_item/{}/", item["results"][0]["id"]);
        self.call(200, "GET", &path, admin, &Value::Null);
        self.call(400, "GET", &path, admin, &Value::Null);
        self.call(200, "GET", &format!("{OWNER}/service_items/?name=one"), admin, &Value::Null);
        self.call(200, "GET", &format!("{checks}trigger/service/1/"), admin, &Value::Null);
        let url = made["url"].as_str().unwrap();
        assert_eq!(self.call(200, "GET", url, admin, &Value::Null)["last_run"], Value::Null);
        self.system.sweep();
        // The local queue delivers the run in the background.
        while self.call(200, "GET", url, admin, &Value::Null)["last_run"].is_null() {
            std::thread::yield_now();
        }
        let page = self.call(200, "GET", &format!("{checks}?limit=1"), admin, &Value::Null);
        self.call(200, "GET", page["next"].as_str().unwrap(), admin, &Value::Null);
        self.call(400, "GET", &format!("{checks}?colour=red"), admin, &Value::Null);
        self.call(200, "GET", "/v1/account/records/", admin, &Value::Null);
        self.call(204, "DELETE", url, admin, &Value::Null);
    }

    /// Marks a running charge as processed. The mark is final.
    fn bill(&self) {
        let (charges, owner) = ("/v1/marketplace/serviceowner/charges/", "vm-owner-key");
        let running = format!("{charges}?charge_type=monthly_cost&processed=false");
        for by in ["application", "consumer_team", "service_owner_team"] {
            self.call(200, "GET", &format!("{charges}accumulated/?group_by={by}"), owner, &Value::Null);
        }
        let running = self.call(200, "GET", &running, owner, &Value::Null);
        let url = running["results"][0]["url"].as_str().unwrap();
        for url in [url, &url.replace("marketplace", "orcabase")] {
            self.call(400, "PATCH", url, owner, &json!({"processed": "yes"}));
            self.call(403, "PATCH", url, "awesome-key", &json!({"processed": true}));
            self.call(200, "PATCH", url, owner, &json!({"processed": true, "colour": "red"}));
        }
        let refused = self.call(400, "PATCH", url, owner, &json!({"processed": false}));
        assert_eq!(refused["code"], "charge_processed");
        self.call(200, "GET", url, owner, &Value::Null);
    }

    /// Sends every operation in each way that leads to an error.
    fn refused(&self) {
        for operation in OPERATIONS.iter() {
            let nowhere =
                operation.path.replace("{pov}", "serviceowner").replace("{id}", "7").replace("{code}", "no");
            let method = operation.method.as_str();
            let body = if nowhere.ends_with("/deployed_items/") {
                json!({"data": {}, "change_instance": 137_438_953_488_u64 << 4})
            } else {
                json!({})
            };
            let elsewhere = [("dovetail-team", "99")];
            let (key, headers) = (Some("vm-owner-key"), elsewhere.as_slice());
            self.system.send(&ApiRequest { method, path: &nowhere, ..ApiRequest::default() });
            self.system.send(&ApiRequest { method, path: &nowhere, key, headers, body: b"{}".to_vec() });
            for key in ["read-key", "vm-owner-key"] {
                self.system.call(method, &nowhere, key, &body);
            }
            if operation.definition["security"].is_null() {
                self.system.get(&format!("{nowhere}?colour=red"), "vm-owner-key");
            }
        }
        let (change, service) = (self.change.as_str(), format!("{OWNER}/services/1/"));
        for method in ["PATCH", "PUT", "POST"] {
            self.call(400, method, change, "vm-owner-key", &json!({"state": "DONE"}));
        }
        self.call(400, "GET", &format!("{service}?version=x"), "vm-owner-key", &Value::Null);
        for method in ["PATCH", "PUT"] {
            self.call(400, method, &service, "vm-owner-key", &json!({"approval_required": 5}));
        }
        for method in ["POST", "PATCH"] {
            for path in ["submit", "validate"] {
                let invalid =
                    json!({"AwesomeConsumer": {"A": {"services": {"VM": [{"name": "one", "cpu": "x"}]}}}});
                self.call(400, method, &format!("{CONSUMER}/submissions/{path}/"), "awesome-key", &invalid);
            }
        }
        self.call(400, "POST", &format!("{change}retry/"), "vm-owner-key", &Value::Null);
        for path in ["services/", "services/validate/", "deployed_items/"] {
            self.call(400, "POST", &format!("{OWNER}/{path}"), "vm-owner-key", &json!({}));
        }
        self.call(400, "PATCH", &self.deployed, "vm-owner-key", &json!({}));
        // API Gateway itself rejects a larger body. The local gateway must give the same response.
        let path = format!("{CONSUMER}/submissions/submit/");
        let body = vec![b' '; dovetail_emulator::gateway::BODY_BYTES_MAX + 1];
        let answer =
            self.system.send(&ApiRequest { method: "POST", path: &path, body, ..ApiRequest::default() });
        assert_eq!(answer.status, 413, "{answer:?}");
    }
}

/// Returns a percent-encoded value for a parameter.
fn value(parameter: &Value) -> String {
    let example = parameter["example"].as_str().map(str::to_owned);
    let is_truth = parameter["schema"]["type"] == "boolean";
    let value = example.unwrap_or_else(|| (if is_truth { "true" } else { "1" }).to_owned());
    value.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// Sends requests of every kind. Returns the covered parts of the contract.
fn parts_of_usual_requests() -> Lines {
    let world = World::new();
    world.keep();
    world.confirm();
    world.read();
    world.own();
    world.keys();
    world.members();
    world.platform();
    world.webhooks();
    world.messages();
    world.healthchecks();
    world.bill();
    world.dry_run();
    world.declare();
    world.history();
    world.refused();
    world.system.assert_sound();
    world.system.seen.lock().unwrap().clone()
}

#[test]
fn every_route_status_parameter_and_field_of_the_contract_is_seen() {
    let systems = [
        parts_of_usual_requests,
        systems::limited,
        systems::with_retired,
        systems::with_words,
        systems::with_quarantine,
        systems::with_issuer,
    ];
    let seen: Lines = std::thread::scope(|scope| {
        let parts: Vec<_> = systems.map(|parts| spawn_in_test(scope, parts)).into();
        parts.into_iter().flat_map(|parts| parts.join().unwrap()).collect()
    });
    let documented = contract::all_parts();
    // An empty list would pass the comparison below.
    assert!(documented.len() > 500, "{}", documented.len());
    let unseen: Lines = documented.difference(&seen).cloned().collect();
    assert_eq!(unseen, Lines::new());
}
