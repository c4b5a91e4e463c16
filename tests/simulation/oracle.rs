//! The oracle: a sequential implementation of the rules in plain memory.
//!
//! It has no storage, no stream and no code of the functions, only their types. It gets the commits in their order,
//! and checks the result of each.

mod item;

use self::item::{Item, Open, Stack, Target};
use crate::declared::{Body, ItemName};
use crate::shape::Shape;
use crate::spec::Creation;
use domain::audit::invariant::Snapshot;
use domain::base::json;
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::model::change::{self, ClosedBy, Entry};
use domain::model::deployed::Deployed;
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
    /// Change instances that the current transaction must close by the stack rules.
    to_close: BTreeSet<ChangeId>,
    /// Ids of planned direct change instances that have closed others ahead (docs/explanation/staging.md).
    answering: BTreeMap<ChangeId, Name>,
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
}

impl Oracle {
    /// Creates the oracle of a world without declarations.
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            items: BTreeMap::new(),
            gone: BTreeMap::new(),
            planned: Vec::new(),
            created: BTreeMap::new(),
            retried: BTreeMap::new(),
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
                direct.push((name, target));
            } else if target.is_some() {
                unchanged.push((name, target, before.references));
            }
        }
        let mut plan = |name: &ItemName, kind, target: &Target, before: Option<&Vec<String>>| {
            let references = before.cloned().unwrap_or_else(|| Body::references_of(target.as_ref()));
            let owner = self.shape.owner(&name.service);
            let shares = self.shape.dependents(&name.service).into_iter().filter(|team| *team != owner);
            let (submission, item, is_of_direct) = (number, name.clone(), kind == Kind::Direct);
            let (owner, target) = (owner.to_owned(), target.clone());
            let first = Planned { team, submission, item, owner, kind, is_of_direct, target, references };
            let share =
                |team: &str| Planned { owner: team.to_owned(), kind: Kind::Dependent, ..first.clone() };
            let all: Vec<Planned> = std::iter::once(first.clone()).chain(shares.map(share)).collect();
            let count = u64::try_from(all.len()).unwrap();
            self.planned.extend(all);
            count
        };
        let mut planned = 0;
        for (name, target) in &direct {
            planned += plan(name, Kind::Direct, target, None);
        }
        for (name, target, references) in &unchanged {
            let is_modified =
                |reference: &String| modified.contains(&(name.application.clone(), reference.clone()));
            let follows = references.iter().any(is_modified);
            planned += if follows { plan(name, Kind::Referenced, target, Some(references)) } else { 0 };
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
        match entry.closed_by {
            Some(ClosedBy::Answered(by)) if is_closed_by_rule && !self.to_close.contains(&change.id) => {
                self.answered_ahead(change, by);
                return;
            }
            Some(ClosedBy::Displaced(_) | ClosedBy::Answered(_)) if is_closed_by_rule => {
                assert!(self.to_close.remove(&change.id), "a rule closes {}", change.id);
                return;
            }
            _ => {}
        }
        if entries_before == 0 {
            self.created(change);
        } else if entry.from != Some(entry.to) {
            self.transaction_ends();
            self.decided(change, entry);
        }
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
    }

    /// Returns the item of a change instance.
    fn item(&mut self, change: &Change) -> &mut Item {
        match self.gone.get_mut(&change.item) {
            Some(gone) => gone,
            None => self.items.entry(name_of(change)).or_default(),
        }
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

    fn created(&mut self, change: &Change) {
        if change.kind == Kind::Direct {
            self.declared(change);
        }
        let waits = self.waits(&name_of(change), u64::MAX);
        let is_dead = self.item(change).is_dead() && !waits;
        let planned = self.take_planned(change);
        if let Some(name) = self.answering.remove(&change.id) {
            assert_eq!((change.kind, name_of(change)), (Kind::Direct, name), "{} answers others", change.id);
        }
        let owner = self.shape.owner(&change.service.title).to_owned();
        let requires_approval = self.shape.approval_required(&change.service.title);
        let cause = change.cause.and_then(|cause| self.created.get(&cause));
        let from_cause = cause.map(|created| (created.change_type, created.target.clone()));
        let retried = self.retried.remove(&change.id);
        let item = self.item(change);
        let (mut change_type, target) = match (change.kind, planned) {
            (Kind::Direct, Some(planned)) => {
                item.declared.clone_from(&planned.target);
                item.references = planned.references;
                item.runtime.get_or_insert(RuntimeState::Requested);
                let gone = planned.target.is_none();
                (if gone { ChangeType::Delete } else { item.change_type(&owner) }, planned.target)
            }
            (Kind::Referenced, Some(planned)) => (item.change_type(&owner), planned.target),
            (Kind::Dependent, _) => from_cause.unwrap(),
            (Kind::Retry, _) => {
                let retried = retried
                    .as_ref()
                    .unwrap_or_else(|| panic!("{} is a retry of a closed change instance", change.id));
                (retried.change_type, retried.target.clone())
            }
            (Kind::Direct | Kind::Referenced, None) => panic!("{} was not planned", change.id),
            (Kind::Replacement, _) => panic!("{} replaces, and no service of the world does", change.id),
        };
        // A retry after an error needs no second approval.
        let is_pending = match &retried {
            Some(retried) => retried.state == State::Rejected,
            None => requires_approval,
        };
        let state = if is_pending { State::Pending } else { State::Approved };
        let at = (change.submission.number(), change.attempt);
        let created_closed = match change.kind {
            Kind::Direct | Kind::Retry | Kind::Replacement => None,
            Kind::Dependent | Kind::Referenced if is_dead => Some(ClosedBy::Overtaken),
            Kind::Dependent | Kind::Referenced => item.created_closed(change, at, state, &target),
        };
        if let Some(reason) = created_closed {
            let seen = (change.state, change.change_type, change.history[0].closed_by);
            assert_eq!(seen, (State::Closed, change_type, Some(reason)), "{} at its creation", change.id);
            let stack = item.stacks.get_mut(&change.owner.name).filter(|_| reason == ClosedBy::Blocked);
            stack.into_iter().for_each(|stack| stack.newest = at);
        } else {
            let is_main = change.owner.name == owner;
            let mut closed = BTreeSet::new();
            if change.kind == Kind::Direct {
                closed.extend(item.answer(&target));
            }
            let stack = item.stacks.entry(change.owner.name.clone()).or_default();
            if state == State::Approved {
                let waits = |open: &mut Open| open.state == State::Pending;
                closed.extend(stack.before_validation.take_if(waits).map(|open| open.id));
                if change_type == ChangeType::Modify && stack.creation == Creation::Outstanding {
                    change_type = ChangeType::Create;
                }
            }
            closed.extend(stack.column(state).take().map(|open| open.id));
            // A retry may be older than a blocked one.
            stack.newest = stack.newest.max(at);
            *stack.column(state) = Some(Open { id: change.id, state, change_type, target: target.clone() });
            if state == State::Approved {
                item.approved(change, is_main, change_type);
            } else if is_main
                && change_type == ChangeType::Create
                && item.runtime == Some(RuntimeState::Decommissioned)
            {
                item.runtime = Some(RuntimeState::Requested);
            }
            assert_eq!(
                (change.state, change.change_type),
                (state, change_type),
                "{} at its creation",
                change.id
            );
            self.to_close.extend(closed);
        }
        let change_type = change.change_type;
        self.created.insert(change.id, Created { change_type, target });
    }

    fn take_planned(&mut self, change: &Change) -> Option<Planned> {
        if change.kind == Kind::Retry {
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
                let is_creation =
                    open.change_type == ChangeType::Modify && stack.creation == Creation::Outstanding;
                let change_type = if is_creation { ChangeType::Create } else { open.change_type };
                assert_eq!(change.change_type, change_type, "{} when approved", change.id);
                stack.validated = Some(Open { state: State::Approved, change_type, ..open });
                item.approved(change, is_main, change_type);
            }
            (State::Pending, State::Rejected) => {
                stack.before_validation = Some(Open { state: State::Rejected, ..open });
            }
            (State::Approved, State::Errored) => {
                stack.validated = Some(Open { state: State::Errored, ..open });
            }
            (State::Approved, State::Completed) => {
                match open.change_type {
                    ChangeType::Create => stack.creation = Creation::Done,
                    ChangeType::Delete => stack.creation = Creation::Never,
                    ChangeType::Modify => {}
                }
                if is_main && is_drifted {
                    item.was_found = true;
                    item.drift = Some(open.target);
                } else if is_main {
                    item.completed_target = Some(open.target);
                }
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
            let is_orphan = own.is_orphan(self.shape.owner(&item.service.title));
            assert_eq!(item.is_orphan(), is_orphan, "whether item {} is nobody's work", item.id);
        }
    }
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
