//! The tenants: two consumers, two owners, their dependent teams and a stranger, with the ids of private objects.

use domain::base::actor::Role;
use serde_json::{Value, json};
use support::{ApiRequest, Running, multipart};

/// Suffix of the API keys of each role.
pub(super) const ROLES: [(Role, &str); 3] =
    [(Role::Admin, ""), (Role::General, "-general"), (Role::ReadOnly, "-read")];

pub(super) fn world() -> Value {
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

/// Starts a system with items of both consumers for both owners.
///
/// The owners approved and deployed all items. Then both consumers modified their databases, and their VMs reference
/// these.
pub(super) fn populated() -> Running {
    let system = Running::start(&world().to_string());
    let owned = system.get("/v1/orcabase/serviceowner/services/?name=Private-alphamark", "owner-one");
    let tagged = json!({"tags": ["alphamark-tag"]});
    let path = owned.at("/results/0/url").as_str().unwrap();
    assert_eq!(system.call("PATCH", path, "owner-one", &tagged).status, 200);
    let url = |name: &str| {
        let actual = system.get(&format!("/v1/orcabase/serviceowner/services/?name={name}"), "owner-one");
        actual.at("/results/0/url").as_str().unwrap().to_owned()
    };
    for (name, text) in [("VM", "for everybody"), ("Private-alphamark", "alphamark-docs")] {
        let (headers, body) = multipart("md_file", text.as_bytes());
        let path = format!("{}docs/", url(name));
        let request =
            ApiRequest { method: "POST", path: &path, key: Some("owner-one"), headers: &[headers], body };
        assert_eq!(system.send(&request).status, 201);
        let config = json!({"service": url(name), "config": {"ip": "alphamark-vm-config"}});
        let path = "/v1/orcabase/serviceowner/service_configs/";
        assert_eq!(system.call("POST", path, "owner-one", &config).status, 201);
    }
    for consumer in ["alpha", "beta"] {
        let marker = format!("{consumer}mark");
        let submit = |note: &str| {
            let vm = json!({"name": format!("{marker}-vm"), "note": format!("{marker}-vm-note"),
                "dbs": [format!("{marker}-db")]});
            let db = json!({"name": format!("{marker}-db"), "note": format!("{marker}-db-{note}")});
            let body = json!({format!("Team-{marker}"): {
                "metadata": {"cost": format!("{marker}-team")},
                format!("{marker}-app"): {
                    "metadata": {"env": format!("{marker}-app")},
                    "services": {"VM": [vm], "DB": [db]}}}});
            let path = format!("/v1/orcabase/consumer/submissions/submit/?commit_id={marker}-commit");
            let answer = system.call("POST", &path, consumer, &body);
            assert_eq!(answer.status, 201, "{answer:?}");
            system.wait_idle();
            answer
        };
        let answer = submit("note");
        for change in answer.at("/change_instances").as_array().unwrap() {
            let is_vm = change.pointer("/service/name").unwrap() == "VM";
            let (owner, service) = if is_vm { ("owner-one", "vm") } else { ("owner-two", "db") };
            let path = format!("/v1/orcabase/serviceowner/change_instances/{}/", change.get("id").unwrap());
            let body = json!({"state": "APPROVED", "log": format!("{marker}-{service}-log"),
                "deployed_item": {"ip": format!("{marker}-{service}-ip")}});
            assert_eq!(system.call("PATCH", &path, owner, &body).status, 200);
        }
        submit("newer-note");
    }
    // An inactive webhook, because this test must not send requests.
    let service = system.get("/v1/orcabase/serviceowner/services/?name=VM", "owner-one");
    let webhook = json!({"service": service.at("/results/0/id"), "name": "alphamark-vm-hook", "active": false,
        "target_url": "https://alphamark-vm.example/", "authorization": "Bearer alphamark-vm-secret"});
    let path = "/v1/external/serviceowner/webhooks/";
    let made = system.call("POST", path, "owner-one", &webhook);
    assert_eq!(made.status, 201, "{made:?}");
    let webhook = json!({"name": "alphamark-hook", "active": false, "target_url": "https://alphamark.example/",
        "authorization": "Bearer alphamark-secret"});
    let made = system.call("POST", "/v1/external/consumer/webhooks/", "alpha", &webhook);
    assert_eq!(made.status, 201, "{made:?}");
    // One message for a service without items, and one with the consumers of the VMs in its audience.
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

/// Ids of Alpha's objects, and of the objects of the owner of the VMs.
pub(super) struct Foreign {
    pub(super) item: u64,
    pub(super) change: u64,
    /// Change instance of the dependent team of VM.
    pub(super) share: u64,
    /// Referenced change instance of the VM, after the change of its database.
    pub(super) referenced: u64,
    pub(super) deployed: u64,
    pub(super) submission: u64,
    pub(super) application: u64,
    pub(super) vm: u64,
    pub(super) private: u64,
    pub(super) config: u64,
    pub(super) team: u64,
    pub(super) key: u64,
    /// Charge for a VM's time in service.
    pub(super) charge: u64,
    /// Webhooks of the owner of the VMs, and of Alpha as a consumer.
    pub(super) webhooks: [u64; 2],
    /// Message without an audience here.
    pub(super) message: u64,
}

impl Foreign {
    pub(super) fn of(system: &Running) -> Self {
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
            webhooks: [
                id("/v1/external/serviceowner/webhooks/", "owner-one", "/results/0/id"),
                id("/v1/external/consumer/webhooks/", "alpha", "/results/0/id"),
            ],
            message: id("/v1/orcaexternal/serviceowner/messages/", "owner-one", "/results/1/id"),
        }
    }

    /// Returns the ids to try in a path.
    pub(super) fn ids(&self, path: &str) -> Vec<u64> {
        if path.starts_with("/v1/account/teams/") {
            return vec![self.team];
        }
        if path.starts_with("/v1/account/") {
            return vec![self.key];
        }
        match path.split('/').nth(4) {
            Some("service_items" | "granted_items") => vec![self.item],
            Some("change_instances") => vec![self.change, self.share, self.referenced],
            Some("deployed_items") => vec![self.deployed],
            Some("submissions") => vec![self.submission],
            Some("applications") => vec![self.application],
            Some("services") => vec![self.vm, self.private],
            Some("service_configs") => vec![self.config],
            Some("charges") => vec![self.charge],
            Some("webhooks") => self.webhooks.to_vec(),
            Some("messages") => vec![self.message],
            Some("healthchecks") if path.contains("/service_item/") => vec![self.item],
            Some("healthchecks") => vec![self.vm],
            _ => Vec::new(),
        }
    }
}

/// Returns all stored data, to compare two moments.
pub(super) fn stored(system: &Running) -> (String, Vec<Value>) {
    let text = system.stored();
    let services = ["owner-one", "owner-two", "alpha", "beta", "stranger"]
        .map(|key| system.get("/v1/orcabase/serviceowner/services/?limit=100", key).body);
    let keys = ["alpha", "beta", "stranger"].map(|key| system.get("/v1/account/api_keys/", key).body);
    let webhooks = ["owner-one", "owner-two", "alpha", "beta"].map(|key| {
        let lists = ["serviceowner", "consumer"].map(|side| format!("/v1/external/{side}/webhooks/"));
        Value::from(lists.map(|path| system.get(&path, key).body).to_vec())
    });
    let messages =
        ["owner-one", "owner-two"].map(|key| system.get("/v1/orcaexternal/serviceowner/messages/", key).body);
    let checks =
        ["owner-one", "owner-two"].map(|key| system.get("/v1/external/serviceowner/healthchecks/", key).body);
    (text, [&services[..], &keys, &webhooks, &messages, &checks].concat())
}
