//! Faults in teams, heads, applications, submissions, stagings, work and idempotency keys.

use super::{Planted, all_are_told, busy, change, consumer, staged};
use crate::world::{STRANGER, VM_OWNER, team};
use domain::attention::Attention;
use domain::id::{ApplicationId, ChangeId, SubmissionId};
use domain::invariant::Snapshot;
use domain::json::Hash;
use domain::staging::{Staging, StagingId, StagingState};
use domain::submission::Submission;
use domain::team::{Application, Head};
use domain::timestamp::Timestamp;

fn head(snapshot: &mut Snapshot) -> &mut Head {
    snapshot.heads.get_mut(&consumer()).unwrap()
}

/// Returns the newest submission.
fn submission(snapshot: &mut Snapshot) -> &mut Submission {
    snapshot.submissions.iter_mut().max_by_key(|submission| submission.id).unwrap()
}

const HEADS: &[Planted] = &[
    ("I8 head", "its root is not that of its applications", |s| head(s).root = Hash::of("another")),
    ("I9 head", "its attention is not that of its items", |s| head(s).attention = Attention::one("another")),
    ("I20 head", "the submissions are not numbered without gaps", |s| head(s).submissions += 1),
    ("I11 head", "the submission that holds it does not exist", |s| {
        head(s).in_flight = SubmissionId::new(consumer(), 90);
    }),
    ("I16 head", "its team does not exist", |s| {
        s.teams.remove(&consumer());
    }),
    ("I16 team", "it has no head", |s| {
        s.heads.remove(&consumer());
    }),
    ("I16 application", "another one has its name", |s| {
        let application = s.applications.values().next().unwrap().clone();
        let id = ApplicationId::new(consumer(), 2).unwrap();
        s.applications.insert(id, Application { id, ..application });
    }),
    ("I16 application", "its team does not exist", |s| {
        s.teams.remove(&consumer());
    }),
    ("I8 application", "its digest is not that of its items", |s| {
        s.applications.values_mut().for_each(|application| application.digest = Hash::of("another"));
    }),
];

#[test]
fn a_head_sums_up_what_there_is() {
    all_are_told(busy, HEADS);
}

const SUBMISSIONS: &[Planted] = &[
    ("I11 submission", "0 work records, 1 counted", |s| submission(s).work_left += 1),
    ("I11 submission", "0 with items of its own, 1 counted", |s| submission(s).direct_left += 1),
    ("I11 submission", "with those that wait", |s| submission(s).landed += 1),
    ("I11 submission", "planned", |s| submission(s).derived += 1),
    ("I10 submission", "is missing", |s| {
        let id = change(s, "a", VM_OWNER).id;
        s.changes.remove(&id);
    }),
    ("I10 submission", "is missing", |s| {
        change(s, "a", VM_OWNER).submission = SubmissionId::new(consumer(), 1).unwrap();
    }),
    ("I11 submission", "the team's head is not held by it", |s| {
        head(s).in_flight = SubmissionId::new(consumer(), 1);
    }),
    ("I5 submission", "ids of several teams", |s| submission(s).team = team(STRANGER)),
    ("I16 submission", "its team has another name, or there is none", |s| submission(s).team.name.push('x')),
    ("I11 staging", "it is COMMITTED", |s| {
        let id = StagingId::of("request", 0);
        submission(s).staging = Some(id);
        let submission = submission(s).id;
        let (state, created) = (StagingState::Committed, Timestamp::from_micros(1));
        s.stagings.push(Staging { id, submission, works: 1, state, created });
    }),
    ("I20 idempotency key", "it leads nowhere, or to another team", |s| {
        s.remembered[0].1.submission = SubmissionId::new(consumer(), 90).unwrap();
    }),
    ("I20 idempotency key", "it leads nowhere, or to another team", |s| {
        s.remembered[0].0 = team(STRANGER).id;
    }),
    ("I20 idempotency key", "two keys lead to one submission", |s| {
        let mut other = s.remembered[0].clone();
        other.1.key.push('x');
        s.remembered.push(other);
    }),
];

#[test]
fn what_a_submission_planned_is_there() {
    all_are_told(busy, SUBMISSIONS);
}

const STAGED: &[Planted] = &[
    ("I11 submission", "is not committed, or there is none", |s| {
        s.stagings[0].submission = SubmissionId::new(consumer(), 1).unwrap();
    }),
    ("I11 submission", "the team's head is not held by it", |s| head(s).in_flight = None),
    ("I11 submission", "1 with items of its own, 0 counted", |s| submission(s).direct_left = 0),
    ("I11 submission", "1 work records, 0 counted", |s| submission(s).work_left = 0),
    ("I11 submission", "planned", |s| {
        s.works[0].entries.pop().unwrap();
    }),
    ("I11 staging", "it is OPEN", |s| s.stagings[0].state = StagingState::Open),
    ("I11 staging", "it is ABORTED", |s| s.stagings[0].state = StagingState::Aborted),
    ("I11 staging", "it is COMMITTED", |s| s.stagings[0].id = StagingId::of("another", 0)),
    ("I11 work", "it belongs to nothing", |s| s.works[0].id.staging = Some(StagingId::of("another", 0))),
    ("I11 work", "it belongs to nothing", |s| s.works[0].id.staging = None),
    ("I5 work", "ids of several teams", |s| {
        s.works[0].entries[0].id = ChangeId::new(team(STRANGER).id, 16).unwrap();
    }),
    ("I5 work", "numbers in it would be allotted again", |s| {
        let first = s.works[0].entries[0].id;
        s.works[0].entries[0].id = ChangeId::new(first.team(), first.number() + 1).unwrap();
    }),
    ("I5 work", "numbers in it would be allotted again", |s| {
        let last = s.works[0].entries.iter().map(|owed| owed.id.number()).max().unwrap();
        head(s).next_change = last;
    }),
    ("I5 work", "numbers in it would be allotted again", |s| {
        let last = s.works[0].entries.iter().map(|owed| owed.item.number()).max().unwrap();
        s.applications.values_mut().for_each(|application| application.next_item = last);
    }),
];

#[test]
fn what_is_staged_belongs_to_its_submission() {
    all_are_told(staged, STAGED);
}
