//! Closing ahead: answered change instances without room in the transaction that creates their answer.

use crate::world::{APP, LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, World, application, document, team, vm};
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::model::blockers::Blockers;
use domain::model::change::ClosedBy;
use domain::model::item::{Slot, Stack};
use domain::model::submission::Scope;
use domain::model::work::PlannedChange;
use domain::model::write::{Closing, Write};
use domain::rules::generate::{CLOSINGS_MAX, OPENED_MAX, close_excess, generate};
use domain::{ChangeId, Item, State, TeamId, Timestamp};
use std::collections::BTreeMap;

const NAME: &str = "CoreVM1";
const FORMER_DEPENDENTS: [&str; 3] = [LB_OWNER, NP_OWNER, STRANGER];
const NOW: Timestamp = Timestamp::from_micros(9_000);

fn ctx() -> RequestContext {
    RequestContext { by: Actor::System, request: "work".to_owned(), now: NOW }
}

/// Returns a VM with the rejections of three former dependent teams, and its committed, unapplied MODIFY.
fn rejected() -> (World, Vec<PlannedChange>) {
    let mut world = World::new();
    world.settings("VM").dependent_teams = FORMER_DEPENDENTS.map(team).to_vec();
    world.declare_and_generate(&[vm(NAME, 1)]);
    for owner in FORMER_DEPENDENTS {
        world.reject(NAME, owner);
    }
    world.settings("VM").dependent_teams.clear();
    world.submit_staged(&document(&[(APP, application(&[vm(NAME, 2)]))]), Scope::Whole).unwrap();
    let planned = world.snapshot.works[0].entries.clone();
    (world, planned)
}

/// Returns the writes of a generation on an item.
fn landing(world: &World, planned: &[PlannedChange], item: &Item) -> Vec<Write> {
    let submission = world.snapshot.submissions.last().unwrap();
    generate(planned, submission, Some(item), &BTreeMap::new(), &ctx()).unwrap().writes
}

fn closings(writes: &[Write]) -> Vec<&Closing> {
    writes
        .iter()
        .filter_map(|write| if let Write::CloseChange(closing) = write { Some(closing) } else { None })
        .collect()
}

#[test]
fn the_excess_is_closed_ahead_from_the_lowest_owner_and_everything_holds_in_between() {
    let (mut world, planned) = rejected();
    let all = landing(&world, &planned, world.item(NAME));
    let item = world.item(NAME).clone();
    assert_eq!(close_excess(&all, Some(&item), all.len(), NOW), None, "nothing is in excess");
    assert_eq!(close_excess(&all, None, 0, NOW), None, "nothing is there yet");
    for (closed, left) in [(1, 2), (2, 0)] {
        let item = world.item(NAME).clone();
        let all = landing(&world, &planned, &item);
        let writes = close_excess(&all, Some(&item), all.len() - closed, NOW).unwrap();
        let owners: Vec<TeamId> = closings(&writes).iter().map(|closing| closing.owner).collect();
        let lowest: Vec<TeamId> = item.blocked().map(|(owner, _)| owner).take(closed).collect();
        assert_eq!(owners, lowest);
        assert!(closings(&writes).iter().all(|closing| {
            closing.entry.closed_by == Some(ClosedBy::Answered(planned[0].id))
                && closing.entry.to == State::Closed
        }));
        world.apply(&writes);
        world.audit();
        assert_eq!(world.item(NAME).blocked().count(), left);
        assert_eq!(world.head().blockers.count, i64::try_from(left).unwrap());
    }
    let opened = landing(&world, &planned, world.item(NAME));
    assert_eq!(
        close_excess(&opened, Some(world.item(NAME)), 0, NOW),
        None,
        "the owner's own stay for the landing"
    );
    world.generate_records();
    assert_eq!(world.head().in_flight, None);
    assert_eq!(world.item(NAME).open().count(), 1);
}

/// Returns an item with rejections and errors of a hundred more dependent teams, and of the service owner.
fn full(item: &Item) -> Item {
    let mut item = item.clone();
    let slot = *item.blocked().next().unwrap().1;
    let owners = (1_000..1_100).filter_map(TeamId::new).chain([team(VM_OWNER).id]);
    for (owner, n) in owners.zip(0..) {
        let slot = |number: u64, state| {
            let change = ChangeId::new(item.consumer.id, 10_000 + 16 * number).unwrap();
            Some(Slot { change, state, ..slot })
        };
        let stack = Stack {
            pre_validated: slot(2 * n, State::Rejected),
            validated: slot(2 * n + 1, State::Errored),
            ..Stack::EMPTY
        };
        item.stacks.insert(owner, stack);
    }
    item
}

#[test]
fn the_largest_item_takes_two_closings_each_within_a_transaction() {
    let (world, planned) = rejected();
    let mut item = full(world.item(NAME));
    let (mut excesses, mut closed) = (0, 0);
    let opened = loop {
        let all = landing(&world, &planned, &item);
        let Some(writes) = close_excess(&all, Some(&item), OPENED_MAX, NOW) else { break all };
        let some = closings(&writes);
        assert!(some.len() <= CLOSINGS_MAX && writes.len() <= CLOSINGS_MAX + 2);
        assert!(some.iter().all(|closing| closing.owner != item.service_owner.id));
        (excesses, closed) = (excesses + 1, closed + some.len());
        let after = writes
            .iter()
            .find_map(|write| if let Write::PutItem { after, .. } = write { Some(after) } else { None });
        let after = after.unwrap().clone();
        let delta = after.blockers() - item.blockers();
        assert!(
            writes.contains(&Write::AddBlockers { team: item.consumer.id, delta }) && delta != Blockers::NONE
        );
        assert_eq!((after.revision, after.version), (item.revision + 1, item.version));
        item = after;
    };
    assert_eq!((excesses, opened.len()), (2, OPENED_MAX));
    // The item has 203 change instances of dependent teams, and two of the service owner.
    assert_eq!(closed + closings(&opened).len(), 205);
}
