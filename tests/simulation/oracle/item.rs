//! An item of the oracle, with its stacks.

use crate::shape::Strategy;
use crate::spec::Creation;
use domain::base::json;
use domain::base::state::{ChangeType, RuntimeState};
use domain::model::change::ClosedBy;
use domain::{Change, ChangeId, Hash, ItemId, State};
use serde_json::Value;
use std::collections::BTreeMap;

/// The declaration of an item, or `None` for a removal.
pub(super) type Target = Option<Value>;

#[derive(Clone, Default)]
pub(super) struct Item {
    /// The id, from the first change instance on.
    pub(super) id: Option<ItemId>,
    pub(super) declared: Target,
    /// The newest declaration; a removed item keeps its last one.
    pub(super) newest: Target,
    pub(super) references: Vec<String>,
    pub(super) runtime: Option<RuntimeState>,
    /// Result of the last completed change. `None` while an approved change is not completed.
    pub(super) completed_target: Option<Target>,
    /// The result of the last completed change, if an observed or adopted object differs from it.
    pub(super) drift: Option<Target>,
    /// Whether its owner has ever reported what exists: an observed or an adopted object.
    pub(super) was_found: bool,
    pub(super) stacks: BTreeMap<String, Stack>,
}

#[derive(Clone, Default)]
pub(super) struct Stack {
    pub(super) newest: (u64, u64),
    /// The submission of a newer change instance that a rejection or error has blocked (R25).
    pub(super) blocked: u64,
    pub(super) creation: Creation,
    /// The declaration in place, and whether it is certain (R59).
    pub(super) place: Option<(Value, bool)>,
    pub(super) before_validation: Option<Open>,
    pub(super) validated: Option<Open>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    pub(super) id: ChangeId,
    pub(super) state: State,
    pub(super) change_type: ChangeType,
    pub(super) target: Target,
    /// Whether it is a CREATE on nothing that requires a claim (R64).
    pub(super) awaits_claim: bool,
}

impl Open {
    /// Returns whether it removes a declaration to create another one (R60).
    pub(super) fn is_first_half(&self) -> bool {
        self.change_type == ChangeType::Delete && self.target.is_some()
    }

    /// Returns what is in place after it.
    pub(super) fn leaves(&self) -> Target {
        self.target.clone().filter(|_| self.change_type != ChangeType::Delete)
    }

    fn has_failed_to_create(&self) -> bool {
        self.state == State::Errored && self.change_type == ChangeType::Create
    }
}

impl Stack {
    pub(super) fn open(&self) -> impl Iterator<Item = &Open> {
        self.before_validation.iter().chain(&self.validated)
    }

    pub(super) fn column(&mut self, state: State) -> &mut Option<Open> {
        match state {
            State::Pending | State::Rejected => &mut self.before_validation,
            State::Approved | State::Errored | State::Completed | State::Closed => &mut self.validated,
        }
    }

    /// Applies the state that an open change instance has entered to what the owner has in place (R7, R9, R59).
    pub(super) fn enter(&mut self, open: &Open, state: State) {
        let uncertain = self.place.take().map(|(declared, _)| (declared, false));
        let creation = (state, open.change_type);
        self.creation = match creation {
            (State::Approved, ChangeType::Create) => Creation::Outstanding,
            (State::Completed, ChangeType::Create) => Creation::Done,
            (State::Completed, ChangeType::Delete) => Creation::Never,
            _ => self.creation,
        };
        self.place = match creation {
            (State::Completed, _) => open.leaves().map(|declared| (declared, true)),
            (State::Approved, ChangeType::Delete)
            | (State::Errored, ChangeType::Modify | ChangeType::Delete) => uncertain,
            (State::Approved, _) => open.leaves().map(|declared| (declared, false)),
            _ => None,
        };
    }

    /// Returns whether the owner has this declaration in place, or nothing for a removal, and works on nothing (R63).
    pub(super) fn has_reached(&self, target: &Target, is_claimed: bool) -> bool {
        let Some(declared) = target else {
            let is_nothing =
                self.place.is_none() && self.validated.as_ref().is_none_or(Open::has_failed_to_create);
            let is_unclaimed = |open: &Open| open.awaits_claim && !is_claimed;
            return is_nothing || self.validated.as_ref().is_some_and(is_unclaimed);
        };
        self.validated.is_none() && self.place.as_ref() == Some(&(declared.clone(), true))
    }

    /// Returns the type of a change instance that is approved now (the Exception, R60).
    pub(super) fn converted(&self, change_type: ChangeType, target: &Target) -> ChangeType {
        let becomes_create = match change_type {
            ChangeType::Create => false,
            ChangeType::Modify => self.creation == Creation::Outstanding,
            ChangeType::Delete => target.is_some() && self.place.is_none(),
        };
        if becomes_create { ChangeType::Create } else { change_type }
    }

    pub(super) fn clear(&mut self, id: ChangeId) -> Option<Open> {
        let columns = [&mut self.before_validation, &mut self.validated];
        columns.into_iter().find_map(|column| column.take_if(|open| open.id == id))
    }
}

impl Item {
    /// Returns the declarations that a planner knows: the newest one, the requested ones, and those in place.
    pub(super) fn known(&self) -> Vec<Value> {
        let requested = self.stacks.values().flat_map(Stack::open).filter_map(|open| open.target.clone());
        let in_place = self.stacks.values().filter_map(|stack| Some(stack.place.clone()?.0));
        self.newest.iter().cloned().chain(requested).chain(in_place).collect()
    }

    /// Returns the declarations that owners have in place, and whether each is certain.
    pub(super) fn places(&self) -> Vec<(Hash, bool)> {
        let place = |stack: &Stack| {
            let (declared, is_certain) = stack.place.as_ref()?;
            Some((Hash::of(&json::canonical(declared)), *is_certain))
        };
        let mut places: Vec<_> = self.stacks.values().filter_map(place).collect();
        places.sort_unstable();
        places
    }

    pub(super) fn is_orphan(&self, owner: &str) -> bool {
        self.is_idle(owner) && self.completed_target.as_ref() != Some(&self.declared)
    }

    /// Returns whether the last completed change is the declaration, drifted or not, and nothing of the owner is open.
    pub(super) fn reached_declared(&self, owner: &str) -> bool {
        let reached = self.completed_target.as_ref().or(self.drift.as_ref());
        self.is_idle(owner) && reached == Some(&self.declared)
    }

    /// Returns whether the item exists, and the owner has no open change instance of it.
    fn is_idle(&self, owner: &str) -> bool {
        let is_idle = self.stacks.get(owner).is_none_or(|stack| stack.open().next().is_none());
        is_idle && self.runtime.is_some()
    }

    /// Returns whether the owner's removal has failed, and no other removal is open.
    pub(super) fn has_failed_removal(&self, owner: &str) -> bool {
        let Some(stack) = self.stacks.get(owner) else { return false };
        let is_removing = stack.open().any(|open| open.target.is_none() && !open.state.is_blocked());
        let has_failed = stack.open().any(|open| open.state.is_blocked());
        self.declared.is_none() && has_failed && !is_removing
    }

    /// Returns whether the removal is complete and nothing is open. Pending shares are not part of it.
    pub(super) fn is_dead(&self) -> bool {
        let is_idle = self.stacks.values().all(|stack| stack.open().next().is_none());
        is_idle && self.declared.is_none() && self.completed_target == Some(None)
    }

    pub(super) fn blocked(&self) -> impl Iterator<Item = &Open> {
        self.stacks.values().flat_map(Stack::open).filter(|open| open.state.is_blocked())
    }

    /// Returns the change type of a declared item for its service owner.
    pub(super) fn change_type(&self, owner: &str) -> ChangeType {
        let stack = self.stacks.get(owner).cloned().unwrap_or_default();
        let is_creating = stack
            .validated
            .is_some_and(|open| open.state == State::Approved && open.change_type == ChangeType::Create);
        match self.runtime {
            Some(RuntimeState::InService) if stack.creation == Creation::Done || is_creating => {
                ChangeType::Modify
            }
            _ => ChangeType::Create,
        }
    }

    pub(super) fn created_closed(
        &self,
        change: &Change,
        at: (u64, u64),
        state: State,
        target: &Target,
    ) -> Option<ClosedBy> {
        let mut stack = self.stacks.get(&change.owner.name)?.clone();
        if at <= stack.newest || at.0 <= stack.blocked {
            return Some(ClosedBy::Overtaken);
        }
        let occupant = stack.column(state).clone()?;
        (occupant.state.is_blocked() && occupant.target == *target).then_some(ClosedBy::Blocked)
    }

    /// Clears the rejected and failed change instances that a target answers, and returns their ids.
    ///
    /// A removal answers all of them, a declaration those with another declaration.
    pub(super) fn answer(&mut self, target: &Target) -> Vec<ChangeId> {
        let answered =
            self.blocked().filter(|open| target.is_none() || open.target != *target).map(|open| open.id);
        let answered: Vec<_> = answered.collect();
        for stack in self.stacks.values_mut() {
            for id in &answered {
                drop(stack.clear(*id));
            }
        }
        answered
    }

    /// Returns the type of a dependent team's share, if the team replaces nothing (R60).
    pub(super) fn type_of_share(
        &self,
        owner: &str,
        strategy: Strategy,
        (of_cause, target): (ChangeType, &Target),
    ) -> ChangeType {
        let validated = self.stacks.get(owner).and_then(|stack| stack.validated.as_ref());
        let removes = validated.is_some_and(|open| open.change_type == ChangeType::Delete);
        if removes && strategy.may_replace() && target.is_some() {
            ChangeType::Create
        } else if of_cause == ChangeType::Delete && target.is_some() {
            ChangeType::Modify
        } else {
            of_cause
        }
    }

    /// Approves a change instance: for the stack of its owner, and for the item if that is the service owner.
    pub(super) fn approve(&mut self, change: &Change, is_main: bool, open: Open) {
        let stack = self.stacks.entry(change.owner.name.clone()).or_default();
        let is_first = open.change_type == ChangeType::Create && stack.place.is_none();
        stack.enter(&open, State::Approved);
        if is_main {
            match open.change_type {
                ChangeType::Create => self.runtime = Some(RuntimeState::InService),
                ChangeType::Delete => self.runtime = Some(RuntimeState::Decommissioned),
                ChangeType::Modify => {}
            }
            self.completed_target = None;
            self.drift = None;
        }
        let awaits_claim = change.claim_required && is_first;
        stack.validated = Some(Open { state: State::Approved, awaits_claim, ..open });
    }

    /// Applies a change instance that was created in COMPLETED (R63).
    pub(super) fn complete_at_once(&mut self, change: &Change, is_main: bool, open: &Open) {
        self.stacks.entry(change.owner.name.clone()).or_default().enter(open, State::Completed);
        if is_main {
            self.completed_target = Some(open.leaves());
        }
        if is_main && open.target.is_none() {
            self.runtime = Some(RuntimeState::Decommissioned);
            self.drift = None;
        }
    }
}
