//! Past declarations: their difference and their revert (R36, R37).

use crate::walk::{Config, Walk};
use crate::world::{APP, CONSUMER, Declared, VM_OWNER, World, application, broken, document, lb, team, vm};
use domain::model::metadata::Replaced;
use domain::model::submission::Scope;
use domain::model::team::Application;
use domain::model::write::Write;
use domain::views::history;
use domain::views::history::{DeclaredThen, Moment, Then};
use domain::{Hash, State, SubmissionId, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Number of random histories, and of steps in each.
const HISTORIES: u64 = 120;
const STEPS: usize = 25;

/// The declarations: the team's metadata and, by name, each application's with its items.
type Content = (String, BTreeMap<String, (String, BTreeSet<(String, String, Hash)>)>);

/// Builds the declarations; an application without metadata and items counts as absent.
fn content<'a>(
    metadata: &str,
    applications: impl Iterator<Item = (&'a str, String, BTreeSet<Named>)>,
) -> Content {
    let some = applications.filter(|(_, metadata, items)| metadata != "{}" || !items.is_empty());
    (metadata.to_owned(), some.map(|(name, metadata, items)| (name.to_owned(), (metadata, items))).collect())
}

type Named = (String, String, Hash);

fn consumer(world: &World) -> &domain::model::team::Team {
    &world.snapshot.teams[&team(CONSUMER).id]
}

fn applications(world: &World) -> impl Iterator<Item = &Application> {
    world.applications().filter(|application| application.id.team() == team(CONSUMER).id)
}

/// Returns the present declarations.
fn declared(world: &World) -> Content {
    let of = |application: &Application| {
        let items = world.items_of(&application.name).into_iter().filter(|item| item.declared);
        items.map(|item| (item.service.title.clone(), item.name.clone(), item.version.hash)).collect()
    };
    let application = applications(world)
        .map(|application| (application.name.as_str(), application.metadata.clone(), of(application)));
    content(&consumer(world).metadata, application)
}

fn metadata_at(world: &World, now: Replaced, moment: Moment) -> Option<String> {
    if moment.has(now.since) {
        return Some(now.metadata);
    }
    let replaced = world
        .snapshot
        .replaced
        .values()
        .filter(|replaced| replaced.of == now.of && moment.has(replaced.since));
    replaced.max_by_key(|replaced| replaced.since.submission).map(|replaced| replaced.metadata.clone())
}

/// Returns the declarations at a moment: team metadata, unchanged applications, and changed ones.
pub(crate) fn then(world: &World, moment: Moment) -> (String, Vec<&Application>, Vec<Then>) {
    let retired = world.snapshot.applications.values().filter(|application| application.retired.is_some());
    let retired = retired.filter(|application| application.retired > moment.submission);
    let (still, others): (Vec<_>, Vec<_>) =
        applications(world).chain(retired).partition(|application| moment.still_declares(application));
    let others = others.into_iter().map(|now| {
        let (mut items, mut declared) = (Vec::new(), Vec::new());
        for item in world.snapshot.items.values().filter(|item| item.application_id() == now.id) {
            let changes: Vec<_> =
                world.snapshot.changes.values().filter(|change| change.item == item.id).cloned().collect();
            let then = history::declaration(&changes, moment);
            if moment.still_stands(item) {
                assert_eq!(then, DeclaredThen::now(item), "what stands still needs no reading");
            }
            declared.extend(then.map(|then| (item, then)));
            items.push(item.clone());
        }
        Then::new(now.clone(), metadata_at(world, now.replaced(), moment), declared, &items)
    });
    let metadata = metadata_at(world, consumer(world).replaced(), moment).unwrap();
    (metadata, still, others.collect())
}

fn content_at(world: &World, moment: Moment) -> Content {
    let (metadata, still, others) = then(world, moment);
    let now = declared(world).1;
    let still = still.into_iter().filter_map(|application| {
        let (metadata, items) = now.get(&application.name)?.clone();
        Some((application.name.as_str(), metadata, items))
    });
    let others = others.iter().map(|then| {
        let metadata = then.metadata.clone().unwrap_or_else(|| "{}".to_owned());
        (then.now.name.as_str(), metadata, then.items.iter().cloned().collect())
    });
    content(&metadata, still.chain(others))
}

/// Returns the document that declares the state after a submission again.
pub(crate) fn document_of(world: &World, number: u64) -> Value {
    let moment = after(world, number);
    let (metadata, still, others) = then(world, moment);
    let submission = world.snapshot.submissions.iter().find(|one| one.id.number() == number).unwrap();
    assert_eq!(Some(history::root(&metadata, &still, &others)), submission.root, "nothing of it is missing");
    let others: Vec<&Then> = others.iter().filter(|then| !then.is_now()).collect();
    let writes = world.written.iter().flatten();
    let texts = writes.filter_map(|write| {
        let Write::StoreDeclaration { hash, text, .. } = write else { return None };
        Some((*hash, text.clone()))
    });
    let document = history::document(CONSUMER, &metadata, &others, &texts.collect()).unwrap();
    serde_json::from_str(&document).unwrap()
}

pub(crate) fn after(world: &World, number: u64) -> Moment {
    let id = SubmissionId::new(team(CONSUMER).id, number).unwrap();
    let submission = world.snapshot.submissions.iter().find(|one| one.id == id).unwrap();
    Moment::of(submission, Timestamp::from_micros(world.clock))
}

fn with_metadata(items: &[Declared], team: u64, application_has: u64) -> Value {
    let mut content = application(items);
    content["metadata"] = json!({"n": application_has});
    let mut body = document(&[(APP, content)]);
    body[CONSUMER]["metadata"] = json!({"n": team});
    body
}

#[test]
fn r36_metadata_are_readable_as_each_submission_declared_them() {
    let mut world = World::new();
    let items = [vm("CoreVM1", 1)];
    for (of_team, of_application) in [(1, 1), (1, 2), (2, 2), (1, 1)] {
        world.submit(&with_metadata(&items, of_team, of_application), Scope::Whole).unwrap();
    }
    let metadata_after = |number| {
        let (metadata, applications) = content_at(&world, after(&world, number));
        (metadata, applications[APP].0.clone())
    };
    let n = |n: u64| format!("{{\"n\":{n}}}");
    assert_eq!([1, 2, 3, 4].map(metadata_after), [(n(1), n(1)), (n(1), n(2)), (n(2), n(2)), (n(1), n(1))]);
    assert_eq!(world.snapshot.replaced.len(), 5, "what the team had before any, and all but what is");
}

#[test]
fn r36_a_read_of_the_past_omits_later_objects() {
    let mut world = World::new();
    world.submit(&document(&[("NewApp2", application(&[vm("CoreVM2", 1)]))]), Scope::Whole).unwrap();
    world.submit(&document(&[(APP, application(&[vm("CoreVM1", 1)]))]), Scope::Partial).unwrap();
    let (_, _, others) = then(&world, after(&world, 1));
    let [then] = &others[..] else { panic!("the other one is as it was") };
    assert_eq!((then.now.name.as_str(), &then.metadata, then.items.len()), (APP, &None, 0));
}

#[test]
fn r37_a_revert_is_a_submission_and_nothing_is_forgotten() {
    let mut world = World::new();
    world.declare_and_generate(&[vm("CoreVM1", 1), lb("CoreLB1", &["CoreVM1"], "a")]);
    world.finish("CoreVM1", VM_OWNER);
    world.declare_and_generate(&[vm("CoreVM1", 2)]);
    let plan = world.submit(&document_of(&world, 1), Scope::Partial).unwrap();
    let created: Vec<_> =
        plan.created.iter().map(|created| (created.item_name.as_str(), created.change_type.name())).collect();
    assert_eq!(created, [("CoreLB1", "CREATE"), ("CoreVM1", "MODIFY")], "back to what they were");
    assert_eq!(world.item("CoreVM1").version.number, 3, "a version of its own");
    let forward = document_of(&world, 2);
    world.submit(&forward, Scope::Partial).unwrap();
    assert_eq!(content_at(&world, after(&world, 4)), content_at(&world, after(&world, 2)));
}

#[test]
fn r37_a_revert_leaves_unchanged_items_alone_and_refuses_invalid_ones() {
    let mut world = World::new();
    let other = ("NewApp2", application(&[vm("CoreVM2", 1)]));
    world.submit(&document(&[(APP, application(&[vm("CoreVM1", 1)])), other.clone()]), Scope::Whole).unwrap();
    world.submit(&document(&[(APP, application(&[vm("CoreVM1", 2)])), other]), Scope::Whole).unwrap();
    let rejected = {
        let stack = &world.item_in("NewApp2", "CoreVM2").stacks[&team(VM_OWNER).id];
        stack.open().next().unwrap().change
    };
    world.decide(rejected, State::Rejected);
    let body = document_of(&world, 1);
    assert_eq!(body[CONSUMER].as_object().unwrap().keys().collect::<Vec<_>>(), [APP, "metadata"]);
    world.clone().submit(&body, Scope::Partial).unwrap();
    // The new schema refuses the old value.
    let title = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"},
        "cpu": {"type": "integer", "minimum": 2}}});
    world.redefine("VM", &title);
    assert_eq!(broken(world.submit(&body, Scope::Partial).unwrap_err()), ["schema"]);
}

#[test]
fn r37_over_random_histories_a_revert_declares_exactly_what_was_declared() {
    let (mut reverted, mut blocked) = (0, 0);
    for seed in 0..HISTORIES {
        let mut walk = Walk::new(seed, Config::of(seed));
        let mut was = BTreeMap::new();
        for _ in 0..STEPS {
            walk.step();
            let head = walk.world.head();
            if head.in_flight.is_none() && head.submissions > 0 {
                was.insert(head.submissions, declared(&walk.world));
            }
        }
        walk.world.generate();
        was.insert(walk.world.head().submissions.max(1), declared(&walk.world));
        let world = walk.world;
        for (number, was) in &was {
            if !world.snapshot.submissions.iter().any(|one| one.id.number() == *number) {
                continue;
            }
            assert_eq!(content_at(&world, after(&world, *number)), *was, "after {number} with seed {seed}");
            let body = document_of(&world, *number);
            let mut then = world.clone();
            let staged = seed % 2 == 1;
            match if staged {
                then.submit_staged(&body, Scope::Partial)
            } else {
                then.submit(&body, Scope::Partial)
            } {
                Ok(_) => {
                    then.generate();
                    then.audit();
                    assert_eq!(declared(&then), *was, "reverted to {number} with seed {seed}");
                    reverted += 1;
                }
                Err(refused) => {
                    let rules: BTreeSet<_> = broken(refused).into_iter().collect();
                    assert_eq!(rules, BTreeSet::from(["blocked"]), "to {number} with seed {seed}");
                    blocked += 1;
                }
            }
        }
    }
    assert!(reverted > HISTORIES && blocked > 0, "both ends are seen: {reverted}, {blocked}");
}
