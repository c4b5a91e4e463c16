//! A shared system with many rows, and reads of whole lists.

use crate::api::demo::{CONSUMER, OWNER, SUBMIT, TEAMS, definition};
use serde_json::{Value, json};
use std::sync::LazyLock;
use support::{Answer, Running};

/// A shared system. The tests only read it.
pub(crate) struct Library {
    pub(crate) system: Running,
    /// Ids for filters, by the names of the objects.
    pub(super) ids: Vec<(&'static str, u64)>,
}

pub(crate) static LIBRARY: LazyLock<Library> = LazyLock::new(Library::new);

pub(super) fn world() -> Value {
    let vm = json!({"owner": "One", "approval_required": true, "schema": definition("VM")});
    let db = json!({"owner": "Two", "approval_required": false, "schema": definition("DB")});
    json!({"teams": teams(&["Alpha", "Beta", "One", "Two"]), "services": [vm, db]})
}

/// Returns teams of a world. The API key of each is its name in lower case.
pub(crate) fn teams(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| json!({"name": name, "api_keys": [name.to_lowercase()]})).collect()
}

/// Returns VMs with this prefix in their names. Their `cpu` is their number.
pub(super) fn vms(prefix: &str, count: u64) -> Vec<Value> {
    (0..count).map(|cpu| json!({"name": format!("{prefix}-{cpu:02}"), "cpu": cpu})).collect()
}

pub(super) fn submit(system: &Running, method: &str, commit: &str, key: &str, body: &Value) -> Answer {
    let path = format!("{SUBMIT}?commit_id={commit}");
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
        let mut changes = listed.rows().iter();
        let mut next = || &changes.next().unwrap()["id"];
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

        let mut ids = vec![("first_submission", first.at("/id").as_u64().unwrap())];
        ids.extend(["alpha", "beta", "one", "two"].map(|team| (team, id_of(&system, TEAMS, team))));
        for (name, list) in [
            ("vm", "services/?name=VM"),
            ("db", "services/?name=DB"),
            ("web", "applications/?name=web"),
            ("data", "applications/?name=data"),
            ("first_item", "service_items/?name=vm-00"),
        ] {
            ids.push((name, id_of(&system, &format!("{CONSUMER}/{list}"), "alpha")));
        }
        Self { system, ids }
    }
}

/// Returns the id of the first row of a list.
pub(crate) fn id_of(system: &Running, list: &str, key: &str) -> u64 {
    let answer = system.get(list, key);
    answer.at("/results/0/id").as_u64().unwrap_or_else(|| panic!("{list}: {answer:?}"))
}

/// Fails unless each query gets `invalid_filter`, with a message for its filter.
#[track_caller]
pub(super) fn assert_refused(system: &Running, list: &str, key: &str, queries: &[&str]) {
    for query in queries {
        let answer = system.get(&format!("{list}?{query}"), key);
        assert_eq!(answer.code(), (400, "invalid_filter"), "{list}?{query}");
        let field = query.split('=').next().unwrap();
        let message = answer.at(&format!("/{field}/0")).as_str().unwrap_or_default();
        assert!(!message.is_empty(), "{list}?{query}: {answer:?}");
    }
}

/// Returns all rows from a page on, and checks the form of each page.
#[track_caller]
pub(crate) fn walk(system: &Running, path: &str, key: &str) -> Vec<Value> {
    let pages = system.pages(path, key);
    let count = pages[0].at("/count").as_u64();
    assert!(count.is_some() || path.contains("count=false"), "{path}");
    for (number, page) in pages.iter().enumerate() {
        assert_eq!(page.at("/count").as_u64(), count, "each page has the same count: {path}");
        assert!(number == 0 || !page.rows().is_empty(), "only the first page may be empty: {path}");
        let next = page.at("/next").as_str();
        assert!(next.is_none_or(|next| next.starts_with(&format!("{}/v1/", system.base))), "{next:?}");
    }
    let rows: Vec<Value> = pages.iter().flat_map(Answer::rows).cloned().collect();
    let is_whole = count.is_none_or(|count| usize::try_from(count) == Ok(rows.len()));
    assert!(is_whole || path.contains("offset="), "the count is the number of rows: {path}");
    rows
}

pub(crate) fn values(rows: &[Value], pointer: &str) -> Vec<Value> {
    rows.iter().map(|row| row.pointer(pointer).cloned().unwrap()).collect()
}

pub(crate) fn ids(rows: &[Value]) -> Vec<u64> {
    rows.iter().map(|row| row.get("id").unwrap().as_u64().unwrap()).collect()
}
