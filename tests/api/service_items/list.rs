//! Filters of service items (docs/reference/http/lists.md).

use crate::api::lists::filters::{BAD_DECLARATIONS, declaration_cases};
use crate::api::lists::library::{CONSUMER, LIBRARY, Library, OWNER};
use serde_json::json;

#[test]
fn service_items_have_the_filters_of_public_clients() {
    let library = &*LIBRARY;
    let Library { alpha, beta, one, two, vm, db, web, data, .. } = library;
    let cases = [
        (format!("application_id={web}"), 26),
        (format!("application_id={web},{data}"), 32),
        (format!("application_id=[{web},%20{data}]"), 32),
        (format!("application_id=[{web},+{data}]"), 32),
        (format!("application_id=[{data}]"), 6),
        ("application_id=1".to_owned(), 0),
        ("application_name=web".to_owned(), 26),
        ("application_name=data,web".to_owned(), 32),
        ("application_name=We".to_owned(), 0),
        ("application_name_contains=AT".to_owned(), 6),
        ("application_name_contains=q".to_owned(), 0),
        ("change_state=CHANGES_PENDING".to_owned(), 24),
        ("change_state=CHANGES_APPROVED".to_owned(), 6),
        ("change_state=CHANGES_REJECTED,ALL_CHANGES_COMPLETED".to_owned(), 2),
        ("change_state=CHANGES_ERRORED".to_owned(), 0),
        (format!("consumer_team_id={alpha}"), 32),
        (format!("consumer_team_id={beta}"), 0),
        ("name=vm-00".to_owned(), 1),
        ("name=vm-00,vm-01,nothing".to_owned(), 2),
        ("name=nothing".to_owned(), 0),
        ("name=".to_owned(), 32),
        ("runtime_state=REQUESTED".to_owned(), 25),
        ("runtime_state=IN_SERVICE".to_owned(), 7),
        ("runtime_state=REQUESTED,IN_SERVICE".to_owned(), 32),
        ("runtime_state=DECOMMISSIONED".to_owned(), 0),
        (format!("service_id={vm}"), 30),
        (format!("service_id={db}"), 2),
        ("service_name=DB".to_owned(), 2),
        ("service_name=VM,DB".to_owned(), 32),
        (format!("service_owner_id={one}"), 30),
        (format!("service_owner_team_id={two}"), 2),
        (format!("service_owner_team_id={two}&runtime_state=REQUESTED"), 0),
        (format!("application_id={web}&service_name=VM&runtime_state=IN_SERVICE"), 5),
    ];
    let list = format!("{CONSUMER}/service_items/");
    library.assert_counts(&list, "alpha", &cases);
    library.assert_counts(&list, "alpha", &declaration_cases());
    library.assert_refused(&list, "alpha", BAD_DECLARATIONS);
    let bad = ["runtime_state=GONE", "change_state=DONE", "service_id=x", "service_id=-1", "start_date=x"];
    library.assert_refused(&list, "alpha", &bad);

    let list = format!("{OWNER}/service_items/");
    let cases = [
        (format!("consumer_team_id={beta}"), 1),
        (format!("consumer_team_id={alpha},{beta}"), 31),
        (format!("application_id={web}"), 25),
        ("application_name=web".to_owned(), 26),
        ("runtime_state=IN_SERVICE".to_owned(), 5),
        (format!("service_owner_team_id={two}"), 0),
    ];
    library.assert_counts(&list, "one", &cases);
}

#[test]
fn a_pattern_is_small_and_a_page_spends_a_bounded_amount_of_work_on_it() {
    let system = support::Running::demo();
    let notes = json!({"title": "Notes", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "note": {"type": "string"}}});
    system.expect(201, "POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &notes);
    let large = |number: usize| json!({"name": format!("vm{number}"), "note": "01".repeat(60_000)});
    let items: Vec<_> = (0..4).map(large).collect();
    let body = json!({"AwesomeConsumer": {"App": {"services": {"Notes": items}}}});
    let submit = "/v1/orcabase/consumer/submissions/submit/";
    system.expect(201, "POST", submit, "awesome-key", &body);
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
    let (mut next, mut pages) = (Some(format!("{list}?declaration_regex=(?:[01]*1[01]{{200}})x")), 0);
    while let Some(url) = next {
        let answer = system.get(&url, "awesome-key");
        assert_eq!((answer.status, answer.at("/results")), (200, &json!([])), "{answer:?}");
        pages += 1;
        next = answer.at("/next").as_str().map(|next| next[next.find("/v1/").unwrap()..].to_owned());
    }
    assert_eq!(pages, 4);
    let sorted = format!("{list}?declaration_regex=(?:[01]*1[01]{{200}})x&ordering=name");
    assert_eq!(system.get(&sorted, "awesome-key").status, 400);
}
