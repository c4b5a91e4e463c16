//! Which records a violation is about: those that have to stand still for it to count.

use crate::key::{self, Key};
use domain::change::Change;
use domain::id::{ItemId, SubmissionId, TeamId};
use domain::invariant::{Snapshot, Subject, Violation};
use domain::work::WorkId;
use std::collections::BTreeSet;

/// The keys of the records of a team that a violation is about, also of those that are not there.
pub(super) fn concerned(snapshot: &Snapshot, violation: &Violation) -> BTreeSet<Key> {
    match &violation.subject {
        Subject::Item(id) => of_item(snapshot, *id),
        Subject::Change(id) => {
            let item = snapshot.changes.get(id).map(|change| of_item(snapshot, change.item));
            item.into_iter().flatten().chain([key::change(*id)]).collect()
        }
        Subject::Deployed(id) => {
            let deployed = snapshot.deployed.iter().find(|deployed| deployed.id == *id);
            let item = deployed.map(|deployed| of_item(snapshot, deployed.item));
            let change = deployed.map(|deployed| key::change(deployed.change));
            item.into_iter().flatten().chain(change).chain([key::deployed(*id)]).collect()
        }
        Subject::Head(team) if violation.rule == "I20" => {
            let of_team = snapshot.submissions.iter().filter(|one| one.id.team() == *team);
            of_team.map(|one| key::submission(one.id)).chain([key::head(*team)]).collect()
        }
        Subject::Head(_) | Subject::Team(_) | Subject::Application(_) => {
            violation.subject.team().map(|team| of_team(snapshot, team)).unwrap_or_default()
        }
        Subject::Submission(id) | Subject::Remembered(id) => of_submission(snapshot, *id),
        Subject::Staging(_, id) => {
            let staging = snapshot.stagings.iter().find(|staging| staging.id == *id);
            staging.map(|staging| of_submission(snapshot, staging.submission)).unwrap_or_default()
        }
        Subject::Work(id) => {
            let staging = id.staging.map(|staging| key::staging(id.submission.team(), staging));
            [key::work(*id), key::submission(id.submission)].into_iter().chain(staging).collect()
        }
        Subject::Declaration(team, hash) => BTreeSet::from([key::declaration(*team, *hash)]),
        Subject::Service(_)
        | Subject::ServiceId(_)
        | Subject::TeamName(_)
        | Subject::Counters
        | Subject::Record { .. } => BTreeSet::new(),
    }
}

/// A team with its applications and items: what its head sums up.
fn of_team(snapshot: &Snapshot, team: TeamId) -> BTreeSet<Key> {
    let applications = snapshot.applications.keys().filter(|id| id.team() == team);
    let items = snapshot.items.keys().filter(|id| id.team() == team);
    let records = applications.map(|id| key::application(*id)).chain(items.map(|id| key::item(*id)));
    records.chain([key::team(team), key::head(team)]).collect()
}

/// An item with its change instances, deployed items, shares and declarations, and what it is a part of.
fn of_item(snapshot: &Snapshot, id: ItemId) -> BTreeSet<Key> {
    let team = id.team();
    let mut keys = BTreeSet::from([
        key::item(id),
        key::application(id.application()),
        key::team(team),
        // A submission in flight, or a new one, moves it.
        key::head(team),
    ]);
    let item = snapshot.items.get(&id);
    if let Some(item) = item {
        keys.extend(item.open().map(|(_, slot)| key::change(slot.change)));
        keys.extend(item.deployed.map(|latest| key::deployed(latest.id)));
        keys.extend(item.dependents().map(|owner| key::share(id, owner)));
        keys.insert(key::declaration(team, item.version.hash));
    }
    let changes: Vec<&Change> = snapshot.changes.values().filter(|change| change.item == id).collect();
    keys.extend(changes.iter().map(|change| key::change(change.id)));
    let versions = changes.iter().flat_map(|change| change.new.iter().chain(&change.old));
    keys.extend(versions.map(|version| key::declaration(team, version.hash)));
    let deployed = snapshot.deployed.iter().filter(|deployed| deployed.item == id);
    keys.extend(deployed.map(|deployed| key::deployed(deployed.id)));
    let shares = snapshot.shares.iter().filter(|(item, _)| *item == id);
    keys.extend(shares.map(|(_, owner)| key::share(id, *owner)));
    keys
}

/// A submission with its stagings, its work, its change instances and what remembers it.
fn of_submission(snapshot: &Snapshot, id: SubmissionId) -> BTreeSet<Key> {
    let team = id.team();
    let mut keys = BTreeSet::from([key::submission(id), key::head(team)]);
    let submission = snapshot.submissions.iter().find(|submission| submission.id == id);
    if let Some(submission) = submission {
        keys.extend(submission.direct_changes().map(key::change));
        let works = 1..=submission.work_left;
        let work = |number| WorkId { submission: id, staging: submission.staging, number };
        keys.extend(works.map(|number| key::work(work(number))));
    }
    let changes = snapshot.changes.values().filter(|change| change.submission == id);
    keys.extend(changes.map(|change| key::change(change.id)));
    let works = snapshot.works.iter().filter(|work| work.id.submission == id);
    keys.extend(works.map(|work| key::work(work.id)));
    let stagings = snapshot.stagings.iter().filter(|staging| staging.submission == id);
    keys.extend(stagings.map(|staging| key::staging(team, staging.id)));
    let remembered = snapshot.remembered.iter().filter(|(_, remembered)| remembered.submission == id);
    keys.extend(remembered.map(|(team, remembered)| key::remembered(*team, &remembered.key)));
    keys
}
