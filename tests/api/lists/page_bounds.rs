//! Bounds of filtered lists: the maximum number of rows for one page, and the start of the next page
//! (docs/reference/http/lists.md). docs/reference/costs.md has the figures.

use super::library::{CONSUMER, OWNER, ids};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;
use support::costs::Figures;
use support::{Answer, Running};

/// Number of VMs. Every tenth has 1 CPU, the others have 0.
const ITEMS: u64 = 1_250;

/// Maximum number of rows in one read of a filtered list.
const ROWS: u64 = 1_000;

/// A system with one application of Alpha, full of VMs. The tests only read it.
static MANY: LazyLock<Running> = LazyLock::new(|| {
    let team = |name: &str| json!({"name": name, "api_keys": [name.to_lowercase()]});
    let schema = json!({"title": "VM", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "cpu": {"type": "integer"}}});
    let world =
        json!({"teams": [team("Alpha"), team("One")], "services": [{"owner": "One", "schema": schema}]});
    let system = Running::start(&world.to_string());
    // Events would only add load.
    system.enable("notify", false);
    let vm = |n: u64| json!({"name": format!("vm-{n:04}"), "cpu": u64::from(n % 10 == 9)});
    let declared = json!({"services": {"VM": (0..ITEMS).map(vm).collect::<Vec<_>>()}});
    let path = format!("{CONSUMER}/submissions/submit/");
    let submitted = system.call("POST", &path, "alpha", &json!({"Alpha": {"web": declared}}));
    let path = format!("{CONSUMER}/submissions/{}/", submitted.at("/id"));
    // `wait_idle` waits at most 30 s, which can be too short for so many items.
    while system.get(&path, "alpha").at("/state") != "SETTLED" {
        sleep(Duration::from_millis(100));
    }
    system
});

/// Returns all pages from this one on.
fn pages(path: &str, key: &str) -> Vec<Answer> {
    let (mut pages, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = MANY.get(&path, key);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        next = page.at("/next").as_str().map(str::to_owned);
        pages.push(page);
    }
    pages
}

fn rows(page: &Answer) -> &[Value] {
    page.at("/results").as_array().unwrap()
}

/// Returns each list of items or change instances, with an API key of its reader.
fn lists() -> [(String, &'static str); 4] {
    [
        (format!("{CONSUMER}/service_items/"), "alpha"),
        (format!("{OWNER}/service_items/"), "one"),
        (format!("{CONSUMER}/change_instances/"), "alpha"),
        (format!("{OWNER}/change_instances/"), "one"),
    ]
}

#[test]
fn a_page_ends_at_its_read_limit_and_the_next_continues() {
    for (list, key) in lists() {
        // The only match is after the last row of the first read.
        let actual = pages(&format!("{list}?declaration_contains=%22vm-1249%22"), key);
        let sizes: Vec<_> = actual.iter().map(|page| (rows(page).len(), page.at("/count").clone())).collect();
        assert_eq!(sizes, [(0, json!(0)), (1, json!(1))], "{list}");
        let none = pages(&format!("{list}?declaration_contains=nothing"), key);
        let sizes: Vec<_> = none.iter().map(|page| (rows(page).len(), page.at("/count").clone())).collect();
        assert_eq!(sizes, [(0, json!(0)), (0, json!(0))], "{list}");
    }
}

#[test]
fn following_next_finds_each_row_once_and_the_count_grows_until_it_is_exact() {
    for (list, key) in lists() {
        for (filter, expected) in [
            ("declaration=%7B%22cpu%22:1%7D", ITEMS / 10),
            ("service_name=VM&limit=90", ITEMS),
            ("service_id=1&limit=100", ITEMS),
        ] {
            // The order of the index. Other orders need a sort of all rows, so their first page has the exact count.
            let orderings = if key == "one" { ["created", "-created"] } else { ["id", "-id"] };
            for ordering in orderings {
                let (mut seen, mut counts) = (Vec::new(), Vec::new());
                let pages = pages(&format!("{list}?{filter}&ordering={ordering}"), key);
                for page in &pages {
                    seen.extend(ids(rows(page)));
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
}

#[test]
fn an_offset_goes_on_over_pages_that_find_too_little() {
    let list = format!("{OWNER}/service_items/?declaration=%7B%22cpu%22:1%7D&limit=5");
    let actual =
        |path: &str| -> Vec<u64> { pages(path, "one").iter().flat_map(|page| ids(rows(page))).collect() };
    let all = actual(&list);
    for offset in [3, 99, 110, 124, 500] {
        assert_eq!(
            actual(&format!("{list}&offset={offset}")),
            all.get(offset..).unwrap_or_default(),
            "{offset}"
        );
    }
}

#[test]
fn an_unfiltered_list_is_counted_up_to_1_000_rows_and_sorted_whole() {
    for (list, key) in lists() {
        let (mut seen, mut counts) = (0, Vec::new());
        for page in pages(&format!("{list}?limit=100"), key) {
            seen += u64::try_from(rows(&page).len()).unwrap();
            let is_last = page.at("/next").is_null();
            counts.push((page.at("/count").as_u64().unwrap(), if is_last { ITEMS } else { seen.max(1_000) }));
        }
        // A count beyond 1,000 rows grows with the pages, and is exact at the end of the list.
        assert!(counts.iter().all(|(actual, expected)| actual == expected), "{list}: {counts:?}");
        assert_eq!(seen, ITEMS, "{list}");
        let sorted = pages(&format!("{list}?ordering=-modified&limit=100"), key);
        assert!(sorted.iter().all(|page| *page.at("/count") == ITEMS), "{list}");
        let seen: BTreeSet<u64> = sorted.iter().flat_map(|page| ids(rows(page))).collect();
        assert_eq!(seen.len(), usize::try_from(ITEMS).unwrap(), "{list}");
    }
}

#[test]
fn the_reads_of_a_filtered_page_are_bounded() {
    for (list, key) in lists() {
        for filter in ["declaration_contains=nothing", "service_name=VM", "light=true&service_name=none"] {
            if filter.contains("light") && !list.contains("change_instances") {
                continue;
            }
            let page = MANY.get(&format!("{list}?{filter}"), key);
            let units = Figures::from_answer(&page).read / 1_000;
            // One unit for each row, one for each record of the filter, and 100 for the rest of the page.
            assert!(units <= 2_000 + 100, "{list}?{filter}: {units}");
        }
    }
}

#[test]
fn the_count_of_a_page_of_applications_ends_at_its_read_limit() {
    let page = MANY.get(&format!("{CONSUMER}/applications/"), "alpha");
    let fields = (page.at("/results/0/runtime_states"), page.at("/next"));
    assert_eq!(fields, (&json!({"REQUESTED": ITEMS, "IN_SERVICE": 0, "DECOMMISSIONED": 0}), &Value::Null));
}
