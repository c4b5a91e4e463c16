//! The end of a work record: all its change instances exist.

use crate::base::timestamp::Timestamp;
use crate::model::submission::Submission;
use crate::model::work::Work;
use crate::model::write::Write;

/// Returns the submission without one of its work records, and the writes that finish the record.
///
/// The writes remove and count the record. The last record of the submission's own items also frees the team's head,
/// and the last record of all removes the staging.
pub fn finish_work(submission: &Submission, work: &Work, now: Timestamp) -> (Submission, Vec<Write>) {
    let entries = work.entries.iter().fold(0, |count, _| count + 1);
    let after = Submission {
        opened: submission.opened + entries,
        direct_left: submission.direct_left.saturating_sub(u64::from(work.is_direct())),
        work_left: submission.work_left.saturating_sub(1),
        modified: now.not_before(submission.modified),
        ..submission.clone()
    };
    // `UpdateProgress` checks `work_left`, so two functions cannot finish the same record.
    let freed = submission.direct_left > 0 && after.direct_left == 0;
    let ended = after.staging.filter(|_| after.work_left == 0);
    let mut writes = vec![Write::DeleteWork(work.id)];
    writes.extend(freed.then_some(Write::FreeHead(submission.id)));
    writes.extend(ended.map(|staging| Write::DeleteStaging { team: submission.id.team(), staging }));
    writes.push(Write::UpdateProgress { work_left: submission.work_left, after: after.clone() });
    (after, writes)
}
