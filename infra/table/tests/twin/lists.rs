//! Tests of lists: every row in order, in both directions, from every position.

use crate::twin::{Twin, run};
use crate::world::{APP, VM_OWNER, World, application, document, team, vm};
use domain::base::state::ChargeType;
use domain::catalog::service::Service;
use domain::model::charge::Charge;
use domain::model::deployed::Deployed;
use domain::model::submission::{Scope, Submission};
use domain::model::team::Application;
use domain::{Change, Item, State, TeamId};
use dovetail_aws::observed;
use dovetail_table::{Direction, Source};
use std::fmt::Debug;

pub(crate) async fn all(twin: &Twin) {
    for team in twin.world.snapshot.teams.keys() {
        changes(twin, *team).await;
        items(twin, *team).await;
        deployed(twin, *team).await;
        charges(twin, *team).await;
        others(twin, *team).await;
    }
    let services = twin.world.offers.values().map(|offer| offer.service.clone());
    is(twin, &Source::<Service>::all(), services.collect()).await;
}

/// Asserts that batches have the requested number of rows.
pub(crate) async fn pages_have_the_requested_length(twin: &Twin) {
    for team in twin.world.snapshot.teams.keys() {
        let source = Source::<Change>::of_consumer(*team);
        for at_once in [1, 3] {
            let mut rows = twin.table.rows(&source, Direction::Ascending, None).at_once(at_once);
            let mut left =
                twin.world.snapshot.changes.values().filter(|one| one.consumer.id == *team).count();
            while let Some(page) = rows.next().await.unwrap() {
                assert_eq!(page.len(), left.min(at_once));
                left -= page.len();
            }
        }
    }
}

/// Asserts that a queue takes one call alone, because its index holds whole records.
pub(crate) async fn queues_are_read_alone(twin: &Twin) {
    for team in twin.world.snapshot.teams.keys() {
        let source = Source::<Change>::owned_by(*team, &State::ALL);
        let (_, observed) = observed(read(twin, &source, Direction::Ascending, None, 100)).await;
        let cost = observed.cost;
        assert_eq!((cost.calls, cost.round_trips), (State::ALL.len().try_into().unwrap(), 1));
    }
}

async fn changes(twin: &Twin, team: TeamId) {
    let snapshot = &twin.world.snapshot;
    let of = |wanted: &dyn Fn(&Change) -> bool| -> Vec<Change> {
        snapshot.changes.values().filter(|change| wanted(change)).cloned().collect()
    };
    let alone = State::ALL.map(|state| vec![state]);
    for states in [&alone[..], &[vec![State::Pending, State::Approved], State::ALL.to_vec()]].concat() {
        let wanted = of(&|change| change.owner.id == team && states.contains(&change.state));
        is(twin, &Source::<Change>::owned_by(team, &states), wanted).await;
    }
    is(twin, &Source::<Change>::of_consumer(team), of(&|change| change.consumer.id == team)).await;
    for submission in snapshot.submissions.iter().filter(|one| one.team.id == team) {
        let first = submission.first_change;
        let wanted = of(&|change| change.consumer.id == team && change.id.number() >= first);
        is(twin, &Source::<Change>::since(submission), wanted).await;
    }
    for item in snapshot.items.values().filter(|item| item.consumer.id == team) {
        is(twin, &Source::<Change>::of_item(item.id), of(&|change| change.item == item.id)).await;
    }
}

async fn items(twin: &Twin, team: TeamId) {
    let snapshot = &twin.world.snapshot;
    let of = |wanted: &dyn Fn(&Item) -> bool| -> Vec<Item> {
        snapshot.items.values().filter(|item| wanted(item)).cloned().collect()
    };
    is(twin, &Source::<Item>::owned_by(team), of(&|item| item.service_owner.id == team)).await;
    is(twin, &Source::<Item>::of_consumer(team), of(&|item| item.consumer.id == team)).await;
    let shared = of(&|item| snapshot.shares.contains(&(item.id, team)));
    is(twin, &Source::<Item>::shared_with(team), shared).await;
    for application in snapshot.applications.values().filter(|one| one.id.team() == team) {
        let wanted = of(&|item| item.application_id() == application.id);
        is(twin, &Source::<Item>::of_application(application), wanted).await;
        let wanted =
            of(&|item| (item.id.team(), item.id.application_number()) == (team, application.id.number()));
        is(twin, &Source::<Item>::of_application_number(application.id), wanted).await;
    }
}

async fn deployed(twin: &Twin, team: TeamId) {
    let snapshot = &twin.world.snapshot;
    let of = |wanted: &dyn Fn(&Deployed) -> bool| -> Vec<Deployed> {
        snapshot.deployed.iter().filter(|deployed| wanted(deployed)).cloned().collect()
    };
    is(twin, &Source::<Deployed>::owned_by(team), of(&|one| one.service_owner.id == team)).await;
    is(twin, &Source::<Deployed>::of_consumer(team), of(&|one| one.consumer.id == team)).await;
    for item in snapshot.items.values().filter(|item| item.consumer.id == team) {
        is(twin, &Source::<Deployed>::of_item(item.id), of(&|one| one.item == item.id)).await;
    }
}

async fn charges(twin: &Twin, team: TeamId) {
    let snapshot = &twin.world.snapshot;
    let of = |wanted: &dyn Fn(&Charge) -> bool| -> Vec<Charge> {
        snapshot.charges.values().filter(|charge| wanted(charge)).cloned().collect()
    };
    let (fees, times) = ([ChargeType::CostPerChange], [ChargeType::MonthlyCost]);
    for types in [&fees[..], &times, &ChargeType::ALL] {
        for processed in [&[false][..], &[true], &[false, true]] {
            let wanted = of(&|charge| {
                charge.service_owner.id == team
                    && types.contains(&charge.id.charge_type())
                    && processed.contains(&charge.processed.is_some())
            });
            is(twin, &Source::<Charge>::owned_by(team, types, processed), wanted).await;
        }
    }
    is(twin, &Source::<Charge>::of_consumer(team), of(&|charge| charge.consumer.id == team)).await;
}

async fn others(twin: &Twin, team: TeamId) {
    let snapshot = &twin.world.snapshot;
    let submissions = snapshot.submissions.iter().filter(|one| one.team.id == team);
    is(twin, &Source::<Submission>::of_team(team), submissions.cloned().collect()).await;
    let applications = snapshot.applications.values().filter(|one| one.id.team() == team);
    is(twin, &Source::<Application>::of_team(team), applications.cloned().collect()).await;
    let services = twin.world.offers.values().map(|offer| offer.service.clone());
    let owned = services.filter(|service| service.owner.id == team);
    is(twin, &Source::<Service>::owned_by(team), owned.collect()).await;
}

/// Asserts that a list has these rows, and shows the same ones in every way to read it.
async fn is<T: Clone + Debug + PartialEq>(twin: &Twin, source: &Source<T>, expected: Vec<T>) {
    let rows = read(twin, source, Direction::Ascending, None, 100).await;
    assert_eq!(rows.len(), expected.len(), "{source:?}");
    assert!(expected.iter().all(|one| rows.iter().any(|(_, row)| row == one)), "{source:?}");
    assert!(rows.is_sorted_by(|(one, _), (other, _)| one < other), "{source:?}");
    for max in [1, 2, 1_000] {
        let count = twin.table.count(source, max).await.unwrap();
        assert_eq!(count, max.min(rows.len().try_into().unwrap()), "{source:?}");
    }
    let mut back = rows.clone();
    back.reverse();
    for at_once in [1, 3] {
        assert_eq!(read(twin, source, Direction::Ascending, None, at_once).await, rows);
        assert_eq!(read(twin, source, Direction::Descending, None, at_once).await, back);
    }
    if let Some(middle) = rows.get(rows.len() / 2) {
        let (up, down) = (&rows[rows.len() / 2 + 1..], &back[rows.len() - rows.len() / 2..]);
        for at_once in [1, 100] {
            assert_eq!(read(twin, source, Direction::Ascending, Some(&middle.0), at_once).await, up);
            assert_eq!(read(twin, source, Direction::Descending, Some(&middle.0), at_once).await, down);
        }
    }
    assert_eq!(read(twin, &source.clone().emptied(), Direction::Ascending, None, 100).await, []);
}

async fn read<T>(
    twin: &Twin,
    source: &Source<T>,
    direction: Direction,
    after: Option<&str>,
    at_once: usize,
) -> Vec<(String, T)> {
    let mut rows = twin.table.rows(source, direction, after).at_once(at_once);
    let mut all = Vec::new();
    while let Some(some) = rows.next().await.unwrap() {
        assert!(!some.is_empty());
        all.extend(some.into_iter().map(|row| (row.position, row.value)));
    }
    all
}

#[test]
fn rows_of_several_queues_stand_in_one_order() {
    run(|| async {
        let mut twin = Twin::of(World::new()).await;
        let names = ["a", "b", "c", "d", "e", "f"];
        for count in 1..=names.len() {
            let items: Vec<_> = names[..count].iter().map(|name| vm(name, 1)).collect();
            twin.world.submit(&document(&[(APP, application(&items))]), Scope::Whole).unwrap();
        }
        for name in ["b", "c", "d"] {
            twin.world.approve(name, VM_OWNER);
        }
        twin.follow().await;
        let source = Source::<Change>::owned_by(team(VM_OWNER).id, &[State::Pending, State::Approved]);
        is(&twin, &source, twin.world.snapshot.changes.values().cloned().collect()).await;
    });
}
