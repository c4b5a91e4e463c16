//! JUnit: one case for each item of a submission, with the texts of its owners.

use crate::{
    api::kinds::ITEM,
    base::{failure::Failure, json::At as _, text::joined},
    document::file::save,
};
use domain::State;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Writes the changes of a submission to a file; `is_waiting` says which ones have not reached the goal.
pub(crate) fn write(
    path: &Path,
    submission: u64,
    changes: &[Value],
    is_waiting: impl Fn(&Value) -> bool,
) -> Result<(), Failure> {
    let mut items: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for change in changes {
        items.entry(joined(change, ITEM)).or_default().push(change);
    }
    let mut suite = TestSuite::new(format!("submission {submission}"));
    suite.add_test_cases(items.iter().map(|(name, changes)| case(name, changes, &is_waiting)));
    let mut report = Report::new("dovetail");
    report.add_test_suite(suite);
    save(path, &report.to_string().map_err(Failure::failed)?)
}

/// Returns the case of an item: that of its worst change.
fn case(name: &str, changes: &[&Value], is_waiting: impl Fn(&Value) -> bool) -> TestCase {
    let in_state = |wanted: State| {
        move |change: &Value| change.text_at("/state").parse::<State>().is_ok_and(|state| state == wanted)
    };
    let only =
        |is: &dyn Fn(&Value) -> bool| changes.iter().copied().filter(|change| is(change)).collect::<Vec<_>>();
    let errored = only(&in_state(State::Errored));
    let rejected = only(&in_state(State::Rejected));
    let open = only(&|change| is_waiting(change) || in_state(State::Closed)(change));
    let (mut status, of) = if !errored.is_empty() {
        (TestCaseStatus::non_success(NonSuccessKind::Error), errored)
    } else if !rejected.is_empty() {
        (TestCaseStatus::non_success(NonSuccessKind::Failure), rejected)
    } else if !open.is_empty() {
        (TestCaseStatus::skipped(), open)
    } else {
        (TestCaseStatus::success(), Vec::new())
    };
    if !of.is_empty() {
        status.set_message(of.iter().map(|change| reason(change)).collect::<Vec<_>>().join("; "));
        let types: Vec<String> = of.iter().map(|change| change.text_at("/state")).collect();
        status.set_type(types.first().cloned().unwrap_or_default());
        status.set_description(of.iter().map(|change| line(change)).collect::<Vec<_>>().join("\n"));
    }
    let mut case = TestCase::new(name, status);
    // Viewers group cases by this name.
    if let Some((class, _)) = name.rsplit_once('/') {
        case.set_classname(class);
    }
    case
}

/// Returns the owner's text, or the state without one.
fn reason(change: &Value) -> String {
    let [state, owner, log] = ["/state", "/owner/name", "/log"].map(|pointer| change.text_at(pointer));
    if log.is_empty() { format!("{state}, {owner}") } else { log }
}

fn line(change: &Value) -> String {
    let [id, change_type, state, owner, log] =
        ["/id", "/change_type", "/state", "/owner/name", "/log"].map(|pointer| change.text_at(pointer));
    let log = if log.is_empty() { log } else { format!(": {log}") };
    format!("{change_type} {id} {state}, {owner}{log}")
}
