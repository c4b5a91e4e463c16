//! Owners' decisions: R1, R2, R27, log texts and the order of refusals.

use crate::world::{CONSUMER, LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, World, storable, to, vm};
use domain::State;
use domain::model::change::Reason;
use domain::rules::decide::{LOG_BYTES_MAX, LOG_ENTRIES_MAX, Refused, Update};
use serde_json::json;

const NAME: &str = "CoreVM1";

fn log(text: &str) -> Update {
    Update { log: Some(text.to_owned()), ..Update::default() }
}

#[test]
fn r01_the_stack_rules_apply_per_item_and_owner() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    let main = world.open(NAME, VM_OWNER, State::Pending);
    let dependent = world.open(NAME, NP_OWNER, State::Pending);
    let other = world.open("CoreVM2", VM_OWNER, State::Pending);
    world.decide(main, State::Approved);
    world.decide(dependent, State::Approved);
    assert_eq!(world.state(main), State::Approved, "another owner's approval displaces nothing");
    world.declare_and_generate(&[vm(NAME, 2), vm("CoreVM2", 1)]);
    for owner in [VM_OWNER, NP_OWNER] {
        assert_eq!(world.item(NAME).stacks[&crate::world::team(owner).id].open().count(), 2);
    }
    assert_eq!(world.state(other), State::Pending, "another item's submission displaces nothing");
}

#[test]
fn r02_only_the_owner_of_a_change_instance_moves_it() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let main = world.open(NAME, VM_OWNER, State::Pending);
    let dependent = world.open(NAME, NP_OWNER, State::Pending);
    for (id, others) in [
        (main, [CONSUMER, NP_OWNER, LB_OWNER, STRANGER]),
        (dependent, [CONSUMER, VM_OWNER, LB_OWNER, STRANGER]),
    ] {
        for caller in others {
            assert_eq!(world.update(id, caller, &to(State::Approved)), Err(Refused::NotOwner), "{caller}");
            assert_eq!(world.update(id, caller, &log("hello")), Err(Refused::NotOwner), "{caller}");
        }
    }
    world.decide(main, State::Approved);
    world.decide(dependent, State::Approved);
}

#[test]
fn r02_a_missing_right_to_decide_is_the_first_error() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    let wrong = Update {
        state: Some(State::Completed),
        log: Some("x".repeat(LOG_BYTES_MAX + 1)),
        deployed_item: Some(storable(json!({}))),
        ..Update::default()
    };
    assert_eq!(world.update(id, CONSUMER, &wrong), Err(Refused::NotOwner));
    let illegal = Refused::IllegalTransition { from: State::Pending, to: State::Completed };
    assert_eq!(world.update(id, VM_OWNER, &wrong), Err(illegal));
    let early = Update { state: None, ..wrong };
    assert_eq!(world.update(id, VM_OWNER, &early), Err(Refused::DeployedItemTooEarly(State::Pending)));
    let long = Update { deployed_item: None, ..early };
    assert_eq!(world.update(id, VM_OWNER, &long), Err(Refused::LogTooLong));
}

#[test]
fn r27_a_pending_change_instance_is_not_completed_without_approval() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    for state in [State::Completed, State::Errored] {
        let refused = Refused::IllegalTransition { from: State::Pending, to: state };
        assert_eq!(world.update(id, VM_OWNER, &to(state)), Err(refused));
    }
}

#[test]
fn repeating_the_state_writes_nothing() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    for update in [to(State::Pending), Update::default(), log("")] {
        assert!(world.update(id, VM_OWNER, &update).unwrap().writes.is_empty());
    }
    world.update(id, VM_OWNER, &log("looking into it")).unwrap();
    assert!(world.update(id, VM_OWNER, &log("looking into it")).unwrap().writes.is_empty());
    assert_eq!(world.change(id).history.len(), 2);
}

#[test]
fn a_log_text_goes_with_a_move_or_stands_alone_and_stays_until_the_next_one() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.update(id, VM_OWNER, &log("queued")).unwrap();
    world.update(id, VM_OWNER, &Update { log: Some("fits".to_owned()), ..to(State::Approved) }).unwrap();
    world.decide(id, State::Completed);
    let change = world.change(id);
    let entries: Vec<_> = change.history.iter().map(|e| (e.to, e.reason, e.log.as_deref())).collect();
    let expected = [
        (State::Pending, Reason::State, None),
        (State::Pending, Reason::Log, Some("queued")),
        (State::Approved, Reason::State, Some("fits")),
        (State::Completed, Reason::State, None),
    ];
    assert_eq!(entries, expected);
    assert_eq!(change.log, "fits");
    assert_eq!(change.history[2].by, World::key_of(VM_OWNER));
}

#[test]
fn a_resolved_change_instance_takes_notes_but_never_moves() {
    for end in [State::Completed, State::Closed] {
        let mut world = World::new();
        let id = world.declare(&[vm(NAME, 1)]).created[0].id;
        if end == State::Completed {
            world.decide(id, State::Approved);
        } else {
            world.decide(id, State::Rejected);
        }
        world.decide(id, end);
        let item = world.item(NAME).clone();
        for n in 0..LOG_ENTRIES_MAX {
            world.update(id, VM_OWNER, &log(&format!("note {n}"))).unwrap();
        }
        assert_eq!(world.update(id, VM_OWNER, &log("one more")), Err(Refused::LogFull));
        assert_eq!((world.state(id), world.item(NAME)), (end, &item), "only the change instance is written");
    }
}

#[test]
fn the_limit_on_log_texts_never_prevents_a_transition() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    for n in 0..LOG_ENTRIES_MAX {
        world.update(id, VM_OWNER, &log(&format!("note {n}"))).unwrap();
    }
    assert_eq!(world.update(id, VM_OWNER, &log("one more")), Err(Refused::LogFull));
    world.update(id, VM_OWNER, &Update { log: Some("done".to_owned()), ..to(State::Approved) }).unwrap();
    assert_eq!(world.change(id).log, "done");
}

#[test]
fn a_log_text_ends_at_its_limit() {
    let mut world = World::new();
    let id = world.declare(&[vm(NAME, 1)]).created[0].id;
    assert_eq!(world.update(id, VM_OWNER, &log(&"x".repeat(LOG_BYTES_MAX + 1))), Err(Refused::LogTooLong));
    world.update(id, VM_OWNER, &log(&"x".repeat(LOG_BYTES_MAX))).unwrap();
}
