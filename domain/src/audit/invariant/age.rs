//! Age limits: overdue work breaks no invariant, but needs an operator.

use super::{Snapshot, Subject, Violation};
use crate::base::id::SubmissionId;
use crate::base::timestamp::Timestamp;
use crate::model::staging::StagingState;
use crate::model::submission::Submission;
use std::collections::BTreeMap;

/// Maximum age of work, in seconds.
const WORK_SECONDS_MAX: u64 = 5 * 60;

/// Maximum time for which a submission may hold its team's head, in seconds.
const IN_FLIGHT_SECONDS_MAX: u64 = 2 * 60;

/// Maximum age of an uncommitted staging, in seconds; the sweep removes an abandoned one much earlier.
const STAGING_SECONDS_MAX: u64 = 60 * 60;

/// Returns a violation for each record that has waited for too long.
pub fn ages(snapshot: &Snapshot, now: Timestamp) -> Vec<Violation> {
    let submissions: BTreeMap<SubmissionId, &Submission> =
        snapshot.submissions.iter().map(|one| (one.id, one)).collect();
    let mut violations = Vec::new();
    let mut older = |since: Timestamp, limit: u64, subject: Subject, what: &str| {
        let age = now.micros().saturating_sub(since.micros()) / 1_000_000;
        if age > limit {
            violations.push(Violation { rule: "AGE", subject, detail: format!("{what} for {age} s") });
        }
    };
    for work in &snapshot.works {
        // Work of a staging counts from the commit on; before it, the work may never become due.
        let committed = submissions.get(&work.id.submission).filter(|one| one.staging == work.id.staging);
        if let Some(submission) = committed {
            older(submission.created, WORK_SECONDS_MAX, Subject::Work(work.id), "pending");
        }
    }
    for head in snapshot.heads.values() {
        if let Some(submission) = head.in_flight.and_then(|id| submissions.get(&id)) {
            older(
                submission.created,
                IN_FLIGHT_SECONDS_MAX,
                Subject::Head(head.team),
                "held by a submission",
            );
        }
    }
    for staging in snapshot.stagings.iter().filter(|staging| staging.state != StagingState::Committed) {
        let subject = Subject::Staging(staging.team(), staging.id);
        older(staging.created, STAGING_SECONDS_MAX, subject, &format!("in state {}", staging.state.name()));
    }
    violations
}
