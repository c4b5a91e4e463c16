//! Visibility: R43. The tests compare every team in both roles.

use crate::world::{CONSUMER, LB_OWNER, NP_OWNER, STRANGER, VM_OWNER, World, team, vm};
use domain::State;
use domain::TeamId;
use domain::catalog::service::ServiceState;
use domain::rules::visibility::Side;
use serde_json::json;

const NAME: &str = "CoreVM1";
const TEAMS: [&str; 5] = [CONSUMER, VM_OWNER, NP_OWNER, LB_OWNER, STRANGER];

/// Returns the names of the teams with a view in this role.
fn viewers(side: Side, shows: impl Fn(Side, TeamId) -> bool) -> Vec<&'static str> {
    TEAMS.into_iter().filter(|name| shows(side, team(name).id)).collect()
}

#[test]
fn r43_a_consumer_sees_its_objects_and_owners_see_their_work() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let main = world.change(world.open(NAME, VM_OWNER, State::Pending));
    let share = world.change(world.open(NAME, NP_OWNER, State::Pending));
    let item = world.item(NAME);
    assert_eq!(viewers(Side::ServiceOwner, |side, team| side.shows_change(main, team)), [VM_OWNER]);
    assert_eq!(
        viewers(Side::ServiceOwner, |side, team| side.shows_change(share, team)),
        [VM_OWNER, NP_OWNER]
    );
    assert_eq!(viewers(Side::ServiceOwner, |side, team| side.shows_item(item, team)), [VM_OWNER, NP_OWNER]);
    for change in [main, share] {
        assert_eq!(viewers(Side::Consumer, |side, team| side.shows_change(change, team)), [CONSUMER]);
    }
    assert_eq!(viewers(Side::Consumer, |side, team| side.shows_item(item, team)), [CONSUMER]);
}

#[test]
fn r43_a_consumer_finds_only_ids_of_its_own() {
    let consumer = team(CONSUMER).id;
    assert_eq!(viewers(Side::Consumer, |side, team| side.may_show(consumer, team)), [CONSUMER]);
    assert_eq!(viewers(Side::ServiceOwner, |side, team| side.may_show(consumer, team)), TEAMS);
}

#[test]
fn r43_dependent_teams_see_the_newest_deployed_version_alone() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let change = world.finish(NAME, VM_OWNER);
    for ip in ["10.0.0.1", "10.0.0.2"] {
        world.deploy(change, VM_OWNER, &json!({"ip": ip})).unwrap();
    }
    let item = world.item(NAME);
    let versions: Vec<_> = world.snapshot.deployed.iter().filter(|one| one.item == item.id).collect();
    assert_eq!(versions.len(), 2);
    for deployed in versions {
        let is_newest = item.deployed.unwrap().id == deployed.id;
        let newest: &[_] = if is_newest { &[VM_OWNER, NP_OWNER] } else { &[] };
        assert_eq!(viewers(Side::ServiceOwner, |side, team| side.shows_newest(deployed, item, team)), newest);
        assert_eq!(viewers(Side::ServiceOwner, |side, team| side.shows_deployed(deployed, team)), [VM_OWNER]);
        assert_eq!(viewers(Side::Consumer, |side, team| side.shows_deployed(deployed, team)), [CONSUMER]);
    }
}

#[test]
fn r43_charges_concern_the_paying_and_the_receiving_team() {
    let mut world = World::new().priced().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let charges = world.charges(NAME);
    assert!(!charges.is_empty());
    for charge in &charges {
        assert_eq!(viewers(Side::ServiceOwner, |side, team| side.shows_charge(charge, team)), [VM_OWNER]);
        assert_eq!(viewers(Side::Consumer, |side, team| side.shows_charge(charge, team)), [CONSUMER]);
    }
}

#[test]
fn r43_a_service_is_visible_to_its_teams_and_to_permitted_consumers() {
    let mut world = World::new().with_dependent("VM");
    let of = |world: &World, side: Side| {
        let service = &world.offers["VM"].service;
        viewers(side, |side, team| side.shows_service(service, team))
    };
    assert_eq!(of(&world, Side::ServiceOwner), [VM_OWNER, NP_OWNER]);
    assert_eq!(of(&world, Side::Consumer), TEAMS);
    world.settings("VM").allowed_teams = vec![team(CONSUMER).id];
    assert_eq!(of(&world, Side::Consumer), [CONSUMER, VM_OWNER]);
    world.settings("VM").state = ServiceState::Decommissioned;
    assert_eq!(of(&world, Side::Consumer), [VM_OWNER]);
}
