//! Items with their change instances, deployed items and shares.

use super::{Audit, Subject};
use crate::base::hash::Hash;
use crate::base::id::{ChangeId, DeployedId, ItemId, TeamId};
use crate::base::state::{ChangeType, RuntimeState, Stage, State};
use crate::model::change::{Change, ClosedBy, Entry};
use crate::model::claim::Claim;
use crate::model::deployed::Deployed;
use crate::model::item::{Creation, Item, Slot};
use crate::model::place::Place;
use crate::model::secrets::may_have_masks;
use crate::rules::secrets::knows_masks;
use std::collections::{BTreeMap, BTreeSet};

impl Audit<'_> {
    /// Checks an item and its relations.
    pub(super) fn item(&mut self, item: &Item) {
        let changes = self.changes_of_item.get(&item.id).cloned().unwrap_or_default();
        self.slots(item, &changes);
        self.sequence(item, &changes);
        self.creations(item, &changes);
        self.runtime_state(item, &changes);
        self.completed_target(item, &changes);
        self.item_alone(item);
        self.versions(item);
        self.references(item);
        self.shares(item);
        self.shares_due(item);
        self.gone(item);
        self.charges(item, &changes);
        self.item_size(item);
    }

    /// I1 and I2: the slots are the open change instances, at most one per owner and stage.
    fn slots(&mut self, item: &Item, changes: &[&Change]) {
        let subject = || Subject::Item(item.id);
        let mut open: BTreeMap<(TeamId, Stage), Vec<ChangeId>> = BTreeMap::new();
        for change in changes.iter().filter(|change| change.state.stage() != Stage::Resolved) {
            open.entry((change.owner.id, change.state.stage())).or_default().push(change.id);
        }
        for ((owner, stage), ids) in &open {
            let detail = format!("team {owner} has more than one open change instance: {ids:?} in {stage:?}");
            self.require(ids.len() == 1, "I1", subject(), detail);
        }
        let open: BTreeSet<ChangeId> = open.into_values().flatten().collect();
        let slots: BTreeSet<ChangeId> = item.open().map(|(_, slot)| slot.change).collect();
        self.require(
            open == slots,
            "I2",
            subject(),
            format!("{open:?} are open, but its slots contain {slots:?}"),
        );
        for (owner, slot) in item.open() {
            let agrees = self.snapshot.changes.get(&slot.change).is_some_and(|c| agrees(c, owner, slot));
            self.require(
                agrees,
                "I2",
                subject(),
                format!("the slot of {} differs from the change instance", slot.change),
            );
        }
    }

    /// I6: each owner's stack has the newest applied change, and no PENDING one is older.
    fn sequence(&mut self, item: &Item, changes: &[&Change]) {
        let subject = || Subject::Item(item.id);
        let opened = changes.iter().filter(|change| has_been_open(change));
        let has_stack = opened.clone().all(|change| item.stacks.contains_key(&change.owner.id));
        self.require(has_stack, "I6", subject(), "a team opened a change instance, but has no stack");
        let main = opened.filter(|change| !change.is_dependant());
        let latest = main.max_by_key(|change| (change.submission, change.attempt));
        let agrees = latest.is_some_and(|change| change.id == item.latest_change);
        self.require(agrees, "I6", subject(), "its latest change instance is not the newest one");
        for (owner, stack) in &item.stacks {
            let own = changes.iter().filter(|change| change.owner.id == *owner);
            let opened = own.clone().filter(|change| has_been_open(change));
            let newest = opened.map(|c| (c.submission.number(), c.attempt)).max();
            let detail =
                format!("team {owner}: the newest change instance is {newest:?}, not the one of its stack");
            let agrees = newest == Some((stack.sequence, stack.attempt));
            self.require(agrees, "I6", subject(), detail);
            let blocked = own.clone().filter(|change| has_been_blocked(change));
            let blocked = blocked.map(|change| change.submission.number()).max();
            let detail = format!("team {owner}: no blocked change instance is the one of its stack");
            // Records from before this attribute have none.
            let is_noted = stack.blocked_sequence == 0
                || stack.blocked_sequence > stack.sequence && blocked == Some(stack.blocked_sequence);
            self.require(is_noted, "I6", subject(), detail);
            let waiting = own.clone().find(|change| change.state == State::Pending);
            let is_newest = waiting.is_none_or(|c| Some((c.submission.number(), c.attempt)) == newest);
            let detail = "a PENDING change instance is not the newest one";
            self.require(is_newest, "I6", subject(), detail);
        }
    }

    /// I13: the progress of each owner with the CREATE, and what the owner has in place, follow from its change
    /// instances.
    fn creations(&mut self, item: &Item, changes: &[&Change]) {
        for (owner, stack) in &item.stacks {
            let made = creation(changes.iter().copied().filter(|change| change.owner.id == *owner));
            let detail = format!("the stack of team {owner} does not match the progress of the CREATE");
            self.require(made == stack.creation, "I13", Subject::Item(item.id), detail);
            let made = place(changes.iter().copied().filter(|change| change.owner.id == *owner));
            let is_known = stack.place != Place::Unknown;
            let detail = format!("the stack of team {owner} does not match what the team has in place");
            self.require(!is_known || made == in_place(stack.place), "I13", Subject::Item(item.id), detail);
        }
    }

    /// I7: the runtime state follows from the service owner's approvals, in their order.
    fn runtime_state(&mut self, item: &Item, changes: &[&Change]) {
        let mut main: Vec<_> = changes.iter().filter(|change| !change.is_dependant()).collect();
        // A newer change displaces a PENDING one, so approvals are in the order of submissions (I6). Clocks may
        // differ, so they do not count.
        main.sort_by_key(|change| (change.submission, change.attempt));
        let entries = main.into_iter().flat_map(|change| &change.history);
        let made = entries.fold(None, |state, entry| match (entry.from, entry.to, entry.change_type) {
            (None, State::Pending, ChangeType::Create) if state != Some(RuntimeState::InService) => {
                Some(RuntimeState::Requested)
            }
            (None | Some(State::Pending), State::Approved, ChangeType::Create) => {
                Some(RuntimeState::InService)
            }
            (None | Some(State::Pending), State::Approved, ChangeType::Delete)
            | (None, State::Completed, ChangeType::Delete) => Some(RuntimeState::Decommissioned),
            _ => state,
        });
        let detail =
            format!("its runtime state {} does not follow from the approvals", item.runtime_state.name());
        self.require(made == Some(item.runtime_state), "I7", Subject::Item(item.id), detail);
    }

    /// I12: the item is idle, or has drifted, exactly if the newest approved change of the service owner is completed.
    ///
    /// Any other item has an open change, or is an orphan in the blockers of the head (I9).
    fn completed_target(&mut self, item: &Item, changes: &[&Change]) {
        let ends = |entry: &Entry| matches!(entry.to, State::Approved | State::Completed);
        let is_approved = |change: &&&Change| change.history.iter().any(ends);
        let main = changes.iter().filter(|change| !change.is_dependant()).filter(is_approved);
        let newest = main.max_by_key(|change| (change.submission, change.attempt));
        let made = newest.filter(|change| change.state == State::Completed).map(|change| change.leaves());
        let detail = "its last completed declaration is another one";
        self.require(made == item.reached_target(), "I12", Subject::Item(item.id), detail);
        let is_one = item.completed_target.is_none() || item.drift.is_none();
        self.require(is_one, "I12", Subject::Item(item.id), "it is idle and has drifted");
        self.completed_item(item, newest.copied());
    }

    /// I13, I16 and I19: the item agrees with its application, team and declaration.
    fn item_alone(&mut self, item: &Item) {
        let subject = || Subject::Item(item.id);
        for stack in item.stacks.values() {
            let wrong = stack.creation == Creation::Outstanding
                && stack.validated.is_some_and(|slot| slot.change_type == ChangeType::Modify);
            self.require(!wrong, "I13", subject(), "a MODIFY is validated before the CREATE is completed");
        }
        let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, item.version.hash));
        self.require(stored, "I19", subject(), format!("declaration {} is not stored", item.version.hash));
        let detail = format!("a secret of declaration {} is not stored", item.version.hash);
        self.require(self.has_its_secrets(item), "I19", subject(), detail);
        let application = self.snapshot.applications.get(&item.application_id());
        let named = application.is_some_and(|application| application.name == item.application);
        self.require(named, "I16", subject(), "its application has another name or does not exist");
        let team = self.snapshot.teams.get(&item.id.team());
        let named = team.is_some_and(|team| team.name == item.consumer.name);
        self.require(named, "I16", subject(), "its team has another name or does not exist");
    }

    /// Returns whether the secret of each mask in an item's declaration is stored (R58).
    fn has_its_secrets(&self, item: &Item) -> bool {
        let key = (item.consumer.id, item.version.hash);
        let Some(text) = self.snapshot.declarations.get(&key).filter(|text| may_have_masks(text)) else {
            return true;
        };
        let forms = self.snapshot.definitions.forms(&item.service.title, item.schema_version);
        let secrets = self.snapshot.secrets.get(&key).map(|stored| &stored.secrets);
        let declared = serde_json::from_str(text).ok();
        forms.zip(declared).is_none_or(|(forms, declared)| knows_masks(&forms.paths, &declared, secrets))
    }

    /// Returns a deployed version of an item.
    pub(super) fn deployed(&self, item: &Item, id: DeployedId) -> Option<&Deployed> {
        let of_item = self.deployed_of_item.get(&item.id);
        of_item.into_iter().flatten().find(|deployed| deployed.id == id).copied()
    }

    /// I15: deployed versions have no gaps, and the item has the newest.
    fn versions(&mut self, item: &Item) {
        let subject = || Subject::Item(item.id);
        let mut of_item = self.deployed_of_item.get(&item.id).cloned().unwrap_or_default();
        of_item.sort_by_key(|deployed| deployed.version);
        let gapless = of_item.iter().zip(1..).all(|(deployed, version)| deployed.version == version);
        self.require(gapless, "I15", subject(), "its deployed item versions have gaps");
        let newest = of_item
            .last()
            .map(|deployed| (deployed.id, deployed.version, deployed.hash, deployed.schema_version));
        let latest =
            item.deployed.map(|latest| (latest.id, latest.version, latest.hash, latest.schema_version));
        self.require(newest == latest, "I15", subject(), "its newest deployed item is another one");
        let is_of_life = |id| self.deployed(item, id).is_some_and(|base| base.version > item.earlier_life);
        self.require(
            item.base.earlier().is_none_or(is_of_life),
            "I15",
            subject(),
            "its base is another deployed version, or of an earlier life",
        );
        let lives = item.earlier_life <= newest.map_or(0, |(_, version, ..)| version);
        self.require(lives, "I15", subject(), "its earlier life has a deployed version that does not exist");
    }

    /// I15 and I16: a deployed item belongs to a change instance of the service owner, and agrees with its item.
    pub(super) fn deployed_item(&mut self, deployed: &Deployed) {
        let main = self.snapshot.changes.get(&deployed.change).is_some_and(|change| {
            change.item == deployed.item
                && change.owner.id == deployed.service_owner.id
                && change.schema_version == deployed.schema_version
                && !change.is_dependant()
        });
        let sound = main && Hash::of(&deployed.data) == deployed.hash;
        self.require(
            sound,
            "I15",
            Subject::Deployed(deployed.id),
            "its data or its change instance does not match",
        );
        let same = self.snapshot.items.get(&deployed.item).is_some_and(|item| {
            item.service == deployed.service
                && item.generation == deployed.generation
                && item.service_owner == deployed.service_owner
                && item.consumer == deployed.consumer
        });
        let detail = "its item has another service or other teams, or does not exist";
        self.require(same, "I16", Subject::Deployed(deployed.id), detail);
        self.deployed_size(deployed);
    }

    /// I17: every reference of a declared item resolves in its application.
    fn references(&mut self, item: &Item) {
        // Only some items of a submission in flight are applied, so a reference may dangle until the last one is.
        if self.is_in_flight(item.id.team()) {
            return;
        }
        for reference in item.references.iter().filter(|_| item.declared) {
            let name = (item.application_id(), reference.service.as_str(), reference.name.as_str());
            let resolves = self.declared_names.contains(&name);
            let detail = format!("a referenced item of service {} is not declared", reference.service);
            self.require(resolves, "I17", Subject::Item(item.id), detail);
        }
    }

    /// I18: the dependent teams with a stack on an item are those with a recorded share.
    fn shares(&mut self, item: &Item) {
        let involved: BTreeSet<TeamId> = item.dependents().collect();
        let noted = noted(&self.snapshot.shares, item.id);
        let detail = format!("teams {involved:?} have a stack, but teams {noted:?} have a share record");
        self.require(involved == noted, "I18", Subject::Item(item.id), detail);
    }

    /// I18: every share has an item.
    pub(super) fn shares_without_item(&mut self) {
        for (item, owner) in &self.snapshot.shares {
            let exists = self.snapshot.items.contains_key(item);
            let detail = format!("team {owner} has a share in the item, but the item does not exist");
            self.require(exists, "I18", Subject::Item(*item), detail);
        }
    }

    /// I36: every claim is on the work of an owner with a stack on the item, and has been taken at least once.
    pub(super) fn claims(&mut self) {
        for Claim { item, owner, number, .. } in self.snapshot.claims.values() {
            let has_work = self.snapshot.items.get(item).is_some_and(|item| item.stacks.contains_key(owner));
            let detail = format!("team {owner} has a claim on its work, but no stack on the item");
            self.require(has_work, "I36", Subject::Item(*item), detail);
            let detail = format!("the claim of team {owner} has the number {number}, must be at least 1");
            self.require(*number > 0, "I36", Subject::Item(*item), detail);
        }
    }
}

/// Returns the dependent teams with a recorded share in an item.
pub(crate) fn noted(shares: &BTreeSet<(ItemId, TeamId)>, item: ItemId) -> BTreeSet<TeamId> {
    let from = TeamId::new(1).map(|first| (item, first));
    let of_item = from.into_iter().flat_map(|first| shares.range(first..));
    of_item.take_while(|(of, _)| *of == item).map(|(_, owner)| *owner).collect()
}

/// Returns whether a rejection or failure closed the change instance at its creation (R24).
fn has_been_blocked(change: &Change) -> bool {
    change.history.first().is_some_and(|draft| draft.closed_by == Some(ClosedBy::Blocked))
}

/// Returns whether the change instance was ever open; others were created in CLOSED.
fn has_been_open(change: &Change) -> bool {
    change.history.first().is_some_and(|draft| draft.closed_by.is_none())
}

/// Returns the moves of an owner with their change instances; decisions follow the order of submissions (I6).
fn moves<'a>(changes: impl Iterator<Item = &'a Change>) -> impl Iterator<Item = (&'a Change, &'a Entry)> {
    let mut changes: Vec<&Change> = changes.collect();
    changes.sort_by_key(|change| (change.submission, change.attempt));
    let entries =
        changes.into_iter().flat_map(|change| change.history.iter().map(move |entry| (change, entry)));
    entries.filter(|(_, entry)| entry.from != Some(entry.to))
}

/// The hash of the declaration in place, and whether the owner has completed it.
type InPlace = Option<(Hash, bool)>;

fn in_place(place: Place) -> InPlace {
    match place {
        Place::Declared { version, is_certain, .. } => Some((version.hash, is_certain)),
        Place::Nothing | Place::Unknown => None,
    }
}

/// Computes what an owner has in place from its decisions.
fn place<'a>(changes: impl Iterator<Item = &'a Change>) -> InPlace {
    moves(changes).fold(None, |made, (change, entry)| {
        let is_removal = entry.change_type == ChangeType::Delete;
        let new = |is_certain| change.new.map(|new| (new.hash, is_certain));
        match entry.to {
            State::Approved if !is_removal => new(false),
            State::Completed => {
                if is_removal {
                    None
                } else {
                    new(true)
                }
            }
            State::Errored if entry.change_type == ChangeType::Create => None,
            State::Approved | State::Errored => made.map(|(hash, _)| (hash, false)),
            State::Pending | State::Rejected | State::Closed => made,
        }
    })
}

/// Computes the progress of an owner with the CREATE.
fn creation<'a>(changes: impl Iterator<Item = &'a Change>) -> Creation {
    moves(changes).fold(Creation::Never, |made, (_, entry)| match (entry.to, entry.change_type) {
        (State::Approved, ChangeType::Create) => Creation::Outstanding,
        (State::Completed, ChangeType::Create) => Creation::Done,
        (State::Completed, ChangeType::Delete) => Creation::Never,
        _ => made,
    })
}

fn agrees(change: &Change, owner: TeamId, slot: &Slot) -> bool {
    change.owner.id == owner
        && change.state == slot.state
        && change.change_type == slot.change_type
        && change.target() == slot.target
        && change.chain_head() == slot.chain_head
        && change.created == slot.created
}
