//! References and causes in change instances: pages, limits, records of an older release (R72, R73; scenario P74).

use serde_json::{Value, json};
use support::{Answer, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";
const OWNER: &str = "lb-owner-key";

/// Declares two VMs, and load balancers that refer to both.
fn declare(system: &Running, balancers: usize, cpu: u64) {
    let vms = json!([{"name": "db", "cpu": 1}, {"name": "web", "cpu": cpu}]);
    let balancer = |n| json!({"name": format!("front-{n}"), "related_vms": ["web", "db"]});
    let balancers: Vec<Value> = (1..=balancers).map(balancer).collect();
    let shop = json!({"Shop": {"services": {"VM": vms, "LoadBalancer": balancers}}});
    system.expect(201, "PATCH", SUBMIT, "awesome-key", &json!({"AwesomeConsumer": shop}));
    system.wait_idle();
}

fn pages(system: &Running, path: &str) -> Vec<Answer> {
    let (mut pages, mut next) = (Vec::new(), Some(path.to_owned()));
    while let Some(path) = next {
        let page = system.get(&path, OWNER).expect_status(200);
        next = page.at("/next").as_str().map(str::to_owned);
        pages.push(page);
    }
    pages
}

fn rows(page: &Answer) -> &Vec<Value> {
    page.at("/results").as_array().unwrap()
}

#[test]
fn a_page_with_references_has_at_most_50_rows() {
    let system = Running::demo();
    declare(&system, 60, 1);
    let paged = pages(&system, &format!("{CHANGES}?references=true&limit=60"));
    assert_eq!(paged.iter().map(|page| rows(page).len()).collect::<Vec<_>>(), [50, 10]);
    for row in paged.iter().flat_map(rows) {
        let shown = row["references"].as_array().unwrap().iter().map(|one| (&one["pointer"], &one["name"]));
        let expected = [("/related_vms/0", "web"), ("/related_vms/1", "db")];
        assert!(
            shown.eq(expected
                .map(|(pointer, name)| (json!(pointer), json!(name)))
                .iter()
                .map(|(a, b)| (a, b)))
        );
    }
    let plain = pages(&system, &format!("{CHANGES}?limit=60"));
    assert_eq!(plain.iter().map(|page| rows(page).len()).collect::<Vec<_>>(), [60]);
    assert!(plain.iter().flat_map(rows).all(|row| row.get("references").is_none()));
    system.expect(400, "GET", &format!("{CHANGES}?references=some"), OWNER, &Value::Null);
}

#[test]
fn a_list_shows_causes_with_references_alone() {
    let system = Running::demo();
    declare(&system, 2, 1);
    declare(&system, 2, 2);
    let referenced = format!("{CHANGES}referenced/");
    let listed = |query: &str| rows(&system.get(&format!("{referenced}{query}"), OWNER)).clone();
    let (plain, with) = (listed(""), listed("?references=true"));
    assert_eq!((plain.len(), with.len()), (2, 2));
    for (plain, with) in plain.iter().zip(&with) {
        assert_eq!((&plain["causes_count"], plain.get("causes")), (&json!(1), None));
        assert_eq!(with["causes"][0]["pointers"], json!(["/cpu"]));
        assert_eq!(
            (&with["causes"][0]["change_instance"], &with["cause"]),
            (&plain["cause"], &plain["cause"])
        );
    }
    // A client may send a change instance back as read.
    let path = with[0]["url"].as_str().unwrap();
    let read = system.get(path, OWNER);
    assert!(read.at("/causes/0").is_object() && read.at("/references/0").is_object(), "{read:?}");
    let answer = system.expect(200, "PATCH", path, OWNER, &read.body);
    assert_eq!(answer.body.get("warnings"), None, "{answer:?}");
}

#[test]
fn an_item_of_an_older_release_finds_its_references_by_their_names() {
    let system = Running::demo();
    declare(&system, 1, 1);
    let change = rows(&system.get(&format!("{CHANGES}?references=true"), OWNER))[0].clone();
    let path = format!("{CHANGES}{}/", change["id"]);
    let before = system.get(&path, OWNER).at("/references").clone();
    assert_eq!(before.as_array().map(Vec::len), Some(2), "{change}");
    let row = system.rows().into_iter();
    let mut row = row
        .filter(|row| row["ty"]["S"] == "ITEM")
        .find(|row| row["nm"]["S"] == "front-1")
        .expect("the item has a record");
    for reference in row["rf"]["L"].as_array_mut().unwrap() {
        assert!(reference["M"].as_object_mut().unwrap().remove("it").is_some(), "{reference}");
    }
    system.put_row(&row);
    assert_eq!(system.get(&path, OWNER).at("/references"), &before);
    // The next change of the item stores the ids again.
    declare(&system, 1, 2);
    system.assert_sound();
}
