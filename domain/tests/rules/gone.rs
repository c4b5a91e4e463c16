//! Gone items (R44): when an item goes, and what a later declaration of its name means.

use crate::world::{
    APP, Declared, LB_OWNER, NP_OWNER, VM_OWNER, World, application, document, lb, storable, table, vm,
};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::State;
use domain::model::change::ClosedBy;
use domain::model::submission::{Progress, Scope};
use domain::rules::decide::{Refused, Update};
use domain::{ChangeId, ItemId};
use serde_json::Value;
use serde_json::json;

const NAME: &str = "CoreVM1";

fn body(items: &[Declared]) -> Value {
    document(&[(APP, application(items))])
}

/// Returns a world with a VM in service.
fn in_service(mut world: World) -> World {
    world.declare_and_generate(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let has_share = world.item(NAME).dependents().next().is_some();
    if has_share {
        world.finish(NAME, NP_OWNER);
    }
    world
}

/// Removes all items, and returns the DELETE of the service owner, in APPROVED.
fn removed(world: &mut World) -> ChangeId {
    let delete = world.declare(&[]).created[0].id;
    world.decide(delete, State::Approved);
    delete
}

/// Returns the id of the newest item, and whether it is gone.
fn newest(world: &World) -> (ItemId, bool) {
    let item = world.item(NAME);
    (item.id, item.gone)
}

#[test]
fn r44_an_item_is_gone_with_the_completion_of_its_delete() {
    let mut world = in_service(World::new());
    let id = world.item(NAME).id;
    let delete = removed(&mut world);
    assert_eq!(newest(&world), (id, false));
    world.decide(delete, State::Completed);
    assert_eq!(newest(&world), (id, true));
    assert_eq!(world.item(NAME).revision, 6, "the move counts as one write");
}

#[test]
fn r44_a_later_declaration_of_the_name_is_a_new_item() {
    let mut world = in_service(World::new());
    let first = world.item(NAME).id;
    let delete = removed(&mut world);
    world.decide(delete, State::Completed);
    let create = world.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!((create.change_type, create.old), (Create, None));
    assert_eq!(create.new.map(|version| version.number), Some(1));
    assert!(create.item > first);
    assert_eq!(newest(&world), (create.item, false));
    assert!(world.snapshot.items[&first].gone, "nothing brings it back");
    world.finish(NAME, VM_OWNER);
    assert_eq!(world.declare(&[vm(NAME, 3)]).created[0].change_type, Modify);
}

#[test]
fn r44_until_the_dependents_delete_ends_the_name_means_the_same_item() {
    let mut world = in_service(World::new().with_dependent("VM"));
    let id = world.item(NAME).id;
    let delete = removed(&mut world);
    let share = world.generate()[0].clone();
    assert_eq!((share.change_type, share.state), (Delete, State::Pending));
    world.decide(delete, State::Completed);
    assert_eq!(newest(&world), (id, false), "a dependent's is open");
    let mut other = world.clone();
    let create = other.declare(&[vm(NAME, 1)]).created[0].clone();
    assert_eq!((create.item, create.change_type), (id, Create), "R7");

    let mut rejected = world.clone();
    rejected.decide(share.id, State::Rejected);
    assert_eq!(newest(&rejected), (id, false));
    rejected.decide(share.id, State::Closed);
    assert_eq!(newest(&rejected), (id, true));

    world.decide(share.id, State::Approved);
    world.decide(share.id, State::Completed);
    assert_eq!(newest(&world), (id, true));
}

#[test]
fn r44_an_item_waits_for_shares_that_are_not_generated() {
    let mut world = in_service(World::new().with_dependent("VM"));
    let id = world.item(NAME).id;
    let delete = removed(&mut world);
    world.decide(delete, State::Completed);
    assert_eq!((newest(&world), world.item(NAME).shares_due), ((id, false), 1));
    let share = world.generate()[0].clone();
    assert_eq!((share.state, world.item(NAME).shares_due), (State::Pending, 0));
    world.finish(NAME, NP_OWNER);
    assert_eq!(newest(&world), (id, true));
}

#[test]
fn r44_the_last_shares_that_are_created_closed_let_the_item_go() {
    let mut world = in_service(World::new().with_dependent("VM"));
    let id = world.item(NAME).id;
    // Two submissions whose shares arrive in the wrong order: the older one is created in CLOSED.
    let modify = world.declare(&[vm(NAME, 2)]);
    let delete = removed(&mut world);
    world.decide(delete, State::Completed);
    let [older, newer] = world.ready()[..] else { panic!("two shares are pending") };
    assert_eq!(world.change(modify.created[0].id).state, State::Closed);
    world.generate_one(newer);
    world.finish(NAME, NP_OWNER);
    assert_eq!((newest(&world), world.item(NAME).shares_due), ((id, false), 1));
    let last = world.generate_one(older);
    assert_eq!((last.state, newest(&world)), (State::Closed, (id, true)));
}

#[test]
fn r44_a_staged_declaration_of_an_item_that_goes_before_the_landing_is_a_new_item() {
    let mut world = in_service(World::new().with_dependent("VM"));
    let first = world.item(NAME).id;
    let delete = removed(&mut world);
    world.generate();
    world.finish(NAME, NP_OWNER);
    let plan = world.planned(&body(&[vm(NAME, 2)]), Scope::Whole).unwrap();
    assert_eq!(plan.created[0].item, first, "R7, while the DELETE is APPROVED");
    for before_commit in [true, false] {
        let mut world = world.clone();
        if before_commit {
            world.stage(&plan);
            world.decide(delete, State::Completed);
            world.apply(&plan.staged.as_ref().unwrap().commit);
        } else {
            world.commit_staged(&plan);
            world.decide(delete, State::Completed);
        }
        assert!(world.snapshot.items[&first].gone);
        let created = world.generate_records();
        assert_eq!(table(&created), [(NAME, Create, VM_OWNER), (NAME, Create, NP_OWNER)]);
        assert!(created.iter().all(|change| change.item > first && change.old.is_none()));
        assert_eq!(created[0].new.map(|version| version.number), Some(1));
        assert_eq!(world.snapshot.submissions.last().unwrap().progress(), Progress::Settled);
        assert!(!world.is_in_flight());
    }
}

#[test]
fn r44_a_staged_declaration_of_an_item_that_stays_leaves_its_spare_number_unused() {
    let mut world = in_service(World::new());
    let first = world.item(NAME).id;
    removed(&mut world);
    world.submit_staged(&body(&[vm(NAME, 2)]), Scope::Whole).unwrap();
    assert_eq!(world.generate_records()[0].item, first);
    assert_eq!(world.application(APP).next_item, 3);
}

#[test]
fn r44_late_referenced_work_of_a_gone_item_is_created_closed() {
    let mut world = World::new().with_dependent("LoadBalancer");
    world.declare(&[vm(NAME, 1), lb("CoreLB1", &[NAME], "a")]);
    world.finish(NAME, VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    world.generate();
    world.finish("CoreLB1", NP_OWNER);
    world.settings("LoadBalancer").dependent_teams.push(crate::world::team(VM_OWNER));
    world.declare(&[vm(NAME, 2), lb("CoreLB1", &[NAME], "a")]);
    // The removal has no dependent teams, so nothing waits for shares.
    world.settings("LoadBalancer").dependent_teams.clear();
    let delete = world.declare(&[vm(NAME, 2)]).created[0].id;
    world.decide(delete, State::Approved);
    world.decide(delete, State::Completed);
    let item = world.item("CoreLB1").clone();
    assert!(item.gone);
    for change in world.generate() {
        let closed_by = change.history[0].closed_by;
        assert_eq!((change.state, closed_by), (State::Closed, Some(ClosedBy::Overtaken)));
    }
    assert_eq!(world.item("CoreLB1"), &item, "nothing is written to it, and no team gets a share");
}

#[test]
fn r44_a_gone_item_takes_log_texts_and_deployed_items_but_no_retry() {
    let mut world = in_service(World::new());
    let delete = removed(&mut world);
    world.decide(delete, State::Completed);
    let before = world.item(NAME).clone();
    let log = Update { log: Some("archived".to_owned()), ..Update::default() };
    world.update(delete, VM_OWNER, &log).unwrap();
    assert_eq!(world.item(NAME), &before, "only the change instance is written");
    let deployed = Update {
        state: Some(State::Completed),
        deployed_item: Some(storable(json!({"ip": "10.0.0.9"}))),
        ..Update::default()
    };
    world.update(delete, VM_OWNER, &deployed).unwrap();
    assert!(world.item(NAME).gone && world.item(NAME).deployed.is_some());
    assert_eq!(world.retry(delete, VM_OWNER), Err(Refused::NotRetryable(State::Completed)));
}

#[test]
fn r44_a_charge_of_a_gone_item_can_be_processed() {
    let mut world = in_service(World::new().priced());
    let delete = removed(&mut world);
    world.decide(delete, State::Completed);
    let open = world.charges(NAME).into_iter().find(|charge| charge.processed.is_none()).unwrap();
    world.mark_charge(open.id, VM_OWNER, true).unwrap();
    assert!(world.item(NAME).gone);
}

#[test]
fn r44_a_second_create_that_was_never_approved_lets_the_item_go_in_requested() {
    let mut world = in_service(World::new());
    let id = world.item(NAME).id;
    let delete = removed(&mut world);
    let create = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.decide(delete, State::Completed);
    world.decide(create, State::Rejected);
    world.declare(&[]);
    let second = world.item(NAME).latest_change;
    assert_eq!(world.change(second).change_type, Delete);
    world.decide(second, State::Approved);
    world.decide(second, State::Completed);
    assert_eq!(newest(&world), (id, true));
}
