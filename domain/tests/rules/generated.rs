//! Change instances generated after a submission, soon or late: R14 to R16, R22, R24, R25.

use crate::world::{Declared, LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, World, item_of, lb, table, team, vm};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::{Kind, RuntimeState};
use domain::model::change::ClosedBy;
use domain::model::work;
use domain::rules::generate::{Missing, generate};
use domain::{ChangeId, State, Timestamp};
use serde_json::json;
use std::collections::BTreeMap;

fn both(cpu: u64) -> [Declared; 2] {
    [vm("CoreVM1", cpu), lb("CoreLB1", &["CoreVM1"], "a")]
}

/// Returns a world with a VM and a load balancer that references it, both in service.
fn in_service() -> World {
    let mut world = World::new();
    world.declare_and_generate(&both(1));
    world.finish("CoreVM1", VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    world
}

fn closed_by(world: &World, id: ChangeId) -> Option<ClosedBy> {
    world.change(id).history.last().unwrap().closed_by
}

#[test]
fn r14_a_referenced_change_instance_of_an_item_in_service_is_a_modify() {
    let mut world = in_service();
    let (_, generated) = world.declare_and_generate(&both(2));
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER)]);
    assert_eq!(world.item("CoreLB1").version.number, 1);
    world.finish("CoreLB1", LB_OWNER);
    assert!(world.is_complete(world.item("CoreLB1")));
}

#[test]
fn r14_a_referenced_change_instance_of_a_requested_item_refreshes_its_create() {
    let mut world = World::new();
    let plan = world.declare(&both(1));
    let create = plan.created.iter().find(|created| created.item_name == "CoreLB1").unwrap().id;
    let (_, generated) = world.declare_and_generate(&both(2));
    assert_eq!(table(&generated), [("CoreLB1", Create, LB_OWNER)]);
    assert_eq!(closed_by(&world, create), Some(ClosedBy::Displaced(generated[0].id)));
    assert_eq!(world.runtime_state("CoreLB1"), RuntimeState::Requested);
}

#[test]
fn r14_a_referenced_change_instance_is_converted_by_the_exception_like_any_other() {
    let mut world = World::new().without_approval();
    world.declare_and_generate(&both(1));
    let create = world.open("CoreLB1", LB_OWNER, State::Approved);
    let (_, generated) = world.declare_and_generate(&both(2));
    assert_eq!(table(&generated), [("CoreLB1", Create, LB_OWNER)]);
    assert_eq!((world.state(create), generated[0].state), (State::Closed, State::Approved));
}

#[test]
fn r14_a_repeated_request_is_not_a_modification() {
    let mut world = World::new();
    let both = [vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")];
    world.declare_and_generate(&both);
    let rejected = world.reject("CoreVM1", VM_OWNER);
    world.decide(rejected, State::Closed);
    let (plan, generated) = world.declare_and_generate(&both);
    assert_eq!(table(&plan.created), [("CoreVM1", Create, VM_OWNER)]);
    assert_eq!(table(&generated), []);
}

#[test]
fn r14_references_are_not_transitive() {
    let mut world = World::new();
    // Any service may reference any other: here a VM references the load balancer of another VM.
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"},
        "front": {"type": "string", "format": "reference", "service_reference": "LoadBalancer"}}});
    world.redefine("VM", &definition);
    let chain = |cpu: u64| {
        let front = item_of("VM", json!({"name": "Front", "cpu": 1, "front": "CoreLB1"}));
        [item_of("VM", json!({"name": "CoreVM1", "cpu": cpu})), lb("CoreLB1", &["CoreVM1"], "a"), front]
    };
    world.declare_and_generate(&chain(1));
    let (_, generated) = world.declare_and_generate(&chain(2));
    assert_eq!(table(&generated), [("CoreLB1", Create, LB_OWNER)], "its own declaration has not changed");
}

#[test]
fn r14_a_cycle_of_references_comes_to_an_end() {
    let mut world = World::new();
    let definition = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": {"type": "integer"},
        "front": {"type": "string", "format": "reference", "service_reference": "LoadBalancer"}}});
    world.redefine("VM", &definition);
    let cycle = |cpu: u64, algorithm: &str| {
        let vm = item_of("VM", json!({"name": "CoreVM1", "cpu": cpu, "front": "CoreLB1"}));
        [vm, lb("CoreLB1", &["CoreVM1"], algorithm)]
    };
    world.declare_and_generate(&cycle(1, "a"));
    let (plan, generated) = world.declare_and_generate(&cycle(2, "a"));
    assert_eq!((table(&plan.created).len(), table(&generated)), (1, vec![("CoreLB1", Create, LB_OWNER)]));
    let (plan, generated) = world.declare_and_generate(&cycle(3, "b"));
    assert_eq!((plan.created.len(), generated.len()), (2, 0));
}

#[test]
fn r14_an_unchanged_item_is_not_modified() {
    let mut world = in_service();
    // Removal and return are changes of the VM, but not modifications of a declared item.
    world.declare(&[lb("CoreLB1", &[], "a")]);
    let (plan, generated) = world.declare_and_generate(&both(1));
    assert_eq!(plan.created.len(), 2, "the load balancer had to change itself");
    assert!(generated.is_empty());
}

#[test]
fn r15_a_new_referenced_item_means_the_main_item_has_changed_itself() {
    let mut world = in_service();
    let (plan, generated) = world.declare_and_generate(&[
        vm("CoreVM1", 1),
        vm("CoreVM2", 1),
        lb("CoreLB1", &["CoreVM1", "CoreVM2"], "a"),
    ]);
    let mut created = table(&plan.created);
    created.sort_unstable();
    assert_eq!(created, [("CoreLB1", Modify, LB_OWNER), ("CoreVM2", Create, VM_OWNER)]);
    assert!(generated.is_empty());
}

#[test]
fn r15_a_referenced_item_is_not_removed_while_it_is_referenced() {
    let mut world = in_service();
    assert_eq!(world.refused(&[lb("CoreLB1", &["CoreVM1"], "a")]), ["dangling_reference"]);
    let (plan, generated) = world.declare_and_generate(&[lb("CoreLB1", &[], "a")]);
    let mut created = table(&plan.created);
    created.sort_unstable();
    assert_eq!(created, [("CoreLB1", Modify, LB_OWNER), ("CoreVM1", Delete, VM_OWNER)]);
    assert!(generated.is_empty());
}

#[test]
fn r16_a_referenced_change_instance_fans_out_to_dependent_teams() {
    let mut world = in_service().with_dependent("LoadBalancer");
    let (plan, generated) = world.declare_and_generate(&both(2));
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER), ("CoreLB1", Modify, NP_OWNER)]);
    assert_eq!(
        generated.iter().map(|change| change.kind).collect::<Vec<_>>(),
        [Kind::Referenced, Kind::Dependent]
    );
    assert_eq!(generated[1].cause, Some(generated[0].id));
    assert_eq!(plan.submission.derived, 2);
    assert!(generated.iter().all(|change| change.submission == plan.submission.id));
}

#[test]
fn r16_an_owner_that_is_its_own_dependent_gets_one_change_instance() {
    let mut world = World::new();
    world.settings("VM").dependent_teams = vec![team(VM_OWNER), team(NP_OWNER)];
    let (plan, generated) = world.declare_and_generate(&[vm("CoreVM1", 1)]);
    assert_eq!((plan.created.len(), table(&generated)), (1, vec![("CoreVM1", Create, NP_OWNER)]));
}

#[test]
fn r22_dependent_teams_are_those_of_the_submission() {
    let mut world = World::new().with_dependent("VM");
    world.declare(&[vm("CoreVM1", 1)]);
    world.settings("VM").dependent_teams = vec![];
    assert_eq!(table(&world.generate()), [("CoreVM1", Create, NP_OWNER)]);
    let (_, generated) = world.declare_and_generate(&[vm("CoreVM1", 2)]);
    assert!(generated.is_empty());
    let dependent_change = world.open("CoreVM1", NP_OWNER, State::Pending);
    world.decide(dependent_change, State::Approved);
    world.decide(dependent_change, State::Completed);
}

#[test]
fn r22_a_team_that_becomes_dependent_gets_the_next_change_instance() {
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1)]);
    world.finish("CoreVM1", VM_OWNER);
    let mut world = world.with_dependent("VM");
    assert!(!world.declare(&[vm("CoreVM1", 1)]).submission.changed);
    let (_, generated) = world.declare_and_generate(&[vm("CoreVM1", 2)]);
    assert_eq!(table(&generated), [("CoreVM1", Modify, NP_OWNER)]);
    world.finish("CoreVM1", NP_OWNER);
}

#[test]
fn r24_generation_does_not_clear_a_rejection_that_the_consumer_has_to_answer() {
    let mut world = World::new();
    world.declare_and_generate(&both(1));
    let [vm1, balancer] = ["CoreVM1", "CoreLB1"].map(|name| world.item(name).id);
    assert_ne!(vm1, balancer);
    world.declare(&both(2));
    let rejected = world.reject("CoreLB1", LB_OWNER);
    let generated = world.generate();
    let [blocked] = &generated[..] else { panic!("one") };
    assert_eq!((blocked.state, closed_by(&world, blocked.id)), (State::Closed, Some(ClosedBy::Blocked)));
    assert_eq!((world.state(rejected), world.head().blockers.count), (State::Rejected, 1));
    assert_eq!(world.refused(&both(2)), ["blocked"]);
}

#[test]
fn r24_a_generated_change_created_approved_does_not_clear_an_error() {
    let mut world = World::new().without_approval();
    world.declare_and_generate(&both(1));
    world.declare(&both(2));
    let errored = world.error("CoreLB1", LB_OWNER);
    let blocked = world.generate()[0].id;
    assert_eq!(closed_by(&world, blocked), Some(ClosedBy::Blocked));
    assert_eq!(world.state(errored), State::Errored);
}

#[test]
fn r24_a_generated_change_with_other_content_replaces_a_rejection() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("CoreVM1", 1)]);
    world.declare(&[vm("CoreVM1", 2)]);
    // The rejection comes after the consumer's next declaration and before the generation of its share.
    let rejected = world.reject("CoreVM1", NP_OWNER);
    assert_eq!(world.head().blockers.count, 1);
    let generated = world.generate();
    assert_eq!(closed_by(&world, rejected), Some(ClosedBy::Displaced(generated[0].id)));
    assert_eq!(world.head().blockers.count, 0);
}

#[test]
fn r25_an_overtaken_change_is_created_closed() {
    let mut world = in_service();
    let first = world.declare(&both(2));
    let direct = world.declare(&[vm("CoreVM1", 2), lb("CoreLB1", &["CoreVM1"], "b")]).created[0].id;
    let late = world.generate();
    assert_eq!(late.len(), 1);
    assert_eq!((late[0].id, late[0].submission), (first.planned[0].id, first.submission.id));
    assert_eq!(closed_by(&world, late[0].id), Some(ClosedBy::Overtaken));
    assert_eq!(late[0].history.len(), 1, "born closed");
    assert_eq!(world.state(direct), State::Pending);
}

#[test]
fn r25_an_overtaken_one_still_gives_its_dependents_theirs_in_order() {
    let mut world = World::new().with_dependent("VM");
    let first = world.declare(&[vm("CoreVM1", 1)]).planned[0].id;
    let second = world.declare(&[vm("CoreVM1", 2)]).planned[0].id;
    world.generate_one(second);
    let late = world.generate_one(first);
    assert_eq!(late.state, State::Closed);
    assert_eq!(closed_by(&world, first), Some(ClosedBy::Overtaken));
    assert_eq!(world.state(second), State::Pending);
}

#[test]
fn r25_a_blocked_share_overtakes_an_older_one() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("CoreVM1", 1)]);
    let older = world.declare(&[vm("CoreVM1", 2)]).planned[0].id;
    let newer = world.declare(&[vm("CoreVM1", 1)]).planned[0].id;
    // The team rejects what the newest declaration asks for again.
    let rejected = world.reject("CoreVM1", NP_OWNER);
    world.generate_one(newer);
    assert_eq!(closed_by(&world, newer), Some(ClosedBy::Blocked));
    world.generate_one(older);
    assert_eq!(closed_by(&world, older), Some(ClosedBy::Overtaken), "it has a stale declaration");
    assert_eq!(world.refused(&[vm("CoreVM1", 1)]), ["blocked"]);
    // The owner may still change its mind.
    world.retry(rejected, NP_OWNER).unwrap();
    world.finish("CoreVM1", NP_OWNER);
    world.declare_and_generate(&[vm("CoreVM1", 3)]);
    assert_eq!(world.item("CoreVM1").stacks[&team(NP_OWNER).id].blocked_sequence, 0, "a later one came");
    world.audit();
}

#[test]
fn r25_a_late_referenced_one_of_a_removed_item_is_still_a_modification() {
    let mut world = in_service().with_dependent("LoadBalancer");
    world.declare(&both(2));
    // The list of dependent teams is empty at the removal of the item.
    world.settings("LoadBalancer").dependent_teams = vec![];
    world.declare(&[vm("CoreVM1", 2)]);
    let late = world.generate();
    assert_eq!(table(&late), [("CoreLB1", Modify, LB_OWNER), ("CoreLB1", Modify, NP_OWNER)]);
    assert_eq!((late[0].state, late[1].state), (State::Closed, State::Pending));
}

#[test]
fn r25_the_order_of_generation_does_not_show_in_the_states() {
    let after = |reversed: bool| {
        let mut world = World::new().with_dependent("VM");
        let mut planned = Vec::new();
        for items in [&[vm("CoreVM1", 1)][..], &[vm("CoreVM1", 2)], &[]] {
            planned.push(world.declare(items).planned[0].id);
        }
        if reversed {
            planned.reverse();
        }
        for id in planned {
            world.generate_one(id);
        }
        let changes = world.snapshot.changes.values();
        changes.map(|change| (change.id, change.state, change.change_type)).collect::<Vec<_>>()
    };
    assert_eq!(after(false), after(true));
}

#[test]
fn r25_a_dependents_share_has_the_type_of_its_cause_at_creation() {
    let mut world = World::new();
    world.declare(&[vm("CoreVM1", 1)]);
    world.approve("CoreVM1", VM_OWNER);
    let mut world = world.with_dependent("VM");
    let plan = world.declare(&[vm("CoreVM1", 2)]);
    world.decide(plan.created[0].id, State::Approved);
    assert_eq!(world.change(plan.created[0].id).change_type, Create, "converted since");
    assert_eq!(table(&world.generate()), [("CoreVM1", Modify, NP_OWNER)]);
}

#[test]
fn a_submission_allots_the_numbers_of_its_pending_changes() {
    let mut world = in_service().with_dependent("LoadBalancer").with_dependent("VM");
    let before = world.head().next_change;
    let plan = world.declare(&both(2));
    let ids =
        plan.created.iter().map(|created| created.id).chain(plan.planned.iter().map(|planned| planned.id));
    let numbers: Vec<u64> = ids.map(ChangeId::number).collect();
    let expected: Vec<u64> = (0..4).map(|n| before + n * domain::base::id::CHANGE_STRIDE).collect();
    assert_eq!(numbers, expected);
    assert_eq!(world.head().next_change, before + 4 * domain::base::id::CHANGE_STRIDE);
    world.generate();
}

#[test]
fn pending_changes_of_an_item_have_the_same_result_together_and_one_by_one() {
    let mut world = in_service().with_dependent("LoadBalancer");
    let other = team(VM_OWNER);
    world.settings("LoadBalancer").dependent_teams.push(other);
    world.declare(&both(2));
    let mut one_by_one = world.clone();
    let work = one_by_one.snapshot.works[0].clone();
    let mut generated = Vec::new();
    for planned in &work.entries {
        generated.extend(one_by_one.created_of(work.id, std::slice::from_ref(planned)));
    }
    let all = world.generate_records();
    let summary = |changes: &[domain::Change]| {
        changes.iter().map(|c| (c.id, c.kind, c.change_type, c.state, c.cause, c.new)).collect::<Vec<_>>()
    };
    assert_eq!((summary(&all), all.len()), (summary(&generated), 3));
    let stacks = |world: &World| {
        let item = world.item("CoreLB1").clone();
        item.stacks
            .iter()
            .map(|(owner, stack)| (*owner, stack.sequence, stack.open().count()))
            .collect::<Vec<_>>()
    };
    assert_eq!(stacks(&world), stacks(&one_by_one));
    assert_eq!(
        one_by_one.item("CoreLB1").revision,
        world.item("CoreLB1").revision + 2,
        "the item is written once"
    );
}

#[test]
fn pending_changes_of_an_item_share_a_work_record() {
    let mut world = World::new().with_dependent("VM");
    world.settings("VM").dependent_teams.push(team(LB_OWNER));
    world.settings("VM").dependent_teams.push(team(STRANGER));
    let items: Vec<_> = (0..=work::ENTRIES_MAX / 3).map(|n| vm(&format!("vm{n}"), 1)).collect();
    let planned = world.declare(&items).planned;
    for (divided, item) in work::divided(planned.clone(), &BTreeMap::new()).iter().flatten().zip(&planned) {
        assert_eq!(divided, item, "the order stays");
    }
    let sizes: Vec<_> = work::divided(planned[1..].to_vec(), &BTreeMap::new()).iter().map(Vec::len).collect();
    assert_eq!(sizes, [work::ENTRIES_MAX - 2, 3], "a record ends where the next item's would be cut");
}

#[test]
fn a_dependents_share_of_a_missing_item_is_not_generated() {
    let mut world = World::new().with_dependent("VM");
    let plan = world.declare(&[vm("CoreVM1", 1)]);
    let ctx = RequestContext { by: Actor::System, request: "r".to_owned(), now: Timestamp::from_micros(9) };
    let missing = generate(&plan.planned, &plan.submission, Some(&plan.items[0]), &BTreeMap::new(), &ctx);
    assert_eq!(missing, Err(Missing::Cause(plan.created[0].id)));
}
