//! Charges: a fee for each change instance (R38), and for time in service without gaps (R39).

use crate::walk::{Config, Walk};
use crate::world::{APP, LB_OWNER, NP_OWNER, VM_OWNER, World, application, document, lb, vm};
use domain::audit::invariant::Snapshot;
use domain::base::id::ChargeId;
use domain::base::money::{Amount, Prices};
use domain::base::state::{ChargeType, Kind};
use domain::model::change::Entry;
use domain::model::charge::Charge;
use domain::model::submission::Scope;
use domain::model::write::Write;
use domain::rules::charging::{DIVISION_MICROS_MIN, Refused};
use domain::views::charge_sums::{Group, GroupBy, charge_sums};
use domain::{Change, Item, State, Timestamp};
use std::collections::BTreeSet;

const NAME: &str = "CoreVM1";
const HOUR: u64 = 3_600_000_000;
/// A charged month, in microseconds.
const MONTH: u64 = 730 * HOUR;

/// Number of random histories, and of steps in each.
const HISTORIES: u64 = 200;
const STEPS: usize = 30;

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn of_type(world: &World, name: &str, charge_type: ChargeType) -> Vec<Charge> {
    world.charges(name).into_iter().filter(|charge| charge.id.charge_type() == charge_type).collect()
}

/// Returns the fees of an item's changes, one by one.
fn fees(world: &World, name: &str) -> Vec<String> {
    let fees = of_type(world, name, ChargeType::CostPerChange);
    fees.iter().map(|charge| charge.total(charge.start).to_string()).collect()
}

/// Returns the costs of an item's times in service, one by one, and the sum in the item.
fn times(world: &World, name: &str) -> (Vec<String>, String) {
    let now = Timestamp::from_micros(world.clock);
    let times = of_type(world, name, ChargeType::MonthlyCost);
    let times = times.iter().map(|charge| charge.total(now).to_string()).collect();
    (times, world.item(name).charges.total(now).monthly.to_string())
}

fn running(world: &World, name: &str) -> Option<ChargeId> {
    world.item(name).charges.running.map(|running| running.charge)
}

#[test]
fn r38_each_change_instance_of_the_services_owner_is_charged_at_its_creation() {
    let mut world = World::new().priced().with_dependent("VM");
    world.declare_and_generate(&[vm(NAME, 1)]);
    assert_eq!(fees(&world, NAME), ["5"], "the dependent team's share is part of it");
    world.declare_and_generate(&[vm(NAME, 2)]);
    assert_eq!(fees(&world, NAME), ["5", "5"], "though the first one is displaced");
    world.reject(NAME, VM_OWNER);
    assert_eq!(fees(&world, NAME), ["5", "5"], "and the second one rejected");
    let rejected = world.open(NAME, VM_OWNER, State::Rejected);
    world.retry(rejected, VM_OWNER).unwrap();
    assert_eq!(fees(&world, NAME), ["5", "5"], "a retry is the owner's own");
    world.finish(NAME, VM_OWNER);
    world.finish(NAME, NP_OWNER);
    world.declare_and_generate(&[]);
    assert_eq!(fees(&world, NAME), ["5", "5", "5"], "a removal is a change");
}

#[test]
fn r38_a_generated_one_is_charged_unless_it_is_overtaken() {
    let mut world = World::new().priced();
    world.charge("LoadBalancer", 0);
    let both = |cpu: u64| vec![vm(NAME, cpu), lb("CoreLB1", &[NAME], "a")];
    world.declare_and_generate(&both(1));
    world.finish(NAME, VM_OWNER);
    world.finish("CoreLB1", LB_OWNER);
    world.declare_and_generate(&both(2));
    assert_eq!(fees(&world, "CoreLB1"), ["5", "5"], "it refers to what was modified");
    // The submission after it overtakes the generated change of this one.
    world.declare(&both(3));
    world.declare(&[vm(NAME, 3), lb("CoreLB1", &[NAME], "b")]);
    let created = world.generate();
    assert_eq!((created[0].kind, created[0].state), (Kind::Referenced, State::Closed));
    assert_eq!(fees(&world, "CoreLB1"), ["5", "5", "5"]);
}

#[test]
fn r38_the_price_is_that_of_the_definition_at_the_submission() {
    let mut world = World::new().priced();
    let body = |cpu: u64| document(&[(APP, application(&[vm(NAME, cpu)]))]);
    world.submit_staged(&body(1), Scope::Whole).unwrap();
    world.charge("VM", 2);
    world.generate();
    assert_eq!(fees(&world, NAME), ["5"], "whenever it lands");
    world.submit(&body(2), Scope::Whole).unwrap();
    world.charge("VM", 1);
    world.submit(&body(3), Scope::Whole).unwrap();
    assert_eq!(fees(&world, NAME), ["5", "0.25"], "what costs nothing is not charged");
}

#[test]
fn r38_a_preview_charges_nothing() {
    let mut world = World::new().priced().without_approval();
    let plan = world.planned(&document(&[(APP, application(&[vm(NAME, 1)]))]), Scope::Whole).unwrap();
    assert_eq!(plan.preview.created.len(), 1);
    assert!(world.snapshot.charges.is_empty());
}

#[test]
fn r39_time_in_service_is_charged_from_the_creations_approval_to_the_deletions() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.clock += MONTH;
    assert_eq!(times(&world, NAME), (vec![], "0".to_owned()), "nothing is in service yet");
    world.approve(NAME, VM_OWNER);
    let approved = world.clock;
    world.clock = approved + MONTH;
    assert_eq!(times(&world, NAME).0, ["49.99"], "it runs");
    world.complete(NAME, VM_OWNER);
    world.declare(&[]);
    world.clock = approved + 2 * MONTH - 1;
    world.approve(NAME, VM_OWNER);
    world.clock += MONTH;
    assert_eq!(times(&world, NAME), (vec!["99.98".to_owned()], "99.98".to_owned()), "it ended");
    // After a second declaration, another charge starts.
    world.declare(&[vm(NAME, 1)]);
    world.clock += MONTH;
    world.approve(NAME, VM_OWNER);
    let approved = world.clock;
    world.clock = approved + MONTH / 2;
    assert_eq!(times(&world, NAME).0.len(), 2);
    assert_eq!(
        world.item(NAME).charges.total(Timestamp::from_micros(world.clock)).monthly,
        amount("124.975")
    );
}

#[test]
fn r39_another_price_comes_into_force_with_the_approval_of_a_change() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let first = running(&world, NAME);
    world.charge("VM", 1);
    world.clock += MONTH;
    assert_eq!(running(&world, NAME), first, "a publication changes no running price");
    world.declare(&[vm(NAME, 2)]);
    world.reject(NAME, VM_OWNER);
    assert_eq!(running(&world, NAME), first, "nor does what is rejected");
    world.declare(&[vm(NAME, 3)]);
    world.approve(NAME, VM_OWNER);
    let second = running(&world, NAME);
    assert_ne!(second, first);
    assert_eq!(world.snapshot.charges[&second.unwrap()].price, amount("10"));
    world.declare(&[vm(NAME, 4)]);
    world.finish(NAME, VM_OWNER);
    assert_eq!(running(&world, NAME), second, "the same price runs on");
    world.charge("VM", 2);
    world.declare(&[vm(NAME, 5)]);
    world.finish(NAME, VM_OWNER);
    assert_eq!(running(&world, NAME), None, "free of charge from then on");
    assert_eq!(of_type(&world, NAME, ChargeType::MonthlyCost).len(), 2);
}

#[test]
fn r39_processing_divides_a_running_charge_without_loss() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let start = world.snapshot.charges[&running(&world, NAME).unwrap()].start.micros();
    for month in 1..=20 {
        world.clock = start + month * MONTH - 1;
        let id = running(&world, NAME).unwrap();
        let marked = world.mark_charge(id, VM_OWNER, true).unwrap().charge;
        assert_eq!(marked.total(Timestamp::from_micros(0)), amount("49.99"));
        let processed = marked.processed.unwrap();
        assert_eq!(
            (processed.at, processed.by.changed_by()),
            (marked.end.unwrap(), "key of VMOwnerTeam (Api Key)".to_owned())
        );
        assert!(
            world.mark_charge(id, VM_OWNER, true).unwrap().writes.is_empty(),
            "a repeated mark writes nothing"
        );
    }
    world.clock = start + 21 * MONTH;
    let charges = world.item(NAME).charges;
    assert_eq!(charges.processed.monthly, amount("999.8"));
    assert_eq!(charges.total(Timestamp::from_micros(world.clock)).monthly, amount("1049.79"));
    assert_eq!(of_type(&world, NAME, ChargeType::MonthlyCost).len(), 21);
    // A charge that has ended is only processed.
    world.declare(&[]);
    world.approve(NAME, VM_OWNER);
    let last = of_type(&world, NAME, ChargeType::MonthlyCost).pop().unwrap();
    let marked = world.mark_charge(last.id, VM_OWNER, true).unwrap().charge;
    assert_eq!(Charge { processed: None, ..marked }, last);
    assert_eq!(running(&world, NAME), None);
}

#[test]
fn a_charge_that_began_with_a_division_runs_for_an_hour() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    let first = running(&world, NAME).unwrap();
    let marked = world.mark_charge(first, VM_OWNER, true).unwrap();
    let is_head = |write: &Write| matches!(write, Write::AdvanceHead { .. });
    assert!(!marked.writes.iter().any(is_head), "it writes nothing that a submission of the consumer writes");
    let second = running(&world, NAME).unwrap();
    let earliest = world.snapshot.charges[&second].start.micros() + DIVISION_MICROS_MIN;
    let refused = Err(Refused::DividedJustNow(Timestamp::from_micros(earliest)));
    assert_eq!(world.mark_charge(second, VM_OWNER, true), refused);
    assert_eq!(world.mark_charge(second, LB_OWNER, true), Err(Refused::NotOwner));
    assert!(
        world.mark_charge(first, VM_OWNER, true).unwrap().writes.is_empty(),
        "a repeated mark divides nothing"
    );
    // The time of a request is one microsecond after the clock.
    world.clock = earliest - 2;
    assert_eq!(world.mark_charge(second, VM_OWNER, true), refused);
    world.clock = earliest - 1;
    world.mark_charge(second, VM_OWNER, true).unwrap();
    // Another price starts a new charge, which can be processed at any time. An ended charge can be processed too.
    world.charge("VM", 1);
    world.declare(&[vm(NAME, 2)]);
    let third = running(&world, NAME).unwrap();
    world.approve(NAME, VM_OWNER);
    world.mark_charge(third, VM_OWNER, true).unwrap();
    world.mark_charge(running(&world, NAME).unwrap(), VM_OWNER, true).unwrap();
}

#[test]
fn r39_only_the_services_owner_marks_a_charge_and_a_mark_is_final() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    let fee = world.charges(NAME)[0].id;
    for team in [crate::world::CONSUMER, LB_OWNER] {
        assert_eq!(world.mark_charge(fee, team, true), Err(Refused::NotOwner));
    }
    assert!(world.mark_charge(fee, VM_OWNER, false).unwrap().writes.is_empty());
    world.mark_charge(fee, VM_OWNER, true).unwrap();
    assert_eq!(world.mark_charge(fee, VM_OWNER, false), Err(Refused::Processed));
    assert_eq!(world.item(NAME).charges.processed.per_change, amount("5"));
}

#[test]
fn r39_a_mark_and_a_decision_on_one_item_do_not_pass_each_other() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    world.declare(&[]);
    let mut other = world.clone();
    let id = running(&world, NAME).unwrap();
    world.mark_charge(id, VM_OWNER, true).unwrap();
    other.approve(NAME, VM_OWNER);
    // Both requests used the same revision of the item, so the storage accepts only the first one.
    for (taken, refused) in [(&world, &other), (&other, &world)] {
        let table = store::Table::of(&taken.snapshot);
        assert!(table.takes(refused.written.last().unwrap(), &[]).is_err());
    }
}

#[test]
fn r39_clocks_that_go_back_charge_no_time_twice() {
    let mut world = World::new().priced();
    world.declare(&[vm(NAME, 1)]);
    world.finish(NAME, VM_OWNER);
    world.clock += MONTH;
    let id = running(&world, NAME).unwrap();
    let end = world.mark_charge(id, VM_OWNER, true).unwrap().charge.end;
    world.clock -= MONTH / 2;
    world.declare(&[]);
    world.approve(NAME, VM_OWNER);
    let last = of_type(&world, NAME, ChargeType::MonthlyCost).pop().unwrap();
    assert_eq!((Some(last.start), last.end), (end, end));
}

#[test]
fn r39_a_slow_clock_divides_a_charge_at_its_start() {
    let mut world = World::new().priced();
    world.clock = MONTH;
    world.declare(&[vm(NAME, 1)]);
    world.approve(NAME, VM_OWNER);
    let id = running(&world, NAME).unwrap();
    let start = world.snapshot.charges[&id].start;
    world.clock -= HOUR;
    // The world checks every rule after each write, and so the order of two charges with one start.
    let divided = world.mark_charge(id, VM_OWNER, true).unwrap().charge;
    assert_eq!((divided.end, divided.total(start)), (Some(start), Amount::ZERO));
    let next = world.snapshot.charges[&running(&world, NAME).unwrap()].clone();
    assert_eq!((next.start, next.end), (start, None));
}

/// Computes the cost of an item's time in service at `now` from its change instances alone.
fn due(changes: &[&Change], now: Timestamp) -> Amount {
    let mut approvals: Vec<(Timestamp, Amount)> = Vec::new();
    for change in changes.iter().filter(|change| !change.is_dependant()) {
        // An unneeded removal was never approved.
        let is_gone = |entry: &Entry| entry.change_type == domain::base::state::ChangeType::Delete;
        let ends = |entry: &Entry| entry.from.is_none() && entry.to == State::Completed && is_gone(entry);
        let is_approval = |e: &&Entry| e.to == State::Approved && e.from != Some(e.to) || ends(e);
        for entry in change.history.iter().filter(is_approval) {
            let is_gone = is_gone(entry);
            approvals.push((entry.at, if is_gone { Amount::ZERO } else { change.prices.monthly }));
        }
    }
    approvals.sort_by_key(|(at, _)| *at);
    let ends = approvals.iter().skip(1).map(|(at, _)| *at).chain([now]);
    approvals.iter().zip(ends).map(|((start, price), end)| price.over(*start, end)).sum()
}

/// Computes the fees of an item's change instances.
fn due_for_changes(changes: &[&Change]) -> Amount {
    let is_generated = |change: &&&Change| {
        matches!(change.kind, Kind::Direct | Kind::Referenced) && change.history[0].to != State::Closed
    };
    changes.iter().filter(is_generated).map(|change| change.prices.per_change).sum()
}

#[test]
fn over_random_histories_an_item_costs_its_changes_and_its_time_in_service() {
    let (mut marked, mut divided) = (0, 0);
    for seed in 0..HISTORIES {
        let config =
            Config { approval: seed % 2 == 0, dependents: true, changing_settings: true, staged: 30 };
        let mut walk = Walk::new(seed, config);
        for step in 0..STEPS {
            walk.step();
            // Hours pass, so that there is something to charge.
            walk.world.clock += (seed + u64::try_from(step).unwrap()) % 50 * HOUR + 123_457;
        }
        let (snapshot, now) = (&walk.world.snapshot, Timestamp::from_micros(walk.world.clock));
        for item in snapshot.items.values() {
            let charges = snapshot.charges.values().filter(|charge| charge.item == item.id);
            let charges: Vec<&Charge> = charges.collect();
            let changes = snapshot.changes.values().filter(|change| change.item == item.id);
            let changes: Vec<&Change> = changes.collect();
            let sum = |charge_type: ChargeType| -> Amount {
                let own = charges.iter().filter(|charge| charge.id.charge_type() == charge_type);
                own.map(|charge| charge.total(now)).sum()
            };
            let (monthly, per_change) = (sum(ChargeType::MonthlyCost), sum(ChargeType::CostPerChange));
            assert_eq!(monthly, due(&changes, now), "seed {seed}: {charges:#?}");
            assert_eq!(per_change, due_for_changes(&changes), "seed {seed}");
            assert_charged(item, now, monthly, per_change);
            let processed = charges.iter().filter(|charge| charge.processed.is_some());
            marked += processed.clone().count();
            divided += processed.filter(|charge| charge.id.charge_type() == ChargeType::MonthlyCost).count();
        }
        assert_groups(snapshot, now);
    }
    assert!(marked > 50 && divided > 20, "{marked} {divided}");
}

/// Compares the sums by application and team with the single charges.
fn assert_groups(snapshot: &Snapshot, now: Timestamp) {
    let items: Vec<Item> = snapshot.items.values().cloned().collect();
    for by in GroupBy::ALL {
        let sums = charge_sums(&items, by, now);
        for sum in &sums {
            let is_in = |charge: &&Charge| match &sum.group {
                Group::Application { id, consumer, .. } => {
                    charge.application_id() == *id && charge.consumer == *consumer
                }
                Group::ConsumerTeam(team) => charge.consumer == *team,
                Group::ServiceOwnerTeam(team) => charge.service_owner == *team,
            };
            let charges: Vec<&Charge> = snapshot.charges.values().filter(is_in).collect();
            let of = |charge_type: ChargeType| -> Amount {
                let own = charges.iter().filter(|charge| charge.id.charge_type() == charge_type);
                own.map(|charge| charge.total(now)).sum()
            };
            let processed = charges.iter().filter(|charge| charge.processed.is_some());
            let charged: BTreeSet<_> = charges.iter().map(|charge| charge.item).collect();
            let expected =
                Prices { per_change: of(ChargeType::CostPerChange), monthly: of(ChargeType::MonthlyCost) };
            assert_eq!(sum.total, expected, "{sum:?}");
            assert_eq!(sum.processed, processed.map(|charge| charge.total(now)).sum(), "{sum:?}");
            assert_eq!(sum.items, u64::try_from(charged.len()).unwrap(), "{sum:?}");
        }
        let all: Amount = snapshot.charges.values().map(|charge| charge.total(now)).sum();
        assert_eq!(sums.iter().map(|sum| sum.total.sum()).sum::<Amount>(), all, "{by:?} leaves nothing out");
    }
}

fn assert_charged(item: &Item, now: Timestamp, monthly: Amount, per_change: Amount) {
    let total = item.charges.total(now);
    assert_eq!((total.monthly, total.per_change), (monthly, per_change));
}
