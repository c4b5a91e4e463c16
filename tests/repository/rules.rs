//! The page of rules: each rule has a test, and each test a rule.

use repository::{files, read, root};
use std::collections::BTreeSet;

#[test]
fn every_rule_has_a_test_of_its_number_and_every_number_a_rule() {
    let page = read(&root().join("docs/reference/rules.md"));
    let documented: BTreeSet<u32> =
        page.lines().filter_map(|line| line.strip_prefix("| R")?.split_once(' ')?.0.parse().ok()).collect();
    let mut tested = BTreeSet::new();
    for file in files(&root().join("domain/tests/rules"), ".rs") {
        for line in read(&file).lines() {
            let number = line.strip_prefix("fn r").and_then(|name| name.split_once('_'));
            tested.extend(number.and_then(|(number, _)| number.parse::<u32>().ok()));
        }
    }
    assert_eq!(tested, documented);
    let last = u32::try_from(documented.len()).unwrap();
    assert_eq!(documented, (1..=last).collect(), "without a gap");
}
