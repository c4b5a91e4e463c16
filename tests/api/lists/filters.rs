//! Filters of several lists (docs/reference/http/lists.md). The directory of each object tests its own filters.

use super::library::{CONSUMER, LIBRARY, OWNER, values, walk};

/// Returns the filters of every list with declarations, and the number of matches.
///
/// `cpu` numbers the VMs.
pub(crate) fn declaration_cases() -> Vec<(String, usize)> {
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

/// Invalid filters of every list with declarations.
pub(crate) const BAD_DECLARATIONS: &[&str] = &[
    "declaration=%7B",
    "declaration_regex=(a",
    "declaration_regex=(%3F=a)",
    "declaration_regex=(((a{99}){99}){99}){99}",
];

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
fn modified_is_another_name_of_start_date() {
    let library = &*LIBRARY;
    let cases = [("modified=2020-01-01".to_owned(), 32), ("modified=9999-01-01".to_owned(), 0)];
    for list in ["service_items", "change_instances"] {
        let list = format!("{CONSUMER}/{list}/");
        library.assert_counts(&list, "alpha", &cases);
        library.assert_refused(&list, "alpha", &["modified=x"]);
    }
}

#[test]
fn services_applications_and_submissions_have_the_filters_of_public_clients() {
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
