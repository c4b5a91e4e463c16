//! The whole table of transitions: from every state to every state, by every team.

use crate::world::{CONSUMER, LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, World, to, vm};
use domain::base::state::{By, Stage, TRANSITIONS, is_legal};
use domain::rules::decide::Refused;
use domain::{ChangeId, State};

/// Returns the steps from PENDING to a state.
const fn path_to(state: State) -> &'static [State] {
    match state {
        State::Pending => &[],
        State::Rejected => &[State::Rejected],
        State::Approved => &[State::Approved],
        State::Errored => &[State::Approved, State::Errored],
        State::Completed => &[State::Approved, State::Completed],
        State::Closed => &[State::Rejected, State::Closed],
    }
}

/// Returns a world with the owner's change instance in this state.
fn world_in(state: State, owner: &str) -> (World, ChangeId) {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("CoreVM1", 1)]);
    let id = world.open("CoreVM1", owner, State::Pending);
    for step in path_to(state) {
        world.decide(id, *step);
    }
    assert_eq!(world.state(id), state);
    (world, id)
}

#[test]
fn every_move_is_allowed_to_the_owner_exactly_as_the_table_says() {
    for owner in [VM_OWNER, NP_OWNER] {
        for from in State::ALL {
            for target in State::ALL {
                let (mut world, id) = world_in(from, owner);
                let before = world.snapshot.clone();
                let answer = world.update(id, owner, &to(target));
                let case = format!("{owner}: {from} to {target}");
                if from == target {
                    assert!(answer.unwrap().writes.is_empty(), "{case}");
                    assert_eq!(world.snapshot.changes, before.changes, "{case}");
                } else if is_legal(Some(from), target, By::Owner) {
                    assert_eq!(answer.unwrap().change.state, target, "{case}");
                    assert_eq!(world.state(id), target, "{case}");
                } else {
                    assert_eq!(answer, Err(Refused::IllegalTransition { from, to: target }), "{case}");
                    assert_eq!(world.snapshot.changes, before.changes, "{case}");
                    assert_eq!(world.snapshot.items, before.items, "{case}");
                }
            }
        }
    }
}

#[test]
fn no_other_actor_may_change_a_state() {
    for owner in [VM_OWNER, NP_OWNER] {
        for from in State::ALL {
            let (mut world, id) = world_in(from, owner);
            let before = world.snapshot.clone();
            for caller in
                [VM_OWNER, NP_OWNER, LB_OWNER, CONSUMER, STRANGER].into_iter().filter(|c| *c != owner)
            {
                for target in State::ALL {
                    let answer = world.update(id, caller, &to(target));
                    assert_eq!(answer, Err(Refused::NotOwner), "{caller}: {from} to {target}");
                }
                assert_eq!(world.retry(id, caller), Err(Refused::NotOwner), "{caller} retries {from}");
            }
            assert_eq!(world.snapshot.changes, before.changes);
            assert_eq!(world.snapshot.items, before.items);
        }
    }
}

#[test]
fn a_retry_is_allowed_exactly_where_the_consumer_would_have_to_answer() {
    for owner in [VM_OWNER, NP_OWNER] {
        for from in State::ALL {
            let (mut world, id) = world_in(from, owner);
            match world.retry(id, owner) {
                Ok(decided) => {
                    assert!(from.is_blocked(), "{owner} retries {from}");
                    assert_eq!(world.state(id), State::Closed);
                    assert!(is_legal(None, decided.change.state, By::Creation));
                }
                Err(refused) => {
                    assert!(!from.is_blocked(), "{owner} retries {from}");
                    assert_eq!(refused, Refused::NotRetryable(from));
                }
            }
        }
    }
}

#[test]
fn the_stack_rules_close_from_every_open_state_and_from_no_other() {
    for from in State::ALL {
        let (mut world, id) = world_in(from, VM_OWNER);
        let open = from.stage() != Stage::Resolved;
        assert_eq!(is_legal(Some(from), State::Closed, By::StackRules), open);
        // Two new declarations, the first of them approved, displace an open change in either stage.
        world.declare_and_generate(&[vm("CoreVM1", 2)]);
        world.approve("CoreVM1", VM_OWNER);
        let last = world.change(id).history.last().unwrap().clone();
        let expected = if from == State::Completed { State::Completed } else { State::Closed };
        assert_eq!((last.to, last.closed_by.is_some()), (expected, open), "{from}");
    }
}

#[test]
fn no_state_leads_back_into_an_earlier_column() {
    let rank = |state: State| match state.stage() {
        Stage::PreValidated => 0,
        Stage::Validated => 1,
        Stage::Resolved => 2,
    };
    for transition in TRANSITIONS {
        let from = transition.from.map_or(0, rank);
        assert!(from <= rank(transition.to), "{transition:?}");
    }
}
