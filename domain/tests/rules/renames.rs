//! Items with a new name: R75.

use crate::revert::{after, then};
use crate::walk::Random;
use crate::world::{
    APP, CONSUMER, Declared, LB_OWNER, NP_OWNER, Plan, VM_OWNER, World, application, broken, document, lb,
    table, vm,
};
use domain::audit::invariant::violations;
use domain::base::state::ChangeType::{Create, Delete, Modify};
use domain::base::state::State;
use domain::model::submission::Scope;
use domain::rules::plan::Refused;
use domain::views::history::{DeclaredThen, Moment, declaration};
use domain::{Change, Item, ItemId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Builds the document of the application with new names of VMs.
fn body(new_names: &Value, items: &[Declared]) -> Value {
    let services = application(items).get("services").cloned();
    let metadata = json!({"dovetail_renamed": {"VM": new_names}});
    document(&[(APP, json!({"metadata": metadata, "services": services}))])
}

fn submit(world: &mut World, new_names: &Value, items: &[Declared]) -> Result<Plan, Refused> {
    let plan = world.submit(&body(new_names, items), Scope::Whole)?;
    world.generate();
    Ok(plan)
}

/// Returns a world with a VM in service, and the id of the VM.
fn in_service(name: &str) -> (World, ItemId) {
    let mut world = World::new();
    world.declare_and_generate(&[vm(name, 1)]);
    world.finish(name, VM_OWNER);
    let id = world.item(name).id;
    (world, id)
}

fn refusals(world: &mut World, new_names: &Value, items: &[Declared]) -> Vec<(&'static str, String)> {
    let Err(Refused::Invalid(problems)) = submit(world, new_names, items) else { return Vec::new() };
    problems.into_iter().map(|problem| (problem.rule, problem.pointer)).collect()
}

fn at(entry: &str) -> String {
    format!("/{CONSUMER}/{APP}/metadata/dovetail_renamed/VM{entry}")
}

#[test]
fn r75_an_item_keeps_its_id_with_a_new_name() {
    let (mut world, id) = in_service("old");
    let plan = submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("new", Modify, VM_OWNER)]);
    let item = world.item("new");
    assert_eq!((item.id, item.version.number), (id, 2));
    world.finish("new", VM_OWNER);
    // The entry stays in the metadata and does nothing more.
    let plan = submit(&mut world, &json!({"old": "new"}), &[vm("new", 2)]).unwrap();
    assert_eq!(table(&plan.created), [("new", Modify, VM_OWNER)]);
}

#[test]
fn r75_dependent_teams_get_a_share_of_the_change() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm("old", 1)]);
    for owner in [VM_OWNER, NP_OWNER] {
        world.finish("old", owner);
    }
    world.submit(&body(&json!({"old": "new"}), &[vm("new", 1)]), Scope::Whole).unwrap();
    assert_eq!(table(&world.generate()), [("new", Modify, NP_OWNER)]);
}

#[test]
fn r75_the_open_change_is_treated_as_for_any_other_declaration() {
    // A pending CREATE is displaced.
    let mut world = World::new();
    world.declare_and_generate(&[vm("old", 1)]);
    let pending = world.open("old", VM_OWNER, State::Pending);
    let plan = submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("new", Create, VM_OWNER)]);
    assert_eq!(world.state(pending), State::Closed);
    // A rejection is answered, because the name is part of the declaration.
    let rejected = world.reject("new", VM_OWNER);
    let plan = submit(&mut world, &json!({"new": "newer"}), &[vm("newer", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("newer", Create, VM_OWNER)]);
    assert_eq!(world.change(rejected).answered_by(), Some(plan.created[0].id));
}

#[test]
fn r75_an_item_whose_removal_is_not_complete_returns_with_a_new_name() {
    let (mut world, id) = in_service("old");
    world.declare_and_generate(&[]);
    world.approve("old", VM_OWNER);
    let plan = submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    assert_eq!((table(&plan.created), world.item("new").id), (vec![("new", Create, VM_OWNER)], id));
}

#[test]
fn r75_the_new_item_in_reserve_has_the_new_name() {
    let (mut world, id) = in_service("old");
    world.declare_and_generate(&[]);
    world.approve("old", VM_OWNER);
    // The old item goes before the staged submission has its turn (R44).
    world.submit_staged(&body(&json!({"old": "new"}), &[vm("new", 1)]), Scope::Whole).unwrap();
    world.complete("old", VM_OWNER);
    let created = world.generate();
    assert_eq!(table(&created), [("new", Create, VM_OWNER)]);
    assert_ne!(world.item("new").id, id);
}

#[test]
fn r75_an_entry_without_an_effect_is_no_problem() {
    let (mut world, _) = in_service("other");
    let entries = json!({"old": "new", "unknown": "missing"});
    let plan = submit(&mut world, &entries, &[vm("other", 1), vm("new", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("new", Create, VM_OWNER)]);
    // The same holds for a gone item.
    world.finish("new", VM_OWNER);
    submit(&mut world, &json!({}), &[vm("other", 1)]).unwrap();
    world.finish("new", VM_OWNER);
    let plan = submit(&mut world, &json!({"new": "newer"}), &[vm("other", 1), vm("newer", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("newer", Create, VM_OWNER)]);
}

#[test]
fn r75_several_entries_lead_to_the_declared_name() {
    let (mut world, id) = in_service("a");
    let plan = submit(&mut world, &json!({"a": "b", "b": "c"}), &[vm("c", 1)]).unwrap();
    assert_eq!((table(&plan.created), world.item("c").id), (vec![("c", Modify, VM_OWNER)], id));
}

#[test]
fn r75_an_entry_must_not_name_two_items() {
    let (mut world, _) = in_service("a");
    let entry = [("metadata", at("/a"))];
    assert_eq!(refusals(&mut world, &json!({"a": "b"}), &[vm("a", 1), vm("b", 1)]), entry);
    submit(&mut world, &json!({}), &[vm("a", 1), vm("b", 1)]).unwrap();
    assert_eq!(refusals(&mut world, &json!({"a": "b"}), &[vm("b", 1)]), entry);
    // A removed item has its name until it is gone.
    world.finish("b", VM_OWNER);
    submit(&mut world, &json!({}), &[vm("a", 1)]).unwrap();
    assert_eq!(refusals(&mut world, &json!({"a": "b"}), &[vm("b", 1)]), entry);
    let both = json!({"a": "c", "b": "c"});
    assert_eq!(refusals(&mut world, &both, &[vm("c", 1)]), [("metadata", at("/b"))]);
}

#[test]
fn r75_names_are_not_exchanged_in_one_submission() {
    let (mut world, _) = in_service("a");
    submit(&mut world, &json!({}), &[vm("a", 1), vm("b", 2)]).unwrap();
    let exchanged = [vm("a", 2), vm("b", 1)];
    let both = [("metadata", at("/a")), ("metadata", at("/b"))];
    let circle = refusals(&mut world, &json!({"a": "b", "b": "a"}), &exchanged);
    assert_eq!(circle.into_iter().collect::<BTreeSet<_>>(), both.into());
    assert_eq!(refusals(&mut world, &json!({"a": "a"}), &exchanged), [("metadata", at("/a"))]);
}

#[test]
fn r75_a_malformed_entry_is_a_problem() {
    let mut world = World::new();
    for (renamed, pointer) in [
        (json!(1), String::new()),
        (json!({"VM": []}), "/VM".to_owned()),
        (json!({"VM": {"a": 1}}), "/VM/a".to_owned()),
        (json!({"VM": {"a": " b"}}), "/VM/a".to_owned()),
    ] {
        let mut content = application(&[vm("b", 1)]);
        content["metadata"] = json!({"dovetail_renamed": renamed});
        let refused = world.submit(&document(&[(APP, content)]), Scope::Whole).unwrap_err();
        let Refused::Invalid(problems) = refused else { panic!("{refused:?}") };
        let found: Vec<_> = problems.iter().map(|problem| (problem.rule, problem.pointer.as_str())).collect();
        assert_eq!(
            found,
            [("metadata", format!("/{CONSUMER}/{APP}/metadata/dovetail_renamed{pointer}").as_str())]
        );
    }
}

#[test]
fn r75_references_name_the_item_by_its_new_name() {
    let mut world = World::new();
    world.declare_and_generate(&[vm("old", 1), lb("front", &["old"], "a")]);
    world.finish("old", VM_OWNER);
    world.finish("front", LB_OWNER);
    let id = world.item("old").id;
    let renamed = json!({"old": "new"});
    let refused = submit(&mut world, &renamed, &[vm("new", 1), lb("front", &["old"], "a")]).unwrap_err();
    assert_eq!(broken(refused), ["dangling_reference"]);
    // Both items are modified by the submission itself, so no referenced change instance follows.
    let items = [vm("new", 1), lb("front", &["new"], "a")];
    world.submit(&body(&renamed, &items), Scope::Whole).unwrap();
    assert!(world.generate().is_empty());
    assert_eq!(world.item("front").references[0].item, Some(id));
}

#[test]
fn r75_a_removal_and_a_creation_are_two_items_without_an_entry() {
    let (mut world, id) = in_service("old");
    let plan = submit(&mut world, &json!({}), &[vm("new", 1)]).unwrap();
    assert_eq!(table(&plan.created), [("new", Create, VM_OWNER), ("old", Delete, VM_OWNER)]);
    assert_ne!(world.item("new").id, id);
}

#[test]
fn r75_the_past_has_the_names_of_the_time() {
    let (mut world, id) = in_service("old");
    let first = world.snapshot.submissions.last().unwrap().id;
    submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    let changes: Vec<Change> =
        world.snapshot.changes.values().filter(|change| change.item == id).cloned().collect();
    let names = |submission: u64| {
        let moment = Moment { at: world.item("new").modified, submission: Some(submission) };
        declaration(&changes, moment).map(|DeclaredThen { name, .. }| name)
    };
    assert_eq!([names(first.number()), names(first.number() + 1)], [Some("old".into()), Some("new".into())]);
}

/// Returns the new names that a revert to a submission gives.
fn new_names_of_revert(world: &World, number: u64) -> Vec<(String, String)> {
    let (_, _, others) = then(world, after(world, number));
    let names = others.into_iter().flat_map(|then| then.new_names.into_values());
    names.flat_map(IntoIterator::into_iter).collect()
}

#[test]
fn r75_a_revert_takes_the_name_of_no_other_item() {
    let (mut world, _) = in_service("old");
    submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    assert_eq!(new_names_of_revert(&world, 1), [("new".to_owned(), "old".to_owned())]);
    // Another item has the name of the time.
    submit(&mut world, &json!({}), &[vm("new", 1), vm("old", 2)]).unwrap();
    assert_eq!(new_names_of_revert(&world, 1), []);
}

#[test]
fn r75_a_revert_leaves_the_name_of_an_item_that_it_declares_again() {
    let mut world = World::new();
    world.declare_and_generate(&[vm("a", 1), vm("b", 1)]);
    world.finish("a", VM_OWNER);
    world.finish("b", VM_OWNER);
    world.declare_and_generate(&[vm("b", 1)]);
    world.finish("a", VM_OWNER);
    submit(&mut world, &json!({"b": "a"}), &[vm("a", 1)]).unwrap();
    // The revert declares both names.
    assert_eq!(new_names_of_revert(&world, 1), []);
    assert_eq!(new_names_of_revert(&world, 2), [("a".to_owned(), "b".to_owned())]);
}

/// Names of the random histories; the entries lead from one to another.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Number of random histories, and of steps in each.
const HISTORIES: u64 = 200;
const STEPS: u64 = 15;

/// Returns the ids of the live items by name, and whether each is declared or in place.
fn live(world: &World) -> BTreeMap<String, (ItemId, bool)> {
    let items = world.snapshot.items.values().filter(|item| !item.is_dead());
    let is_there = |item: &Item| item.declared || !item.main().has_nothing();
    items.map(|item| (item.name.clone(), (item.id, is_there(item)))).collect()
}

/// Returns the ids that declared names must have; `None` for a new item. Returns `Err` if an entry is refused.
fn expected(
    live: &BTreeMap<String, (ItemId, bool)>,
    entries: &BTreeMap<&str, &str>,
    declared: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Option<ItemId>>, ()> {
    let mut ids: BTreeMap<String, Option<ItemId>> =
        declared.iter().map(|name| ((*name).to_owned(), live.get(*name).map(|(id, _)| *id))).collect();
    let targets: BTreeSet<&&str> = entries.values().collect();
    let is_circle = |start: &str| {
        let (mut name, mut steps) = (start, 0);
        while let Some(next) = entries.get(name) {
            (name, steps) = (next, steps + 1);
            if name == start || steps > entries.len() {
                return true;
            }
        }
        false
    };
    if targets.len() < entries.len() || entries.keys().any(|name| is_circle(name)) {
        return Err(());
    }
    let mut taken = BTreeSet::new();
    for (old, new) in entries {
        if declared.contains(old) {
            if declared.contains(new) {
                return Err(());
            }
            continue;
        }
        let Some((id, true)) = live.get(*old) else { continue };
        let mut name = *new;
        while let Some(next) = entries.get(name).filter(|_| !declared.contains(name)) {
            name = next;
        }
        if declared.contains(name) {
            if live.contains_key(name) || !taken.insert(name) {
                return Err(());
            }
            ids.insert(name.to_owned(), Some(*id));
        }
    }
    Ok(ids)
}

#[test]
fn r75_over_random_histories_an_item_is_the_same_exactly_if_an_entry_says_so() {
    let mut counts = [0, 0, 0];
    for seed in 0..HISTORIES {
        let (mut random, mut world) = (Random(seed), World::new().with_dependent("VM"));
        for _ in 0..STEPS {
            let declared: BTreeSet<&str> = NAMES.into_iter().filter(|_| random.percent(40)).collect();
            let mut entries = BTreeMap::new();
            for _ in 0..1 + random.below(2) {
                entries.extend(random.pick(&NAMES).zip(random.pick(&NAMES)));
            }
            let items: Vec<Declared> = declared.iter().map(|name| vm(name, random.below(2))).collect();
            let (before, content) = (live(&world), body(&json!(entries), &items));
            let due = expected(&before, &entries, &declared);
            let submit = if random.percent(50) { World::submit } else { World::submit_staged };
            match submit(&mut world, &content, Scope::Whole) {
                Ok(_) => {
                    world.generate();
                    let after = live(&world);
                    for (name, id) in due.unwrap_or_else(|()| panic!("seed {seed}: an entry names two items"))
                    {
                        let is_new = before.values().all(|(known, _)| *known != after[&name].0);
                        assert!(id.map_or(is_new, |id| id == after[&name].0), "seed {seed}: {name}");
                        counts[usize::from(id.is_some() && !before.contains_key(&name))] += 1;
                    }
                }
                Err(refused) => {
                    let rules = broken(refused);
                    assert_eq!(rules.contains(&"metadata"), due.is_err(), "seed {seed}: {rules:?}");
                    counts[2] += 1;
                }
            }
            let changes = world.snapshot.changes.values();
            let open = changes.filter(|change| [State::Pending, State::Approved].contains(&change.state));
            let open: Vec<_> = open.map(|change| (change.id, change.state)).collect();
            for (id, state) in open.into_iter().filter(|_| random.percent(50)).collect::<Vec<_>>() {
                let next = match state {
                    State::Pending if random.percent(80) => State::Approved,
                    State::Pending => State::Rejected,
                    State::Approved | State::Rejected | State::Errored | State::Completed | State::Closed => {
                        State::Completed
                    }
                };
                // A decision may close another one of these.
                if world.state(id) == state {
                    world.decide(id, next);
                }
            }
        }
    }
    let [others, renamed, refused] = counts;
    assert!(renamed > 50 && others > 500 && refused > 500, "{counts:?}");
}

#[test]
fn r75_the_audit_knows_the_former_names() {
    let (mut world, _) = in_service("old");
    submit(&mut world, &json!({"old": "new"}), &[vm("new", 1)]).unwrap();
    let mut planted = world.snapshot.clone();
    let first = planted.changes.values_mut().find(|change| change.item_name == "old").unwrap();
    first.item_name = "other".to_owned();
    assert!(violations(&planted).iter().any(|violation| violation.rule == "I16"));
}
