//! Faults in teams, heads, applications, submissions, stagings, work and idempotency keys.

use super::{Planted, assert_each_is_reported, busy, change, consumer, staged};
use crate::world::{STRANGER, VM_OWNER, team};
use domain::audit::invariant::Snapshot;
use domain::base::id::ApplicationId;
use domain::model::blockers::Blockers;
use domain::model::staging::{Staging, StagingId, StagingState};
use domain::model::submission::Submission;
use domain::model::team::{Application, Head};
use domain::{ChangeId, Hash, SubmissionId, Timestamp};

fn head(snapshot: &mut Snapshot) -> &mut Head {
    snapshot.heads.get_mut(&consumer()).unwrap()
}

/// Returns the newest submission.
fn submission(snapshot: &mut Snapshot) -> &mut Submission {
    snapshot.submissions.iter_mut().max_by_key(|submission| submission.id).unwrap()
}

const HEADS: &[Planted] = &[
    ("I8 head", "its root does not match its applications", |s| head(s).root = Hash::of("another")),
    ("I9 head", "its blockers do not match its items", |s| head(s).blockers = Blockers::one("another")),
    ("I20 head", "the submission numbers have gaps", |s| head(s).submissions += 1),
    ("I11 head", "the submission that holds it does not exist", |s| {
        head(s).in_flight = SubmissionId::new(consumer(), 90);
    }),
    ("I16 head", "its team does not exist", |s| {
        s.teams.remove(&consumer());
    }),
    ("I16 team", "the team has no head", |s| {
        s.heads.remove(&consumer());
    }),
    ("I16 application", "another application has the same name", |s| {
        let application = s.applications.values().next().unwrap().clone();
        let id = ApplicationId::new(consumer(), 2).unwrap();
        s.applications.insert(id, Application { id, ..application });
    }),
    ("I16 application", "its team does not exist", |s| {
        s.teams.remove(&consumer());
    }),
    ("I8 application", "its digest does not match its items", |s| {
        s.applications.values_mut().for_each(|application| application.digest = Hash::of("another"));
    }),
];

#[test]
fn a_head_sums_up_what_there_is() {
    assert_each_is_reported(busy, HEADS);
}

const SUBMISSIONS: &[Planted] = &[
    ("I11 submission", "0 work records exist, but its count is 1", |s| submission(s).work_left += 1),
    ("I11 submission", "0 work records with direct changes exist, but its count is 1", |s| {
        submission(s).direct_left += 1;
    }),
    ("I11 submission", "with the pending ones", |s| submission(s).opened += 1),
    ("I11 submission", "planned", |s| submission(s).derived += 1),
    ("I10 submission", "is missing", |s| {
        let id = change(s, "a", VM_OWNER).id;
        s.changes.remove(&id);
    }),
    ("I10 submission", "is missing", |s| {
        change(s, "a", VM_OWNER).submission = SubmissionId::new(consumer(), 1).unwrap();
    }),
    ("I11 submission", "its hold on the team's head does not match its progress", |s| {
        head(s).in_flight = SubmissionId::new(consumer(), 1);
    }),
    ("I5 submission", "its ids belong to several teams", |s| submission(s).team = team(STRANGER)),
    ("I16 submission", "its team has another name or does not exist", |s| submission(s).team.name.push('x')),
    ("I11 staging", "its state COMMITTED does not match its submission", |s| {
        let id = StagingId::of("request", 0);
        submission(s).staging = Some(id);
        let submission = submission(s).id;
        let (state, created) = (StagingState::Committed, Timestamp::from_micros(1));
        s.stagings.push(Staging { id, submission, works: 1, state, created });
    }),
    ("I20 idempotency key", "it refers to no submission of its team", |s| {
        s.remembered[0].1.submission = SubmissionId::new(consumer(), 90).unwrap();
    }),
    ("I20 idempotency key", "it refers to no submission of its team", |s| {
        s.remembered[0].0 = team(STRANGER).id;
    }),
    ("I20 idempotency key", "two keys refer to one submission", |s| {
        let mut other = s.remembered[0].clone();
        other.1.key.push('x');
        s.remembered.push(other);
    }),
];

#[test]
fn the_planned_changes_of_a_submission_exist() {
    assert_each_is_reported(busy, SUBMISSIONS);
}

const STAGED: &[Planted] = &[
    ("I11 submission", "is not committed or does not exist", |s| {
        s.stagings[0].submission = SubmissionId::new(consumer(), 1).unwrap();
    }),
    ("I11 submission", "its hold on the team's head does not match its progress", |s| {
        head(s).in_flight = None;
    }),
    ("I11 submission", "1 work records with direct changes exist, but its count is 0", |s| {
        submission(s).direct_left = 0;
    }),
    ("I11 submission", "1 work records exist, but its count is 0", |s| submission(s).work_left = 0),
    ("I11 submission", "planned", |s| {
        s.works[0].entries.pop().unwrap();
    }),
    ("I11 staging", "its state OPEN does not match its submission", |s| {
        s.stagings[0].state = StagingState::Open;
    }),
    ("I11 staging", "its state ABORTED does not match its submission", |s| {
        s.stagings[0].state = StagingState::Aborted;
    }),
    ("I11 staging", "its state COMMITTED does not match its submission", |s| {
        s.stagings[0].id = StagingId::of("another", 0);
    }),
    ("I11 work", "it belongs to no submission and no staging", |s| {
        s.works[0].id.staging = Some(StagingId::of("another", 0));
    }),
    ("I11 work", "it belongs to no submission and no staging", |s| s.works[0].id.staging = None),
    ("I5 work", "its ids belong to several teams", |s| {
        s.works[0].entries[0].id = ChangeId::new(team(STRANGER).id, 16).unwrap();
    }),
    ("I5 work", "its numbers are not below the counters", |s| {
        let first = s.works[0].entries[0].id;
        s.works[0].entries[0].id = ChangeId::new(first.team(), first.number() + 1).unwrap();
    }),
    ("I5 work", "its numbers are not below the counters", |s| {
        let last = s.works[0].entries.iter().map(|planned| planned.id.number()).max().unwrap();
        head(s).next_change = last;
    }),
    ("I5 work", "its numbers are not below the counters", |s| {
        let last = s.works[0].entries.iter().map(|planned| planned.item.number()).max().unwrap();
        s.applications.values_mut().for_each(|application| application.next_item = last);
    }),
];

#[test]
fn staged_records_belong_to_their_submission() {
    assert_each_is_reported(staged, STAGED);
}
