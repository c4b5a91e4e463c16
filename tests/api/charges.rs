//! Charges over HTTP: lists and filters, processing marks, sums per item, and the storage calls of a page.

use crate::api::demo::{SERVICES, SUBMIT, TEAMS, definition};
use crate::api::lists::library::{id_of, teams, walk};
use domain::ItemId;
use domain::base::id::ChargeId;
use domain::base::money::Amount;
use domain::model::charge::Charge;
use domain::model::write::Write;
use dovetail_table::Commit;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use support::{Answer, ApiRequest, Running, Watched, first_commands};

const PAGE: &str = include_str!("../../docs/reference/http/charges.md");
const OWNER: &str = "/v1/marketplace/serviceowner/charges/";
const CONSUMER: &str = "/v1/marketplace/consumer/charges/";

fn world() -> Value {
    let service = |owner: &str, title: &str, metadata: Value| {
        let schema = priced(title, metadata);
        json!({"owner": owner, "approval_required": false, "schema": schema})
    };
    json!({
        "teams": teams(&["Alpha", "Beta", "One", "Two"]),
        "services": [
            service("One", "VM", json!({"cost_per_change": 0.1, "monthly_cost": 49.99})),
            service("One", "Free", json!({"cost_per_change": 0, "monthly_cost": 0})),
            service("Two", "DB", json!({"monthly_cost": 1_000_000_000})),
        ],
    })
}

fn priced(title: &str, metadata: Value) -> Value {
    let mut definition = definition(title);
    definition["metadata"] = metadata;
    definition
}

/// Declares items and waits. The services need no approval, so the items are in service at once.
fn declare(system: &Running, team: &str, services: &Value) {
    let body = json!({team: {"web": {"services": services}}});
    system.expect(201, "POST", SUBMIT, &team.to_lowercase(), &body);
    system.wait_idle();
}

/// Starts a system with charges of two consumers.
///
/// Alpha has 25 VMs (one modified twice), one free item and one DB, and Beta has one VM. The owner One has processed
/// its first charge of each type.
fn populated() -> Running {
    let system = Running::start(&world().to_string());
    for cpu in 0..3 {
        let vm = |n: u64| json!({"name": format!("vm-{n:02}"), "cpu": if n == 0 { cpu } else { 0 }});
        let vms: Vec<Value> = (0..25).map(vm).collect();
        declare(&system, "Alpha", &json!({"VM": vms, "Free": [{"name": "f"}], "DB": [{"name": "d"}]}));
    }
    declare(&system, "Beta", &json!({"VM": [{"name": "b"}]}));
    for charge_type in ["cost_per_change", "monthly_cost"] {
        let first = system.get(&format!("{OWNER}?limit=1&charge_type={charge_type}"), "one");
        let path = first.at("/results/0/url").as_str().unwrap();
        let marked = system.call("PATCH", path, "one", &json!({"processed": true}));
        marked.assert_is(200, &json!({"/processed": true}));
    }
    system
}

#[test]
fn each_filter_finds_its_charges_in_either_role() {
    let system = populated();
    let beta = id_of(&system, TEAMS, "beta");
    let divided = system.get(&format!("{OWNER}?charge_type=monthly_cost&processed=true"), "one");
    let item = divided.at("/results/0/service_item/id").clone();
    // 26 VMs, each with a fee and a time charge. Two modifications added fees, and the processing divided one time
    // charge.
    for (list, key, query, count) in [
        (OWNER, "one", "", 26 + 2 + 26 + 1),
        (OWNER, "one", "charge_type=cost_per_change", 28),
        (OWNER, "one", "charge_type=monthly_cost", 27),
        (OWNER, "one", "charge_type=monthly_cost,cost_per_change&processed=true", 2),
        (OWNER, "one", "processed=False", 53),
        (OWNER, "one", "charge_type=monthly_cost&processed=true", 1),
        (OWNER, "one", &format!("consumer_team_id={beta}"), 2),
        (OWNER, "one", &format!("service_item_id={item}&charge_type=monthly_cost"), 2),
        (OWNER, "one", "service_name=DB", 0),
        (OWNER, "two", "", 1),
        (OWNER, "alpha", "", 0),
        (CONSUMER, "alpha", "", 27 + 26 + 1),
        (CONSUMER, "alpha", "charge_type=cost_per_change", 27),
        (CONSUMER, "alpha", "processed=true", 2),
        (CONSUMER, "alpha", "service_name=DB", 1),
        (CONSUMER, "alpha", "charge_type=monthly_cost&processed=false&service_name=VM", 25),
        (CONSUMER, "beta", "", 2),
        (CONSUMER, "one", "", 0),
    ] {
        for limit in [10, 100] {
            let path = format!("{list}?limit={limit}&{query}");
            let rows = walk(&system, &path, key);
            assert_eq!(rows.len(), count, "{key} {path}");
            let ids: BTreeSet<u64> = rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
            assert_eq!(ids.len(), count, "each charge is on one page: {key} {path}");
        }
    }
    for (query, detail) in [
        ("charge_type=yearly", "charge_type: must be one of cost_per_change, monthly_cost"),
        ("processed=maybe", "processed"),
        ("ordering=price", "ordering: must be one of created, id, charge_type"),
    ] {
        let answer = system.get(&format!("{OWNER}?{query}"), "one");
        assert_eq!(answer.at("/code"), "invalid_filter", "{query}");
        assert!(answer.at("/detail").as_str().unwrap().starts_with(detail), "{answer:?}");
    }
    let unknown = system.get(&format!("{OWNER}?colour=red"), "one");
    assert_eq!((unknown.status, unknown.body), (400, json!(["Filter param not found."])));
    system.assert_sound();
}

#[test]
fn charges_come_in_the_requested_order() {
    let system = populated();
    for (list, key, stored) in [(OWNER, "one", "created"), (CONSUMER, "alpha", "id")] {
        let up = walk(&system, &format!("{list}?limit=7&ordering={stored}"), key);
        let mut down = walk(&system, &format!("{list}?limit=7&ordering=-{stored}"), key);
        down.reverse();
        let ids = |rows: &[Value]| rows.iter().map(|row| row["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(&up), ids(&down));
        let field = if stored == "id" { "id" } else { "start" };
        assert!(up.is_sorted_by_key(|row| row[field].to_string()), "{list}");
        let sorted = walk(&system, &format!("{list}?limit=7&ordering=charge_type"), key);
        assert!(sorted.is_sorted_by_key(|row| row["charge_type"].to_string()));
    }
}

#[test]
fn an_owner_who_bills_all_the_time_delays_no_submission() {
    let system = Running::start(&world().to_string());
    declare(&system, "Alpha", &json!({"VM": [{"name": "vm"}]}));
    let running = format!("{OWNER}?charge_type=monthly_cost&processed=false");
    let watched = Watched::on(&system);
    let bill = || {
        let path = system.get(&running, "one").at("/results/0/url").as_str().unwrap().to_owned();
        let (method, key, body) = ("PATCH", Some("one"), br#"{"processed": true}"#.to_vec());
        watched.send(&ApiRequest { method, path: &path, key, body, ..ApiRequest::default() })
    };
    let (billed, seen) = bill();
    assert_eq!(billed.status, 200, "{billed:?}");
    let writes: Vec<&Value> = seen.iter().filter_map(|seen| seen.request.get("TransactItems")).collect();
    let written = writes.iter().flat_map(|items| items.as_array().unwrap());
    let written: BTreeSet<String> = written.map(key).collect();
    assert_eq!(writes.len(), 1, "{seen:?}");
    let team = id_of(&system, TEAMS, "alpha");
    assert!(written.iter().any(|key| key.starts_with(&format!("CHARGE#{team}"))), "{written:?}");
    assert!(!written.contains(&format!("TEAM#{team} HEAD")), "billing leaves the head alone: {written:?}");
    for _ in 0..3 {
        let (refused, seen) = bill();
        assert_eq!(refused.code(), (400, "divided_just_now"), "{refused:?}");
        let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((3_500..=3_600).contains(&seconds), "{seconds}");
        assert!(seen.iter().all(|seen| seen.request.get("TransactItems").is_none()), "{seen:?}");
    }
    system.assert_sound();
}

#[test]
fn a_taken_number_is_replaced() {
    let system = Running::start(&world().to_string());
    declare(&system, "Alpha", &json!({"VM": [{"name": "vm"}]}));
    let running = system.get(&format!("{OWNER}?charge_type=monthly_cost"), "one");
    let id = |pointer: &str| running.at(pointer).as_u64().unwrap();
    let charge = ChargeId::parse(id("/results/0/id")).unwrap();
    let item = ItemId::parse(id("/results/0/service_item/id")).unwrap();
    let charge = system.block_on(system.table.charge(charge)).unwrap().unwrap();
    let revision = system.block_on(system.table.item(item)).unwrap().unwrap().revision;
    let taken = Charge { id: ChargeId::continued(item, revision, 0), ..charge };
    let stored = system.block_on(system.table.commit(&[Write::CreateCharge(taken.clone())])).unwrap();
    assert_eq!(stored, Commit::Done);
    let path = running.at("/results/0/url").as_str().unwrap();
    system.expect(200, "PATCH", path, "one", &json!({"processed": true}));
    let item = system.block_on(system.table.item(item)).unwrap().unwrap();
    assert_eq!(item.charges.running.unwrap().charge, ChargeId::continued(item.id, revision, 1));
    let same = system.block_on(system.table.charge(taken.id)).unwrap();
    assert_eq!(same, Some(taken));
}

/// Returns the key of a write in a transaction.
fn key(write: &Value) -> String {
    let (_, write) = write.as_object().unwrap().iter().next().unwrap();
    let key = write.get("Key").or(write.get("Item")).unwrap();
    let part = |pointer: &str| key.pointer(pointer).and_then(Value::as_str).unwrap();
    format!("{} {}", part("/pk/S"), part("/sk/S"))
}

#[test]
fn the_cost_of_an_item_is_the_sum_of_its_charges() {
    let system = populated();
    for (side, key, count) in
        [("serviceowner", "one", 26), ("consumer", "alpha", 26), ("consumer", "beta", 1)]
    {
        let path = format!("/v1/marketplace/{side}/charges/accumulated/?limit=10");
        let summed = walk(&system, &path, key);
        assert_eq!(summed.len(), count, "{key}: free items are left out");
        for sum in &summed {
            let filter = format!("service_item_id={}&charge_type=cost_per_change", sum["id"]);
            let fees = system.get(&format!("/v1/marketplace/{side}/charges/?{filter}"), key);
            // Prices are decimal numbers, so three fees of 0.1 are exactly 0.3.
            let fee = fees.at("/count").as_u64().unwrap();
            let expected = [json!(0), json!(0.1), json!(0.2), json!(0.3)];
            assert_eq!(sum["cost_per_change"], expected[usize::try_from(fee).unwrap()]);
            assert!(sum["monthly_cost"].as_f64().unwrap() >= 0.0);
        }
        let processed = summed.iter().filter(|sum| sum["processed_charge"] != 0).count();
        // The processed time can cost less than a millionth, and then its sum is 0.
        let expected = if key == "beta" { 0..=0 } else { 1..=2 };
        assert!(expected.contains(&processed), "{key} {processed}");
    }
    let db = system.get("/v1/marketplace/serviceowner/charges/accumulated/?service_name=DB", "two");
    assert_eq!((db.at("/count"), db.at("/results/0/cost_per_change")), (&json!(1), &json!(0)));
}

#[test]
fn groups_have_the_sums_of_their_items() {
    let system = populated();
    for (side, key, by, groups) in [
        ("serviceowner", "one", "application", vec![("web", 25), ("web", 1)]),
        ("serviceowner", "one", "consumer_team", vec![("Alpha", 25), ("Beta", 1)]),
        ("serviceowner", "one", "service_owner_team", vec![("One", 26)]),
        ("consumer", "alpha", "application", vec![("web", 26)]),
        ("consumer", "alpha", "consumer_team", vec![("Alpha", 26)]),
        ("consumer", "alpha", "service_owner_team", vec![("One", 25), ("Two", 1)]),
        ("consumer", "one", "application", vec![]),
    ] {
        let list = format!("/v1/marketplace/{side}/charges/accumulated/");
        let before = walk(&system, &format!("{list}?limit=10"), key);
        let grouped = system.get(&format!("{list}?group_by={by}"), key);
        let after = walk(&system, &format!("{list}?limit=10"), key);
        let sums = grouped.rows();
        grouped.assert_is(200, &json!({"/next": null, "/count": sums.len()}));
        let name = |sum: &Value| (sum[by]["name"].clone(), sum["service_items"].clone());
        let expected: Vec<_> = groups.iter().map(|(name, items)| (json!(name), json!(items))).collect();
        assert_eq!(sums.iter().map(name).collect::<Vec<_>>(), expected, "{key} {by}");
        for sum in sums {
            let is_in = |item: &&Value| item[by] == sum[by];
            let of = |items: &[Value], name: &str| -> u64 {
                items.iter().filter(is_in).map(|item| millionths(&item[name])).sum()
            };
            for name in ["cost_per_change", "processed_charge"] {
                assert_eq!(millionths(&sum[name]), of(&before, name), "{key} {by} {name}");
            }
            // Time in service costs more from one request to the next.
            for name in ["accrued_monthly", "total_charge", "open_charge"] {
                let range = of(&before, name)..=of(&after, name);
                assert!(range.contains(&millionths(&sum[name])), "{key} {by} {name}: {range:?} {sum}");
            }
            let total = millionths(&sum["cost_per_change"]) + millionths(&sum["accrued_monthly"]);
            let parts = millionths(&sum["processed_charge"]) + millionths(&sum["open_charge"]);
            assert_eq!((millionths(&sum["total_charge"]), parts), (total, total), "{sum}");
        }
        for item in before {
            assert_eq!(item["accrued_monthly"], item["monthly_cost"], "the earlier name has the same value");
        }
    }
    let grouped = system.get(&format!("{CONSUMER}accumulated/?group_by=application"), "beta");
    let application = grouped.at("/results/0/application/id");
    for (filter, count) in [("service_name=DB", 1), ("service_name=Free", 0)] {
        let path = format!("{CONSUMER}accumulated/?group_by=application&{filter}");
        assert_eq!(system.get(&path, "alpha").at("/count"), count, "{filter}");
    }
    let path = format!("{OWNER}accumulated/?group_by=application&application_id={application}");
    assert_eq!(system.get(&path, "one").at("/results/0/consumer_team/name"), "Beta");
    let path = format!("{OWNER}accumulated/?group_by=month");
    let detail = "group_by: must be one of application, consumer_team, service_owner_team";
    assert_eq!(system.get(&path, "one").at("/detail"), detail);
    for paging in ["limit=5", "offset=1", "ordering=id"] {
        let refused = system.get(&format!("{OWNER}accumulated/?group_by=application&{paging}"), "one");
        assert_eq!((refused.status, &refused.body), (400, &json!(["Filter param not found."])), "{paging}");
    }
}

#[test]
fn the_pages_of_sums_have_every_item_once() {
    const READ_AT_MOST: u64 = 1_000;
    let system = Running::start(&world().to_string());
    let vms = |count: u64| (0..count).map(|n| json!({"name": format!("vm-{n:04}")})).collect::<Vec<Value>>();
    declare(&system, "Alpha", &json!({"VM": vms(READ_AT_MOST), "DB": [{"name": "d"}]}));
    declare(&system, "Beta", &json!({"VM": vms(25)}));
    let sums = |side: &str, key: &str| {
        let list = format!("/v1/marketplace/{side}/charges/accumulated/?group_by=consumer_team");
        let (pages, mut items) = (system.pages(&list, key), BTreeMap::new());
        for sum in pages.iter().flat_map(Answer::rows) {
            let team = sum["consumer_team"]["name"].as_str().unwrap().to_owned();
            let fees = millionths(&sum["cost_per_change"]);
            let total: &mut (u64, u64) = items.entry(team).or_default();
            *total = (total.0 + sum["service_items"].as_u64().unwrap(), total.1 + fees);
        }
        (pages.len(), items.into_iter().collect::<Vec<_>>())
    };
    let of = |team: &str, items: u64, vms: u64| (team.to_owned(), (items, vms * 100_000));
    assert_eq!(sums("serviceowner", "one"), (2, vec![of("Alpha", 1_000, 1_000), of("Beta", 25, 25)]));
    assert_eq!(sums("consumer", "alpha"), (2, vec![of("Alpha", 1_001, 1_000)]));
    assert_eq!(sums("consumer", "beta"), (1, vec![of("Beta", 25, 25)]));
}

/// Returns an amount in millionths.
fn millionths(amount: &Value) -> u64 {
    let amount = Amount::parse(&amount.to_string()).unwrap();
    u64::try_from(amount.millionths()).unwrap()
}

#[test]
fn the_page_shows_the_costs_by_application_as_they_are() {
    let system = Running::demo();
    let priced = priced("VM", json!({"cost_per_change": 5, "monthly_cost": 73}));
    system.expect(200, "POST", SERVICES, "vm-owner-key", &priced);
    let body = json!({"AwesomeConsumer": {"Shop": {"services": {"VM": [{"name": "web"}, {"name": "db"}]}}}});
    system.expect(201, "POST", SUBMIT, "awesome-key", &body);
    let actual: Value = serde_json::from_slice(&first_commands(PAGE, &system)).unwrap();
    let shown = PAGE.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let mut shown: Value = serde_json::from_str(shown).unwrap();
    let sum = shown["results"][0].clone();
    let of = |name: &str| millionths(&sum[name]);
    assert_eq!(of("total_charge"), of("cost_per_change") + of("accrued_monthly"));
    assert_eq!(of("total_charge"), of("processed_charge") + of("open_charge"));
    // The page shows the sums after some time in service.
    for name in ["accrued_monthly", "total_charge", "open_charge"] {
        shown["results"][0][name] = actual["results"][0][name].clone();
    }
    assert_eq!(actual, shown);
}

#[test]
fn charges_are_not_made_or_removed_by_hand() {
    let system = populated();
    let charge = id_of(&system, OWNER, "one");
    for (method, path, allowed) in [
        ("POST", OWNER.to_owned(), "GET, HEAD"),
        ("DELETE", format!("{OWNER}{charge}/"), "GET, HEAD, PATCH"),
        ("PUT", format!("{OWNER}{charge}/"), "GET, HEAD, PATCH"),
        ("PATCH", format!("{OWNER}accumulated/"), "GET, HEAD"),
    ] {
        let answer = system.call(method, &path, "one", &json!({"processed": true}));
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{method} {path}");
    }
    system.expect(200, "PATCH", &format!("{OWNER}{charge}/"), "one", &json!({}));
}

#[test]
fn a_page_takes_a_query_for_each_kind_and_one_batch() {
    let system = populated();
    let watched = Watched::on(&system);
    for (list, key, queries, batches) in [
        (format!("{OWNER}?limit=20"), "one", 4 + 4, 1),
        (format!("{OWNER}?limit=20&charge_type=monthly_cost&processed=false"), "one", 1 + 1, 1),
        (format!("{CONSUMER}?limit=20"), "alpha", 1 + 1, 0),
        (format!("{CONSUMER}accumulated/?limit=20"), "alpha", 1 + 1, 0),
    ] {
        let request = ApiRequest { method: "GET", path: &list, key: Some(key), ..ApiRequest::default() };
        let (answer, seen) = watched.send(&request);
        assert_eq!((answer.status, answer.rows().len()), (200, 20), "{answer:?}");
        let (own_rows, others): (Vec<_>, Vec<_>) =
            seen.iter().partition(|seen| seen.request.get("KeyConditionExpression").is_some());
        // The first page also has a count, so each query has a second one that only counts. The sums read live and gone
        // items, without a count.
        assert_eq!((own_rows.len(), others.len()), (queries, batches), "{list}");
    }
}
