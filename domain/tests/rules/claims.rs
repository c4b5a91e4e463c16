//! Claims of workers (R64).

use crate::world::{CONSUMER, NP_OWNER, VM_OWNER, World, to, vm};
use domain::model::claim::Claim;
use domain::model::write::Write;
use domain::rules::claim;
use domain::rules::claim::{ClaimRequest, Refused};
use domain::rules::decide::{Refused as Undecided, Update};
use domain::{ChangeId, State, Timestamp};

const NAME: &str = "CoreVM1";
/// The length of every lease in these tests, in seconds.
const LEASE: u64 = 60;

fn request(worker: &str, number: Option<u64>) -> ClaimRequest {
    ClaimRequest { worker: worker.to_owned(), lease_seconds: LEASE, number }
}

fn release(worker: &str, number: u64) -> ClaimRequest {
    ClaimRequest { lease_seconds: 0, ..request(worker, Some(number)) }
}

/// Returns an update to a state with the number of a claim.
fn with(claim: Option<u64>, state: State) -> Update {
    Update { claim, ..to(state) }
}

/// Returns a world with an APPROVED change instance.
fn approved() -> (World, ChangeId) {
    let mut world = World::new();
    world.declare(&[vm(NAME, 1)]);
    let id = world.approve(NAME, VM_OWNER);
    (world, id)
}

/// Moves the clock behind the end of every lease.
fn end_leases(world: &mut World) {
    world.clock += LEASE * 1_000_000;
}

fn number(claim: Result<Claim, Refused>) -> Result<u64, Refused> {
    claim.map(|claim| claim.number)
}

#[test]
fn r64_a_claim_gives_all_work_on_an_item_to_one_worker_until_a_time() {
    let (mut world, id) = approved();
    let taken = world.claim(id, &request("w1", None)).unwrap();
    assert_eq!((taken.number, taken.lease.as_ref().unwrap().worker.as_str()), (1, "w1"));
    assert_eq!(number(world.claim(id, &request("w2", None))), Err(Refused::NotClaimed));
    let extended = world.claim(id, &request("w1", Some(1))).unwrap();
    assert_eq!(extended.number, 1);
    assert!(extended.lease.unwrap().until > taken.lease.unwrap().until, "the lease begins again");
    assert_eq!(number(world.claim(id, &request("w1", Some(2)))), Err(Refused::NotClaimed));
    // The worker has started again and forgot its number. Its former process is fenced.
    assert_eq!(number(world.claim(id, &request("w1", None))), Ok(2));
    assert_eq!(number(world.claim(id, &request("w1", Some(1)))), Err(Refused::NotClaimed));
    end_leases(&mut world);
    assert_eq!(number(world.claim(id, &request("w1", Some(2)))), Ok(2), "the work is still its own");
    end_leases(&mut world);
    assert_eq!(number(world.claim(id, &request("w2", None))), Ok(3));
    assert_eq!(world.claim(id, &release("w2", 3)).unwrap().lease, None);
    assert_eq!(number(world.claim(id, &request("w1", None))), Ok(4), "a number never returns");
}

#[test]
fn r64_only_the_newest_number_ends_the_work_and_releases_the_claim() {
    let (mut world, id) = approved();
    world.claim(id, &request("w1", None)).unwrap();
    end_leases(&mut world);
    let second = world.claim(id, &request("w2", None)).unwrap();
    let stale = world.update(id, VM_OWNER, &with(Some(1), State::Completed));
    assert_eq!(stale, Err(Undecided::NotClaimed(second)));
    // A slow worker may complete after the end of its lease, as long as the work is its own.
    end_leases(&mut world);
    let done = world.update(id, VM_OWNER, &with(Some(2), State::Completed)).unwrap();
    let claim = world.claim_on(&done.change);
    assert_eq!((claim.number, claim.lease), (2, None));
    let again = world.update(id, VM_OWNER, &with(Some(2), State::Completed)).unwrap();
    assert!(again.writes.is_empty(), "a repeated request writes nothing");
    assert_eq!(number(world.claim(id, &request("w1", None))), Err(Refused::Resolved(State::Completed)));
    assert_eq!(world.claim(id, &release("w2", 2)).unwrap().lease, None, "a release is always possible");
}

#[test]
fn r64_a_claim_without_an_end_of_the_work_stays() {
    let (mut world, id) = approved();
    world.claim(id, &request("w1", None)).unwrap();
    let log = Update { log: Some("half done".to_owned()), claim: Some(1), ..Update::default() };
    let logged = world.update(id, VM_OWNER, &log).unwrap();
    assert!(world.claim_on(&logged.change).lease.is_some());
    let none = Update { claim: Some(0), ..log };
    assert!(matches!(world.update(id, VM_OWNER, &none), Err(Undecided::NotClaimed(_))));
    // Without a claim in the request, the work is not protected.
    world.update(id, VM_OWNER, &to(State::Completed)).unwrap();
}

#[test]
fn r64_a_change_that_displaces_another_one_waits_for_its_worker() {
    let mut world = World::new().without_approval();
    let first = world.declare(&[vm(NAME, 1)]).created[0].id;
    world.claim(first, &request("w1", None)).unwrap();
    world.declare(&[vm(NAME, 2)]);
    let third = world.declare(&[vm(NAME, 3)]).created[0].clone();
    assert_eq!(world.state(first), State::Closed, "displaced twice");
    let now = Timestamp::from_micros(world.clock);
    let before = world.claim_on(&third);
    assert_eq!(claim::handed_out(&before, &request("w2", None), now), None);
    assert_eq!(claim::handed_out(&before, &request("w1", None), now), None, "a batch has new work alone");
    assert_eq!(number(world.claim(third.id, &request("w2", None))), Err(Refused::NotClaimed));
    world.claim(first, &release("w1", 1)).unwrap();
    let free = world.claim_on(&third);
    assert_eq!(claim::handed_out(&free, &request("w2", None), now).unwrap().number, 2);
}

#[test]
fn r64_a_key_needs_a_claim_where_the_service_requires_one() {
    let mut world = World::new();
    world.settings("VM").claim_required = true;
    world.declare(&[vm(NAME, 1)]);
    let id = world.approve(NAME, VM_OWNER);
    // The setting counts at the submission, as the approval does (R19).
    world.settings("VM").claim_required = false;
    for state in [State::Completed, State::Errored] {
        let refused = world.update(id, VM_OWNER, &to(state));
        assert!(matches!(refused, Err(Undecided::NotClaimed(Claim { number: 0, .. }))), "{state}");
    }
    world.claim(id, &request("w1", None)).unwrap();
    world.update(id, VM_OWNER, &with(Some(1), State::Errored)).unwrap();
    let retried = world.retry(id, VM_OWNER).unwrap().change;
    assert!(retried.claim_required, "an attempt has the rules of the attempt before");
    world.by_hand = true;
    world.update(retried.id, VM_OWNER, &to(State::Completed)).unwrap();
}

#[test]
fn r64_each_owner_has_its_own_claims() {
    let mut world = World::new().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    let main = world.approve(NAME, VM_OWNER);
    let share = world.approve(NAME, NP_OWNER);
    assert_eq!(number(world.claim(main, &request("w1", None))), Ok(1));
    assert_eq!(number(world.claim(share, &request("w2", None))), Ok(1));
    let change = world.change(main).clone();
    let stranger = crate::world::team(CONSUMER);
    let now = Timestamp::from_micros(world.clock);
    let of_consumer = claim::claim(&change, &world.claim_on(&change), &request("w3", None), &stranger, now);
    assert_eq!(of_consumer, Err(Refused::NotOwner));
}

/// Returns a world with an approved CREATE that requires a claim, in a service that completes unneeded changes.
fn awaiting() -> (World, ChangeId) {
    let mut world = World::new();
    world.settings("VM").claim_required = true;
    world.settings("VM").complete_unneeded = true;
    world.declare(&[vm(NAME, 1)]);
    let id = world.approve(NAME, VM_OWNER);
    (world, id)
}

#[test]
fn r63_a_removal_before_any_claim_leaves_no_work() {
    let (mut world, id) = awaiting();
    let (item, owner) = (world.item(NAME).id, crate::world::team(VM_OWNER).id);
    let removed = world.declare(&[]);
    assert_eq!((removed.created[0].state, removed.created[0].unneeded), (State::Completed, true));
    assert_eq!(world.state(id), State::Closed);
    assert!(world.item(NAME).gone);
    let fence = Write::CheckUnclaimed { item, owner };
    assert!(removed.writes.contains(&fence), "a claim at the same moment wins or loses");
}

#[test]
fn r63_a_removal_after_a_claim_is_work() {
    // A release may leave a half of the work.
    let (mut world, id) = awaiting();
    world.claim(id, &request("w1", None)).unwrap();
    world.claim(id, &release("w1", 1)).unwrap();
    assert_eq!(world.declare(&[]).created[0].state, State::Pending);
    // The work on the first declaration may have begun when the second one was approved.
    let (mut world, _) = awaiting();
    world.declare(&[vm(NAME, 2)]);
    world.approve(NAME, VM_OWNER);
    assert_eq!(world.declare(&[]).created[0].state, State::Pending);
    // Without the setting, any worker may have begun.
    let (mut world, _) = approved();
    world.settings("VM").complete_unneeded = true;
    assert_eq!(world.declare(&[]).created[0].state, State::Pending);
}
