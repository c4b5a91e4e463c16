//! References to items of other applications (R69) and items in use (R71).

use crate::world::{APP, Declared, Plan, World, application, broken, document, item_of, lb, vm};
use domain::model::submission::Scope;
use domain::rules::plan::{Refused, USES_CHANGED_MAX};
use serde_json::json;

pub(crate) const CAMPUS: &str = "Campus";

/// Returns a load balancer that refers to VMs of the application of most tests.
pub(crate) fn elsewhere(name: &str, vms: &[&str]) -> Declared {
    let vms: Vec<_> = vms.iter().map(|name| json!({"application": APP, "name": name})).collect();
    item_of("LoadBalancer", json!({"name": name, "related_vms": vms}))
}

/// Returns a world with load balancers that may refer to VMs of other applications.
pub(crate) fn world() -> World {
    let mut world = World::new();
    let reference = json!({"format": "reference_list", "service_reference": "VM", "x-reach": "team",
        "type": "array", "items": {"type": ["string", "object"]}});
    let definition = json!({"title": "LoadBalancer", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "algorithm": {"type": "string"}, "related_vms": reference}});
    world.redefine("LoadBalancer", &definition);
    world
}

/// Declares the VMs of one application and the load balancers of another.
pub(crate) fn submit(world: &mut World, vms: &[Declared], balancers: &[Declared]) -> Result<Plan, Refused> {
    let body = document(&[(APP, application(vms)), (CAMPUS, application(balancers))]);
    let plan = world.submit(&body, Scope::Whole)?;
    world.generate();
    Ok(plan)
}

fn problems(refused: Refused) -> Vec<String> {
    let Refused::Invalid(problems) = refused else { panic!("the declaration is invalid") };
    problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn r69_a_name_with_its_application_needs_a_declared_item() {
    let mut world = world();
    let missing = submit(&mut world, &[vm("a", 1)], &[elsewhere("l", &["a", "b"])]).unwrap_err();
    assert_eq!(problems(missing), ["VM 'b' must be declared in application 'NewApp1'"]);
    submit(&mut world, &[vm("a", 1)], &[elsewhere("l", &["a"])]).unwrap();
    assert_eq!(world.item_in(CAMPUS, "l").uses, [world.item("a").id]);
    assert_eq!(world.item("a").used_by, 1);
    let (changes, body) = (world.snapshot.changes.len(), [elsewhere("l", &["a"])]);
    submit(&mut world, &[vm("a", 2)], &body).unwrap();
    assert_eq!(world.snapshot.changes.len(), changes + 1, "a change elsewhere generates nothing");
}

#[test]
fn r71_a_submission_does_not_remove_an_item_in_use() {
    let mut world = world();
    let balancers = [elsewhere("l", &["a"]), elsewhere("m", &["a"])];
    submit(&mut world, &[vm("a", 1)], &balancers).unwrap();
    let refused = submit(&mut world, &[], &balancers).unwrap_err();
    let users = "AwesomeConsumer/Campus LoadBalancer 'l', AwesomeConsumer/Campus LoadBalancer 'm'";
    let in_use = format!("must stay: 2 items elsewhere refer to it: {users}; allow_removal=true removes it");
    assert_eq!(problems(refused), [in_use]);
    assert!(world.item("a").declared);

    // A user that stays counts; one that the same submission releases does not.
    let of_m = submit(&mut world, &[], &[elsewhere("l", &[]), balancers[1].clone()]).unwrap_err();
    assert!(problems(of_m)[0].starts_with("must stay: 1 item elsewhere refers to it"));
    submit(&mut world, &[], &[elsewhere("l", &[])]).unwrap();
    assert_eq!((world.item("a").declared, world.item("a").used_by), (false, 0));
}

#[test]
fn r71_a_confirmed_removal_leaves_dangling_references() {
    let mut world = world();
    let l = elsewhere("l", &["a"]);
    submit(&mut world, &[vm("a", 1)], &[l.clone(), lb("n", &[], "x")]).unwrap();
    world.is_confirmed = true;
    submit(&mut world, &[], &[l.clone(), lb("n", &[], "x")]).unwrap();
    assert_eq!((world.item("a").declared, world.item("a").used_by), (false, 1));
    world.is_confirmed = false;
    submit(&mut world, &[], &[l.clone(), lb("n", &[], "y")]).unwrap();
    let another = elsewhere("o", &["a"]);
    let dangling = submit(&mut world, &[], &[l, lb("n", &[], "y"), another]).unwrap_err();
    assert_eq!(broken(dangling), ["dangling_reference"]);
    submit(&mut world, &[], &[elsewhere("l", &[]), lb("n", &[], "y")]).unwrap();
    assert_eq!(world.item("a").used_by, 0, "the reference to the removed item ends");
}

#[test]
fn r71_a_submission_changes_references_to_twenty_items_elsewhere() {
    let names: Vec<String> = (0..=USES_CHANGED_MAX).map(|n| format!("v{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let vms: Vec<Declared> = names.iter().map(|name| vm(name, 1)).collect();
    let mut world = world();
    let too_many = submit(&mut world, &vms, &[elsewhere("l", &names)]).unwrap_err();
    assert_eq!(
        problems(too_many),
        ["must add and release references to at most 20 items elsewhere at once, not 21"]
    );
    submit(&mut world, &vms, &[elsewhere("l", &names[1..])]).unwrap();
    assert_eq!(world.item_in(CAMPUS, "l").uses.len(), USES_CHANGED_MAX);
}

#[test]
fn r71_references_share_the_commit_with_changed_applications() {
    let names = ["a", "b", "c", "d", "e"];
    let vms = names.map(|name| vm(name, 1));
    let others = |count: usize| -> Vec<String> { (0..count).map(|n| format!("app{n}")).collect() };
    let body = |applications: &[String]| {
        let changed = applications.iter().map(|name| (name.as_str(), application(&[lb("x", &[], name)])));
        let campus = (CAMPUS, application(&[elsewhere("l", &names)]));
        document(&[(APP, application(&vms)), campus].into_iter().chain(changed).collect::<Vec<_>>())
    };
    let mut world = world();
    submit(&mut world, &vms, &[elsewhere("l", &[])]).unwrap();
    let full = world.submit(&body(&others(89)), Scope::Partial).err().map(broken);
    assert_eq!(full.as_deref(), Some(&["too_many_references"][..]));
    world.submit_staged(&body(&others(80)), Scope::Partial).unwrap();
    assert_eq!(world.item("a").used_by, 1);
}
