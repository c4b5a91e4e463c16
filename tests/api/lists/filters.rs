//! Filters of the lists (docs/reference/http/lists.md), as tables of queries with their numbers of rows.

use super::library::{LIBRARY, assert_refused, values, walk};
use crate::api::demo::CONSUMER;
use support::Running;

/// The filters of public clients, for the rows of the library. [`check`] explains the lines.
///
/// The `cpu` of a VM is its number, so each application of Alpha has a VM with `cpu` 3.
const FILTERS: &str = "
lists consumer/service_items:alpha consumer/change_instances:alpha
2   declaration=%7B%22cpu%22%3A3%7D declaration={%22cpu%22:3.0}
1   declaration={%22cpu%22:3,%22name%22:%22vm-03%22} declaration={%22cpu%22:3}&declaration_contains=vm
1   declaration={%22disk%22:{%22size%22:1}}
0   declaration={%22cpu%22:77} declaration={%22disk%22:{%22size%22:2}}
32  declaration={}
1   declaration_contains=gr%C3%B6%C3%9Fe+7
10  declaration_contains=%22name%22:%22vm-1
0   declaration_contains=GR%C3%96SSE
4   declaration_regex=%22vm-0%5B0-3%5D%22
0   declaration_regex=nothing
32  start_date=2020-01-01 start_date=2020-01-01T00:00:00%2B02:00 start_date=2020-01-01T00:00:00+02:00
32  start_date=2020-01-01&end_date=9999-01-01T00:00:00Z modified=2020-01-01
0   start_date=9999-01-01 end_date=2020-01-01 modified=9999-01-01
32  consumer_team_id={alpha}
0   consumer_team_id={beta}
26  application_id={web}
32  application_id=[{web},%20{data}]
30  service_id={vm} service_owner_team_id={one}
2   service_name=DB service_owner_team_id={two}
refused modified=x start_date=x end_date=1 service_id=x service_id=-1
refused declaration=%7B declaration_regex=(a declaration_regex=(%3F=a)
refused declaration_regex=(((a{99}){99}){99}){99}

lists consumer/service_items:alpha
32  application_id={web},{data} application_id=[{web},+{data}]
6   application_id=[{data}]
0   application_id=1
26  application_name=web
32  application_name=data,web
6   application_name_contains=AT
0   application_name=We application_name_contains=q
24  change_state=CHANGES_PENDING
6   change_state=CHANGES_APPROVED
2   change_state=CHANGES_REJECTED,ALL_CHANGES_COMPLETED
0   change_state=CHANGES_ERRORED
1   name=vm-00
2   name=vm-00,vm-01,nothing
0   name=nothing
32  name=
25  runtime_state=REQUESTED
7   runtime_state=IN_SERVICE
32  runtime_state=REQUESTED,IN_SERVICE
0   runtime_state=DECOMMISSIONED
2   service_id={db}
32  service_name=VM,DB
30  service_owner_id={one}
0   service_owner_team_id={two}&runtime_state=REQUESTED
5   application_id={web}&service_name=VM&runtime_state=IN_SERVICE
refused runtime_state=GONE change_state=DONE

lists serviceowner/service_items:one
1   consumer_team_id={beta}
31  consumer_team_id={alpha},{beta}
25  application_id={web}
26  application_name=web
5   runtime_state=IN_SERVICE
0   service_owner_team_id={two}

lists consumer/change_instances:alpha
32  change_type=CREATE
0   change_type=MODIFY,DELETE
26  commit_id=c1
32  commit_id=c1,c2
0   commit_id=c3
32  exclude_referenced=True exclude_referenced=true exclude_referenced=False exclude_referenced=false
32  service_id={vm},{db}
1   service_item_id={first_item} service_item_id={first_item},1
1   service_item_id={first_item}&state=COMPLETED
0   service_item_id={first_item}&state=PENDING service_item_id=1
24  state=PENDING
25  state=PENDING,REJECTED
6   state=APPROVED
0   state=ERROR
1   state=ERRORED,COMPLETED
26  submission_id={first_submission}
0   submission_id=1
19  commit_id=c1&state=PENDING&service_name=VM
refused state=DONE change_type=RENAME submission_id=x exclude_referenced=x

lists serviceowner/change_instances:one
25  state=PENDING
31  state=PENDING,APPROVED,REJECTED,COMPLETED
0   state=CLOSED
1   consumer_team_id={beta} service_item_id={first_item}
0   service_item_id={first_item}&state=PENDING
25  submission_id={first_submission}
6   commit_id=c2,c3

lists consumer/deployed_items:alpha serviceowner/deployed_items:one
6   application_id={web} consumer_team_id={alpha} service_owner_team_id={one} service_id={vm}
0   application_id={data} consumer_team_id={beta} service_owner_team_id={two} service_id={db}
2   service_item_id={first_item} service_item_id=[{first_item}]
0   service_item_id=1
2   declaration={%22ip%22:%2210.0.0.0%22}
1   declaration={%22version%22:2}
6   declaration_contains=10.0.0
0   declaration_contains=nothing
2   declaration_regex=10%5C.0%5C.0%5C.%5B34%5D
refused declaration=%7B declaration_regex=(a declaration_regex=(%3F=a)
refused declaration_regex=(((a{99}){99}){99}){99}

lists consumer/services:alpha
1   name=VM
2   name=VM,DB
0   name=vm

lists serviceowner/services:one
1   name=VM
0   name=DB

lists consumer/applications:alpha
2   runtime_state=REQUESTED runtime_state=REQUESTED,IN_SERVICE
0   runtime_state=DECOMMISSIONED
1   runtime_state=IN_SERVICE&search=WE
refused runtime_state=GONE light=x

lists consumer/applications:alpha serviceowner/applications:alpha
2   light=true
1   light=True&search=WE name=data
0   search=q

lists consumer/submissions:alpha
2   light=true
1   light=True&commit_id=c1
0   commit_id=c3
";

/// Fails unless each line of a table is true.
///
/// - `lists` begins the lines of some lists, each with the API key of its reader.
/// - A number begins the filters that find so many rows.
/// - `refused` begins invalid filters.
///
/// A name in braces is the id of this object.
#[track_caller]
pub(super) fn check(system: &Running, ids: &[(&str, u64)], table: &str) {
    let mut lists: Vec<(&str, &str)> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        let (kind, rest) = line.split_once(' ').unwrap();
        if kind == "lists" {
            lists = rest.split_whitespace().map(|list| list.split_once(':').unwrap()).collect();
            continue;
        }
        assert!(!lists.is_empty(), "the line belongs to no list: {line}");
        for query in rest.split_whitespace() {
            let mut query = query.to_owned();
            for (name, id) in ids {
                query = query.replace(&format!("{{{name}}}"), &id.to_string());
            }
            for (list, key) in &lists {
                let list = format!("/v1/orcabase/{list}/");
                if kind == "refused" {
                    assert_refused(system, &list, key, &[&query]);
                } else {
                    assert_count(system, &format!("{list}?limit=10&{query}"), key, kind.parse().unwrap());
                }
            }
        }
    }
}

/// Fails unless a list has this number of rows, in `count` and on its pages.
#[track_caller]
fn assert_count(system: &Running, path: &str, key: &str, count: usize) {
    assert_eq!(walk(system, path, key).len(), count, "{key} {path}");
}

#[test]
fn the_lists_have_the_filters_of_public_clients() {
    check(&LIBRARY.system, &LIBRARY.ids, FILTERS);
}

#[test]
fn dates_include_their_bounds() {
    for list in ["service_items", "change_instances"] {
        let list = format!("{CONSUMER}/{list}/");
        let rows = walk(&LIBRARY.system, &format!("{list}?limit=100&ordering=modified"), "alpha");
        let modified: Vec<String> =
            values(&rows, "/modified").iter().map(|at| at.as_str().unwrap().to_owned()).collect();
        let at = modified.get(29).unwrap();
        let from = modified.iter().filter(|other| *other >= at).count();
        let until = modified.iter().filter(|other| *other <= at).count();
        let day = at.split('T').next().unwrap();
        let whole_day = modified.iter().filter(|other| other.starts_with(day)).count();
        for (query, count) in [
            (format!("start_date={at}"), from),
            (format!("end_date={at}"), until),
            (format!("start_date={at}&end_date={at}"), from + until - 32),
            (format!("start_date={day}&end_date={day}"), whole_day),
        ] {
            assert_count(&LIBRARY.system, &format!("{list}?limit=10&{query}"), "alpha", count);
        }
    }
}
