//! Costs with 10,000 items: pages of long lists, and the impact of a definition.

use super::figures::Figures;
use super::page::Table;
use crate::prepared::Prepared;
use crate::request::Answer;
use crate::running::Running;
use serde_json::{Value, json};

const OWNER: &str = "/v1/orcabase/serviceowner";
const DRY_RUN: &str = "/v1/orcabase/serviceowner/services/validate/?dry_run=true";

const ITEMS: u64 = 10_000;

/// 10,000 VMs of One in one application of Alpha.
static LARGE: Prepared = Prepared::new("items-10000", world, declare);

fn world() -> String {
    let team = |name: &str| json!({"name": name, "api_keys": [name.to_lowercase()]});
    let services = [json!({"owner": "One", "schema": definition(64)})];
    json!({"teams": [team("Alpha"), team("One")], "services": services}).to_string()
}

fn declare(system: &Running) {
    let vm = |n: u64| json!({"name": format!("vm{n:05}"), "cpu": n % 16, "memory": 2});
    let vms: Vec<Value> = (0..ITEMS).map(vm).collect();
    let declared = json!({"Alpha": {"App": {"services": {"VM": vms}}}});
    let submitted = system.call("POST", "/v1/orcabase/consumer/submissions/submit/", "alpha", &declared);
    assert_eq!(submitted.status, 201, "{}", submitted.at("/code"));
    system.wait_idle();
    let submission = format!("/v1/orcabase/consumer/submissions/{}/", submitted.at("/id"));
    assert_eq!(system.get(&submission, "alpha").at("/state"), "SETTLED");
}

/// Returns a definition of VM with this maximum number of CPUs.
fn definition(most: u64) -> Value {
    json!({"title": "VM", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer", "maximum": most}}})
}

/// Reads a page and checks its number of rows. Returns its figures and the URL of the next page.
#[track_caller]
fn page(system: &Running, path: &str, key: &str, rows: usize) -> (Figures, String) {
    let answer = system.get(path, key);
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    assert_eq!(answer.at("/results").as_array().map(Vec::len), Some(rows), "{path}");
    (Figures::from_answer(&answer), answer.at("/next").as_str().unwrap_or_default().to_owned())
}

/// Measures the tables of long lists and of the impact.
pub fn large() -> [Table; 2] {
    let system = LARGE.start();
    [lists(&system), schema_impact(&system)]
}

fn lists(system: &Running) -> Table {
    let mut table = Table::new("Pages of a list of 10,000 rows");
    for (name, list, key, parts) in [
        ("an owner's items", "serviceowner/service_items", "one", &ITEM_PARTS),
        (
            "an owner's change instances (units rounded up to tens)",
            "serviceowner/change_instances",
            "one",
            &CHANGE_PARTS,
        ),
        ("a consumer's items", "consumer/service_items", "alpha", &ITEM_PARTS),
    ] {
        let list = format!("/v1/orcabase/{list}/");
        // Change instances created concurrently have no fixed order, so the read units of a page vary slightly.
        let by_age = list.contains("change_instances");
        let page = |path: &str, rows: usize| {
            let (figures, next) = page(system, path, key, rows);
            (if by_age { in_tens(figures) } else { figures }, next)
        };
        let (first, next) = page(&list, 20);
        table.named_row(&format!("{name}: first 20, counted"), first);
        table.named_row(&format!("{name}: next 20"), page(&next, 20).0);
        for (part, filter) in parts {
            let (figures, next) = page(&format!("{list}?{filter}"), 0);
            assert!(!next.is_empty(), "the list goes on after the last row that was read");
            table.named_row(&format!("{name}: 1,000 rows read for a filter by {part}, no match"), figures);
        }
        let sorted = format!("{list}?ordering=-modified");
        table.named_row(&format!("{name}: first 20 in another order"), page(&sorted, 20).0);
    }
    let submission =
        system.get("/v1/orcabase/consumer/submissions/?limit=1", "alpha").at("/results/0/id").clone();
    let application = system.get("/v1/orcabase/consumer/applications/", "alpha").at("/results/0").clone();
    let list = format!("/v1/orcabase/consumer/change_instances/?submission_id={submission}");
    let (figures, _) = page(system, &list, "alpha", 20);
    let name =
        "a consumer's change instances of one submission (units rounded up to tens): first 20, counted";
    table.named_row(name, in_tens(figures));
    let graph = system.get(&format!("{}graph/", application["url"].as_str().unwrap()), "alpha");
    assert_eq!(graph.at("/service_items").as_array().map(Vec::len), Some(1_000));
    let name = "the graph of an application with 10,000 items: first 1,000";
    table.named_row(name, Figures::from_answer(&graph));
    table
}

/// Ten units, in thousandths as in the figures.
const TEN_UNITS: u64 = 10_000;

/// Returns the figures with read units rounded up to tens.
fn in_tens(figures: Figures) -> Figures {
    Figures { read: figures.read.next_multiple_of(TEN_UNITS), ..figures }
}

const ITEM_PARTS: [(&str, &str); 2] = [("name", "name=none"), ("declaration", "declaration_contains=none")];
const CHANGE_PARTS: [(&str, &str); 2] =
    [("service", "service_name=none"), ("declaration", "declaration_contains=none")];

fn schema_impact(system: &Running) -> Table {
    let mut table = Table::new("Impact of a definition on 10,000 items");
    let checked = |answer: &Answer| answer.at("/dry_run/checked").as_u64().unwrap();
    let stricter = definition(14);
    let mut all = Figures { write: 0, read: 0, round_trips: 0 };
    let (mut pages, mut items, mut failing) = (0, 0, 0);
    let mut next = Some(DRY_RUN.to_owned());
    while let Some(path) = next {
        let answer = system.call("POST", &path, "one", &stricter).expect_status(200);
        let figures = Figures::from_answer(&answer);
        if pages == 0 {
            assert_eq!(checked(&answer), 500);
            table.row("a page, 500 items", figures);
        }
        all.write += figures.write;
        all.read += figures.read;
        all.round_trips += figures.round_trips;
        (pages, items) = (pages + 1, items + checked(&answer));
        failing += answer.at("/dry_run/failing").as_u64().unwrap();
        next = answer.at("/dry_run/next").as_str().map(str::to_owned);
    }
    assert_eq!((items, failing), (ITEMS, ITEMS / 16));
    table.named_row(&format!("all of them, {pages} pages"), all);
    let fresh = json!({"title": "New", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    let answer = system.call("POST", DRY_RUN, "one", &fresh);
    assert_eq!(checked(&answer), 0);
    table.answer("a new title", &answer);
    let published = system.get(&format!("{OWNER}/services/"), "one");
    assert_eq!(published.at("/results/0/schema/version"), 1, "nothing was published");
    table
}
