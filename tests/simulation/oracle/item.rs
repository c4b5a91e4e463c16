//! An item of the oracle, with its stacks.

use crate::spec::Creation;
use domain::base::state::{ChangeType, RuntimeState};
use domain::model::change::ClosedBy;
use domain::{Change, ChangeId, ItemId, State};
use serde_json::Value;
use std::collections::BTreeMap;

/// The declaration of an item, or `None` for a removal.
pub(super) type Target = Option<Value>;

#[derive(Clone, Default)]
pub(super) struct Item {
    /// The id, from the first change instance on.
    pub(super) id: Option<ItemId>,
    pub(super) declared: Target,
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
    pub(super) creation: Creation,
    pub(super) before_validation: Option<Open>,
    pub(super) validated: Option<Open>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    pub(super) id: ChangeId,
    pub(super) state: State,
    pub(super) change_type: ChangeType,
    pub(super) target: Target,
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

    pub(super) fn clear(&mut self, id: ChangeId) -> Option<Open> {
        let columns = [&mut self.before_validation, &mut self.validated];
        columns.into_iter().find_map(|column| column.take_if(|open| open.id == id))
    }
}

impl Item {
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
        if at <= stack.newest {
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

    pub(super) fn approved(&mut self, change: &Change, is_main: bool, change_type: ChangeType) {
        let stack = self.stacks.entry(change.owner.name.clone()).or_default();
        if change_type == ChangeType::Create {
            stack.creation = Creation::Outstanding;
        }
        if is_main {
            match change_type {
                ChangeType::Create => self.runtime = Some(RuntimeState::InService),
                ChangeType::Delete => self.runtime = Some(RuntimeState::Decommissioned),
                ChangeType::Modify => {}
            }
            self.completed_target = None;
            self.drift = None;
        }
    }
}
