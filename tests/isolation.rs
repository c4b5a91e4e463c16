//! Tenants: every route, method and role against the objects of other teams, and every kind of bad key.
//!
//! What is a team's own carries a mark in its text; no reply to another team may hold it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test support")]

mod reads;

use domain::actor::Role;
use dovetail_http::{Access, Code, Operation, Pov, ROUTES, Route};
use serde_json::{Value, json};
use tests::{Answer, Ask, Running, multipart};

const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

/// The keys, and the marks of what their teams have no share in.
const TRESPASSERS: &[(&str, &[&str])] = &[
    // Another consumer, which sees no declaration of Alpha's.
    ("beta", &["alphamark"]),
    // Another owner with items of the same consumers, which sees nothing of the VMs.
    ("owner-two", &["alphamark-vm", "betamark-vm"]),
    // A dependent team, with a share in the databases of the same consumers and none in their VMs.
    ("db-dependent", &["alphamark-vm", "betamark-vm"]),
    // A team that has nothing to do with anybody.
    ("stranger", &["alphamark", "betamark"]),
];

/// What the keys of each role end in.
const ROLES: [(Role, &str); 3] = [(Role::Admin, ""), (Role::General, "-general"), (Role::ReadOnly, "-read")];

fn world() -> Value {
    let service = |owner: &str, title: &str, dependent: &str, allowed: Value| {
        let names = json!({"type": "array", "items": {"type": "string"}, "format": "reference_list",
            "reference_method": "list", "service_reference": "DB"});
        let text = json!({"type": "string"});
        json!({"owner": owner, "allowed_teams": allowed, "dependent_teams": [dependent],
            "schema": {"title": title, "type": "object", "required": ["name"],
                "metadata": {"cost_per_change": 5, "monthly_cost": 49.99},
                "properties": {"name": text, "note": text, "dbs": names}}})
    };
    let team = |name: &str, key: &str| {
        let keys = ROLES.map(|(role, end)| json!({"key": format!("{key}{end}"), "role": role.name()}));
        json!({"name": name, "api_keys": keys})
    };
    json!({
        "teams": [
            team("Team-alphamark", "alpha"),
            team("Team-betamark", "beta"),
            team("OwnerOne", "owner-one"),
            team("OwnerTwo", "owner-two"),
            team("VmDependent", "vm-dependent"),
            team("DbDependent", "db-dependent"),
            team("Stranger", "stranger"),
        ],
        "services": [
            service("OwnerOne", "VM", "VmDependent", Value::Null),
            service("OwnerTwo", "DB", "DbDependent", Value::Null),
            service("OwnerOne", "Private-alphamark", "VmDependent", json!(["Team-alphamark"])),
        ],
    })
}

/// The system with both consumers' items in the hands of both owners and their dependents, one step short of done;
/// then the databases, which the VMs refer to, are modified.
fn populated() -> Running {
    let system = Running::start(&world().to_string());
    let owned = system.get("/v1/orcabase/serviceowner/services/?name=Private-alphamark", "owner-one");
    let tagged = json!({"tags": ["alphamark-tag"]});
    let path = owned.at("/results/0/url").as_str().unwrap();
    assert_eq!(system.call("PATCH", path, "owner-one", &tagged).status, 200);
    let url = |name: &str| {
        let found = system.get(&format!("/v1/orcabase/serviceowner/services/?name={name}"), "owner-one");
        found.at("/results/0/url").as_str().unwrap().to_owned()
    };
    for (name, text) in [("VM", "for everybody"), ("Private-alphamark", "alphamark-docs")] {
        let (headers, body) = multipart("md_file", text.as_bytes());
        let path = format!("{}docs/", url(name));
        let ask = Ask { method: "POST", path: &path, key: Some("owner-one"), headers: &[headers], body };
        assert_eq!(system.send(&ask).status, 201);
        let config = json!({"service": url(name), "config": {"ip": "alphamark-vm-config"}});
        let path = "/v1/orcabase/serviceowner/service_configs/";
        assert_eq!(system.call("POST", path, "owner-one", &config).status, 201);
    }
    for consumer in ["alpha", "beta"] {
        let mark = format!("{consumer}mark");
        let submit = |note: &str| {
            let vm = json!({"name": format!("{mark}-vm"), "note": format!("{mark}-vm-note"),
                "dbs": [format!("{mark}-db")]});
            let db = json!({"name": format!("{mark}-db"), "note": format!("{mark}-db-{note}")});
            let body = json!({format!("Team-{mark}"): {
                "metadata": {"cost": format!("{mark}-team")},
                format!("{mark}-app"): {
                    "metadata": {"env": format!("{mark}-app")},
                    "services": {"VM": [vm], "DB": [db]}}}});
            let path = format!("/v1/orcabase/consumer/submissions/submit/?commit_id={mark}-commit");
            let answer = system.call("POST", &path, consumer, &body);
            assert_eq!(answer.status, 201, "{answer:?}");
            system.settle();
            answer
        };
        let answer = submit("note");
        for change in answer.at("/change_instances").as_array().unwrap() {
            let is_vm = change.pointer("/service/name").unwrap() == "VM";
            let (owner, service) = if is_vm { ("owner-one", "vm") } else { ("owner-two", "db") };
            let path = format!("/v1/orcabase/serviceowner/change_instances/{}/", change.get("id").unwrap());
            let body = json!({"state": "APPROVED", "log": format!("{mark}-{service}-log"),
                "deployed_item": {"ip": format!("{mark}-{service}-ip")}});
            assert_eq!(system.call("PATCH", &path, owner, &body).status, 200);
        }
        submit("newer-note");
    }
    // One that rests: nobody is to be told of anything here.
    let service = system.get("/v1/orcabase/serviceowner/services/?name=VM", "owner-one");
    let webhook = json!({"service": service.at("/results/0/id"), "name": "alphamark-vm-hook", "active": false,
        "target_url": "https://alphamark-vm.example/", "authorization": "Bearer alphamark-vm-secret"});
    let path = "/v1/external/serviceowner/webhooks/";
    let made = system.call("POST", path, "owner-one", &webhook);
    assert_eq!(made.status, 201, "{made:?}");
    // One for those of a service that nobody has items of, and one that is for the consumers of the VMs too.
    let (vm, private) = (url("VM"), url("Private-alphamark"));
    for (text, scopes) in
        [("alphamark-vm-message", json!([private])), ("VMs rest on Sunday", json!([vm, private]))]
    {
        let message = json!({"description": text, "scopes": scopes});
        let made = system.call("POST", "/v1/orcaexternal/serviceowner/messages/", "owner-one", &message);
        assert_eq!(made.status, 201, "{made:?}");
    }
    let check = json!({"service": service.at("/results/0/id"), "target_url": "https://alphamark-vm.example/",
        "authorization": "Bearer alphamark-vm-secret"});
    let made = system.call("POST", "/v1/external/serviceowner/healthchecks/", "owner-one", &check);
    assert_eq!(made.status, 201, "{made:?}");
    system
}

/// Ids of what belongs to Alpha and, as far as an owner has a share, to the owner of the VMs.
struct Foreign {
    item: u64,
    change: u64,
    /// The change instance of the VMs' dependent.
    share: u64,
    /// The change instance for the VM that refers to a modified database.
    referenced: u64,
    deployed: u64,
    submission: u64,
    application: u64,
    vm: u64,
    private: u64,
    config: u64,
    team: u64,
    key: u64,
    /// The charge for a VM's time in service.
    charge: u64,
    /// The webhook of the owner of the VMs.
    webhook: u64,
    /// The message of that owner that is for nobody here.
    message: u64,
}

impl Foreign {
    fn of(system: &Running) -> Self {
        let id = |path: &str, key: &str, pointer: &str| {
            let answer = system.get(path, key);
            answer.at(pointer).as_u64().unwrap_or_else(|| panic!("{path}: {answer:?}"))
        };
        let consumer = "/v1/orcabase/consumer";
        Self {
            item: id(&format!("{consumer}/service_items/?service_name=VM"), "alpha", "/results/0/id"),
            change: id(&format!("{consumer}/change_instances/?service_name=VM"), "alpha", "/results/0/id"),
            share: id(
                &format!("{consumer}/change_instances/dependant/?service_name=VM"),
                "alpha",
                "/results/0/id",
            ),
            referenced: id(&format!("{consumer}/change_instances/referenced/"), "alpha", "/results/0/id"),
            deployed: id("/v1/orcabase/serviceowner/deployed_items/", "owner-one", "/results/0/id"),
            submission: id(&format!("{consumer}/submissions/"), "alpha", "/results/0/id"),
            application: id(&format!("{consumer}/applications/"), "alpha", "/results/0/id"),
            vm: id(&format!("{consumer}/services/?name=VM"), "alpha", "/results/0/id"),
            private: id(&format!("{consumer}/services/?name=Private-alphamark"), "alpha", "/results/0/id"),
            config: id("/v1/orcabase/serviceowner/service_configs/", "owner-one", "/results/0/id"),
            team: id("/v1/account/teams/", "alpha", "/results/0/id"),
            key: id("/v1/account/api_keys/", "alpha", "/results/0/id"),
            charge: id(
                "/v1/marketplace/consumer/charges/?service_name=VM&charge_type=monthly_cost",
                "alpha",
                "/results/0/id",
            ),
            webhook: id("/v1/external/serviceowner/webhooks/", "owner-one", "/results/0/id"),
            message: id("/v1/orcaexternal/serviceowner/messages/", "owner-one", "/results/1/id"),
        }
    }

    /// The ids to try in a path.
    fn ids(&self, path: &str) -> Vec<u64> {
        if path.starts_with("/v1/account/teams/") {
            return vec![self.team];
        }
        if path.starts_with("/v1/account/") {
            return vec![self.key];
        }
        match path.split('/').nth(4) {
            Some("service_items") => vec![self.item],
            Some("change_instances") => vec![self.change, self.share, self.referenced],
            Some("deployed_items") => vec![self.deployed],
            Some("submissions") => vec![self.submission],
            Some("applications") => vec![self.application],
            Some("services") => vec![self.vm, self.private],
            Some("service_configs") => vec![self.config],
            Some("charges") => vec![self.charge],
            Some("webhooks") => vec![self.webhook],
            Some("messages") => vec![self.message],
            Some("healthchecks") if path.contains("/service_item/") => vec![self.item],
            Some("healthchecks") => vec![self.vm],
            _ => Vec::new(),
        }
    }
}

/// Everything that is stored, comparable.
fn stored(system: &Running) -> (String, Vec<Value>) {
    let text = system.stored();
    let services = ["owner-one", "owner-two", "alpha", "beta", "stranger"]
        .map(|key| system.get("/v1/orcabase/serviceowner/services/?limit=100", key).body);
    let keys = ["alpha", "beta", "stranger"].map(|key| system.get("/v1/account/api_keys/", key).body);
    let webhooks =
        ["owner-one", "owner-two"].map(|key| system.get("/v1/external/serviceowner/webhooks/", key).body);
    let messages =
        ["owner-one", "owner-two"].map(|key| system.get("/v1/orcaexternal/serviceowner/messages/", key).body);
    let checks =
        ["owner-one", "owner-two"].map(|key| system.get("/v1/external/serviceowner/healthchecks/", key).body);
    (text, [&services[..], &keys, &webhooks, &messages, &checks].concat())
}

/// A path of the table of routes with everything filled in.
struct Target {
    path: String,
    pov: Pov,
    id: Option<u64>,
}

fn targets(route: &Route, foreign: &Foreign) -> Vec<Target> {
    let mut targets = Vec::new();
    let povs = if route.path.contains("{pov}") { &Pov::ALL[..] } else { &[Pov::Consumer] };
    for pov in povs {
        let path = route.path.replace("{pov}", pov.name());
        if path.contains("{id}") {
            targets.extend(foreign.ids(&path).into_iter().map(|id| Target {
                path: format!("{}/", path.replace("{id}", &id.to_string())),
                pov: *pov,
                id: Some(id),
            }));
        } else {
            targets.push(Target { path: format!("{path}/"), pov: *pov, id: None });
        }
    }
    targets
}

/// The routes that a key is needed for.
fn guarded() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.access != Access::Anyone)
}

/// The route of a path that takes the method; several routes may share a path.
fn serving(path: &str, method: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.path == path && route.methods.contains(&method))
}

/// The most harmful body for an operation.
fn body(operation: Operation, foreign: &Foreign) -> Value {
    match operation {
        Operation::Submit | Operation::ValidateSubmission => {
            json!({"Team-alphamark": {"Stolen": {"services": {}}}})
        }
        Operation::UpdateChangeInstance => {
            json!({"state": "COMPLETED", "log": "stolen", "deployed_item": {"ip": "stolen"}})
        }
        Operation::CreateDeployedItem => {
            json!({"data": {"ip": "stolen"}, "change_instance": foreign.change})
        }
        Operation::PatchDeployedItem => json!({"data": {"ip": "stolen"}}),
        Operation::PublishService => json!({"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "stolen": {"type": "string"}}}),
        Operation::CreateWebhook => json!({"service": foreign.vm, "target_url": "https://stolen.example/"}),
        Operation::UpdateWebhook => json!({"target_url": "https://stolen.example/"}),
        Operation::CreateMessage => json!({"description": "stolen", "scopes": [foreign.vm]}),
        Operation::UpdateMessage => json!({"description": "stolen"}),
        Operation::CreateHealthcheck => {
            json!({"service": foreign.vm, "target_url": "https://stolen.example/"})
        }
        Operation::UpdateService => json!({"approval_required": false, "allowed_teams": [foreign.team],
            "state": "DECOMMISSIONED", "tags": ["stolen"]}),
        Operation::CreateServiceConfig => json!({"service": foreign.vm, "config": {"ip": "stolen"}}),
        Operation::UpdateCharge => json!({"processed": true}),
        Operation::UploadServiceDocs
        | Operation::GetServiceDocs
        | Operation::ListServiceConfigs
        | Operation::GetServiceConfig
        | Operation::ListTeams
        | Operation::GetTeam
        | Operation::CompareSubmissions
        | Operation::Revert
        | Operation::ValidateRevert
        | Operation::ListSubmissions
        | Operation::GetSubmission
        | Operation::ListServiceItems
        | Operation::ListDependentServiceItems
        | Operation::GetServiceItem
        | Operation::ListChangeInstances
        | Operation::ListDependentChangeInstances
        | Operation::ListReferencedChangeInstances
        | Operation::GetChangeInstance
        | Operation::RetryChangeInstance
        | Operation::ChangeInstanceHistory
        | Operation::ListDeployedItems
        | Operation::ListDependentDeployedItems
        | Operation::GetDeployedItem
        | Operation::ListServices
        | Operation::ListDependentServices
        | Operation::ListServiceTags
        | Operation::GetService
        | Operation::ValidateService
        | Operation::ListApplications
        | Operation::GetApplication
        | Operation::GetHealth
        | Operation::GetContract
        | Operation::GetErrorPage
        | Operation::ListApiKeys
        | Operation::GetApiKey
        | Operation::CreateApiKey
        | Operation::RotateApiKey
        | Operation::RevokeApiKey
        | Operation::ListMembers
        | Operation::GetMember
        | Operation::AddMember
        | Operation::ChangeMember
        | Operation::RemoveMember
        | Operation::ListRecords
        | Operation::ListCharges
        | Operation::ListAccumulatedCharges
        | Operation::GetCharge
        | Operation::ListWebhooks
        | Operation::GetWebhook
        | Operation::RemoveWebhook
        | Operation::RotateWebhook
        | Operation::TriggerWebhook
        | Operation::ListWebhookFailures
        | Operation::ListMessages
        | Operation::GetMessage
        | Operation::RemoveMessage
        | Operation::ListHealthchecks
        | Operation::GetHealthcheck
        | Operation::RemoveHealthcheck
        | Operation::CheckServiceItem
        | Operation::CheckService => Value::Null,
    }
}

/// What a team gets that has a good key and no share in the target.
fn expected(operation: Operation, target: &Target, foreign: &Foreign) -> (u16, Option<Code>) {
    let refused = |code: Code| (code.status(), Some(code));
    match operation {
        Operation::GetSubmission
        | Operation::GetTeam
        | Operation::CompareSubmissions
        | Operation::Revert
        | Operation::ValidateRevert
        | Operation::GetServiceItem
        | Operation::GetChangeInstance
        | Operation::UpdateChangeInstance
        | Operation::RetryChangeInstance
        | Operation::ChangeInstanceHistory
        | Operation::GetDeployedItem
        | Operation::CreateDeployedItem
        | Operation::PatchDeployedItem
        | Operation::GetCharge
        | Operation::UpdateCharge
        | Operation::GetApplication => refused(Code::NotFound),
        // The catalogue is open to every consumer, but for private services.
        Operation::GetService if target.pov == Pov::Consumer && target.id == Some(foreign.vm) => (200, None),
        Operation::GetServiceDocs if target.pov == Pov::Consumer && target.id == Some(foreign.vm) => {
            (200, None)
        }
        Operation::GetService | Operation::GetServiceDocs | Operation::GetServiceConfig => {
            refused(Code::NotFound)
        }
        Operation::CreateServiceConfig => refused(Code::InvalidField),
        Operation::UpdateService | Operation::UploadServiceDocs if target.id == Some(foreign.private) => {
            refused(Code::NotFound)
        }
        Operation::UpdateService | Operation::UploadServiceDocs | Operation::PublishService => {
            refused(Code::ForeignService)
        }
        Operation::Submit | Operation::ValidateSubmission => refused(Code::InvalidDeclaration),
        Operation::ValidateService => refused(Code::InvalidSchema),
        Operation::ListTeams
        | Operation::ListSubmissions
        | Operation::ListServiceItems
        | Operation::ListDependentServiceItems
        | Operation::ListChangeInstances
        | Operation::ListDependentChangeInstances
        | Operation::ListReferencedChangeInstances
        | Operation::ListDeployedItems
        | Operation::ListDependentDeployedItems
        | Operation::ListServices
        | Operation::ListDependentServices
        | Operation::ListServiceTags
        | Operation::ListServiceConfigs
        | Operation::ListApplications
        | Operation::GetHealth
        | Operation::GetContract
        | Operation::ListApiKeys
        | Operation::ListMembers
        | Operation::ListRecords
        | Operation::ListCharges
        | Operation::ListAccumulatedCharges
        | Operation::ListWebhooks
        | Operation::ListMessages
        | Operation::ListHealthchecks
        | Operation::GetErrorPage => (200, None),
        // A consumer has none, and writes none.
        Operation::CreateWebhook | Operation::CreateMessage | Operation::CreateHealthcheck
            if target.pov == Pov::Consumer =>
        {
            refused(Code::NotFound)
        }
        Operation::CreateApiKey
        | Operation::AddMember
        | Operation::CreateWebhook
        | Operation::CreateMessage
        | Operation::CreateHealthcheck => refused(Code::InvalidField),
        Operation::GetApiKey
        | Operation::RotateApiKey
        | Operation::RevokeApiKey
        | Operation::GetMember
        | Operation::ChangeMember
        | Operation::RemoveMember
        | Operation::GetWebhook
        | Operation::UpdateWebhook
        | Operation::RemoveWebhook
        | Operation::RotateWebhook
        | Operation::TriggerWebhook
        | Operation::ListWebhookFailures
        | Operation::GetMessage
        | Operation::UpdateMessage
        | Operation::RemoveMessage
        | Operation::GetHealthcheck
        | Operation::RemoveHealthcheck
        | Operation::CheckServiceItem
        | Operation::CheckService => refused(Code::NotFound),
    }
}

/// Whether the answer has the status and, if one is expected, the code.
fn is_answer(answer: &Answer, (status, code): (u16, Option<Code>)) -> bool {
    answer.status == status && code.is_none_or(|code| answer.at("/code") == code.name())
}

#[track_caller]
fn assert_answer(answer: &Answer, expected: (u16, Option<Code>), what: &str) {
    assert!(is_answer(answer, expected), "{what}: {expected:?} expected: {answer:?}");
}

/// The marks that a reply holds, in its body or in a header.
fn told<'a>(answer: &Answer, marks: &[&'a str]) -> Vec<&'a str> {
    let text = format!("{} {:?}", answer.body, answer.headers);
    marks.iter().copied().filter(|mark| text.contains(mark)).collect()
}

#[track_caller]
fn assert_unmarked(answer: &Answer, marks: &[&str], what: &str) {
    assert_eq!(told(answer, marks), Vec::<&str>::new(), "{what}: {answer:?}");
}

#[test]
fn no_team_reads_or_moves_what_it_has_no_share_in() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (key, marks) in TRESPASSERS {
        for (role, end) in ROLES {
            let key = format!("{key}{end}");
            for route in guarded() {
                for target in targets(route, &foreign) {
                    for method in METHODS {
                        let (answer, expected, echoes) =
                            trespass(&system, &foreign, (&key, role), &target, route, method);
                        let leaks = !echoes && !told(&answer, marks).is_empty();
                        if leaks || !is_answer(&answer, expected) {
                            let seen = format!("{} {}", answer.status, answer.body);
                            wrong.push(format!(
                                "{key}: {method} {}: {expected:?} expected: {seen}",
                                target.path
                            ));
                        }
                        tried += 1;
                    }
                }
            }
            assert!(before == stored(&system), "{key} has changed something");
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(tried > 1_500, "{tried}");
    system.assert_sound();
}

/// Asks for what is another team's: the answer, the one that is expected, and whether it may hold what was sent.
fn trespass(
    system: &Running,
    foreign: &Foreign,
    (key, role): (&str, Role),
    target: &Target,
    route: &Route,
    method: &str,
) -> (Answer, (u16, Option<Code>), bool) {
    let serving = serving(route.path, method);
    let body = serving.map_or(Value::Null, |serving| body(serving.operation, foreign));
    let answer = system.call(method, &target.path, key, &body);
    let expected = match serving {
        None => (405, Some(Code::MethodNotAllowed)),
        Some(serving) if !serving.access.is_open_to(role) => {
            (403, Some(if role == Role::ReadOnly { Code::ReadOnlyKey } else { Code::NeedsAdmin }))
        }
        Some(serving) => expected(serving.operation, target, foreign),
    };
    // A problem in a document is told at its place, in the words that were sent.
    (answer, expected, body.to_string().contains("alphamark"))
}

#[test]
fn a_bad_key_is_401_and_a_reading_key_writes_nothing() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let bad: [&[(&str, &str)]; 5] = [
        &[],
        &[("authorization", "Api-Key no-such-key")],
        &[("authorization", "Bearer alpha")],
        &[("authorization", "Api-Key ")],
        &[("x-api-key", "alpha")],
    ];
    for route in guarded() {
        for target in targets(route, &foreign) {
            for method in route.methods {
                let what = format!("{method} {}", target.path);
                let body = body(route.operation, &foreign).to_string().into_bytes();
                for headers in bad {
                    let ask = Ask { method, path: &target.path, headers, body: body.clone(), key: None };
                    let answer = system.send(&ask);
                    assert_answer(&answer, (401, Some(Code::Unauthenticated)), &what);
                    assert_unmarked(&answer, &["alphamark", "betamark", "Owner"], &what);
                }
                // The owner's reading key: even its own objects are not written with it.
                for key in ["owner-one-read", "alpha-read", "stranger-read"] {
                    if !route.access.is_open_to(Role::ReadOnly) {
                        let answer = system.send(&Ask {
                            method,
                            path: &target.path,
                            key: Some(key),
                            body: body.clone(),
                            headers: &[],
                        });
                        assert_answer(&answer, (403, Some(Code::ReadOnlyKey)), &what);
                    }
                }
            }
        }
    }
    assert!(before == stored(&system), "something has changed");
}

#[test]
fn lists_show_own_rows_whatever_they_are_asked_for() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let asked = [
        format!("service_items/?application_id={}&service_name=VM", foreign.application),
        format!("service_items/?consumer_team_id={}&service_name=VM", foreign.team),
        "service_items/?name=alphamark-vm&declaration_contains=alphamark".to_owned(),
        format!("change_instances/?service_item_id={}", foreign.item),
        format!("change_instances/?service_item_id={}&state=APPROVED", foreign.item),
        format!("change_instances/?submission_id={}&limit=100&service_name=VM", foreign.submission),
        format!("change_instances/?consumer_team_id={}&service_name=VM", foreign.team),
        "change_instances/?commit_id=alphamark-commit&service_name=VM".to_owned(),
        format!("deployed_items/?service_item_id={}", foreign.item),
        format!("deployed_items/?service_id={}", foreign.private),
        "deployed_items/?declaration_contains=alphamark-vm".to_owned(),
        format!("service_items/dependant/?consumer_team_id={}&service_name=VM", foreign.team),
        "service_items/dependant/?name=alphamark-vm&declaration_contains=alphamark".to_owned(),
        format!("change_instances/dependant/?service_item_id={}", foreign.item),
        format!("change_instances/dependant/?consumer_team_id={}&service_name=VM", foreign.team),
        format!("change_instances/referenced/?service_item_id={}", foreign.item),
        format!("change_instances/referenced/?consumer_team_id={}", foreign.team),
        format!("change_instances/?service_item_id={}&is_dependant=true", foreign.item),
        format!("deployed_items/dependant/?service_item_id={}", foreign.item),
        "deployed_items/dependant/?declaration_contains=alphamark-vm".to_owned(),
        "services/dependant/?name=Private-alphamark".to_owned(),
        "applications/?search=alphamark".to_owned(),
        "services/?name=Private-alphamark".to_owned(),
    ];
    for (key, marks) in TRESPASSERS {
        for pov in Pov::ALL {
            for query in &asked {
                let path = format!("/v1/orcabase/{}/{query}", pov.name());
                let answer = system.get(&path, key);
                assert_eq!(answer.status, 200, "{key} {path}: {answer:?}");
                assert_eq!(answer.at("/count"), 0, "{key} {path}: {answer:?}");
                assert_unmarked(&answer, marks, &path);
            }
        }
        let teams = system.get("/v1/account/teams/", key);
        assert_eq!(teams.at("/count"), 1);
    }
    // The same lists hold rows for those who have a share.
    for (path, key, count) in [
        ("/v1/orcabase/consumer/service_items/", "alpha", 2),
        ("/v1/orcabase/serviceowner/service_items/", "alpha", 0),
        ("/v1/orcabase/serviceowner/service_items/", "owner-one", 2),
        ("/v1/orcabase/serviceowner/change_instances/", "owner-two", 4),
        ("/v1/orcabase/consumer/change_instances/", "owner-two", 0),
        ("/v1/orcabase/serviceowner/deployed_items/", "owner-one", 2),
        ("/v1/orcabase/consumer/deployed_items/", "beta", 2),
        ("/v1/orcabase/consumer/services/", "alpha", 3),
        ("/v1/orcabase/consumer/services/", "beta", 2),
        ("/v1/orcabase/serviceowner/services/", "owner-one", 2),
        ("/v1/orcabase/serviceowner/service_items/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/serviceowner/service_items/dependant/", "db-dependent", 2),
        ("/v1/orcabase/consumer/service_items/dependant/", "alpha", 2),
        ("/v1/orcabase/serviceowner/change_instances/dependant/", "vm-dependent", 4),
        ("/v1/orcabase/serviceowner/change_instances/dependant/", "owner-one", 0),
        ("/v1/orcabase/consumer/change_instances/dependant/", "alpha", 4),
        ("/v1/orcabase/serviceowner/change_instances/referenced/", "owner-one", 2),
        ("/v1/orcabase/consumer/change_instances/referenced/", "beta", 1),
        ("/v1/orcabase/serviceowner/deployed_items/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/consumer/deployed_items/dependant/", "beta", 2),
        ("/v1/orcabase/serviceowner/services/dependant/", "vm-dependent", 2),
        ("/v1/orcabase/consumer/services/dependant/", "alpha", 3),
        ("/v1/orcabase/consumer/services/dependant/", "beta", 2),
    ] {
        assert_eq!(system.get(path, key).at("/count"), count, "{key} {path}");
    }
}

#[test]
fn a_deployed_item_goes_to_nobody_elses_item_however_it_is_named() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let before = stored(&system);
    let url = |pov: &str, what: &str, id: u64| format!("{}/v1/orcabase/{pov}/{what}/{id}/", system.base);
    for key in ["beta", "owner-two", "stranger"] {
        for (field, value, status) in [
            ("change_instance", json!(url("serviceowner", "change_instances", foreign.change)), 404),
            ("change_instance", json!(url("consumer", "change_instances", foreign.change)), 404),
            ("change_instance", json!(foreign.change), 404),
            // A bad reference in a body is a bad field, and the same whether the item exists or not.
            ("service_item", json!(url("serviceowner", "service_items", foreign.item)), 400),
            ("service_item", json!(foreign.item), 400),
        ] {
            for pov in Pov::ALL {
                let path = format!("/v1/orcabase/{}/deployed_items/", pov.name());
                let body = json!({"data": {"ip": "stolen"}, field: value});
                let answer = system.call("POST", &path, key, &body);
                assert_eq!(answer.status, status, "{key} {field}: {answer:?}");
                assert_unmarked(&answer, &["alphamark"], field);
            }
        }
    }
    let missing = json!({"data": {}, "service_item": foreign.item + 1});
    let hidden = json!({"data": {}, "service_item": foreign.item});
    let path = "/v1/orcabase/serviceowner/deployed_items/";
    let answers = [missing, hidden].map(|body| system.call("POST", path, "stranger", &body).body);
    assert_eq!(answers.first(), answers.last());
    assert!(before == stored(&system), "something has changed");
}

#[test]
fn odd_paths_lead_nowhere_else() {
    let system = populated();
    let foreign = Foreign::of(&system);
    let items = "/v1/orcabase/consumer/service_items";
    for path in [
        format!("{items}/../../../account/teams/"),
        format!("{items}/%2e%2e/change_instances/{}/", foreign.change),
        format!("{items}//{}/", foreign.item),
        format!("{items}/0{}/", foreign.item),
        format!("{items}/{}%23/", foreign.item),
        format!("{items}/{}%00/", foreign.item),
        format!("{items}/-{}/", foreign.item),
        format!("{items}/{}.0/", foreign.item),
        format!("{items}/٣/").replace('٣', "%D9%A3"),
        format!("/v1/orcabase/CONSUMER/service_items/{}/", foreign.item),
        format!("/prod/v1/orcabase/consumer/service_items/{}/", foreign.item),
    ] {
        let answer = system.get(&path, "alpha");
        assert_answer(&answer, (404, Some(Code::NoSuchRoute)), &path);
    }
    // Ids that no object can have, or that only another team's could.
    for id in ["1", "9007199254740991", "9007199254740992", "18446744073709551615"] {
        let path = format!("{items}/{id}/");
        assert_answer(&system.get(&path, "alpha"), (404, Some(Code::NotFound)), &path);
    }
}

#[test]
fn names_that_look_like_keys_of_the_table_or_like_each_other_stay_apart() {
    let system = Running::start(&world().to_string());
    let names = ["a#b", "a/b", "..", "%23", "A", "а", "a", "TEAM#1", "metadata ", "\u{202e}x"];
    let names: Vec<&str> = names.into_iter().filter(|name| name.trim() == *name).collect();
    let applications: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| {
            let services = json!({"services": {"VM": [{"name": name, "note": format!("note of {name}")}]}});
            ((*name).to_owned(), services)
        })
        .collect();
    let body = json!({"Team-alphamark": applications});
    let answer = system.call("POST", "/v1/orcabase/consumer/submissions/submit/", "alpha", &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    let items = system.get("/v1/orcabase/consumer/service_items/?limit=100", "alpha");
    assert_eq!(items.at("/count"), names.len());
    for item in items.at("/results").as_array().unwrap() {
        let name = item.get("name").unwrap().as_str().unwrap();
        assert_eq!(item.pointer("/application/name").unwrap(), name);
        assert_eq!(item.pointer("/declaration/note").unwrap(), &json!(format!("note of {name}")));
    }
    system.assert_sound();
}
