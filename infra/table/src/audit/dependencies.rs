//! The records that a violation depends on, which must not move for the violation to count.
//!
//! Fewer records mean fewer looks at a busy team, so each rule names only the records that it compares.

use crate::key::{self, Key};
use domain::audit::invariant::{Snapshot, Subject, Violation};
use domain::base::id::{ApplicationId, ChargeId};
use domain::model::metadata::Of;
use domain::model::secrets::may_have_masks;
use domain::model::work::{Work, WorkId};
use domain::{Change, ChangeId, ItemId, SubmissionId, TeamId};
use std::collections::BTreeSet;

/// Returns the keys of the listed team's records that a violation depends on, absent records included.
///
/// Records of other teams are left out, because they were not listed, and a pointer to another team is wrong in any
/// case.
pub(super) fn dependency_keys(snapshot: &Snapshot, listed: TeamId, violation: &Violation) -> BTreeSet<Key> {
    let mut keys = about(snapshot, violation);
    let partitions = key::partitions_of(listed);
    keys.retain(|key| partitions.contains(&key.pk));
    keys
}

fn about(snapshot: &Snapshot, violation: &Violation) -> BTreeSet<Key> {
    match &violation.subject {
        Subject::Item(id) => of_item(snapshot, *id),
        Subject::Change(id) => of_change(snapshot, *id),
        Subject::Charge(id) => {
            let charge = snapshot.charges.get(id);
            let item = charge.map(|charge| of_item(snapshot, charge.item)).unwrap_or_default();
            let change = charge.map(|charge| key::change(charge.change));
            item.into_iter().chain(change).chain([key::charge(*id), key::head(id.team())]).collect()
        }
        Subject::Deployed(id) => {
            let deployed = snapshot.deployed.iter().find(|deployed| deployed.id == *id);
            let item = deployed.map(|deployed| of_item(snapshot, deployed.item));
            let change = deployed.map(|deployed| key::change(deployed.change));
            let own = [key::deployed(*id), key::head(id.team())];
            item.into_iter().flatten().chain(change).chain(own).collect()
        }
        Subject::Application(id) => of_application(snapshot, *id, violation.rule),
        Subject::Head(team) => of_head(snapshot, *team, violation.rule),
        Subject::Team(team) => {
            replaced(snapshot, Of::Team(*team)).chain([key::team(*team), key::head(*team)]).collect()
        }
        Subject::Submission(id) => of_submission(snapshot, *id),
        Subject::IdempotencyRecord(team, id) => {
            let remembered =
                snapshot.remembered.iter().filter(|(_, remembered)| remembered.submission == *id);
            let keys = remembered.map(|(team, remembered)| key::remembered(*team, &remembered.key));
            keys.chain([key::submission(*id), key::head(*team)]).collect()
        }
        Subject::Staging(team, id) => {
            let staging = snapshot.stagings.iter().find(|staging| staging.id == *id);
            let submission = staging.map(|staging| of_submission(snapshot, staging.submission));
            submission.into_iter().flatten().chain([key::staging(*team, *id)]).collect()
        }
        Subject::Work(id) => of_work(snapshot, *id),
        Subject::Declaration(team, hash) => BTreeSet::from([key::declaration(*team, *hash)]),
        Subject::Service(_)
        | Subject::Messages(_)
        | Subject::ServiceId(_)
        | Subject::TeamName(_)
        | Subject::MetadataPolicy
        | Subject::Counters
        | Subject::Record { .. } => BTreeSet::new(),
    }
}

/// Returns a team with its applications and items: the summands of its head, and the basis of repairs.
pub(super) fn of_team(snapshot: &Snapshot, team: TeamId) -> BTreeSet<Key> {
    let items = live_items(snapshot).filter(|id| id.team() == team).map(key::item);
    let records = items.chain(applications(snapshot, team));
    records.chain([key::team(team), key::head(team)]).collect()
}

/// Returns the items that count in digests and blockers, which gone items do not.
fn live_items(snapshot: &Snapshot) -> impl Iterator<Item = ItemId> {
    snapshot.items.values().filter(|item| !item.gone).map(|item| item.id)
}

fn applications(snapshot: &Snapshot, team: TeamId) -> impl Iterator<Item = Key> {
    let applications = snapshot.applications.keys().filter(move |id| id.team() == team);
    applications.flat_map(|id| keys_of_application(snapshot, *id))
}

/// Returns the key of an application, or both of its keys if it is missing.
fn keys_of_application(snapshot: &Snapshot, id: ApplicationId) -> Vec<Key> {
    match snapshot.applications.get(&id) {
        Some(application) => vec![key::application_at(id, application.retired.is_some())],
        None => vec![key::application(id), key::retired(id)],
    }
}

/// Returns the records of former metadata.
fn replaced(snapshot: &Snapshot, of: Of) -> impl Iterator<Item = Key> {
    let keys = snapshot.replaced.keys().filter(move |(whose, _)| *whose == of);
    keys.map(|(of, submission)| key::replaced(*of, *submission))
}

/// Returns a head with the records that a rule compares it with.
///
/// In a busy team, a shorter list of records is unchanged sooner.
fn of_head(snapshot: &Snapshot, team: TeamId, rule: &str) -> BTreeSet<Key> {
    let own = [key::team(team), key::head(team)];
    match rule {
        "I8" => {
            let newest =
                snapshot.submissions.iter().filter(|one| one.id.team() == team).map(|one| one.id).max();
            applications(snapshot, team).chain(newest.map(key::submission)).chain(own).collect()
        }
        "I9" => of_team(snapshot, team),
        "I20" => {
            let submissions = snapshot.submissions.iter().filter(|one| one.id.team() == team);
            submissions.map(|one| key::submission(one.id)).chain(own).collect()
        }
        // Only the submission in flight matters for the other rules.
        _ => {
            let held = snapshot.heads.get(&team).and_then(|head| head.in_flight);
            held.map(key::submission).into_iter().chain(own).collect()
        }
    }
}

/// Returns an application with its items, or with the applications that may share its name.
fn of_application(snapshot: &Snapshot, id: ApplicationId, rule: &str) -> BTreeSet<Key> {
    let own = keys_of_application(snapshot, id).into_iter();
    let own = own.chain([key::team(id.team()), key::head(id.team())]);
    // I34 compares the applications of one number, and a team has few with several.
    if matches!(rule, "I16" | "I34") {
        return applications(snapshot, id.team()).chain(own).collect();
    }
    if rule == "I19" {
        return replaced(snapshot, Of::Application(id)).chain(own).collect();
    }
    let items = snapshot.items.values().filter(|item| !item.gone && item.application_id() == id);
    items.map(|item| key::item(item.id)).chain(own).collect()
}

/// Returns a change instance with its item, its submission, and the change instance that caused it.
fn of_change(snapshot: &Snapshot, id: ChangeId) -> BTreeSet<Key> {
    let change = snapshot.changes.get(&id);
    let mut keys = change.map(|change| of_item(snapshot, change.item)).unwrap_or_default();
    keys.extend(change.map(|change| key::submission(change.submission)));
    keys.extend(change.into_iter().flat_map(|change| answers(snapshot, change)));
    keys.extend(change.and_then(|change| change.cause).map(key::change));
    keys.extend([key::change(id), key::charge(ChargeId::of_change(id)), key::head(id.team())]);
    keys
}

/// Returns the change instance that answered `change`, and the work that may still have to create it.
fn answers(snapshot: &Snapshot, change: &Change) -> BTreeSet<Key> {
    let Some(by) = change.answered_by() else { return BTreeSet::new() };
    let pending = snapshot.works.iter().filter(|work| work.entries.iter().any(|planned| planned.id == by));
    let works = pending.flat_map(|work| [key::work(work.id), key::submission(work.id.submission)]);
    works.chain([key::change(by)]).collect()
}

/// Returns a work record with its head and submission, and the applications that allotted its numbers.
fn of_work(snapshot: &Snapshot, id: WorkId) -> BTreeSet<Key> {
    let team = id.submission.team();
    let work = snapshot.works.iter().filter(|work| work.id == id).flat_map(|work| &work.entries);
    let applications = work.map(|planned| planned.item.application(0));
    let mut keys: BTreeSet<Key> = applications.map(key::application).collect();
    keys.extend(id.staging.map(|staging| key::staging(team, staging)));
    keys.extend([key::work(id), key::submission(id.submission), key::head(team)]);
    keys
}

/// Returns an item with its pending work, change instances, deployed items, charges, shares, claims and declarations, and
/// with
/// its application and team.
fn of_item(snapshot: &Snapshot, id: ItemId) -> BTreeSet<Key> {
    let team = id.team();
    let mut keys = BTreeSet::from([
        key::item(id),
        key::gone(id),
        key::team(team),
        // Every submission changes the head, so an unmoved head proves that no submission moved the item.
        key::head(team),
    ]);
    let has_item = |work: &&Work| work.entries.iter().any(|planned| planned.item == id);
    keys.extend(snapshot.works.iter().filter(has_item).map(|work| key::work(work.id)));
    let item = snapshot.items.get(&id);
    if let Some(item) = item {
        keys.extend(keys_of_application(snapshot, item.application_id()));
        keys.extend(item.open().map(|(_, slot)| key::change(slot.change)));
        keys.extend(item.deployed.map(|latest| key::deployed(latest.id)));
        keys.extend(item.charges.running.map(|running| key::charge(running.charge)));
        keys.extend(item.dependents().map(|owner| key::share(id, owner)));
        keys.insert(key::declaration(team, item.version.hash));
        let declared = snapshot.declarations.get(&(team, item.version.hash));
        let has_secrets = declared.is_some_and(|text| may_have_masks(text));
        keys.extend(has_secrets.then(|| key::secrets(team, item.version.hash)));
    }
    let changes: Vec<&Change> = snapshot.changes.values().filter(|change| change.item == id).collect();
    keys.extend(changes.iter().map(|change| key::change(change.id)));
    let versions = changes.iter().flat_map(|change| change.new.iter().chain(&change.old));
    let planned = changes.iter().flat_map(|change| change.history.iter().filter_map(|entry| entry.planned));
    keys.extend(versions.map(|version| version.hash).chain(planned).map(|hash| key::declaration(team, hash)));
    let deployed = snapshot.deployed.iter().filter(|deployed| deployed.item == id);
    keys.extend(deployed.map(|deployed| key::deployed(deployed.id)));
    let charges = snapshot.charges.values().filter(|charge| charge.item == id);
    keys.extend(charges.map(|charge| key::charge(charge.id)));
    let shares = snapshot.shares.iter().filter(|(item, _)| *item == id);
    keys.extend(shares.map(|(_, owner)| key::share(id, *owner)));
    let claims = snapshot.claims.keys().filter(|(item, _)| *item == id);
    keys.extend(claims.map(|(_, owner)| key::claim(id, *owner)));
    keys
}

/// Returns a submission with its stagings, work, change instances and idempotency keys.
fn of_submission(snapshot: &Snapshot, id: SubmissionId) -> BTreeSet<Key> {
    let team = id.team();
    let mut keys = BTreeSet::from([key::submission(id), key::head(team), key::team(team)]);
    let submission = snapshot.submissions.iter().find(|submission| submission.id == id);
    if let Some(submission) = submission {
        keys.extend(submission.direct_changes().map(key::change));
        keys.extend(submission.staging.map(|staging| key::staging(team, staging)));
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
