//! Bounds of filtered lists: the maximum number of rows for one page, and the start of the next page
//! (docs/reference/http/lists.md). docs/reference/figures/costs.md has the figures.

use super::library::{ids, teams};
use crate::api::demo::{CONSUMER, OWNER, SUBMIT, definition};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::costs::Figures;
use support::{Prepared, Running};

/// Number of VMs. Every tenth has 1 CPU, the others have 0.
const ITEMS: u64 = 1_250;

/// Maximum number of rows in one read of a filtered list.
const ROWS: u64 = 1_000;

/// One application of Alpha, full of VMs.
static MANY: Prepared = Prepared::new("items-1250", world, declare);

fn world() -> String {
    let services = [json!({"owner": "One", "schema": definition("VM")})];
    json!({"teams": teams(&["Alpha", "One"]), "services": services}).to_string()
}

fn declare(system: &Running) {
    let vm = |n: u64| json!({"name": format!("vm-{n:04}"), "cpu": u64::from(n % 10 == 9)});
    let declared = json!({"services": {"VM": (0..ITEMS).map(vm).collect::<Vec<_>>()}});
    let submitted = system.call("POST", SUBMIT, "alpha", &json!({"Alpha": {"web": declared}}));
    system.wait_idle();
    let path = format!("{CONSUMER}/submissions/{}/", submitted.at("/id"));
    assert_eq!(system.get(&path, "alpha").at("/state"), "SETTLED");
}

/// Path of a list, and an API key of its reader.
type List = (&'static str, &'static str);

const CONSUMERS_ITEMS: List = ("/v1/orcabase/consumer/service_items/", "alpha");
const OWNERS_ITEMS: List = ("/v1/orcabase/serviceowner/service_items/", "one");
const CONSUMERS_CHANGES: List = ("/v1/orcabase/consumer/change_instances/", "alpha");
const OWNERS_CHANGES: List = ("/v1/orcabase/serviceowner/change_instances/", "one");

/// Each list of items or change instances.
const LISTS: [List; 4] = [CONSUMERS_ITEMS, OWNERS_ITEMS, CONSUMERS_CHANGES, OWNERS_CHANGES];

#[test]
fn a_page_ends_at_its_read_limit_and_the_next_continues() {
    let system = MANY.start();
    for (list, key) in LISTS {
        // The only match is after the last row of the first read.
        for (filter, expected) in
            [("%22vm-1249%22", [(0, json!(0)), (1, json!(1))]), ("nothing", [(0, json!(0)), (0, json!(0))])]
        {
            let actual = system.pages(&format!("{list}?declaration_contains={filter}"), key);
            let sizes: Vec<_> =
                actual.iter().map(|page| (page.rows().len(), page.at("/count").clone())).collect();
            assert_eq!(sizes, expected, "{list}: {filter}");
        }
    }
}

/// Fails unless the pages of a filtered list have each row once, and a count that grows until it is exact.
#[track_caller]
fn assert_complete((list, key): List) {
    let system = MANY.start();
    for (filter, expected) in [
        ("declaration=%7B%22cpu%22:1%7D", ITEMS / 10),
        ("service_name=VM&limit=90", ITEMS),
        ("service_id=1&limit=100", ITEMS),
    ] {
        // The order of the index. Other orders need a sort of all rows, so their first page has the exact count.
        let orderings = if key == "one" { ["created", "-created"] } else { ["id", "-id"] };
        for ordering in orderings {
            let (mut seen, mut counts) = (Vec::new(), Vec::new());
            for page in system.pages(&format!("{list}?{filter}&ordering={ordering}"), key) {
                seen.extend(ids(page.rows()));
                let count = page.at("/count").as_u64().unwrap();
                assert!(usize::try_from(count).unwrap() >= seen.len(), "{list}?{filter}");
                counts.push(count);
            }
            assert!(counts.is_sorted(), "{list}?{filter}: {counts:?}");
            let bounds = (*counts.first().unwrap(), *counts.last().unwrap());
            assert_eq!(bounds, (expected * ROWS / ITEMS, expected), "{list}?{filter}");
            let once: BTreeSet<u64> = seen.iter().copied().collect();
            let expected = usize::try_from(expected).unwrap();
            assert_eq!((seen.len(), once.len()), (expected, expected), "{list}?{filter}&{ordering}");
        }
    }
}

#[test]
fn following_next_finds_each_row_of_a_consumer_once() {
    assert_complete(CONSUMERS_ITEMS);
    assert_complete(CONSUMERS_CHANGES);
}

#[test]
fn following_next_finds_each_row_of_an_owner_once() {
    assert_complete(OWNERS_ITEMS);
    assert_complete(OWNERS_CHANGES);
}

#[test]
fn an_offset_goes_on_over_pages_that_find_too_little() {
    let system = MANY.start();
    let list = format!("{OWNER}/service_items/?declaration=%7B%22cpu%22:1%7D&limit=5");
    let actual = |path: &str| -> Vec<u64> {
        system.pages(path, "one").iter().flat_map(|page| ids(page.rows())).collect()
    };
    let all = actual(&list);
    for offset in [3, 99, 110, 124, 500] {
        let rest = all.get(offset..).unwrap_or_default();
        assert_eq!(actual(&format!("{list}&offset={offset}")), rest, "{offset}");
    }
}

/// Fails unless a list without a filter is counted up to 1,000 rows, and another order sorts all of it.
#[track_caller]
fn assert_counted((list, key): List) {
    let system = MANY.start();
    let (mut seen, mut counts) = (0, Vec::new());
    for page in system.pages(&format!("{list}?limit=100"), key) {
        seen += u64::try_from(page.rows().len()).unwrap();
        let is_last = page.at("/next").is_null();
        counts.push((page.at("/count").as_u64().unwrap(), if is_last { ITEMS } else { seen.max(1_000) }));
    }
    // A count beyond 1,000 rows grows with the pages, and is exact at the end of the list.
    assert!(counts.iter().all(|(actual, expected)| actual == expected), "{list}: {counts:?}");
    assert_eq!(seen, ITEMS, "{list}");
    let sorted = system.pages(&format!("{list}?ordering=-modified&limit=100"), key);
    assert!(sorted.iter().all(|page| *page.at("/count") == ITEMS), "{list}");
    let seen: BTreeSet<u64> = sorted.iter().flat_map(|page| ids(page.rows())).collect();
    assert_eq!(seen.len(), usize::try_from(ITEMS).unwrap(), "{list}");
}

#[test]
fn unfiltered_items_are_counted_up_to_1_000_rows_and_sorted_whole() {
    assert_counted(CONSUMERS_ITEMS);
    assert_counted(OWNERS_ITEMS);
}

#[test]
fn unfiltered_changes_are_counted_up_to_1_000_rows_and_sorted_whole() {
    assert_counted(CONSUMERS_CHANGES);
    assert_counted(OWNERS_CHANGES);
}

#[test]
fn the_reads_of_a_filtered_page_are_bounded() {
    let system = MANY.start();
    for (list, key) in LISTS {
        for filter in ["declaration_contains=nothing", "service_name=VM", "light=true&service_name=none"] {
            if filter.contains("light") && !list.contains("change_instances") {
                continue;
            }
            let page = system.get(&format!("{list}?{filter}"), key);
            let units = Figures::from_answer(&page).read / 1_000;
            // One unit for each row, one for each record of the filter, and 100 for the rest of the page.
            assert!(units <= 2_000 + 100, "{list}?{filter}: {units}");
        }
    }
}

#[test]
fn the_count_of_a_page_of_applications_ends_at_its_read_limit() {
    let page = MANY.start().get(&format!("{CONSUMER}/applications/"), "alpha");
    let fields = (page.at("/results/0/runtime_states"), page.at("/next"));
    assert_eq!(fields, (&json!({"REQUESTED": ITEMS, "IN_SERVICE": 0, "DECOMMISSIONED": 0}), &Value::Null));
}
