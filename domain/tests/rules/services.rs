//! The settings of services: R31 to R33.

use crate::world::{CONSUMER, LB_OWNER, NP_OWNER, VM_OWNER, World, lb, table, to, vm};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::catalog::service::ServiceState;
use domain::model::submission::Scope;
use domain::model::write::Write;
use domain::rules::decide::{Refused, Update};
use domain::{Item, State};
use serde_json::json;

const NAME: &str = "CoreVM1";

fn in_state(state: ServiceState) -> World {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    world.settings("VM").state = state;
    world
}

#[test]
fn r31_a_state_refuses_new_items_then_changes_and_never_a_removal() {
    use ServiceState::*;
    for (state, new, changed) in [
        (InService, &[][..], &[][..]),
        (NoNewServiceItem, &["no_new_items"], &[]),
        (NoModifyExistingServiceItem, &["no_new_items"], &["no_modifications"]),
        (Decommissioned, &["decommissioned"], &["decommissioned"]),
    ] {
        for (declared, rules) in [(vec![vm(NAME, 1), vm("CoreVM2", 1)], new), (vec![vm(NAME, 2)], changed)] {
            let mut world = in_state(state);
            if rules.is_empty() {
                assert_eq!(world.declare(&declared).created.len(), 1, "{state:?}");
            } else {
                assert_eq!(world.refused(&declared), rules, "{state:?}");
            }
        }
        let mut world = in_state(state);
        assert!(!world.declare(&[vm(NAME, 1)]).submission.changed, "what is unchanged stays");
        assert_eq!(table(&world.declare(&[]).created), [(NAME, Delete, VM_OWNER)]);
        world.approve(NAME, VM_OWNER);
        if state != InService {
            assert_eq!(world.refused(&[vm(NAME, 1)]), new, "a removed item is new");
        }
    }
}

type Close = fn(&mut World);

/// Returns changes of a service after which its items could not be declared.
fn closing() -> [(&'static str, Close); 5] {
    let tightened: Close = |world: &mut World| {
        let definition = json!({"title": "VM", "type": "object", "required": ["name", "cores"],
            "properties": {"name": {"type": "string"}, "cores": {"type": "integer"}}, "additionalProperties": false});
        world.redefine("VM", &definition);
    };
    let private: Close = |world| world.settings("VM").allowed_teams.push(crate::world::team(NP_OWNER).id);
    [
        ("schema", tightened),
        ("private_service", private),
        ("no_new_items", |world| world.settings("VM").state = ServiceState::NoNewServiceItem),
        ("no_new_items", |world| world.settings("VM").state = ServiceState::NoModifyExistingServiceItem),
        ("decommissioned", |world| world.settings("VM").state = ServiceState::Decommissioned),
    ]
}

#[test]
fn r20_a_removal_is_withdrawn_whatever_the_service_has_become() {
    for (rule, close) in closing() {
        let mut world = in_state(ServiceState::InService);
        let last = world.item(NAME).version;
        world.declare(&[]);
        close(&mut world);
        assert!(world.refused(&[vm(NAME, 2)]).contains(&rule), "another declaration is checked: {rule}");
        let plan = world.declare(&[vm(NAME, 1)]);
        assert_eq!(table(&plan.created), [(NAME, Modify, VM_OWNER)], "{rule}");
        let item = world.item(NAME);
        assert_eq!((item.version, item.declared, item.schema_version), (last, true, 1), "{rule}");
        world.audit();
    }
}

#[test]
fn r20_a_rejected_removal_is_withdrawn_or_requested_by_the_next_submission() {
    for (rule, close) in closing() {
        let mut world = in_state(ServiceState::InService);
        close(&mut world);
        world.declare(&[]);
        world.reject(NAME, VM_OWNER);
        assert_eq!(
            table(&world.clone().declare(&[vm(NAME, 1)]).created),
            [(NAME, Modify, VM_OWNER)],
            "{rule}"
        );
        assert_eq!(table(&world.declare(&[]).created), [(NAME, Delete, VM_OWNER)], "{rule}");
        // The owner closes the removal that it has rejected: the item is an orphan, and still in service.
        let rejected = world.reject(NAME, VM_OWNER);
        world.decide(rejected, State::Closed);
        assert_eq!(table(&world.declare(&[vm(NAME, 1)]).created), [(NAME, Modify, VM_OWNER)], "{rule}");
    }
}

#[test]
fn r20_an_approved_removal_is_not_withdrawn() {
    for (rule, close) in closing() {
        let mut world = in_state(ServiceState::InService);
        world.declare(&[]);
        world.approve(NAME, VM_OWNER);
        close(&mut world);
        assert!(world.refused(&[vm(NAME, 1)]).contains(&rule), "{rule}");
        world.error(NAME, VM_OWNER);
        assert!(world.refused(&[vm(NAME, 1)]).contains(&rule), "{rule}");
    }
}

#[test]
fn r37_a_revert_withdraws_a_removal() {
    for (rule, close) in closing() {
        let mut world = in_state(ServiceState::InService);
        world.declare(&[]);
        world.reject(NAME, VM_OWNER);
        close(&mut world);
        let body = crate::revert::document_of(&world, 1);
        let plan = world.submit(&body, Scope::Partial).unwrap();
        assert_eq!(table(&plan.created), [(NAME, Modify, VM_OWNER)], "{rule}");
    }
}

#[test]
fn r31_generated_changes_and_orphans_proceed() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    for (name, owner) in [(NAME, VM_OWNER), (NAME, NP_OWNER), ("CoreLB1", LB_OWNER)] {
        world.finish(name, owner);
    }
    world.settings("LoadBalancer").state = ServiceState::Decommissioned;
    let (plan, generated) = world.declare_and_generate(&[vm(NAME, 2), lb("CoreLB1", &[NAME], "a")]);
    assert_eq!(table(&plan.created), [(NAME, Modify, VM_OWNER)]);
    let mut generated = table(&generated);
    generated.sort_unstable_by_key(|(name, ..)| *name);
    // A referenced change is not a new request, so the state of its service does not matter.
    assert_eq!(generated, [("CoreLB1", Modify, LB_OWNER), (NAME, Modify, NP_OWNER)]);
    // The owner has closed the change, so the same declaration requests it again (R12).
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let id = world.reject(NAME, VM_OWNER);
    world.decide(id, State::Closed);
    world.settings("VM").state = ServiceState::NoModifyExistingServiceItem;
    assert_eq!(table(&world.declare(&[vm(NAME, 1)]).created), [(NAME, Create, VM_OWNER)]);
}

/// Returns a world of manual decisions, with these settings of the service.
fn by_hand(approval: bool, completion: bool) -> World {
    let mut world = World::new().with_dependent("VM");
    world.settings("VM").allow_manual_approval = approval;
    world.settings("VM").allow_manual_completion = completion;
    world.declare_and_generate(&[vm(NAME, 1)]);
    world.by_hand = true;
    world
}

#[test]
fn r32_a_person_approves_and_completes_where_the_service_lets_them_and_a_key_everywhere() {
    for owner in [VM_OWNER, NP_OWNER] {
        let mut world = by_hand(false, false);
        let id = world.open(NAME, owner, State::Pending);
        assert_eq!(world.update(id, owner, &to(State::Approved)), Err(Refused::ManualApproval), "{owner}");
        world.by_hand = false;
        world.decide(id, State::Approved);
        world.by_hand = true;
        assert_eq!(world.update(id, owner, &to(State::Completed)), Err(Refused::ManualCompletion), "{owner}");
        world.by_hand = false;
        world.decide(id, State::Completed);
    }
    let mut world = by_hand(true, false);
    let id = world.approve(NAME, VM_OWNER);
    assert_eq!(world.update(id, VM_OWNER, &to(State::Completed)), Err(Refused::ManualCompletion));
    let mut world = by_hand(false, true);
    let id = world.open(NAME, VM_OWNER, State::Pending);
    world.by_hand = false;
    world.decide(id, State::Approved);
    world.by_hand = true;
    world.decide(id, State::Completed);
}

#[test]
fn r32_a_person_may_do_whatever_else_an_owner_does() {
    let mut world = by_hand(false, false);
    let id = world.reject(NAME, VM_OWNER);
    let retried = world.retry(id, VM_OWNER).unwrap().change;
    let log = Update { log: Some("seen".to_owned()), ..Update::default() };
    world.update(retried.id, VM_OWNER, &log).unwrap();
    world.by_hand = false;
    world.decide(retried.id, State::Approved);
    world.by_hand = true;
    // A request for the present state changes nothing.
    assert_eq!(world.update(retried.id, VM_OWNER, &to(State::Approved)).unwrap().writes, []);
    world.deploy(retried.id, VM_OWNER, &json!({"ip": "10.0.0.1"})).unwrap();
    let errored = world.decide(retried.id, State::Errored);
    // An approved change stays approved: a retry is not an approval.
    assert_eq!(world.retry(errored.id, VM_OWNER).unwrap().change.state, State::Approved);
}

#[test]
fn r32_ownership_and_transition_errors_come_first() {
    let mut world = by_hand(false, false);
    let id = world.open(NAME, VM_OWNER, State::Pending);
    assert_eq!(world.update(id, CONSUMER, &to(State::Approved)), Err(Refused::NotOwner));
    let illegal = Refused::IllegalTransition { from: State::Pending, to: State::Completed };
    assert_eq!(world.update(id, VM_OWNER, &to(State::Completed)), Err(illegal));
}

#[test]
fn r32_the_settings_that_a_person_goes_by_are_fenced_and_no_key_pays_for_it() {
    let mut world = by_hand(true, true);
    let stays = |write: &&Write| matches!(write, Write::CheckService { .. });
    let id = world.open(NAME, VM_OWNER, State::Pending);
    let approved = world.update(id, VM_OWNER, &to(State::Approved)).unwrap().writes;
    let fence = Write::CheckService { title: "VM".to_owned(), revision: 1 };
    assert_eq!(approved.iter().filter(stays).collect::<Vec<_>>(), [&fence]);
    world.by_hand = false;
    let completed = world.update(id, VM_OWNER, &to(State::Completed)).unwrap().writes;
    assert_eq!(completed.iter().find(stays), None);
}

#[test]
fn r33_an_item_knows_the_version_that_its_declaration_was_checked_against() {
    let mut world = World::new();
    let checked = |world: &World, name| Item::clone(world.item(name)).schema_version;
    world.declare(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    assert_eq!([NAME, "CoreVM2"].map(|name| checked(&world, name)), [1, 1]);
    let mut wider: serde_json::Value = serde_json::from_str(&world.offers["VM"].schema.text).unwrap();
    wider["description"] = json!("a wider one");
    world.redefine("VM", &wider);
    world.settings("VM").minimum_version = Some(2);
    // R20: unchanged items need no new check, nor do orphans (R12).
    world.declare(&[vm(NAME, 1), vm("CoreVM2", 1)]);
    assert_eq!([NAME, "CoreVM2"].map(|name| checked(&world, name)), [1, 1]);
    world.declare(&[vm(NAME, 2), vm("CoreVM2", 1), vm("CoreVM3", 1)]);
    assert_eq!([NAME, "CoreVM2", "CoreVM3"].map(|name| checked(&world, name)), [2, 1, 2]);
    let up_to_date = |name| world.offers["VM"].service.settings.is_up_to_date(checked(&world, name));
    assert_eq!([NAME, "CoreVM2"].map(up_to_date), [Some(true), Some(false)]);
    world.declare(&[vm(NAME, 2)]);
    assert_eq!(checked(&world, "CoreVM2"), 1, "a removal checks nothing");
    // A withdrawn removal needs no check (R20); a declaration after an approved removal does.
    world.declare(&[vm(NAME, 2), vm("CoreVM2", 1)]);
    assert_eq!(checked(&world, "CoreVM2"), 1);
    world.declare(&[vm(NAME, 2)]);
    world.approve("CoreVM2", VM_OWNER);
    world.declare(&[vm(NAME, 2), vm("CoreVM2", 1)]);
    assert_eq!(checked(&world, "CoreVM2"), 2);
}
