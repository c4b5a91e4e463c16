//! Repairs of derived values, and nothing else.

use crate::world::{APP, CONSUMER, NP_OWNER, VM_OWNER, World, application, document, team, vm};
use domain::audit::invariant::{Snapshot, violations};
use domain::audit::repair::repairs;
use domain::base::id::ApplicationId;
use domain::model::blockers::Blockers;
use domain::model::submission::Scope;
use domain::model::write::Write;
use domain::{Hash, ItemId, Timestamp};

/// Returns two applications, items with a share in their later changes, and a rejection.
fn world() -> World {
    let mut world = World::new();
    world.declare(&[vm("a", 1)]);
    world.settings("VM").dependent_teams = vec![team(NP_OWNER)];
    world.declare_and_generate(&[vm("a", 1), vm("b", 1)]);
    let items = application(&[vm("a", 2), vm("b", 1)]);
    let both = document(&[(APP, items), ("NewApp2", application(&[vm("c", 1)]))]);
    world.submit(&both, Scope::Whole).unwrap();
    world.generate();
    world.reject("b", VM_OWNER);
    world.audit();
    world
}

fn application_of(snapshot: &Snapshot, name: &str) -> ApplicationId {
    snapshot.applications.values().find(|application| application.name == name).unwrap().id
}

fn break_digest(snapshot: &mut Snapshot, name: &str) {
    let id = application_of(snapshot, name);
    snapshot.applications.get_mut(&id).unwrap().digest = Hash::of("another");
}

/// Returns the repairs of a broken world as `rule detail`; checks that they restore the world.
fn repairs_of(break_it: impl FnOnce(&mut Snapshot)) -> Vec<String> {
    let consumer = team(CONSUMER).id;
    let (sound, mut broken) = (world(), world());
    break_it(&mut broken.snapshot);
    let mut lines = Vec::new();
    for repair in repairs(&broken.snapshot, consumer) {
        lines.push(format!("{} {}", repair.violation.rule, repair.violation.detail));
        broken.apply(&repair.writes);
    }
    if !lines.is_empty() {
        let [repaired, before] = [&broken.snapshot, &sound.snapshot];
        assert_eq!((repaired.heads[&consumer], &repaired.shares), (before.heads[&consumer], &before.shares));
        assert!(repaired.applications == before.applications, "{lines:?}");
    }
    lines
}

const BLOCKERS: &str = "I9 recompute its blockers from its items";
const DIGEST: &str = "I8 recompute its digest from its items";
const ROOT: &str = "I8 recompute its root from its applications";

#[test]
fn a_repair_leaves_sound_records_alone() {
    assert_eq!(repairs_of(|_| ()), [""; 0]);
}

#[test]
fn a_repair_recomputes_derived_values() {
    let consumer = team(CONSUMER).id;
    assert_eq!(
        repairs_of(|broken| broken.heads.get_mut(&consumer).unwrap().blockers = Blockers::NONE),
        [BLOCKERS]
    );
    assert_eq!(
        repairs_of(|broken| broken.heads.get_mut(&consumer).unwrap().root = Hash::of("another")),
        [ROOT]
    );
    assert_eq!(repairs_of(|broken| break_digest(broken, APP)), [DIGEST]);
    let everything = |broken: &mut Snapshot| {
        break_digest(broken, APP);
        break_digest(broken, "NewApp2");
        let head = broken.heads.get_mut(&consumer).unwrap();
        (head.blockers, head.root) = (Blockers::NONE, Hash::of("another"));
    };
    // The first digest and the second each come with a repair of the root.
    assert_eq!(repairs_of(everything), [BLOCKERS, DIGEST, DIGEST]);
}

#[test]
fn shares_are_those_of_the_stacks() {
    let [owner, other] = [NP_OWNER, VM_OWNER].map(|name| team(name).id);
    let id = world().item("a").id;
    let noted = format!("I18 add the share of team {owner}");
    assert_eq!(repairs_of(|broken| assert!(broken.shares.remove(&(id, owner)))), [noted]);
    let removed = format!("I18 remove the share of team {other}");
    assert_eq!(repairs_of(|broken| assert!(broken.shares.insert((id, other)))), [removed]);
}

#[test]
fn a_share_is_as_old_as_the_first_change_instance_that_came_of_it() {
    let mut world = world();
    let (id, owner) = (world.item("a").id, team(NP_OWNER).id);
    world.snapshot.shares.remove(&(id, owner));
    let mut of_it: Vec<_> = world.snapshot.changes.values().filter(|change| change.item == id).collect();
    of_it.sort_by_key(|change| change.created);
    let first = of_it.iter().find(|change| change.owner.id == owner).unwrap();
    assert!(first.created > of_it[0].created, "the item was there before");
    let repairs = repairs(&world.snapshot, team(CONSUMER).id);
    let [Write::CreateShare(share), Write::CheckItem { .. }] = &repairs[0].writes[..] else {
        panic!("{repairs:?}")
    };
    assert_eq!((share.item, share.owner, share.created), (id, owner, first.created));
}

#[test]
fn a_repair_computes_nothing_from_damaged_or_moving_records() {
    let consumer = team(CONSUMER).id;
    let in_flight = |broken: &mut Snapshot| {
        let newest = broken.submissions.last().unwrap().id;
        break_digest(broken, APP);
        broken.heads.get_mut(&consumer).unwrap().in_flight = Some(newest);
    };
    assert_eq!(repairs_of(in_flight), [""; 0]);
    let forged = |broken: &mut Snapshot| {
        break_digest(broken, APP);
        let change = broken.changes.values_mut().next().unwrap();
        change.history[0].at = Timestamp::from_micros(1);
    };
    assert_eq!(repairs_of(forged), [""; 0]);
}

#[test]
fn damage_of_another_team_does_not_stop_a_repair() {
    let elsewhere = |broken: &mut Snapshot| {
        break_digest(broken, APP);
        let item = broken.items.values().next().unwrap().clone();
        let application = ApplicationId::new(team(VM_OWNER).id, 1).unwrap();
        let id = ItemId::new(application, 1).unwrap();
        broken.items.insert(id, domain::Item { id, ..item });
        assert!(
            violations(broken).iter().any(|violation| violation.subject.team() == Some(team(VM_OWNER).id))
        );
    };
    assert_eq!(repairs_of(elsewhere), [DIGEST]);
}
