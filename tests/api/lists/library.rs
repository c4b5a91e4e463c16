//! A shared system with many rows, and reads of whole lists.

use serde_json::{Value, json};
use std::sync::LazyLock;
use support::{Answer, Running};

pub(crate) const CONSUMER: &str = "/v1/orcabase/consumer";

pub(crate) const OWNER: &str = "/v1/orcabase/serviceowner";

/// A shared system with the ids for filters. The tests only read it.
pub(crate) struct Library {
    pub(crate) system: Running,
    pub(crate) alpha: u64,
    pub(crate) beta: u64,
    pub(crate) one: u64,
    pub(crate) two: u64,
    pub(crate) vm: u64,
    pub(crate) db: u64,
    pub(crate) web: u64,
    pub(crate) data: u64,
    pub(crate) first_item: u64,
    pub(crate) first_submission: u64,
}

pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(Library::new);

pub(super) fn world() -> Value {
    let team = |name: &str| json!({"name": name, "api_keys": [name.to_lowercase()]});
    let service = |owner: &str, title: &str, approval_required: bool| {
        json!({"owner": owner, "approval_required": approval_required, "schema": {
            "title": title, "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}}})
    };
    json!({
        "teams": [team("Alpha"), team("Beta"), team("One"), team("Two")],
        "services": [service("One", "VM", true), service("Two", "DB", false)],
    })
}

/// Returns VMs with this prefix in their names. Their `cpu` is their number.
pub(super) fn vms(prefix: &str, count: u64) -> Vec<Value> {
    (0..count).map(|cpu| json!({"name": format!("{prefix}-{cpu:02}"), "cpu": cpu})).collect()
}

pub(super) fn submit(system: &Running, method: &str, commit: &str, key: &str, body: &Value) -> Answer {
    let path = format!("{CONSUMER}/submissions/submit/?commit_id={commit}");
    system.expect(201, method, &path, key, body)
}

pub(super) fn decide(system: &Running, change: &Value, body: &Value) {
    let path = format!("{OWNER}/change_instances/{change}/");
    system.expect(200, "PATCH", &path, "one", body);
}

impl Library {
    /// Starts a system with these rows:
    ///
    /// - Alpha has the application `web` with 25 VMs and a DB, and `data` with five VMs and a DB. Beta has one VM.
    /// - The first VM is COMPLETED, the next four are APPROVED, one is REJECTED, and the others are PENDING.
    /// - DBs are APPROVED.
    fn new() -> Self {
        let system = Running::start(&world().to_string());
        let db = json!([{"name": "main", "note": "größe 7", "disk": {"size": 1, "kind": "ssd"}}]);
        let web = json!({"services": {"VM": vms("vm", 25), "DB": db}});
        let first = submit(&system, "POST", "c1", "alpha", &json!({"Alpha": {"web": web}}));
        let data = json!({"services": {"VM": vms("data", 5), "DB": [{"name": "replica"}]}});
        submit(&system, "PATCH", "c2", "alpha", &json!({"Alpha": {"data": data}}));
        let beta = json!({"Beta": {"web": {"services": {"VM": vms("beta", 1)}}}});
        submit(&system, "POST", "c3", "beta", &beta);

        let listed = system.get(&format!("{OWNER}/change_instances/?limit=6"), "one");
        let mut changes = listed.at("/results").as_array().unwrap().iter();
        let mut next = || changes.next().unwrap().get("id").unwrap();
        let completed = next();
        for version in 1..=2 {
            let body = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.0", "version": version}});
            decide(&system, completed, &body);
        }
        decide(&system, completed, &json!({"state": "COMPLETED"}));
        for number in 1..=4 {
            let ip = format!("10.0.0.{number}");
            decide(&system, next(), &json!({"state": "APPROVED", "deployed_item": {"ip": ip}}));
        }
        decide(&system, next(), &json!({"state": "REJECTED"}));

        let id = |path: String, key: &str| {
            let answer = system.get(&path, key);
            answer.at("/results/0/id").as_u64().unwrap_or_else(|| panic!("{path}: {answer:?}"))
        };
        let team = |key: &str| id("/v1/account/teams/".to_owned(), key);
        let of_alpha = |rest: &str| id(format!("{CONSUMER}/{rest}"), "alpha");
        Self {
            alpha: team("alpha"),
            beta: team("beta"),
            one: team("one"),
            two: team("two"),
            vm: of_alpha("services/?name=VM"),
            db: of_alpha("services/?name=DB"),
            web: of_alpha("applications/?name=web"),
            data: of_alpha("applications/?name=data"),
            first_item: of_alpha("service_items/?name=vm-00"),
            first_submission: first.at("/id").as_u64().unwrap(),
            system,
        }
    }

    /// Fails unless each query finds this number of rows, in `count` and on the pages.
    #[track_caller]
    pub(crate) fn assert_counts(&self, list: &str, key: &str, cases: &[(String, usize)]) {
        for (query, count) in cases {
            let path = format!("{list}?limit=10&{query}");
            let rows = walk(&self.system, &path, key);
            assert_eq!(rows.len(), *count, "{key} {path}");
        }
    }

    /// Fails unless each query gets `invalid_filter`.
    #[track_caller]
    pub(crate) fn assert_refused(&self, list: &str, key: &str, queries: &[&str]) {
        for query in queries {
            let answer = self.system.get(&format!("{list}?{query}"), key);
            assert_eq!(answer.code(), (400, "invalid_filter"), "{query}");
            let field = query.split('=').next().unwrap();
            let message = answer.at(&format!("/{field}/0")).as_str().unwrap_or_default();
            assert!(!message.is_empty(), "{query}: {answer:?}");
        }
    }
}

/// Returns all rows from a page on, and checks the form of each page.
#[track_caller]
pub(crate) fn walk(system: &Running, path: &str, key: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut next = Some(path.to_owned());
    let mut count = None;
    while let Some(path) = next {
        let answer = system.get(&path, key);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let total = answer.at("/count").as_u64();
        assert_eq!(*count.get_or_insert(total), total, "the count stays: {path}");
        assert!(total.is_some() || path.contains("count=false"), "{path}");
        let page = answer.at("/results").as_array().unwrap();
        assert!(rows.is_empty() || !page.is_empty(), "an empty page at the end: {path}");
        rows.extend(page.iter().cloned());
        next = answer.at("/next").as_str().map(str::to_owned);
        if let Some(next) = &next {
            assert!(next.starts_with(&format!("{}/v1/", system.base)), "{next}");
        }
    }
    let is_whole = count.flatten().is_none_or(|count| usize::try_from(count) == Ok(rows.len()));
    assert!(is_whole || path.contains("offset="));
    rows
}

pub(crate) fn values(rows: &[Value], pointer: &str) -> Vec<Value> {
    rows.iter().map(|row| row.pointer(pointer).cloned().unwrap()).collect()
}

pub(crate) fn ids(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row.get("id").unwrap().as_u64().unwrap()).collect()
}
