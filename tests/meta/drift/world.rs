//! A system with requests of every kind.

mod settings;

use super::{CONSUMER, OPERATOR, OWNER};
use domain::base::actor::Role;
use serde_json::{Value, json};
use support::contract::{Lines, OPERATIONS};
use support::{ApiRequest, Running};

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
            system.call("POST", &submit, "awesome-key", &declaration(cpu)).expect_status(201);
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

    fn send(&self, status: u16, request: &ApiRequest<'_>) -> Value {
        let answer = self.system.send(request);
        assert_eq!(answer.status, status, "{} {}: {answer:?}", request.method, request.path);
        answer.body
    }

    fn call(&self, status: u16, method: &str, path: &str, key: &str, body: &Value) -> Value {
        self.send(status, &ApiRequest::with_key(method, path, key, body))
    }

    fn get(&self, status: u16, path: &str, key: &str) -> Value {
        self.call(status, "GET", path, key, &Value::Null)
    }

    /// Sends a request of the consumer about its submissions with these headers.
    fn submit(&self, status: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Value {
        let path = format!("{CONSUMER}/submissions/{path}");
        self.send(status, &ApiRequest { headers, ..ApiRequest::with_key(method, &path, "awesome-key", body) })
    }

    /// Reads every resource in each role, with each parameter.
    fn read(&self) {
        let roles =
            [("consumer", "awesome-key"), ("serviceowner", "vm-owner-key"), ("serviceowner", "np-owner-key")];
        for operation in OPERATIONS.iter().filter(|operation| operation.method == "GET") {
            for (side, key) in roles {
                let key = if operation.path.starts_with("/v1/platform/") { OPERATOR } else { key };
                let path = operation.path.replace("{pov}", side).replace("{code}", "blocked");
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
        let first = format!("{OWNER}/services/validate/?dry_run=true&limit=1");
        each_page(first, "/dry_run/next", |page| self.call(200, "POST", page, "vm-owner-key", &stricter));
    }

    /// Submits and previews, with and without idempotency keys, and answers a rejection.
    fn declare(&self) {
        let (some, other) =
            (json!({"AwesomeConsumer": {"C": {"services": {"VM": [{"name": "two"}]}}}}), declaration(2));
        let keyed = |status: u16, method: &str, path: &str, key: &str, body: &Value| {
            let path = format!("{path}/?commit_id=51e53e4&message=why&allow_removal=true");
            self.submit(status, method, &path, &[("idempotency-key", key)], body);
        };
        keyed(201, "PATCH", "submit", "1", &some);
        keyed(422, "PATCH", "submit", "1", &other);
        keyed(200, "PATCH", "submit", "2", &some);
        let pending = format!("{OWNER}/change_instances/?state=PENDING");
        let pending = self.get(200, &pending, "vm-owner-key");
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

    /// Claims work, extends the claim, and names others.
    fn claims(&self) {
        let (list, key) = (format!("{OWNER}/change_instances"), "vm-owner-key");
        let batch = json!({"worker": "w-1", "limit": 1, "lease_seconds": 60, "state": "PENDING", "service": 1,
            "colour": "red"});
        let claimed = self.call(200, "POST", &format!("{list}/claim/"), key, &batch);
        let path = format!("{list}/{}/", claimed["results"][0]["id"]);
        let claim = format!("{path}claim/");
        let extend = json!({"worker": "w-1", "number": 1, "lease_seconds": 60});
        self.call(200, "POST", &claim, key, &extend);
        self.call(400, "POST", &claim, key, &json!({"worker": "w-2"}));
        self.call(200, "PATCH", &path, key, &json!({"log": "begun", "claim": 1}));
        self.call(400, "PATCH", &path, key, &json!({"log": "late", "claim": 7}));
    }

    /// Reads and compares earlier declarations, and reverts to the first one. The second revert has no changes.
    fn history(&self) {
        let key = "awesome-key";
        let submissions = self.system.get(&format!("{CONSUMER}/submissions/?limit=100"), key);
        let submissions = submissions.at("/results").as_array().unwrap();
        let [first, last] = [&submissions[0]["id"], &submissions[submissions.len() - 1]["id"]];
        let difference = format!("{CONSUMER}/submissions/{first}/difference/?to={last}&limit=1");
        each_page(difference, "/next", |page| self.get(200, page, key));
        let refused = format!("{CONSUMER}/submissions/{first}/difference/");
        self.get(400, &refused, key);
        let counted = format!("{CONSUMER}/submissions/{first}/?counts=");
        self.get(200, &format!("{counted}true"), key);
        self.get(400, &format!("{counted}many"), key);
        let application = self.system.get(&format!("{CONSUMER}/applications/"), key);
        let url = application.at("/results/0/url").as_str().unwrap();
        let earlier = format!("{url}?as_of={first}&limit=1");
        each_page(earlier, "/service_items_next", |page| self.get(200, page, key));
        self.get(400, &format!("{url}?as_of=yesterday"), key);
        let team = self.system.get("/v1/account/teams/", key);
        let team = format!("/v1/account/teams/{}/", team.at("/results/0/id"));
        self.get(400, &format!("{team}?as_of=yesterday"), key);
        let revert = format!("{first}/revert/");
        let send = |status: u16, path: &str, headers: &[(&str, &str)]| {
            let body = self.submit(status, "POST", path, headers, &Value::Null);
            self.system.wait_idle();
            body
        };
        let preview = format!("{revert}validate/?limit=1&offset=0&commit_id=51e53e4&message=why");
        let preview = send(200, &preview, &[("idempotency-key", "6")]);
        let plan = [("if-match", preview["plan"].as_str().unwrap())];
        send(201, &format!("{revert}?commit_id=51e53e4&message=why"), &plan);
        send(412, &revert, &plan);
        send(200, &revert, &[("idempotency-key", "6")]);
        send(422, &format!("{last}/revert/"), &[("idempotency-key", "6")]);
        for path in [revert.clone(), format!("{revert}validate/")] {
            self.submit(400, "POST", &path, &[], &json!({"AwesomeConsumer": {}}));
        }
    }

    /// Previews page by page, then submits with the plan twice. The second time the plan is outdated.
    fn as_previewed(&self, method: &str) {
        let mut next = declaration(3);
        next["AwesomeConsumer"]["metadata"] = json!({"budget_code": method.len()});
        next["AwesomeConsumer"]["E"] = json!({"services": {"VM": [{"name": method}]}});
        let page = self.submit(200, method, "validate/?limit=1&offset=1&allow_removal=true", &[], &next);
        self.call(200, method, page["change_instances_next"].as_str().unwrap(), "awesome-key", &next);
        let preview = self.submit(200, method, "validate/", &[], &next);
        let headers = [("if-match", preview["plan"].as_str().unwrap())];
        for status in [201, 412] {
            self.submit(status, method, "submit/?allow_removal=true", &headers, &next);
            self.system.wait_idle();
        }
    }

    /// Forgets all applications, and changes the settings of the team.
    fn confirm(&self) {
        let nothing = json!({"AwesomeConsumer": {}});
        for (path, status) in [("validate", 200), ("submit", 400)] {
            self.submit(status, "POST", &format!("{path}/"), &[], &nothing);
        }
        let settings = json!({"confirm_removals": true, "colour": "red"});
        self.call(200, "PATCH", "/v1/account/teams/4/", "awesome-key", &settings);
        self.call(400, "PATCH", "/v1/account/teams/4/", "awesome-key", &json!({"confirm_removals": "no"}));
    }

    /// Marks a running charge as processed, which no request can undo.
    fn bill(&self) {
        let (charges, owner) = ("/v1/marketplace/serviceowner/charges/", "vm-owner-key");
        let running = format!("{charges}?charge_type=monthly_cost&processed=false");
        for by in ["application", "consumer_team", "service_owner_team"] {
            self.get(200, &format!("{charges}accumulated/?group_by={by}"), owner);
        }
        let running = self.get(200, &running, owner);
        let url = running["results"][0]["url"].as_str().unwrap();
        for url in [url, &url.replace("marketplace", "orcabase")] {
            self.call(400, "PATCH", url, owner, &json!({"processed": "yes"}));
            self.call(403, "PATCH", url, "awesome-key", &json!({"processed": true}));
            self.call(200, "PATCH", url, owner, &json!({"processed": true, "colour": "red"}));
        }
        let refused = self.call(400, "PATCH", url, owner, &json!({"processed": false}));
        assert_eq!(refused["code"], "charge_processed");
        self.get(200, url, owner);
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
            self.system.send(&ApiRequest::new(method, &nowhere, &Value::Null));
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
        self.get(400, &format!("{service}?version=x"), "vm-owner-key");
        for method in ["PATCH", "PUT"] {
            self.call(400, method, &service, "vm-owner-key", &json!({"approval_required": 5}));
        }
        for method in ["POST", "PATCH"] {
            for path in ["submit", "validate"] {
                let invalid =
                    json!({"AwesomeConsumer": {"A": {"services": {"VM": [{"name": "one", "cpu": "x"}]}}}});
                self.submit(400, method, &format!("{path}/"), &[], &invalid);
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
        self.send(413, &ApiRequest { method: "POST", path: &path, body, ..ApiRequest::default() });
    }
}

/// Requests each page of a list, from the first one to that without a next one.
fn each_page(first: String, next: &str, read: impl Fn(&str) -> Value) {
    let mut path = Some(first);
    while let Some(page) = path {
        path = read(&page).pointer(next).and_then(Value::as_str).map(str::to_owned);
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
pub(super) fn usual() -> Lines {
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
    world.claims();
    world.history();
    world.refused();
    world.system.assert_sound();
    world.system.seen.lock().unwrap().clone()
}
