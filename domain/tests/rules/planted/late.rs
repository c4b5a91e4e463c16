//! Overdue work, which breaks no invariant, but needs an operator.

use super::staged;
use domain::Timestamp;
use domain::audit::invariant::{Snapshot, ages};
use domain::model::staging::{StagingId, StagingState};

/// Returns the reports this number of seconds after the last write.
fn age_reports(snapshot: &Snapshot, seconds: u64) -> Vec<String> {
    let now =
        snapshot.submissions.iter().map(|one| one.created.micros()).max().unwrap() + seconds * 1_000_000;
    let late = ages(snapshot, Timestamp::from_micros(now));
    late.into_iter().map(|late| format!("{} {}", late.rule, late.detail)).collect()
}

#[test]
fn late_pending_work_and_late_holds_are_violations_after_minutes() {
    let snapshot = staged();
    assert_eq!(age_reports(&snapshot, 120), [""; 0]);
    assert_eq!(age_reports(&snapshot, 121), ["AGE held by a submission for 121 s"]);
    assert_eq!(age_reports(&snapshot, 300), ["AGE held by a submission for 300 s"]);
    assert_eq!(age_reports(&snapshot, 301), ["AGE pending for 301 s", "AGE held by a submission for 301 s"]);
}

#[test]
fn a_staging_without_commit_is_a_violation_after_an_hour() {
    for state in [StagingState::Open, StagingState::Aborted] {
        let mut snapshot = staged();
        snapshot.heads.values_mut().for_each(|head| head.in_flight = None);
        // The submission now belongs to another staging.
        snapshot.submissions.iter_mut().for_each(|one| one.staging = Some(StagingId::of("another", 0)));
        snapshot.stagings[0].state = state;
        let newest = snapshot.submissions.iter().map(|one| one.created).max().unwrap();
        snapshot.stagings[0].created = newest;
        assert_eq!(age_reports(&snapshot, 3_600), [""; 0]);
        assert_eq!(age_reports(&snapshot, 3_601), [format!("AGE in state {} for 3601 s", state.name())]);
    }
}
