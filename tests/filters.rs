//! Filters: each list with each of its filters, the matches and the rest (docs/reference/http/lists.md).

use crate::lists::{CONSUMER, LIBRARY, Library, OWNER, values, walk};
use serde_json::json;

/// Returns the filters of every list with declarations, and the number of matches.
///
/// `cpu` numbers the VMs.
fn declaration_cases() -> Vec<(String, usize)> {
    let case = |query: &str, count| (query.to_owned(), count);
    vec![
        case("declaration=%7B%22cpu%22%3A3%7D", 2),
        case("declaration={%22cpu%22:3,%22name%22:%22vm-03%22}", 1),
        case("declaration={%22cpu%22:3.0}", 2),
        case("declaration={%22cpu%22:77}", 0),
        case("declaration={%22disk%22:{%22size%22:1}}", 1),
        case("declaration={%22disk%22:{%22size%22:2}}", 0),
        case("declaration={}", 32),
        case("declaration_contains=gr%C3%B6%C3%9Fe+7", 1),
        case("declaration_contains=GR%C3%96SSE", 0),
        case("declaration_contains=%22name%22:%22vm-1", 10),
        case("declaration_regex=%22vm-0%5B0-3%5D%22", 4),
        case("declaration_regex=nothing", 0),
        case("declaration={%22cpu%22:3}&declaration_contains=vm", 1),
        case("start_date=2020-01-01", 32),
        case("start_date=2020-01-01T00:00:00%2B02:00", 32),
        case("start_date=2020-01-01T00:00:00+02:00", 32),
        case("start_date=2020-01-01&end_date=9999-01-01T00:00:00Z", 32),
        case("start_date=9999-01-01", 0),
        case("modified=2020-01-01", 32),
        case("end_date=2020-01-01", 0),
    ]
}

const BAD_DECLARATIONS: &[&str] = &[
    "declaration=%7B",
    "declaration_regex=(a",
    "declaration_regex=(%3F=a)",
    "declaration_regex=(((a{99}){99}){99}){99}",
];

#[test]
fn service_items_are_filtered_by_everything_that_clients_know() {
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
fn finding_03_a_pattern_is_small_and_a_page_spends_a_bounded_amount_of_work_on_it() {
    let system = support::Running::demo();
    let notes = json!({"title": "Notes", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "note": {"type": "string"}}});
    let published = system.call("POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &notes);
    assert_eq!(published.status, 201, "{published:?}");
    let large = |number: usize| json!({"name": format!("vm{number}"), "note": "01".repeat(60_000)});
    let items: Vec<_> = (0..4).map(large).collect();
    let body = json!({"AwesomeConsumer": {"App": {"services": {"Notes": items}}}});
    let submit = "/v1/orcabase/consumer/submissions/submit/";
    assert_eq!(system.call("POST", submit, "awesome-key", &body).status, 201);
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

#[test]
fn dates_include_their_bounds() {
    let library = &*LIBRARY;
    for list in ["service_items", "change_instances"] {
        let rows = walk(&library.system, &format!("{CONSUMER}/{list}/?ordering=modified&limit=100"), "alpha");
        let modified: Vec<String> =
            values(&rows, "/modified").iter().map(|at| at.as_str().unwrap().to_owned()).collect();
        let at = modified.get(29).unwrap();
        let from = modified.iter().filter(|other| *other >= at).count();
        let until = modified.iter().filter(|other| *other <= at).count();
        let day = at.split('T').next().unwrap();
        let whole_day = modified.iter().filter(|other| other.starts_with(day)).count();
        let cases = [
            (format!("start_date={at}"), from),
            (format!("end_date={at}"), until),
            (format!("start_date={at}&end_date={at}"), from + until - 32),
            (format!("start_date={day}&end_date={day}"), whole_day),
        ];
        library.assert_counts(&format!("{CONSUMER}/{list}/"), "alpha", &cases);
    }
}

#[test]
fn finding_09_modified_is_another_name_of_start_date() {
    let library = &*LIBRARY;
    let cases = [("modified=2020-01-01".to_owned(), 32), ("modified=9999-01-01".to_owned(), 0)];
    for list in ["service_items", "change_instances"] {
        let list = format!("{CONSUMER}/{list}/");
        library.assert_counts(&list, "alpha", &cases);
        library.assert_refused(&list, "alpha", &["modified=x"]);
    }
}

#[test]
fn change_instances_are_filtered_by_everything_that_clients_know() {
    let library = &*LIBRARY;
    let Library { alpha, beta, one, two, vm, db, web, data, first_item, first_submission, .. } = library;
    let cases = [
        (format!("application_id={web}"), 26),
        (format!("application_id=[{web}, {data}]").replace(' ', "%20"), 32),
        ("change_type=CREATE".to_owned(), 32),
        ("change_type=MODIFY,DELETE".to_owned(), 0),
        ("commit_id=c1".to_owned(), 26),
        ("commit_id=c1,c2".to_owned(), 32),
        ("commit_id=c3".to_owned(), 0),
        (format!("consumer_team_id={alpha}"), 32),
        (format!("consumer_team_id={beta}"), 0),
        ("exclude_referenced=True".to_owned(), 32),
        ("exclude_referenced=true".to_owned(), 32),
        ("exclude_referenced=False".to_owned(), 32),
        (format!("service_id={vm}"), 30),
        (format!("service_id={vm},{db}"), 32),
        (format!("service_item_id={first_item}"), 1),
        (format!("service_item_id={first_item}&state=COMPLETED"), 1),
        (format!("service_item_id={first_item}&state=PENDING"), 0),
        (format!("service_item_id={first_item},1"), 1),
        ("service_item_id=1".to_owned(), 0),
        ("service_name=DB".to_owned(), 2),
        (format!("service_owner_team_id={one}"), 30),
        (format!("service_owner_team_id={two}"), 2),
        ("state=PENDING".to_owned(), 24),
        ("state=PENDING,REJECTED".to_owned(), 25),
        ("state=APPROVED".to_owned(), 6),
        ("state=ERROR".to_owned(), 0),
        ("state=ERRORED,COMPLETED".to_owned(), 1),
        (format!("submission_id={first_submission}"), 26),
        ("submission_id=1".to_owned(), 0),
        ("commit_id=c1&state=PENDING&service_name=VM".to_owned(), 19),
    ];
    let list = format!("{CONSUMER}/change_instances/");
    library.assert_counts(&list, "alpha", &cases);
    library.assert_counts(&list, "alpha", &declaration_cases());
    library.assert_refused(&list, "alpha", BAD_DECLARATIONS);
    let bad = ["state=DONE", "change_type=RENAME", "submission_id=x", "exclude_referenced=x", "end_date=1"];
    library.assert_refused(&list, "alpha", &bad);

    let list = format!("{OWNER}/change_instances/");
    let cases = [
        ("state=PENDING".to_owned(), 25),
        ("state=PENDING,APPROVED,REJECTED,COMPLETED".to_owned(), 31),
        ("state=CLOSED".to_owned(), 0),
        (format!("consumer_team_id={beta}"), 1),
        (format!("service_item_id={first_item}"), 1),
        (format!("service_item_id={first_item}&state=PENDING"), 0),
        (format!("submission_id={first_submission}"), 25),
        ("commit_id=c2,c3".to_owned(), 6),
    ];
    library.assert_counts(&list, "one", &cases);
}

#[test]
fn deployed_items_are_filtered_by_everything_that_clients_know() {
    let library = &*LIBRARY;
    let Library { alpha, beta, one, two, vm, db, web, data, first_item, .. } = library;
    let cases = [
        (format!("application_id={web}"), 6),
        (format!("application_id={data}"), 0),
        (format!("consumer_team_id={alpha}"), 6),
        (format!("consumer_team_id={beta}"), 0),
        (format!("service_owner_team_id={one}"), 6),
        (format!("service_owner_team_id={two}"), 0),
        (format!("service_id={vm}"), 6),
        (format!("service_id={db}"), 0),
        (format!("service_item_id={first_item}"), 2),
        (format!("service_item_id=[{first_item}]"), 2),
        ("service_item_id=1".to_owned(), 0),
        ("declaration={%22ip%22:%2210.0.0.0%22}".to_owned(), 2),
        ("declaration={%22version%22:2}".to_owned(), 1),
        ("declaration_contains=10.0.0".to_owned(), 6),
        ("declaration_contains=nothing".to_owned(), 0),
        ("declaration_regex=10%5C.0%5C.0%5C.%5B34%5D".to_owned(), 2),
    ];
    for (list, key) in [(CONSUMER, "alpha"), (OWNER, "one")] {
        let list = format!("{list}/deployed_items/");
        library.assert_counts(&list, key, &cases);
        library.assert_refused(&list, key, BAD_DECLARATIONS);
    }
}

#[test]
fn services_applications_and_submissions_are_filtered_by_what_clients_know() {
    let library = &*LIBRARY;
    let case = |query: &str, count| (query.to_owned(), count);
    let services = format!("{CONSUMER}/services/");
    let names = [case("name=VM", 1), case("name=VM,DB", 2), case("name=vm", 0)];
    library.assert_counts(&services, "alpha", &names);
    library.assert_counts(&format!("{OWNER}/services/"), "one", &[case("name=VM", 1), case("name=DB", 0)]);
    let applications =
        [case("light=true", 2), case("light=True&search=WE", 1), case("search=q", 0), case("name=data", 1)];
    for list in [CONSUMER, OWNER] {
        library.assert_counts(&format!("{list}/applications/"), "alpha", &applications);
    }
    let submissions = [case("light=true", 2), case("light=True&commit_id=c1", 1), case("commit_id=c3", 0)];
    library.assert_counts(&format!("{CONSUMER}/submissions/"), "alpha", &submissions);
}

#[test]
fn applications_are_filtered_by_the_runtime_state_of_their_items() {
    let library = &*LIBRARY;
    let case = |query: &str, count| (query.to_owned(), count);
    let cases = [
        case("runtime_state=REQUESTED", 2),
        case("runtime_state=REQUESTED,IN_SERVICE", 2),
        case("runtime_state=DECOMMISSIONED", 0),
        case("runtime_state=IN_SERVICE&search=WE", 1),
    ];
    library.assert_counts(&format!("{CONSUMER}/applications/"), "alpha", &cases);
    library.assert_refused(&format!("{CONSUMER}/applications/"), "alpha", &["runtime_state=GONE", "light=x"]);
}

#[test]
fn an_application_tells_the_states_of_its_items_in_aggregate() {
    let library = &*LIBRARY;
    let list = format!("{CONSUMER}/applications/?ordering=name");
    let rows = walk(&library.system, &list, "alpha");
    // `data` has five pending VMs and a DB. `web` has 25 VMs, five of them approved and one rejected.
    let runtime = [
        json!({"REQUESTED": 5, "IN_SERVICE": 1, "DECOMMISSIONED": 0}),
        json!({"REQUESTED": 20, "IN_SERVICE": 6, "DECOMMISSIONED": 0}),
    ];
    let change = |pending: u64, approved: u64, rejected: u64, completed: u64| {
        json!({"CHANGES_PENDING": pending, "CHANGES_APPROVED": approved, "CHANGES_REJECTED": rejected,
            "CHANGES_ERRORED": 0, "ALL_CHANGES_COMPLETED": completed})
    };
    assert_eq!(values(&rows, "/runtime_states"), runtime);
    assert_eq!(values(&rows, "/change_states"), [change(5, 1, 0, 0), change(19, 5, 1, 1)]);
    for row in &rows {
        let one = library.system.get(row.get("url").unwrap().as_str().unwrap(), "alpha");
        assert_eq!(one.body, *row);
    }
    for row in walk(&library.system, &format!("{list}&light=true"), "alpha") {
        assert!(row.get("runtime_states").is_none() && row.get("change_states").is_none(), "{row}");
    }
}
