//! The oracle: a sequential implementation of the rules in plain memory.
//!
//! It has no storage, no stream and no code of the functions, only their types. It gets the commits in their order,
//! and checks the result of each.

mod creation;
mod item;
pub mod uses;

use self::item::{Item, Open, Stack, Target};
use crate::declared::{Body, ItemName};
use crate::shape::Shape;
use domain::audit::invariant::Snapshot;
use domain::base::json;
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::model::change::{self, ClosedBy, Entry};
use domain::model::deployed::Deployed;
use domain::model::item::{Item as StoredItem, Stack as StoredStack};
use domain::model::place::Place;
use domain::model::submission::{Scope, Submission};
use domain::{Change, ChangeId, Hash, ItemId, State, TeamId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// An item's consumer and full name.
type Name = (TeamId, ItemName);

/// The expected state of all items.
pub struct Oracle {
    shape: Shape,
    /// The newest item of each name.
    items: BTreeMap<Name, Item>,
    /// The items whose name means a newer one, because they were dead (R44).
    gone: BTreeMap<ItemId, Item>,
    planned: Vec<Planned>,
    /// Type and target of each change instance at its creation.
    created: BTreeMap<ChangeId, Created>,
    /// Retried change instances, by the id of the new attempt.
    retried: BTreeMap<ChangeId, Open>,
    /// A first half, and the change instance that its completion creates or closes (R61). The transaction has the
    /// completion after it.
    ahead: Option<(ChangeId, Change)>,
    /// Change instances that the current transaction must close by the stack rules.
    to_close: BTreeSet<ChangeId>,
    /// Ids of planned direct change instances that have closed others ahead (docs/explanation/staging.md).
    answering: BTreeMap<ChangeId, Name>,
    /// The newest number of each claim, by item and owner (R64).
    claims: BTreeMap<(u64, u64), u64>,
    /// The number of the claim with which a change instance was completed.
    completed_with: BTreeMap<ChangeId, u64>,
    /// Ids of change instances whose completion adopts an object that differs from the declaration (R55).
    adopted: BTreeSet<ChangeId>,
    submissions: BTreeMap<TeamId, u64>,
    /// The metadata of the teams.
    metadata: BTreeMap<TeamId, Value>,
}

struct Created {
    change_type: ChangeType,
    target: Target,
}

#[derive(Clone)]
struct Planned {
    team: TeamId,
    submission: u64,
    item: ItemName,
    owner: String,
    kind: Kind,
    /// Whether it is a direct change, or a share in one.
    is_of_direct: bool,
    target: Target,
    references: Vec<String>,
    /// The declarations that the planner knows (R60).
    known: Vec<Value>,
}

impl Oracle {
    /// Creates the oracle of a world without declarations. `completed_with` are the claims of accepted completions.
    pub fn new(shape: Shape, completed_with: BTreeMap<ChangeId, u64>) -> Self {
        Self {
            shape,
            items: BTreeMap::new(),
            gone: BTreeMap::new(),
            planned: Vec::new(),
            created: BTreeMap::new(),
            retried: BTreeMap::new(),
            ahead: None,
            claims: BTreeMap::new(),
            completed_with,
            to_close: BTreeSet::new(),
            answering: BTreeMap::new(),
            adopted: BTreeSet::new(),
            submissions: BTreeMap::new(),
            metadata: BTreeMap::new(),
        }
    }

    /// Applies an accepted submission.
    ///
    /// `requested` are the items with a direct change instance. Only for drift they decide: no fence orders an
    /// observation and a submission that does not write the item.
    pub fn submitted(&mut self, submission: &Submission, body: &Body, requested: &BTreeSet<ItemName>) {
        self.transaction_ends();
        let team = submission.team.id;
        let number = self.submissions.entry(team).or_default();
        *number += 1;
        assert_eq!(submission.id.number(), *number, "submissions are numbered in their order");
        let held = self.planned.iter().find(|one| one.team == team && one.kind == Kind::Direct);
        assert!(held.is_none(), "the items of all earlier submissions exist");
        let (direct, derived) = self.plan(submission, body, requested);
        assert_eq!((submission.direct, submission.derived), (direct, derived), "what it causes");
        // An application without items is a change, too.
        assert!(submission.changed || direct == 0, "a submission with direct changes is a change");
    }

    fn plan(&mut self, submission: &Submission, body: &Body, requested: &BTreeSet<ItemName>) -> (u64, u64) {
        let (team, number) = (submission.team.id, submission.id.number());
        let of_team = self.metadata.entry(team).or_default();
        if let Some(metadata) = body.metadata() {
            of_team.clone_from(metadata);
        }
        let declared = body.items(of_team);
        let is_affected = |name: &ItemName| {
            submission.scope == Scope::Whole || body.applications().contains(&name.application)
        };
        let mut names: BTreeSet<ItemName> = declared.keys().cloned().collect();
        let stored = self.items.keys().filter(|(of, name)| *of == team && is_affected(name));
        names.extend(stored.map(|(_, name)| name.clone()));
        let mut modified = BTreeSet::new();
        let (mut direct, mut unchanged) = (Vec::new(), Vec::new());
        for name in names {
            let before = self.items.get(&(team, name.clone())).cloned().unwrap_or_default();
            let target = declared.get(&name).cloned();
            let blocked = before.blocked().find(|open| target.is_some() && open.target == target);
            assert_eq!(blocked, None, "a declaration equal to a refused one of {name:?} is blocked");
            let owner = self.shape.owner(&name.service);
            let is_orphan = if before.reached_declared(owner) {
                before.was_found && requested.contains(&name)
            } else {
                before.is_orphan(owner)
            };
            let is_retry = is_orphan || target.is_none() && before.has_failed_removal(owner);
            if before.declared != target || is_retry {
                if before.declared.is_some() && target.is_some() && before.declared != target {
                    modified.insert((name.application.clone(), name.name.clone()));
                }
                direct.push((name, target, before));
            } else if target.is_some() {
                unchanged.push((name, target, before));
            }
        }
        let mut plan = |name: &ItemName, kind, target: &Target, before: &Item| {
            let is_unchanged = kind == Kind::Referenced;
            let references =
                if is_unchanged { before.references.clone() } else { Body::references_of(target.as_ref()) };
            let owner = self.shape.owner(&name.service);
            let shares = self.shape.dependents(&name.service).into_iter().filter(|team| *team != owner);
            let (submission, item, is_of_direct) = (number, name.clone(), kind == Kind::Direct);
            let (owner, target, known) = (owner.to_owned(), target.clone(), before.known());
            let first =
                Planned { team, submission, item, owner, kind, is_of_direct, target, references, known };
            let share =
                |team: &str| Planned { owner: team.to_owned(), kind: Kind::Dependent, ..first.clone() };
            let all: Vec<Planned> = std::iter::once(first.clone()).chain(shares.map(share)).collect();
            let count = u64::try_from(all.len()).unwrap();
            self.planned.extend(all);
            count
        };
        let mut planned = 0;
        for (name, target, before) in &direct {
            planned += plan(name, Kind::Direct, target, before);
        }
        for (name, target, before) in &unchanged {
            let is_modified =
                |reference: &String| modified.contains(&(name.application.clone(), reference.clone()));
            let follows = before.references.iter().any(is_modified);
            planned += if follows { plan(name, Kind::Referenced, target, before) } else { 0 };
        }
        let direct = u64::try_from(direct.len()).unwrap();
        (direct, planned - direct)
    }

    /// Applies a deployed item: an observed object may begin or end drift, and an adopted one may begin it.
    pub fn deployed(&mut self, deployed: &Deployed) {
        let is_verified = self.shape.is_verified && deployed.service.title == "VM";
        let is_drifted = is_verified
            && if deployed.is_observed { self.observed(deployed) } else { self.completed(deployed) };
        assert_eq!(deployed.is_drifted, is_drifted, "whether {} has drifted", deployed.id);
    }

    /// Applies the result of a change instance, before its completion. Returns whether the item has drifted.
    fn completed(&mut self, deployed: &Deployed) -> bool {
        let is_drifted = differs(&self.created[&deployed.change].target, &deployed.data);
        if is_drifted {
            self.adopted.insert(deployed.change);
        }
        is_drifted
    }

    /// Applies an observation. Returns whether the item has drifted.
    fn observed(&mut self, deployed: &Deployed) -> bool {
        let of_item = |item: &&mut Item| item.id == Some(deployed.item);
        let item = self.items.values_mut().chain(self.gone.values_mut()).find(of_item).unwrap();
        item.was_found = true;
        // While an approved change is not completed, the item has no target to differ from.
        let Some(target) = item.completed_target.take().or_else(|| item.drift.take()) else { return false };
        let is_drifted = differs(&target, &deployed.data);
        *if is_drifted { &mut item.drift } else { &mut item.completed_target } = Some(target);
        is_drifted
    }

    /// Applies the creation or a transition of a change instance.
    pub fn changed(&mut self, entries_before: u64, change: &Change) {
        let entry = change.history.last().unwrap();
        let is_closed_by_rule = entry.closed_by.is_some() && entries_before > 0;
        let is_expected = self.to_close.contains(&change.id);
        match entry.closed_by {
            Some(ClosedBy::Answered(by)) if is_closed_by_rule && !is_expected => {
                self.answered_ahead(change, by);
            }
            Some(ClosedBy::Displaced(by)) if is_closed_by_rule && !is_expected => self.caused_by(by, change),
            Some(ClosedBy::Displaced(_) | ClosedBy::Answered(_)) if is_closed_by_rule => {
                self.to_close.remove(&change.id);
            }
            _ if entries_before == 0 && change.kind == Kind::Replacement => {
                self.caused_by(change.cause.unwrap(), change);
            }
            _ if entries_before == 0 => self.created(change),
            _ if entry.from != Some(entry.to) => {
                if self.ahead.as_ref().is_none_or(|(first_half, _)| *first_half != change.id) {
                    self.transaction_ends();
                }
                self.decided(change, entry);
            }
            _ => {}
        }
    }

    /// Notes a change instance that the completion of a first half creates or closes.
    fn caused_by(&mut self, first_half: ChangeId, change: &Change) {
        let earlier = self.ahead.replace((first_half, change.clone()));
        assert!(earlier.is_none(), "{} is the only one of a completion", change.id);
    }

    /// Applies a closing ahead: the item's next direct change answers a dependent team's rejection or error.
    fn answered_ahead(&mut self, change: &Change, by: ChangeId) {
        self.transaction_ends();
        assert!(!self.created.contains_key(&by), "a rule closes {}", change.id);
        let is_main = change.owner.name == self.shape.owner(&change.service.title);
        assert!(!is_main, "{} is a dependent team's, because it is closed ahead", change.id);
        let name = name_of(change);
        let is_direct_change =
            |one: &&Planned| one.kind == Kind::Direct && one.team == name.0 && one.item == name.1;
        let landing = self.planned.iter().find(is_direct_change);
        let target = landing.map(|one| one.target.clone());
        let stack = self.item(change).stacks.get_mut(&change.owner.name).unwrap();
        let open = stack.clear(change.id).unwrap_or_else(|| panic!("{} is open", change.id));
        let is_answered = target
            .is_some_and(|target| open.state.is_blocked() && (target.is_none() || open.target != target));
        assert!(is_answered, "a planned change answers {}, which is closed ahead", change.id);
        self.answering.insert(by, name);
    }

    /// Panics if the previous transaction has not closed all required change instances.
    pub fn transaction_ends(&self) {
        assert!(self.to_close.is_empty(), "the transaction closes {:?}", self.to_close);
        let ahead = self.ahead.as_ref().map(|(_, change)| change.id);
        assert_eq!(ahead, None, "a completion creates or closes it");
    }

    /// Applies a claim of an owner on an item: a new lease, its extension, or its end.
    pub fn claimed(&mut self, item: u64, owner: u64, number: u64) {
        let newest = self.claims.entry((item, owner)).or_default();
        assert!([*newest, *newest + 1].contains(&number), "claim {number} follows {newest}");
        *newest = number;
    }

    /// Returns the newest number of the claim on the work of a change instance.
    fn claim_of(&self, change: &Change) -> Option<u64> {
        self.claims.get(&(change.item.get(), change.owner.id.get())).copied()
    }

    /// Returns the item of a change instance.
    fn item(&mut self, change: &Change) -> &mut Item {
        match self.gone.get_mut(&change.item) {
            Some(gone) => gone,
            None => self.items.entry(name_of(change)).or_default(),
        }
    }

    /// Returns an item by its id. `None` until a submission with it is applied, and after it is gone.
    fn stored(&self, name: &Name, id: ItemId) -> Option<&Item> {
        self.items.get(name).filter(|item| item.id == Some(id))
    }

    /// Returns the runtime state of an item, if it exists.
    fn runtime(&self, name: &Name, id: ItemId) -> Option<RuntimeState> {
        self.stored(name, id).and_then(|item| item.runtime)
    }

    /// Returns whether an item is gone (R44).
    fn is_gone(&self, name: &Name, id: ItemId) -> bool {
        let is_dead = |item: &Item| item.is_dead() && !self.waits(name, u64::MAX);
        self.gone.contains_key(&id) || self.stored(name, id).is_some_and(is_dead)
    }

    /// Returns whether the applied submissions declare an item.
    fn is_applied(&self, name: &Name, id: ItemId) -> bool {
        self.stored(name, id).is_some_and(|item| item.declared.is_some())
    }

    /// Returns whether shares in earlier direct changes of the item are still to be generated.
    fn waits(&self, (team, name): &Name, before: u64) -> bool {
        let is_earlier = |one: &Planned| one.team == *team && one.item == *name && one.submission < before;
        let is_share = |one: &Planned| one.kind == Kind::Dependent && one.is_of_direct;
        self.planned.iter().any(|one| is_earlier(one) && is_share(one))
    }

    /// Checks that a declaration is a new item if the one of its name is dead, and only then (R44).
    fn declared(&mut self, change: &Change) {
        let name = name_of(change);
        let is_dead = |item: &Item| item.is_dead() && !self.waits(&name, change.submission.number());
        let before = self.items.get(&name).and_then(|item| Some((item.id?, is_dead(item))));
        if let Some((id, is_dead)) = before {
            assert_eq!(change.item != id, is_dead, "whether {} is on a new item", change.id);
            if is_dead {
                self.gone.extend(self.items.remove(&name).map(|item| (id, item)));
            }
        }
        self.item(change).id = Some(change.item);
    }

    fn take_planned(&mut self, change: &Change) -> Option<Planned> {
        if matches!(change.kind, Kind::Retry | Kind::Replacement) {
            return None;
        }
        let (team, name) = name_of(change);
        let at = self.planned.iter().position(|one| {
            (one.team, &one.item, &one.owner, one.kind, one.submission)
                == (team, &name, &change.owner.name, change.kind, change.submission.number())
        });
        let at = at.unwrap_or_else(|| panic!("{} is planned, and is created once", change.id));
        Some(self.planned.remove(at))
    }

    fn decided(&mut self, change: &Change, entry: &Entry) {
        let is_main = change.owner.name == self.shape.owner(&change.service.title);
        let is_drifted = self.adopted.remove(&change.id);
        let item = self.item(change);
        let stack = item.stacks.get_mut(&change.owner.name).unwrap();
        let open = stack.clear(change.id).unwrap_or_else(|| panic!("{} is open", change.id));
        assert_eq!(Some(open.state), entry.from);
        let mut displaced = None;
        match (open.state, entry.to) {
            (State::Pending, State::Approved) => {
                displaced = stack.validated.take();
                let change_type = stack.converted(open.change_type, &open.target);
                assert_eq!(change.change_type, change_type, "{} when approved", change.id);
                item.approve(change, is_main, Open { change_type, ..open });
            }
            (State::Pending, State::Rejected) => {
                stack.before_validation = Some(Open { state: State::Rejected, ..open });
            }
            (State::Approved, State::Errored) => {
                stack.enter(&open, State::Errored);
                stack.validated = Some(Open { state: State::Errored, awaits_claim: false, ..open });
            }
            (State::Approved, State::Completed) => {
                stack.enter(&open, State::Completed);
                if is_main && is_drifted {
                    item.was_found = true;
                    item.drift = Some(open.target.clone());
                } else if is_main {
                    item.completed_target = Some(open.leaves());
                }
                self.followed(change, &open);
            }
            (State::Rejected | State::Errored, State::Closed) => {
                if let Some(ClosedBy::Retried(by)) = entry.closed_by {
                    self.retried.insert(by, open);
                }
            }
            (from, to) => panic!("{} moved from {from} to {to}", change.id),
        }
        self.to_close.extend(displaced.map(|open| open.id));
    }

    /// Applies what follows a completion: the second half of a replacement, or the end of a removal (R61).
    fn followed(&mut self, change: &Change, open: &Open) {
        if let Some(number) = self.completed_with.get(&change.id) {
            assert_eq!(
                self.claim_of(change),
                Some(*number),
                "{} is completed with the newest claim",
                change.id
            );
        }
        let ahead = self.ahead.take().map(|(_, change)| change);
        let item = self.item(change);
        let is_declared = item.declared.is_some();
        let is_wanted = item.declared == open.target;
        let stack = item.stacks.get_mut(&change.owner.name).unwrap();
        let is_newest = stack.newest == (change.submission.number(), change.attempt);
        if open.is_first_half() && is_wanted && is_newest {
            let second_half = ahead.filter(|ahead| ahead.kind == Kind::Replacement);
            let second_half = second_half.unwrap_or_else(|| panic!("{} has a second half", change.id));
            self.retried.insert(second_half.id, open.clone());
            self.created(&second_half);
            return;
        }
        let is_removal = |waiting: &mut Open| waiting.state == State::Pending && waiting.target.is_none();
        let ends = open.is_first_half() && !is_declared;
        let ended = if ends { stack.before_validation.take_if(is_removal) } else { None };
        let (ahead, ended) = (ahead.map(|ahead| ahead.id), ended.map(|open| open.id));
        assert_eq!(ahead, ended, "what {} creates or closes", change.id);
    }

    /// Panics unless all planned change instances exist, and the table equals the oracle.
    pub fn compare(&self, snapshot: &Snapshot) {
        self.transaction_ends();
        assert_eq!(self.planned.len(), 0, "all planned change instances exist");
        assert!(
            self.answering.is_empty(),
            "each change that closed others ahead exists, also {:?}",
            self.answering
        );
        assert_eq!(snapshot.items.len(), self.items.len() + self.gone.len());
        for item in snapshot.items.values() {
            let name = ItemName::new(&item.application, &item.service.title, &item.name);
            let own = self.gone.get(&item.id).unwrap_or_else(|| &self.items[&(item.consumer.id, name)]);
            assert_eq!((Some(item.id), item.gone), (own.id, own.is_dead()), "whether the item is gone");
            assert_eq!(Some(item.runtime_state), own.runtime);
            assert_eq!(item.wanted(), stored(&own.declared), "what item {} is to be", item.id);
            let completed_target = own.completed_target.as_ref().map(stored);
            assert_eq!(item.completed_target, completed_target, "what item {} has become", item.id);
            assert_eq!(item.drift.is_some(), own.drift.is_some(), "whether item {} has drifted", item.id);
            let slots = item.open().map(|(_, slot)| (slot.change, slot.state, slot.change_type, slot.target));
            let open = own.stacks.values().flat_map(Stack::open);
            let open = open.map(|open| (open.id, open.state, open.change_type, stored(&open.target)));
            assert_eq!(slots.collect::<BTreeSet<_>>(), open.collect(), "what is open on item {}", item.id);
            assert_eq!(places_of(item), own.places(), "what owners have in place of item {}", item.id);
            let is_orphan = own.is_orphan(self.shape.owner(&item.service.title));
            assert_eq!(item.is_orphan(), is_orphan, "whether item {} is nobody's work", item.id);
        }
    }
}

/// Returns the declarations that owners have in place, and whether each is certain (R59).
fn places_of(item: &StoredItem) -> Vec<(Hash, bool)> {
    let place = |stack: &StoredStack| match stack.place {
        Place::Declared { version, is_certain, .. } => Some((version.hash, is_certain)),
        Place::Nothing | Place::Unknown => None,
    };
    let mut places: Vec<_> = item.stacks.values().filter_map(place).collect();
    places.sort_unstable();
    places
}

/// Returns whether an object lacks a declared value.
fn differs(target: &Target, object: &str) -> bool {
    let object: Value = serde_json::from_str(object).unwrap();
    let declared = target.iter().flat_map(|declared| declared.as_object().unwrap());
    declared.into_iter().any(|(name, value)| object.get(name) != Some(value))
}

/// Returns a target in its stored form.
fn stored(target: &Target) -> change::Target {
    change::Target::of(target.as_ref().map(|declared| Hash::of(&json::canonical(declared))))
}

pub fn name_of(change: &Change) -> Name {
    let name = ItemName::new(&change.application, &change.service.title, &change.item_name);
    (change.consumer.id, name)
}
