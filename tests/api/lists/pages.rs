//! Lists: pages, order, offsets and cursors in both roles. Other files test the filters.

use super::library::{LIBRARY, assert_refused, decide, ids, submit, teams, values, vms, walk, world};
use crate::api::demo::{CONSUMER, OWNER, RECORDS, SUBMIT, TEAMS, definition};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::Running;

/// Each list with an API key and its number of rows.
const LISTS: [(&str, &str, usize); 14] = [
    ("/v1/orcabase/consumer/service_items/", "alpha", 32),
    ("/v1/orcabase/serviceowner/service_items/", "one", 31),
    ("/v1/orcabase/serviceowner/service_items/", "two", 2),
    ("/v1/orcabase/consumer/change_instances/", "alpha", 32),
    ("/v1/orcabase/serviceowner/change_instances/", "one", 31),
    ("/v1/orcabase/consumer/change_instances/", "beta", 1),
    ("/v1/orcabase/consumer/deployed_items/", "alpha", 6),
    ("/v1/orcabase/serviceowner/deployed_items/", "one", 6),
    ("/v1/orcabase/serviceowner/deployed_items/", "two", 0),
    ("/v1/orcabase/consumer/services/", "alpha", 2),
    ("/v1/orcabase/serviceowner/services/", "one", 1),
    ("/v1/orcabase/consumer/applications/", "alpha", 2),
    ("/v1/orcabase/serviceowner/applications/", "alpha", 2),
    ("/v1/orcabase/consumer/submissions/", "alpha", 2),
];

#[test]
fn following_next_shows_every_row_once_whatever_the_limit() {
    let system = &LIBRARY.system;
    for (list, key, count) in LISTS {
        let whole = ids(&walk(system, &format!("{list}?limit=100"), key));
        assert_eq!(whole.len(), count, "{key} {list}");
        assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), count, "{key} {list}");
        let one_by_one = if count < 10 { "?limit=1" } else { "?limit=5" };
        for limit in ["", one_by_one, "?limit=31", "?limit=32", "?limit=5000", "?limit=0"] {
            let paged = ids(&walk(system, &format!("{list}{limit}"), key));
            assert_eq!(paged, whole, "{key} {list}{limit}");
        }
        let mut backward = ids(&walk(system, &format!("{list}?limit=9&ordering=-created"), key));
        backward.reverse();
        assert_eq!(backward, whole, "{key} {list}");
        let unknown = system.get(&format!("{list}?colour=red"), key);
        assert_eq!((unknown.status, &unknown.body), (400, &json!(["Filter param not found."])), "{list}");
        let invalid = ["ordering=colour", "ordering=-", "limit=x", "limit=-1", "offset=x"];
        assert_refused(system, list, key, &invalid);
    }
}

#[test]
fn a_list_may_leave_out_its_count() {
    let system = &LIBRARY.system;
    for (list, key, rows) in LISTS {
        let page = system.get(&format!("{list}?count=false&limit=5"), key);
        // The count of a list of one page is known.
        let count = if rows > 5 { Value::Null } else { json!(rows) };
        assert_eq!((page.status, page.at("/count")), (200, &count), "{key} {list}");
        let walked = walk(system, &format!("{list}?count=false&limit=5"), key);
        assert_eq!(walked.len(), rows, "{key} {list}");
        let counted = system.get(&format!("{list}?count=true&limit=5"), key);
        assert_eq!(counted.at("/count"), &json!(rows), "{key} {list}");
    }
    // An order other than the stored one reads the whole list, so its count is known.
    let sorted = format!("{CONSUMER}/service_items/?count=false&ordering=name");
    assert_eq!(system.get(&sorted, "alpha").at("/count"), &json!(32));
    let invalid = ["count=0", "count=no"];
    assert_refused(system, &format!("{CONSUMER}/service_items/"), "alpha", &invalid);
    // Short lists always have their count.
    for list in [TEAMS, "/v1/orcaexternal/serviceowner/messages/", "/v1/orcabase/consumer/services/tags/"] {
        let page = system.get(&format!("{list}?count=false"), "alpha");
        assert_eq!((page.status, page.at("/count").is_u64()), (200, true), "{list}");
        assert_refused(system, list, "alpha", &invalid);
    }
}

#[test]
fn a_page_has_twenty_rows_by_default() {
    let pages = LIBRARY.system.pages(&format!("{CONSUMER}/service_items/"), "alpha");
    assert_eq!(pages.iter().map(|page| page.rows().len()).collect::<Vec<_>>(), [20, 12]);
    for page in pages {
        page.assert_is(200, &json!({"/count": 32, "/previous": null}));
    }
}

#[test]
fn an_offset_skips_rows_and_next_goes_on_behind_them() {
    let system = &LIBRARY.system;
    for ordering in ["created", "-created", "name", "-name"] {
        let list = format!("{CONSUMER}/service_items/?ordering={ordering}");
        let whole = ids(&walk(system, &format!("{list}&limit=100"), "alpha"));
        for offset in [0, 1, 5, 20, 31, 32, 99] {
            let path = format!("{list}&limit=4&offset={offset}");
            let rows = ids(&walk(system, &path, "alpha"));
            assert_eq!(rows, whole.get(offset..).unwrap_or_default(), "{path}");
            assert_eq!(system.get(&path, "alpha").at("/count"), 32, "{path}");
        }
    }
}

#[test]
fn rows_come_in_the_requested_order() {
    let system = &LIBRARY.system;
    for (list, key, fields) in [
        ("consumer/service_items", "alpha", "created name modified runtime_state"),
        ("serviceowner/service_items", "one", "created name modified runtime_state"),
        ("consumer/change_instances", "alpha", "created modified state change_type"),
        ("serviceowner/change_instances", "one", "created modified state change_type"),
        ("serviceowner/deployed_items", "one", "created version"),
        ("consumer/services", "alpha", "created name modified"),
        ("consumer/applications", "alpha", "created name modified"),
        ("consumer/submissions", "alpha", "created"),
    ] {
        for field in fields.split(' ') {
            let sorted = |ordering: &str| {
                let path = format!("/v1/orcabase/{list}/?limit=8&ordering={ordering}");
                let rows = walk(system, &path, key);
                values(&rows, &format!("/{field}")).iter().map(Value::to_string).collect::<Vec<_>>()
            };
            let forward = sorted(field);
            assert!(forward.is_sorted(), "{list} {field}: {forward:?}");
            let mut backward = sorted(&format!("-{field}"));
            backward.reverse();
            assert_eq!(backward, forward, "{list} {field}");
        }
    }
}

#[test]
fn a_position_is_good_for_its_own_list_and_team_only() {
    let system = &LIBRARY.system;
    let get = |path: &str, key: &str| system.get(path, key);
    let list = format!("{OWNER}/service_items/");
    let first = get(&format!("{list}?limit=5&runtime_state=REQUESTED"), "one");
    let next = first.at("/next").as_str().unwrap().to_owned();
    let cursor = next.split("cursor=").nth(1).unwrap();
    let good = format!("{list}?runtime_state=REQUESTED&cursor={cursor}");
    assert_eq!(get(&good, "one").status, 200, "the limit of the next page may be another");
    assert_eq!(get(&good.replacen("/?", "?", 1), "one").status, 200, "the path may lack its last slash");
    for (path, key) in [
        (format!("{list}?runtime_state=REQUESTED&cursor={cursor}x"), "one"),
        (format!("{list}?runtime_state=IN_SERVICE&cursor={cursor}"), "one"),
        (format!("{list}?runtime_state=REQUESTED&ordering=-created&cursor={cursor}"), "one"),
        (format!("{list}?cursor={cursor}"), "one"),
        (good.replace("serviceowner", "consumer"), "one"),
        (good.replace("service_items", "change_instances").replace("runtime_state=REQUESTED&", ""), "one"),
        (good, "two"),
    ] {
        let answer = get(&path, key);
        assert_eq!(answer.code(), (400, "invalid_cursor"), "{key} {path}");
    }
}

/// Returns a row without the fields that a light list omits (docs/reference/http/lists.md).
fn light(mut row: Value) -> Value {
    for (object, names) in [
        ("/application", &["metadata"][..]),
        ("/consumer_team", &["metadata"]),
        ("/service_owner_team", &["metadata"]),
        ("/new_declaration", &["declaration"]),
        ("/old_declaration", &["declaration"]),
        ("/service", &["allow_manual_approval", "allow_manual_completion"]),
        ("/service_item", &["declaration", "deployed_item", "runtime_state"]),
    ] {
        // The old or the new declaration can be null.
        let Some(object) = row.pointer_mut(object).unwrap().as_object_mut() else { continue };
        for name in names {
            assert!(object.remove(*name).is_some(), "{name}");
        }
    }
    row
}

#[test]
fn light_rows_are_the_same_with_less_in_them() {
    let system = &LIBRARY.system;
    for (list, key) in [
        (format!("{OWNER}/change_instances/?limit=7"), "one"),
        (format!("{OWNER}/change_instances/?limit=7&state=PENDING&ordering=-created"), "one"),
        (format!("{OWNER}/change_instances/?limit=100&service_name=VM"), "one"),
        (format!("{OWNER}/change_instances/?limit=7&offset=3&ordering=state"), "one"),
        (format!("{OWNER}/change_instances/dependant/?limit=7"), "one"),
        (format!("{CONSUMER}/change_instances/?limit=7"), "alpha"),
    ] {
        let full: Vec<Value> = walk(system, &list, key).into_iter().map(light).collect();
        let (mut rows, pages) = (Vec::new(), system.pages(&format!("{list}&light=true"), key));
        for page in &pages {
            let is_counted = pages.len() == 1 || list.contains("ordering=state");
            assert!(page.at("/count").is_null() || is_counted, "{list}: {page:?}");
            rows.extend_from_slice(page.rows());
        }
        assert_eq!(rows, full, "{list}");
    }
    let whole = system.get(&format!("{OWNER}/change_instances/?limit=100&light=True"), "one");
    assert_eq!(whole.at("/count"), 31, "a page that is the whole list has a count");
    let full = system.get(&format!("{OWNER}/change_instances/?light=false"), "one");
    assert_eq!((full.at("/count"), full.at("/results/0/application/metadata")), (&json!(31), &json!({})));
    assert_refused(system, &format!("{OWNER}/change_instances/"), "one", &["light=x"]);
}

/// Starts a system for rows with state changes: ten PENDING VMs of Alpha.
fn moving() -> (Running, Vec<u64>) {
    let system = Running::start(&world().to_string());
    let body = json!({"Alpha": {"web": {"services": {"VM": vms("vm", 10)}}}});
    submit(&system, "POST", "c", "alpha", &body);
    let all = ids(&walk(&system, &format!("{OWNER}/change_instances/?limit=100"), "one"));
    (system, all)
}

#[test]
fn rows_that_move_between_pages_are_neither_lost_nor_repeated() {
    for ordering in ["created", "-created"] {
        let (system, all) = moving();
        let mut seen = Vec::new();
        let mut next = Some(format!("{OWNER}/change_instances/?limit=3&ordering={ordering}"));
        let mut movable = all.iter();
        while let Some(path) = next {
            let page = system.get(&path, "one");
            seen.extend(ids(page.rows()));
            next = page.at("/next").as_str().map(str::to_owned);
            // Changes rows at both ends of the list, so some are on earlier pages and some on later ones.
            for id in movable.next().into_iter().chain(movable.next_back()) {
                let state = if id % 32 == 0 { "APPROVED" } else { "REJECTED" };
                decide(&system, &json!(id), &json!({"state": state}));
            }
        }
        assert_eq!(seen.len(), all.len(), "{ordering}: {seen:?}");
        seen.sort_unstable();
        assert_eq!(seen, all, "{ordering}");
    }
}

#[test]
fn rows_that_leave_or_join_a_filtered_list_take_no_others_with_them() {
    let (system, all) = moving();
    let first = system.get(&format!("{OWNER}/change_instances/?limit=3&state=PENDING"), "one");
    let mut seen = ids(first.rows());
    let (gone, remaining): (Vec<u64>, Vec<u64>) =
        all.iter().partition(|id| seen.contains(id) || *id % 32 == 0);
    for id in &gone {
        decide(&system, &json!(id), &json!({"state": "APPROVED"}));
    }
    let more = json!({"Alpha": {"more": {"services": {"VM": vms("more", 2)}}}});
    submit(&system, "PATCH", "c", "alpha", &more);
    let others = system.pages(first.at("/next").as_str().unwrap(), "one");
    seen.extend(others.iter().flat_map(|page| ids(page.rows())));
    let unique: BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(unique.len(), seen.len(), "{seen:?}");
    assert!(remaining.iter().all(|id| unique.contains(id)), "{remaining:?} {seen:?}");
}

#[test]
fn a_reply_over_the_size_limit_is_cut_and_the_next_page_continues() {
    let services = [json!({"owner": "Printers", "schema": definition("Doc")})];
    let world = json!({"teams": teams(&["Writers", "Printers"]), "services": services});
    let system = Running::start(&world.to_string());
    let text = "x".repeat(120_000);
    let items: Vec<Value> =
        (0..40).map(|number| json!({"name": format!("doc{number}"), "text": text})).collect();
    let declaration = json!({"Writers": {"App": {"services": {"Doc": items}}}});
    let submitted = system.call("POST", SUBMIT, "writers", &declaration);
    assert_eq!(submitted.status, 201, "{}", submitted.at("/code"));
    let limit = 6_000_000;
    assert!(submitted.body.to_string().len() < limit);
    let included = submitted.at("/change_instances").as_array().map_or(0, Vec::len);
    assert!(included > 0 && included < items.len(), "the response has a part of the changes: {included}");

    let all: BTreeSet<u64> = (0..).take(items.len()).map(|number| (1 << 35) + 16 * (number + 1)).collect();
    let listed = submitted.at("/change_instances_next").as_str().unwrap_or_default();
    for path in [listed.to_owned(), format!("{listed}&ordering=modified&limit=100")] {
        let mut seen = Vec::new();
        for page in system.pages(&path, "writers") {
            assert!(page.body.to_string().len() < limit);
            assert_eq!(page.at("/count"), items.len());
            seen.extend(ids(page.rows()));
        }
        assert_eq!(seen.len(), items.len(), "the pages have each change once");
        assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), all);
    }
}

#[test]
fn the_newest_is_the_newest_whatever_application_it_is_in() {
    let system = Running::demo();
    let vm = |name: &str| json!({"services": {"VM": [{"name": name}]}});
    let third = json!({"A": {"services": {"VM": [{"name": "first"}, {"name": "third"}]}}});
    for team in [json!({"A": vm("first")}), json!({"B": vm("second")}), third] {
        system.expect(201, "PATCH", SUBMIT, "awesome-key", &json!({"AwesomeConsumer": team}));
    }
    let names = |ordering: &str| {
        let path = format!("{CONSUMER}/service_items/?limit=2&ordering={ordering}");
        values(&walk(&system, &path, "awesome-key"), "/name")
    };
    assert_eq!(names("created"), ["first", "second", "third"]);
    assert_eq!(names("-created"), ["third", "second", "first"]);
    assert_eq!(names("id"), ["first", "third", "second"]);
}

/// The lists of records, failures and healthchecks sign their cursors like all others.
#[test]
fn every_position_is_signed() {
    let system = Running::demo();
    let key = json!({"name": "another", "role": "GENERAL"});
    system.expect(201, "POST", "/v1/account/api_keys/", "vm-owner-key", &key);
    let page = |path: &str| system.get(path, "vm-owner-key");
    let next = page(&format!("{RECORDS}?limit=1")).at("/next").as_str().unwrap().to_owned();
    let next = &next[next.find("/v1/").unwrap()..];
    assert_eq!(page(next).status, 200);
    let forged = next.replace("cursor=e", "cursor=f");
    assert_ne!(forged, next);
    let plain = "1700000000000000%23a";
    for path in [
        forged,
        format!("{RECORDS}?cursor={plain}"),
        "/v1/external/serviceowner/healthchecks/?cursor=1".to_owned(),
    ] {
        let answer = page(&path);
        assert_eq!(answer.code(), (400, "invalid_cursor"), "{path}: {answer:?}");
    }
}
