//! The audience of owners' messages (R41).

use crate::world::{LB_OWNER, VM_OWNER, World, lb, team, vm};
use domain::Timestamp;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::outreach::message::{Content, Messages, used, visible};

/// Returns the consumer's messages: two of the VMs' owner (for VMs, and for all), and one of the balancers' owner.
fn visible_messages(world: &World, now: u64) -> Vec<&'static str> {
    let ctx =
        |now| RequestContext { by: Actor::System, request: "r".to_owned(), now: Timestamp::from_micros(now) };
    let vm = world.offers["VM"].service.to_ref();
    let content = |services: Vec<_>, expires: Option<u64>| Content {
        description: String::new(),
        expires: expires.map(Timestamp::from_micros),
        services,
    };
    let of_vms = Messages::none(team(VM_OWNER)).with(content(vec![vm], Some(9)), &ctx(1)).unwrap();
    let of_vms = of_vms.with(content(Vec::new(), None), &ctx(2)).unwrap();
    let of_balancers = Messages::none(team(LB_OWNER)).with(content(Vec::new(), None), &ctx(3)).unwrap();
    let all = [of_vms, of_balancers];
    let visible = visible(&all, &used(world.snapshot.items.values()), Timestamp::from_micros(now));
    let name = |at: Timestamp| ["VMs", "all of VMs", "balancers"][usize::try_from(at.micros()).unwrap() - 1];
    visible.into_iter().map(|(_, message)| name(message.created)).collect()
}

#[test]
fn r41_messages_are_for_those_with_active_items_until_they_expire() {
    let mut world = World::new();
    assert_eq!(visible_messages(&world, 5), [""; 0]);
    world.declare(&[vm("CoreVM1", 8)]);
    assert_eq!(visible_messages(&world, 5), ["all of VMs", "VMs"]);
    assert_eq!(visible_messages(&world, 9), ["all of VMs"], "it has expired");
    world.declare(&[vm("CoreVM1", 8), lb("CoreLB1", &["CoreVM1"], "a")]);
    assert_eq!(visible_messages(&world, 5), ["balancers", "all of VMs", "VMs"]);
    world.finish("CoreVM1", VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    // An item stays active until the approval of its removal.
    world.declare(&[vm("CoreVM1", 8)]);
    assert_eq!(visible_messages(&world, 5), ["balancers", "all of VMs", "VMs"]);
    world.approve("CoreLB1", LB_OWNER);
    assert_eq!(visible_messages(&world, 5), ["all of VMs", "VMs"]);
}
