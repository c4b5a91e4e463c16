//! Renamed items in a large staged submission whose generation dies again and again (R75; scenario P90).

use super::crashes::carry;
use domain::SubmissionId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::Running;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const ITEMS: usize = 2_000;
/// The number of renamed items; the metadata of an application have room for about 300 entries.
const RENAMED: usize = 250;

/// Builds the declaration: the first items with another name, all items with this number of CPUs.
fn declaration(prefix: &str, cpu: u64) -> Value {
    let name = |n: usize| if n < RENAMED { format!("{prefix}{n}") } else { format!("v{n}") };
    let vms: Vec<Value> = (0..ITEMS).map(|n| json!({"name": name(n), "cpu": cpu})).collect();
    let names: BTreeMap<String, String> = (0..RENAMED).map(|n| (format!("v{n}"), name(n))).collect();
    let metadata = if prefix == "v" { json!({}) } else { json!({"dovetail_renamed": {"VM": names}}) };
    json!({"AwesomeConsumer": {"App": {"metadata": metadata, "services": {"VM": vms}}}})
}

/// Returns the names of all items by id.
fn names(system: &Running) -> BTreeMap<u64, String> {
    let (mut names, mut next) =
        (BTreeMap::new(), Some("/v1/orcabase/consumer/service_items/?limit=100".to_owned()));
    while let Some(path) = next {
        let page = system.get(&path, "awesome-key").expect_status(200);
        for row in page.at("/results").as_array().unwrap() {
            names.insert(row["id"].as_u64().unwrap(), row["name"].as_str().unwrap().to_owned());
        }
        next = page.at("/next").as_str().map(str::to_owned);
    }
    names
}

#[test]
fn renamed_items_of_a_large_submission_are_the_same_items_whatever_dies() {
    let system = Running::demo_with(1);
    let submitted = system.call("POST", SUBMIT, "awesome-key", &declaration("v", 1));
    assert_eq!(submitted.status, 201, "{submitted:?}");
    system.wait_idle();
    let before = names(&system);
    system.enable("generate", false);
    let submitted = system.call("POST", SUBMIT, "awesome-key", &declaration("w", 2));
    assert_eq!((submitted.status, submitted.at("/state")), (201, &json!("COMMITTED")));
    let id = SubmissionId::parse(submitted.at("/id").as_u64().unwrap()).unwrap();
    let submission = system.block_on(system.table.submission(id)).unwrap().unwrap();
    let url = submitted.at("/url").as_str().unwrap();
    let (mut runs, mut deaths) = (0, 0);
    // Each run dies some calls later than the one before, with and without its last answer.
    while system.get(url, "awesome-key").at("/state") != "SETTLED" {
        let (carried, _) = carry(&system, &submission, 4 + runs % 60, runs % 2 == 1);
        (runs, deaths) = (runs + 1, deaths + usize::from(carried.is_err()));
        assert!(runs < 2_000, "the work comes to an end");
    }
    assert!(deaths > 20, "{deaths} deaths in {runs} runs");
    assert_eq!(system.get(url, "awesome-key").at("/landed"), ITEMS);
    let after = names(&system);
    assert_eq!(after.len(), ITEMS);
    for (id, name) in before {
        let number: usize = name[1..].parse().unwrap();
        let expected = if number < RENAMED { format!("w{number}") } else { name };
        assert_eq!(after[&id], expected);
    }
    system.assert_sound();
}
