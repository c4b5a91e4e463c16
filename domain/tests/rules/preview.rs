//! Previews: a submission does exactly what its preview shows, or its token differs (R34).

use crate::walk::{Config, Walk};
use crate::world::{
    APP, Declared, LB_OWNER, NP_OWNER, Plan, VM_OWNER, World, application, document, lb, table, vm,
};
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::model::submission::Scope;
use domain::rules::charging::prices_of;
use domain::rules::plan::Preview;
use domain::{Change, ChangeId, State};
use serde_json::{Value, json};

/// Number of random histories with previews of each submission.
const HISTORIES: u64 = 3_000;
const STEPS: usize = 4;

fn body(items: &[Declared]) -> Value {
    document(&[(APP, application(items))])
}

fn preview(world: &World, items: &[Declared]) -> Preview {
    world.clone().planned(&body(items), Scope::Whole).unwrap().preview
}

/// Returns a VM and a load balancer that references it, both in service, the VM with a dependent team.
fn in_service() -> World {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")]);
    for (name, owner) in [("CoreVM1", VM_OWNER), ("CoreVM1", NP_OWNER), ("CoreLB1", LB_OWNER)] {
        world.finish(name, owner);
    }
    world
}

const NEXT: fn() -> [Declared; 3] = || [vm("CoreVM1", 2), vm("CoreVM2", 1), lb("CoreLB1", &["CoreVM1"], "a")];

#[test]
fn r34_a_preview_lists_direct_dependent_and_referenced_changes() {
    let world = in_service();
    let before = world.snapshot.clone();
    let preview = preview(&world, &NEXT());
    assert_eq!(
        table(&preview.created),
        [
            ("CoreVM1", Modify, VM_OWNER),
            ("CoreVM2", Create, VM_OWNER),
            ("CoreVM1", Modify, NP_OWNER),
            ("CoreVM2", Create, NP_OWNER),
            ("CoreLB1", Modify, LB_OWNER),
        ]
    );
    assert_eq!(preview.new_items.len(), 1, "the new one");
    assert_eq!(world.snapshot.changes, before.changes, "and does nothing");
}

#[test]
fn r34_a_preview_lists_the_changes_to_close() {
    let mut world = World::new();
    let create = world.declare(&[vm("CoreVM1", 1)]).created.remove(0).id;
    let closed = |world: &World, items: &[Declared]| {
        let closed = preview(world, items).closed;
        closed.iter().map(|closing| (closing.change, closing.from)).collect::<Vec<_>>()
    };
    assert_eq!(closed(&world, &[vm("CoreVM1", 2)]), [(create, State::Pending)]);
    world.decide(create, State::Rejected);
    assert_eq!(closed(&world, &[vm("CoreVM1", 2)]), [(create, State::Rejected)]);
    assert_eq!(table(&preview(&world, &[]).created), [("CoreVM1", Delete, VM_OWNER)]);
}

#[test]
fn r34_the_token_is_the_same_until_something_that_matters_moves() {
    let mut world = in_service();
    let token = |world: &World| preview(world, &NEXT()).plan;
    let first = token(&world);
    assert_eq!(token(&world), first, "for every caller and at every time");
    // Another declaration is another plan.
    assert_ne!(preview(&world, &[vm("CoreVM1", 2), lb("CoreLB1", &["CoreVM1"], "a")]).plan, first);
    // The same declaration is another plan with another approval setting, or with other dependent teams.
    let mut other = world.clone();
    other.settings("VM").approval_required = false;
    assert_ne!(token(&other), first);
    let mut other = world.clone();
    other.settings("VM").dependent_teams.clear();
    assert_ne!(token(&other), first);
    // Another submission with the same result in other steps.
    let mut other = world.clone();
    other.declare_and_generate(&[vm("CoreVM1", 3), lb("CoreLB1", &["CoreVM1"], "a")]);
    assert_ne!(token(&other), first);
    // An owner's decision on a change instance that would be closed.
    world.declare_and_generate(&[vm("CoreVM1", 3), lb("CoreLB1", &["CoreVM1"], "a")]);
    let second = token(&world);
    let pending = world.open("CoreVM1", VM_OWNER, State::Pending);
    world
        .update(
            pending,
            VM_OWNER,
            &domain::rules::decide::Update { log: Some("looking at it".to_owned()), ..Default::default() },
        )
        .unwrap();
    assert_eq!(token(&world), second, "a log text changes nothing of it");
    world.decide(pending, State::Approved);
    assert_ne!(token(&world), second);
}

#[test]
fn r34_prices_are_part_of_the_plan() {
    let priced = in_service().priced();
    let token = |world: &World, items: &[Declared]| preview(world, items).plan;
    let first = token(&priced, &NEXT());
    // Another fee, and another monthly price of the referenced service.
    for (service, prices) in [("VM", 1), ("VM", 2), ("LoadBalancer", 2)] {
        let mut other = priced.clone();
        other.charge(service, prices);
        assert_ne!(token(&other, &NEXT()), first, "{service} {prices}");
        other.charge(service, if service == "VM" { 0 } else { 1 });
        assert_eq!(token(&other, &NEXT()), first, "{service} {prices}");
    }
    // A service without a change instance in the plan does not affect it.
    let alone = [vm("CoreVM1", 1), vm("CoreVM2", 1), lb("CoreLB1", &["CoreVM1"], "a")];
    let mut other = priced.clone();
    other.charge("LoadBalancer", 2);
    assert_eq!(token(&other, &alone), token(&priced, &alone));
}

#[test]
fn r34_a_submission_without_changes_leaves_plans_valid() {
    let mut world = in_service();
    let now = [vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")];
    let first = preview(&world, &NEXT()).plan;
    let before = world.head().submissions;
    assert!(!world.declare(&now).submission.changed);
    assert_eq!(world.head().submissions, before + 1);
    assert_eq!(preview(&world, &NEXT()).plan, first);
    // A submission with changes outdates the plan, even if a third one takes it back.
    world.declare_and_generate(&[vm("CoreVM1", 3), lb("CoreLB1", &["CoreVM1"], "a")]);
    assert_ne!(preview(&world, &NEXT()).plan, first);
    world.declare_and_generate(&now);
    assert_ne!(preview(&world, &NEXT()).plan, first);
}

/// Returns a partial submission that gives an application these items.
fn partial(name: &str, items: &[Declared]) -> Value {
    document(&[(name, application(items))])
}

#[test]
fn r34_the_token_covers_the_names_of_new_applications_and_items() {
    let mut world = World::new();
    let mut token = |body: &Value, scope| world.planned(body, scope).unwrap().preview.plan;
    for scope in [Scope::Whole, Scope::Partial] {
        let test = token(&partial("Test", &[vm("CoreVM1", 1)]), scope);
        assert_ne!(test, token(&partial("Prod", &[vm("CoreVM1", 1)]), scope), "{scope:?}");
        assert_ne!(test, token(&partial("Test", &[vm("CoreVM2", 1)]), scope), "{scope:?}");
        assert_eq!(test, token(&partial("Test", &[vm("CoreVM1", 1)]), scope), "{scope:?}");
    }
    let whole = token(&partial("Test", &[vm("CoreVM1", 1)]), Scope::Whole);
    assert_ne!(whole, token(&partial("Test", &[vm("CoreVM1", 1)]), Scope::Partial));
}

#[test]
fn r34_a_partial_plan_stays_valid_while_other_applications_change() {
    let mut world = World::new();
    world.submit(&partial("A", &[vm("CoreVM1", 1)]), Scope::Partial).unwrap();
    world.generate();
    // One application exists, and the other one does not exist yet.
    for (name, items) in
        [("A", [vm("CoreVM1", 2), vm("CoreVM2", 1)]), ("New", [vm("CoreVM1", 1), vm("CoreVM2", 1)])]
    {
        let body = partial(name, &items);
        let partial_token =
            |world: &World| world.clone().planned(&body, Scope::Partial).unwrap().preview.plan;
        let first = partial_token(&world);
        let mut others = world.clone();
        for other in [&[vm("CoreVM1", 1)][..], &[vm("CoreVM1", 2)], &[]] {
            others.submit(&partial("B", other), Scope::Partial).unwrap();
            others.generate();
            assert_eq!(partial_token(&others), first, "{name}");
        }
        // A whole submission covers all applications.
        let whole = |world: &World| world.clone().planned(&body, Scope::Whole).unwrap().preview.plan;
        assert_ne!(whole(&others), whole(&world), "{name}");
        // A change of the named application outdates the plan of a partial submission.
        others.submit(&partial(name, &[vm("CoreVM3", 1)]), Scope::Partial).unwrap();
        others.generate();
        assert_ne!(partial_token(&others), first, "{name}");
    }
}

#[test]
fn r34_metadata_alone_is_a_plan_of_its_own() {
    let mut world = in_service();
    let items = application(&[vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")]);
    let with = |round: u64| {
        let mut content = items.clone();
        content["metadata"] = json!({"round": round});
        document(&[(APP, content)])
    };
    let mut plan = |round| world.planned(&with(round), Scope::Whole).unwrap().preview;
    let (one, two) = (plan(1), plan(2));
    assert!(one.created.is_empty() && two.created.is_empty());
    assert_ne!(one.plan, two.plan);
}

/// Returns the promises of a preview about a change instance: without time, and without numbers, because those of new
/// items and change instances are not assigned before the submission.
fn promised(change: &Change) -> String {
    let prices = prices_of(change);
    let Change {
        application,
        item_name,
        service,
        owner,
        kind,
        change_type,
        state,
        new,
        old,
        supersedes,
        never_in_service,
        ..
    } = change.as_created();
    format!(
        "{application} {} {item_name} {} {kind:?} {change_type:?} {state:?} {new:?} {old:?} {supersedes:?} {never_in_service} {prices:?}",
        service.title, owner.id
    )
}

/// Returns the promises of a preview in any order.
fn all_promised<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Vec<String> {
    let mut promised: Vec<String> = changes.into_iter().map(promised).collect();
    promised.sort_unstable();
    promised
}

/// Checks that two submissions with one token have the same effect.
pub(crate) fn same_token_same_effect(one: &Plan, other: &Plan) {
    if one.preview.plan != other.preview.plan {
        return;
    }
    assert_eq!(all_promised(&one.preview.created), all_promised(&other.preview.created));
    let closed = |plan: &Plan| {
        plan.preview.closed.iter().map(|closing| (closing.change, closing.from)).collect::<Vec<_>>()
    };
    assert_eq!(closed(one), closed(other));
    // Metadata are an effect without a change instance.
    assert_eq!(one.submission.changed, other.submission.changed);
}

/// Returns the properties that no decision after the commit changes: team, item, declaration and price.
fn fixed(change: &Change) -> (ChangeId, String) {
    let Change { id, item, owner, kind, new, prices, .. } = change;
    (*id, format!("{item} {} {kind:?} {new:?} {prices:?}", owner.id))
}

/// Checks that a plan without a change in between does what its preview shows, in either packing.
pub(crate) fn comes_true(plan: &Plan, preview: &Preview, world: &World, staged: bool) {
    let mut after = world.clone();
    if staged {
        after.commit_staged(plan);
    } else {
        after.commit(plan);
    }
    after.generate_records();
    let id = plan.submission.id;
    let created = after.snapshot.changes.values().filter(|change| change.submission == id);
    assert_eq!(all_promised(created), all_promised(&preview.created));
    let was_open = |change: &&Change| {
        world.snapshot.changes.get(&change.id).is_some_and(|before| before.state != State::Closed)
    };
    let closed = after.snapshot.changes.values().filter(|change| change.state == State::Closed);
    let closed: Vec<ChangeId> = closed.filter(was_open).map(|change| change.id).collect();
    assert_eq!(closed, preview.closed.iter().map(|closing| closing.change).collect::<Vec<_>>());
}

/// Checks that exactly the promised change instances exist, whatever happened since the commit.
pub(crate) fn came_true(plan: &Plan, world: &World) {
    let id = plan.submission.id;
    let of_submission = world.snapshot.changes.values();
    let created: Vec<_> =
        of_submission.filter(|change| change.submission == id && change.attempt == 1).map(fixed).collect();
    assert_eq!(created, plan.preview.created.iter().map(fixed).collect::<Vec<_>>());
}

/// Checks the property on random histories, with decisions, settings and submissions between preview and
/// submission.
///
/// The created set is the previewed set, or the token differs and nothing happens.
#[test]
fn r34_over_random_histories_the_previewed_set_is_the_created_set_or_the_token_is_another() {
    let of_half = |half: u64| (half..HISTORIES).step_by(2).map(over_history);
    let of_half = |half| of_half(half).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // On two threads, because so many histories take long.
    let (even, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(|| of_half(1));
        (of_half(0), odd.join().unwrap())
    });
    let (applied, refused) = (even.0 + odd.0, even.1 + odd.1);
    assert!(applied > HISTORIES / 2 && refused > HISTORIES / 10, "both ends are seen: {applied}, {refused}");
}

/// Returns the number of previews of a history that came true, and of those that were refused.
fn over_history(seed: u64) -> (u64, u64) {
    Walk::new(seed, Config::of(seed)).previews(STEPS)
}
