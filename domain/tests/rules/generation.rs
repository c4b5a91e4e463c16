//! The guide, "Change Instance Generation", submission by submission, with its tables.

use crate::world::{CONSUMER, LB_OWNER, NP_OWNER, VM_OWNER, World, item_of, lb, table, vm};
use domain::State;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::Kind;
use serde_json::json;

#[test]
fn basic_submissions_lead_to_the_tables_of_the_guide() {
    let balancer =
        |algorithm: &str| item_of("LoadBalancer", json!({"name": "CoreLB1", "algorithm": algorithm}));
    let mut world = World::new();
    let plan = world.declare(&[vm("CoreVM1", 8), vm("CoreVM2", 16)]);
    assert_eq!(table(&plan.created), [("CoreVM1", Create, VM_OWNER), ("CoreVM2", Create, VM_OWNER)]);
    world.finish("CoreVM1", VM_OWNER);
    world.finish("CoreVM2", VM_OWNER);

    let plan = world.declare(&[vm("CoreVM1", 8), vm("CoreVM2", 16), balancer("RoundRobin")]);
    assert_eq!(table(&plan.created), [("CoreLB1", Create, LB_OWNER)]);
    world.finish("CoreLB1", LB_OWNER);

    let plan = world.declare(&[vm("CoreVM1", 16), vm("CoreVM2", 16), balancer("RoundRobin")]);
    assert_eq!(table(&plan.created), [("CoreVM1", Modify, VM_OWNER)]);
    world.finish("CoreVM1", VM_OWNER);

    let plan = world.declare(&[vm("CoreVM1", 16), vm("CoreVM2", 8), balancer("LeastConnections")]);
    // A map sorts the keys of the document, so the order is not that of the guide.
    let mut created = table(&plan.created);
    created.sort_unstable();
    assert_eq!(created, [("CoreLB1", Modify, LB_OWNER), ("CoreVM2", Modify, VM_OWNER)]);
    world.finish("CoreVM2", VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);

    let plan = world.declare(&[vm("CoreVM1", 16)]);
    let mut created = table(&plan.created);
    created.sort_unstable();
    assert_eq!(created, [("CoreLB1", Delete, LB_OWNER), ("CoreVM2", Delete, VM_OWNER)]);
    assert!(
        plan.created.iter().all(|change| change.consumer.name == CONSUMER && change.kind == Kind::Direct)
    );
    assert!(plan.planned.is_empty(), "without references and dependents nothing follows");
}

/// Returns the world of the guide's section on references, with everything in service.
fn referencing() -> World {
    let mut world = World::new();
    let plan = world.declare(&[
        vm("CoreVM1", 16),
        vm("CoreVM2", 8),
        lb("CoreLB1", &["CoreVM1", "CoreVM2"], "LeastConnections"),
    ]);
    assert_eq!(plan.created.len(), 3, "the same as without references");
    assert!(plan.planned.is_empty());
    for (name, owner) in [("CoreVM1", VM_OWNER), ("CoreVM2", VM_OWNER), ("CoreLB1", LB_OWNER)] {
        world.finish(name, owner);
    }
    world
}

#[test]
fn referenced_change_instances_a_modified_vm_modifies_its_load_balancer() {
    let mut world = referencing();
    let (plan, generated) = world.declare_and_generate(&[
        vm("CoreVM1", 32),
        vm("CoreVM2", 8),
        lb("CoreLB1", &["CoreVM1", "CoreVM2"], "LeastConnections"),
    ]);
    assert_eq!(table(&plan.created), [("CoreVM1", Modify, VM_OWNER)]);
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER)]);
    let [referenced] = &generated[..] else { panic!("one") };
    assert_eq!((referenced.kind, referenced.state), (Kind::Referenced, State::Pending));
    assert_eq!(referenced.new, referenced.old, "its own declaration stays");
    assert_eq!(referenced.submission, plan.submission.id);
}

#[test]
fn referenced_change_instances_are_one_however_many_were_modified() {
    let mut world = referencing();
    let (_, generated) = world.declare_and_generate(&[
        vm("CoreVM1", 32),
        vm("CoreVM2", 32),
        lb("CoreLB1", &["CoreVM1", "CoreVM2"], "LeastConnections"),
    ]);
    assert_eq!(table(&generated), [("CoreLB1", Modify, LB_OWNER)]);
}

#[test]
fn referenced_change_instances_are_not_added_to_a_direct_one() {
    let mut world = referencing();
    let (plan, generated) = world.declare_and_generate(&[
        vm("CoreVM1", 32),
        vm("CoreVM2", 8),
        lb("CoreLB1", &["CoreVM1", "CoreVM2"], "RoundRobin"),
    ]);
    assert_eq!((plan.created.len(), generated.len()), (2, 0));
}

#[test]
fn dependent_change_instances_go_to_each_dependent_team() {
    let mut world = World::new().with_dependent("VM");
    let (plan, generated) = world.declare_and_generate(&[vm("CoreVM1", 8), vm("CoreVM2", 16)]);
    assert_eq!(table(&plan.created), [("CoreVM1", Create, VM_OWNER), ("CoreVM2", Create, VM_OWNER)]);
    assert_eq!(table(&generated), [("CoreVM1", Create, NP_OWNER), ("CoreVM2", Create, NP_OWNER)]);
    for (dependent, main) in generated.iter().zip(&plan.created) {
        assert_eq!((dependent.kind, dependent.cause), (Kind::Dependent, Some(main.id)));
        assert_eq!(dependent.service_owner.name, VM_OWNER);
        assert!(dependent.is_dependant() && !main.is_dependant());
        assert_eq!((dependent.new, dependent.old), (main.new, main.old));
        assert_eq!(dependent.commit_id, main.commit_id);
    }
    assert_eq!(plan.submission.derived, 2);
}
