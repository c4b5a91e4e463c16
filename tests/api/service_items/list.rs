//! The filter of service items by a pattern (docs/reference/http/lists.md).

use crate::api::demo::{CONSUMER, SERVICES, SUBMIT, definition};
use serde_json::json;

#[test]
fn a_pattern_is_small_and_a_page_spends_a_bounded_amount_of_work_on_it() {
    let system = support::Running::demo();
    system.expect(201, "POST", SERVICES, "vm-owner-key", &definition("Notes"));
    let large = |number: usize| json!({"name": format!("vm{number}"), "note": "01".repeat(60_000)});
    let items: Vec<_> = (0..4).map(large).collect();
    let body = json!({"AwesomeConsumer": {"App": {"services": {"Notes": items}}}});
    system.expect(201, "POST", SUBMIT, "awesome-key", &body);
    let list = format!("{CONSUMER}/service_items/");
    for too_large in ["\\w%2B", "(?:[01]*1[01]{2000})x"] {
        let answer = system.get(&format!("{list}?declaration_regex={too_large}"), "awesome-key");
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.body.to_string().contains("at most 16 KiB"), "{answer:?}");
    }
    // Each `\\w` takes memory for every script before the compiled size is known.
    for too_long in ["\\w".repeat(10_000), "a".repeat(257)] {
        let answer = system.get(&format!("{list}?declaration_regex={too_long}"), "awesome-key");
        assert!(answer.body.to_string().contains("at most 256 bytes"), "{answer:?}");
    }
    let longest = format!("{list}?declaration_regex={}", "a".repeat(256));
    assert_eq!(system.get(&longest, "awesome-key").status, 200);
    // With the largest pattern, the work limit allows one of the four items per page.
    let largest = format!("{list}?declaration_regex=(?:[01]*1[01]{{200}})x");
    let pages = system.pages(&largest, "awesome-key");
    assert!(pages.iter().all(|page| page.rows().is_empty()), "no item matches: {pages:?}");
    assert_eq!(pages.len(), 4);
    assert_eq!(system.get(&format!("{largest}&ordering=name"), "awesome-key").status, 400);
}
