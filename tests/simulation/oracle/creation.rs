//! The creation of change instances.

use super::item::{Open, Target};
use super::{Created, Oracle, Planned, name_of, stored};
use crate::shape::Strategy;
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::model::change::ClosedBy;
use domain::{Change, State};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a new change instance asks for, before the stack rules apply.
struct Draft {
    change_type: ChangeType,
    target: Target,
    /// The declaration that a first half removes (R60).
    old: Target,
    /// The state by the approval of the service.
    enters: State,
    /// Whether its owner has in place what it asks for (R63).
    is_unneeded: bool,
    /// Whether it is completed for this reason.
    is_completed: bool,
}

impl Oracle {
    pub(super) fn created(&mut self, change: &Change) {
        if change.kind == Kind::Direct {
            self.declared(change);
        }
        let is_dead = self.item(change).is_dead() && !self.waits(&name_of(change), u64::MAX);
        let planned = self.take_planned(change);
        if let Some(name) = self.answering.remove(&change.id) {
            assert_eq!((change.kind, name_of(change)), (Kind::Direct, name), "{} answers others", change.id);
        }
        let draft = self.draft(change, planned);
        let at = (change.submission.number(), change.attempt);
        let item = self.item(change);
        let created_closed = match change.kind {
            Kind::Direct | Kind::Retry | Kind::Replacement => None,
            Kind::Dependent | Kind::Referenced if is_dead => Some(ClosedBy::Overtaken),
            Kind::Dependent | Kind::Referenced => {
                item.created_closed(change, at, draft.enters, &draft.target)
            }
        };
        if let Some(reason) = created_closed {
            let seen = (change.state, change.change_type, change.history[0].closed_by);
            let expected = (State::Closed, draft.change_type, Some(reason));
            assert_eq!(seen, expected, "{} at its creation", change.id);
            if reason == ClosedBy::Blocked {
                item.stacks.entry(change.owner.name.clone()).or_default().blocked = at.0;
            }
        } else {
            self.opened(change, &draft);
        }
        let (change_type, target) = (change.change_type, draft.target);
        self.created.insert(change.id, Created { change_type, target });
    }

    /// Returns what a new change instance asks for, and applies its declaration.
    fn draft(&mut self, change: &Change, planned: Option<Planned>) -> Draft {
        let service = &change.service.title;
        let (owner, life) = (self.shape.owner(service).to_owned(), self.shape.life(service));
        let requires_approval = self.shape.approval_required(service);
        assert_eq!(change.claim_required, life.claim_required, "whether {} requires a claim", change.id);
        let cause = change.cause.and_then(|cause| self.created.get(&cause));
        let from_cause = cause.map(|created| (created.change_type, created.target.clone()));
        let retried = self.retried.remove(&change.id);
        let is_claimed = self.claim_of(change).is_some();
        let (known, is_of_direct) =
            planned.as_ref().map_or((Vec::new(), false), |one| (one.known.clone(), one.is_of_direct));
        let item = self.item(change);
        let (change_type, target) = match (change.kind, planned) {
            (Kind::Direct, Some(planned)) => {
                item.declared.clone_from(&planned.target);
                item.newest = planned.target.clone().or_else(|| item.newest.take());
                item.references = planned.references;
                item.runtime.get_or_insert(RuntimeState::Requested);
                let gone = planned.target.is_none();
                (if gone { ChangeType::Delete } else { item.change_type(&owner) }, planned.target)
            }
            (Kind::Referenced, Some(planned)) => (item.change_type(&owner), planned.target),
            (Kind::Dependent, _) => {
                let (change_type, target) = from_cause.unwrap();
                (item.type_of_share(&change.owner.name, life.strategy, (change_type, &target)), target)
            }
            (Kind::Replacement, _) => (ChangeType::Create, retried.clone().unwrap().target),
            (Kind::Retry, _) => {
                let retried = retried
                    .as_ref()
                    .unwrap_or_else(|| panic!("{} is a retry of a closed change instance", change.id));
                (retried.change_type, retried.target.clone())
            }
            (Kind::Direct | Kind::Referenced, None) => panic!("{} was not planned", change.id),
        };
        // A retry after an error needs no second approval, and neither does a second half.
        let is_pending = match &retried {
            Some(retried) => retried.state == State::Rejected,
            None => requires_approval,
        };
        let enters = if is_pending { State::Pending } else { State::Approved };
        let has_drifted = item.drift.is_some();
        let stack = item.stacks.entry(change.owner.name.clone()).or_default();
        let is_request = matches!(change.kind, Kind::Direct | Kind::Dependent);
        let is_needed = target.is_some() && has_drifted || !stack.has_reached(&target, is_claimed);
        let is_unneeded = is_request && !is_needed;
        if is_unneeded && is_of_direct && life.completes_unneeded() {
            let change_type = if target.is_some() { ChangeType::Modify } else { ChangeType::Delete };
            return Draft { change_type, target, old: None, enters, is_unneeded, is_completed: true };
        }
        let asks = (is_request || change.kind == Kind::Referenced) && !is_unneeded;
        let (change_type, old) = match (target.as_ref().filter(|_| asks), &stack.place) {
            (Some(new), Some((old, _))) if is_replaced(life.strategy, old, new, &known) => {
                (ChangeType::Delete, Some(old.clone()))
            }
            (Some(_), None) if life.strategy.may_replace() => (ChangeType::Create, None),
            _ => (change_type, None),
        };
        Draft { change_type, target, old, enters, is_unneeded, is_completed: false }
    }

    /// Puts a new change instance into its stack.
    fn opened(&mut self, change: &Change, draft: &Draft) {
        let is_main = change.owner.name == self.shape.owner(&change.service.title);
        let item = self.item(change);
        let mut closed = BTreeSet::new();
        if change.kind == Kind::Direct {
            closed.extend(item.answer(&draft.target));
        }
        let stack = item.stacks.entry(change.owner.name.clone()).or_default();
        if draft.enters == State::Approved {
            let waits = |open: &mut Open| open.state == State::Pending;
            closed.extend(stack.before_validation.take_if(waits).map(|open| open.id));
        }
        closed.extend(stack.column(draft.enters).take().map(|open| open.id));
        if draft.is_completed {
            closed.extend(stack.validated.take().map(|open| open.id));
        }
        stack.newest = (change.submission.number(), change.attempt);
        let state = if draft.is_completed { State::Completed } else { draft.enters };
        let mut change_type = draft.change_type;
        if state == State::Approved {
            change_type = stack.converted(change_type, &draft.target);
        }
        let seen = (change.state, change.change_type, change.unneeded);
        assert_eq!(seen, (state, change_type, draft.is_unneeded), "{} at its creation", change.id);
        let (id, target) = (change.id, draft.target.clone());
        let open = Open { id, state, change_type, target, awaits_claim: false };
        if open.is_first_half() && draft.old.is_some() {
            let old = change.old.map(|version| version.hash);
            assert_eq!(old, stored(&draft.old).hash(), "what {} removes", change.id);
        }
        match state {
            State::Approved => item.approve(change, is_main, open),
            State::Completed => item.complete_at_once(change, is_main, &open),
            State::Pending | State::Rejected | State::Errored | State::Closed => {
                stack.before_validation = Some(open);
                if is_main
                    && change_type == ChangeType::Create
                    && item.runtime == Some(RuntimeState::Decommissioned)
                {
                    item.runtime = Some(RuntimeState::Requested);
                }
            }
        }
        self.to_close.extend(closed);
    }
}

/// Returns whether a change to a new declaration replaces the one in place (R60).
///
/// With a property, a declaration that the planner did not know counts as another one.
fn is_replaced(strategy: Strategy, old: &Value, new: &Value, known: &[Value]) -> bool {
    strategy.may_replace() && (!known.contains(old) || strategy.replaces(old, new))
}
