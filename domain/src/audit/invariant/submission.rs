//! Submissions, stagings, work and idempotency keys.

use super::{Audit, Subject, count};
use crate::base::id::ChangeId;
use crate::base::state::Kind;
use crate::model::staging::{Staging, StagingState};
use crate::model::submission::{Progress, Submission};
use crate::model::work::Work;
use std::collections::BTreeSet;

impl Audit<'_> {
    /// I10 and I11: each planned change instance exists or is pending, and the counts of a submission are correct.
    pub(super) fn submission(&mut self, submission: &Submission) {
        let subject = || Subject::Submission(submission.id);
        let works = self.works.get(&(submission.id, submission.staging)).cloned().unwrap_or_default();
        let left = count(&works);
        let direct_left = count(works.iter().filter(|work| work.is_direct()));
        let waiting: BTreeSet<ChangeId> =
            works.iter().flat_map(|work| &work.entries).map(|planned| planned.id).collect();
        let detail = format!("{left} work records exist, but its count is {}", submission.work_left);
        self.require(left == submission.work_left, "I11", subject(), detail);
        let detail = format!(
            "{direct_left} work records with direct changes exist, but its count is {}",
            submission.direct_left
        );
        self.require(direct_left == submission.direct_left, "I11", subject(), detail);
        let counted = submission.opened + count(&waiting);
        let detail =
            format!("{} opened change instances, {counted} with the pending ones", submission.opened);
        self.require(counted == submission.planned(), "I11", subject(), detail);
        for id in submission.direct_changes() {
            let exists = self.snapshot.changes.get(&id).is_some_and(|c| c.submission == submission.id);
            let planned = exists || waiting.contains(&id);
            self.require(planned, "I10", subject(), format!("change instance {id} is missing"));
        }
        let holds = self.snapshot.heads.get(&submission.id.team()).and_then(|head| head.in_flight);
        let is_held = submission.progress() == Progress::Committed;
        let detail = "its hold on the team's head does not match its progress";
        self.require(is_held == (holds == Some(submission.id)), "I11", subject(), detail);
        let own = submission.team.id == submission.id.team();
        self.require(own, "I5", subject(), "its ids belong to several teams");
        let team = self.snapshot.teams.get(&submission.id.team());
        let named = team.is_some_and(|team| team.name == submission.team.name);
        self.require(named, "I16", subject(), "its team has another name or does not exist");
        self.staged(submission);
        self.generated(submission, &waiting);
        self.submission_size(submission);
    }

    /// I11: a submission with unfinished work has its committed staging.
    fn staged(&mut self, submission: &Submission) {
        let Some(id) = submission.staging.filter(|_| submission.work_left > 0) else { return };
        let staging = self.stagings.get(&(submission.id.team(), id));
        let claimed = staging.is_some_and(|staging| {
            staging.state == StagingState::Committed && staging.submission == submission.id
        });
        let detail = format!("staging {id} is not committed or does not exist");
        self.require(claimed, "I11", Subject::Submission(submission.id), detail);
    }

    /// I11: the generated and the pending change instances are together the planned ones.
    fn generated(&mut self, submission: &Submission, waiting: &BTreeSet<ChangeId>) {
        let of_it = self.changes_of_submission.get(&submission.id).into_iter().flatten();
        let generated = count(of_it.filter(|c| matches!(c.kind, Kind::Dependent | Kind::Referenced)));
        let direct: BTreeSet<ChangeId> = submission.direct_changes().collect();
        // A record stays until all its change instances exist, so some of them may exist already.
        let planned =
            waiting.iter().filter(|id| !self.snapshot.changes.contains_key(*id) && !direct.contains(*id));
        let planned = count(planned);
        let detail =
            format!("{planned} pending and {generated} generated, but {} planned", submission.derived);
        self.require(
            planned + generated == submission.derived,
            "I11",
            Subject::Submission(submission.id),
            detail,
        );
    }

    /// I11: a committed staging has a submission with unfinished work; any other staging has none.
    pub(super) fn staging(&mut self, staging: &Staging) {
        let submission =
            self.submissions.get(&staging.submission).filter(|one| one.staging == Some(staging.id));
        let sound = match staging.state {
            StagingState::Open | StagingState::Aborted => submission.is_none(),
            StagingState::Committed => submission.is_some_and(|submission| submission.work_left > 0),
        };
        let detail = format!("its state {} does not match its submission", staging.state.name());
        self.require(sound, "I11", Subject::Staging(staging.team(), staging.id), detail);
    }

    /// I11: work belongs to a submission or to a staging.
    pub(super) fn work(&mut self, work: &Work) {
        let (submission, staging) = (work.id.submission, work.id.staging);
        let is_planned = self.is_claimed(work);
        let is_staged = staging.is_some_and(|id| self.stagings.contains_key(&(submission.team(), id)));
        self.require(
            is_planned || is_staged,
            "I11",
            Subject::Work(work.id),
            "it belongs to no submission and no staging",
        );
        let ids = work.entries.iter().flat_map(|planned| [planned.id.team(), planned.item.team()]);
        let own = ids.into_iter().all(|team| team == submission.team());
        self.require(own, "I5", Subject::Work(work.id), "its ids belong to several teams");
        self.work_size(work);
    }

    /// I20: an idempotency key refers to a submission of its team, and each submission has at most one key.
    pub(super) fn remembered(&mut self) {
        let mut led_to = BTreeSet::new();
        for (team, remembered) in &self.snapshot.remembered {
            let id = remembered.submission;
            let exists = id.team() == *team && self.submissions.contains_key(&id);
            let subject = || Subject::IdempotencyRecord(*team, id);
            self.require(exists, "I20", subject(), "it refers to no submission of its team");
            // Per team, so another team's key counts only as wrong, and not as a second key.
            let is_new = led_to.insert((*team, id));
            self.require(is_new, "I20", subject(), "two keys refer to one submission");
            self.remembered_size(*team, remembered);
        }
    }
}
