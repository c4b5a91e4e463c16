//! Dependent and referenced views: the rows of each team in both roles, and reads by id.

use super::filters::check;
use super::library::{id_of, ids, teams, values, walk};
use crate::api::demo::{CONSUMER, OWNER, SUBMIT, TEAMS};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use support::Running;

/// A shared system. The tests only read it.
///
/// Alpha has a VM and three load balancers, Beta has one load balancer. LB has the dependent teams Net and Dns, VM
/// has none. One deployed the first load balancer twice, the second and the VM once. Then Alpha modified the VM.
static SYSTEM: LazyLock<Running> = LazyLock::new(|| {
    let system = Running::start(&world().to_string());
    submit(&system, "alpha", &alpha(1));
    submit(&system, "beta", &json!({"Beta": {"shop": {"services": {"LB": [{"name": "lb-beta"}]}}}}));
    for (name, ips) in
        [("lb-1", &["10.0.0.1", "10.0.0.2"][..]), ("lb-2", &["10.0.0.3"]), ("vm", &["10.0.0.4"])]
    {
        for ip in ips {
            deploy(&system, name, ip);
        }
    }
    submit(&system, "alpha", &alpha(2));
    system.assert_sound();
    system
});

fn world() -> Value {
    let service = |title: &str, dependents: Value, allowed: Value| {
        json!({"owner": "One", "dependent_teams": dependents, "allowed_teams": allowed, "schema": {
            "title": title, "type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"},
                "vms": {"type": "array", "items": {"type": "string"}, "format": "reference_list",
                    "reference_method": "list", "service_reference": "VM"}}}})
    };
    json!({
        "teams": teams(&["Alpha", "Beta", "One", "Net", "Dns"]),
        "services": [
            service("VM", json!([]), Value::Null),
            service("LB", json!(["Net", "Dns"]), Value::Null),
            service("Private", json!(["Net"]), json!(["Beta"])),
        ],
    })
}

/// Returns Alpha's declaration. Its first two load balancers reference the VM.
fn alpha(cpu: u64) -> Value {
    let balancer = |name: &str| json!({"name": name, "vms": ["vm"]});
    json!({"Alpha": {"shop": {"services": {
        "VM": [{"name": "vm", "cpu": cpu}],
        "LB": [balancer("lb-1"), balancer("lb-2"), {"name": "lb-3"}]}}}})
}

fn submit(system: &Running, key: &str, body: &Value) {
    system.expect(201, "POST", SUBMIT, key, body);
    system.wait_idle();
}

/// Approves the open change instance of an item with a deployed item, as One.
fn deploy(system: &Running, item: &str, ip: &str) {
    let open =
        format!("{OWNER}/change_instances/?state=PENDING,APPROVED&declaration={{%22name%22:%22{item}%22}}");
    let change = id_of(system, &open, "one");
    let body = json!({"state": "APPROVED", "deployed_item": {"ip": ip}});
    system.expect(200, "PATCH", &format!("{OWNER}/change_instances/{change}/"), "one", &body);
}

/// Returns the text of a row: its item or service, and for a change instance also its owner.
fn row_text(list: &str, row: &Value) -> String {
    let text = |pointer: &str| row.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
    match list.split('/').next().unwrap() {
        "change_instances" => {
            let (item, owner) = (text("/service_item/name"), text("/owner/name"));
            format!("{item} {} {} for {owner}", text("/change_type"), text("/kind"))
        }
        "deployed_items" => format!("{} v{}", text("/data/ip"), row.get("version").unwrap()),
        _ => text("/name"),
    }
}

fn rows(side: &str, list: &str, key: &str) -> Vec<Value> {
    let parameter = if list.contains('?') { '&' } else { '?' };
    walk(&SYSTEM, &format!("{side}/{list}{parameter}limit=100"), key)
}

fn row_texts(side: &str, list: &str, key: &str) -> Vec<String> {
    let mut row_texts: Vec<String> = rows(side, list, key).iter().map(|row| row_text(list, row)).collect();
    row_texts.sort();
    row_texts
}

const NETS_SHARES: [&str; 6] = [
    "lb-1 CREATE DEPENDENT for Net",
    "lb-1 MODIFY DEPENDENT for Net",
    "lb-2 CREATE DEPENDENT for Net",
    "lb-2 MODIFY DEPENDENT for Net",
    "lb-3 CREATE DEPENDENT for Net",
    "lb-beta CREATE DEPENDENT for Net",
];
const BETAS_SHARES: [&str; 2] = ["lb-beta CREATE DEPENDENT for Dns", "lb-beta CREATE DEPENDENT for Net"];
const REFERENCED: [&str; 2] = ["lb-1 MODIFY REFERENCED for One", "lb-2 MODIFY REFERENCED for One"];

/// Each list with all rows of one reader.
const ROWS: &[(&str, &str, &str, &[&str])] = &[
    // The dependent team's role: its shares of other teams' services. A service owner has no share of its own
    // service.
    (OWNER, "service_items/dependant/", "net", &["lb-1", "lb-2", "lb-3", "lb-beta"]),
    (OWNER, "service_items/dependant/", "one", &[]),
    (OWNER, "service_items/dependant/", "alpha", &[]),
    (OWNER, "change_instances/dependant/", "net", &NETS_SHARES),
    (OWNER, "change_instances/dependant/", "one", &[]),
    (OWNER, "deployed_items/dependant/", "net", &["10.0.0.2 v2", "10.0.0.3 v1"]),
    (OWNER, "deployed_items/dependant/", "one", &[]),
    (OWNER, "services/dependant/", "net", &["LB", "Private"]),
    (OWNER, "services/dependant/", "dns", &["LB"]),
    (OWNER, "services/dependant/", "one", &[]),
    // The consumer's role: its items of services with dependent teams.
    (CONSUMER, "service_items/dependant/", "alpha", &["lb-1", "lb-2", "lb-3"]),
    (CONSUMER, "service_items/dependant/", "beta", &["lb-beta"]),
    (CONSUMER, "service_items/dependant/", "net", &[]),
    (CONSUMER, "change_instances/dependant/", "beta", &BETAS_SHARES),
    (CONSUMER, "deployed_items/dependant/", "alpha", &["10.0.0.2 v2", "10.0.0.3 v1"]),
    (CONSUMER, "deployed_items/dependant/", "beta", &[]),
    (CONSUMER, "services/dependant/", "alpha", &["LB"]),
    (CONSUMER, "services/dependant/", "beta", &["LB", "Private"]),
    // The load balancers with a reference to the modified VM.
    (OWNER, "change_instances/referenced/", "one", &REFERENCED),
    (CONSUMER, "change_instances/referenced/", "alpha", &REFERENCED),
    (OWNER, "change_instances/referenced/", "net", &[]),
    (CONSUMER, "change_instances/referenced/", "beta", &[]),
];

#[test]
fn each_team_finds_its_side_of_what_is_dependent_or_referenced() {
    for (side, list, key, expected) in ROWS {
        assert_eq!(row_texts(side, list, key), *expected, "{key}: {side}/{list}");
    }
}

#[test]
fn a_listed_row_equals_the_object_read_by_its_id() {
    for (side, list, key, expected) in ROWS {
        for row in rows(side, list, key) {
            let url = row["url"].as_str().unwrap();
            let mut read = SYSTEM.get(url, key);
            // A list shows these with a parameter alone.
            for more in ["references", "causes", "is_ready", "waits_for"] {
                read.body.as_object_mut().unwrap().remove(more);
            }
            assert_eq!((read.status, &read.body), (200, &row), "{key}: {side}/{list}");
            if list.starts_with("change_instances/") {
                assert_eq!(SYSTEM.get(&format!("{url}history/"), key).status, 200, "{key}: {url}");
            }
        }
        // Pages of one row must give the same rows in the same order.
        let whole = ids(&rows(side, list, key));
        assert_eq!(whole.len(), expected.len());
        let single = ids(&walk(&SYSTEM, &format!("{side}/{list}?limit=1"), key));
        assert_eq!(single, whole, "{key}: {side}/{list}");
    }
}

#[test]
fn a_dependent_reads_the_newest_deployed_item_alone() {
    let versions = rows(OWNER, "deployed_items/", "one");
    let read = |key: &str, id: &Value| SYSTEM.get(&format!("{OWNER}/deployed_items/{id}/"), key).status;
    let status =
        |row: &Value| (row_text("deployed_items/", row), read("net", &row["id"]), read("beta", &row["id"]));
    let mut statuses: Vec<_> = versions.iter().map(status).collect();
    statuses.sort();
    // The last one belongs to the VM, and VM has no dependent teams.
    let status = |row: &str, status| (row.to_owned(), status, 404);
    let expected = [
        status("10.0.0.1 v1", 404),
        status("10.0.0.2 v2", 200),
        status("10.0.0.3 v1", 200),
        status("10.0.0.4 v1", 404),
    ];
    assert_eq!(statuses, expected);
}

#[test]
fn a_dependent_has_no_part_in_anything_but_its_share() {
    let id = |list: &str| id_of(&SYSTEM, &format!("{OWNER}/{list}"), "net");
    let (item, service) = (id("service_items/dependant/?name=lb-1"), id("services/dependant/?name=Private"));
    let share = id("change_instances/dependant/?state=PENDING");
    let deployed = id("deployed_items/dependant/");
    let main = id_of(&SYSTEM, &format!("{OWNER}/change_instances/?service_name=LB"), "one");
    let create = format!("{OWNER}/deployed_items/");
    let (stolen, of_share) =
        (json!({"ip": "stolen"}), json!({"data": {"ip": "stolen"}, "change_instance": share}));
    for (method, path, body, status, code) in [
        ("GET", format!("{CONSUMER}/service_items/{item}/"), Value::Null, 404, "not_found"),
        // A dependent team of a private service must not find it as a consumer.
        ("GET", format!("{CONSUMER}/services/{service}/"), Value::Null, 404, "not_found"),
        ("PATCH", format!("{OWNER}/services/{service}/"), json!({}), 403, "foreign_service"),
        ("GET", format!("{OWNER}/change_instances/{main}/"), Value::Null, 404, "not_found"),
        ("PATCH", format!("{OWNER}/change_instances/{main}/"), json!({"log": "stolen"}), 404, "not_found"),
        ("PATCH", format!("{OWNER}/deployed_items/{deployed}/"), json!({"data": stolen}), 404, "not_found"),
        ("POST", create.clone(), json!({"data": stolen, "service_item": item}), 404, "not_found"),
        ("POST", create, of_share, 400, "deployed_item_not_main"),
    ] {
        let answer = SYSTEM.call(method, &path, "net", &body);
        assert_eq!(answer.code(), (status, code), "{method} {path} {body}");
    }
}

#[test]
fn ordering_is_taken_and_ignored() {
    for (side, list, key, _) in ROWS {
        let whole = rows(side, list, key);
        for ordering in ["created", "-created", "-id", "colour", "-"] {
            let ordered = rows(side, &format!("{list}?ordering={ordering}"), key);
            assert_eq!(ids(&ordered), ids(&whole), "{key}: {side}/{list}?ordering={ordering}");
        }
    }
}

/// Filters of these lists and the plain ones. [`check`] explains the lines.
///
/// Filters of a plain list divide dependent, referenced and other change instances.
const FILTERS: &str = "
lists serviceowner/service_items/dependant:net
1   consumer_team_id={beta}
3   application_id={shop}
2   runtime_state=REQUESTED declaration_contains=vms
refused runtime_state=GONE

lists consumer/service_items/dependant:alpha
3   application_id={shop}
0   service_name=VM

lists serviceowner/change_instances/dependant:net
2   service_item_id={item} change_type=MODIFY
1   service_item_id={item}&state=PENDING
4   state=PENDING
0   is_dependant=false
refused state=DONE

lists consumer/change_instances/dependant:alpha
4   service_item_id={item} state=CLOSED&service_name=LB

lists serviceowner/change_instances/referenced:one
1   service_item_id={item}
0   exclude_referenced=true
lists consumer/change_instances/referenced:alpha
0   state=APPROVED
lists serviceowner/change_instances/referenced:net
refused is_dependant=perhaps

lists serviceowner/deployed_items/dependant:net
1   service_item_id={item} declaration={%22ip%22:%2210.0.0.2%22}
2   consumer_team_id={alpha},{beta}
0   consumer_team_id={beta} declaration_contains=10.0.0.1
refused service_item_id=x
lists consumer/deployed_items/dependant:alpha
2   declaration_regex=10.0.0.%5B23%5D

lists serviceowner/services/dependant:net
1   name=LB
lists consumer/services/dependant:beta
0   name=VM

lists consumer/change_instances:alpha
17  count=true
10  is_dependant=true
7   is_dependant=false
5   is_dependant=false&exclude_referenced=true
15  exclude_referenced=true
lists serviceowner/change_instances:net
6   is_dependant=True
0   is_dependant=False
lists serviceowner/change_instances:one
0   is_dependant=True
";

#[test]
fn the_lists_have_the_filters_of_the_lists_that_they_belong_to() {
    let id = |list: &str, key: &str| id_of(&SYSTEM, list, key);
    let ids = [
        ("alpha", id(TEAMS, "alpha")),
        ("beta", id(TEAMS, "beta")),
        ("item", id(&format!("{CONSUMER}/service_items/?name=lb-1"), "alpha")),
        ("shop", id(&format!("{CONSUMER}/applications/"), "alpha")),
    ];
    check(&SYSTEM, &ids, FILTERS);
}

#[test]
fn a_share_stays_after_the_service_drops_the_team() {
    let system = Running::start(&world().to_string());
    submit(&system, "beta", &json!({"Beta": {"shop": {"services": {"LB": [{"name": "lb-beta"}]}}}}));
    let lb = id_of(&system, &format!("{OWNER}/services/?name=LB"), "one");
    let path = format!("{OWNER}/services/{lb}/");
    system.expect(200, "PATCH", &path, "one", &json!({"dependant_teams": ["Dns"]}));
    assert_eq!(system.get(&path, "net").status, 404);
    let names = |list: &str| values(&walk(&system, &format!("{OWNER}/{list}/"), "net"), "/name");
    assert_eq!(names("service_items/dependant"), ["lb-beta"]);
    assert_eq!(names("services/dependant"), ["Private"]);
    let owners = walk(&system, &format!("{CONSUMER}/change_instances/dependant/"), "beta");
    let owners: BTreeSet<String> =
        values(&owners, "/owner/name").iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(owners, BTreeSet::from(["Dns".to_owned(), "Net".to_owned()]));
}
