//! I26: each charge has a cause and exists once, and an item has the sums of its charges.

use super::{Audit, Subject};
use crate::base::id::{CHANGE_STRIDE, ChangeId, ChargeId};
use crate::base::money::{Amount, Prices};
use crate::base::state::{ChangeType, ChargeType, State};
use crate::base::timestamp::Timestamp;
use crate::model::change::{Change, Entry};
use crate::model::charge::{Charge, Running};
use crate::model::item::Item;
use crate::rules::charging::is_charged_for;

/// A new price after an approval; zero if the approval ended the charges.
struct Tariff {
    change: ChangeId,
    price: Amount,
    at: Timestamp,
}

impl Audit<'_> {
    /// Checks a charge, except for its relation to the other charges of the item.
    pub(super) fn charge(&mut self, charge: &Charge) {
        let subject = || Subject::Charge(charge.id);
        let own = charge.item.team() == charge.id.team() && charge.consumer.id == charge.id.team();
        self.require(own, "I5", subject(), "its ids belong to several teams");
        let change = self.snapshot.changes.get(&charge.change);
        let agrees = change.is_some_and(|change| {
            change.item == charge.item
                && change.item_name == charge.item_name
                && change.application == charge.application
                && change.generation == charge.generation
                && change.service == charge.service
                && change.service_owner == charge.service_owner
                && change.consumer == charge.consumer
        });
        let detail = "its change instance has other names or teams, or does not exist";
        self.require(agrees, "I16", subject(), detail);
        let caused = change.is_some_and(|change| is_caused(charge, change));
        self.require(caused, "I26", subject(), "its change instance does not cause this charge");
        let is_over = charge.processed.is_none() || charge.end.is_some();
        self.require(is_over, "I26", subject(), "it is processed, but still running");
    }

    /// Checks that a change instance with a fee has its charge.
    pub(super) fn is_charged(&mut self, change: &Change) {
        let charged = self.snapshot.charges.contains_key(&ChargeId::of_change(change.id));
        let detail = "its charge is missing";
        self.require(charged || !is_charged_for(change), "I26", Subject::Change(change.id), detail);
    }

    /// Checks that the charges cover the time in service without gaps and overlaps, and that the item has their
    /// sums.
    pub(super) fn charges(&mut self, item: &Item, changes: &[&Change]) {
        let subject = || Subject::Item(item.id);
        let charges = self.charges_of_item.get(&item.id).cloned().unwrap_or_default();
        let of_time = charges.iter().filter(|charge| charge.id.charge_type() == ChargeType::MonthlyCost);
        let mut of_time: Vec<&Charge> = of_time.copied().collect();
        // A slow clock can end a charge at its start. The running charge has the same start and comes after the ended
        // one.
        of_time.sort_by_key(|charge| (charge.start, charge.end.is_none(), charge.end));
        let covered = covers(&tariffs(changes), &of_time);
        self.require(covered, "I26", subject(), "its charges do not match its time in service");
        let running = of_time.iter().find(|charge| charge.end.is_none()).map(|charge| Running {
            charge: charge.id,
            price: charge.price,
            start: charge.start,
        });
        self.require(
            running == item.charges.running,
            "I26",
            subject(),
            "its record of the running charge is wrong",
        );
        let ended = sums(charges.iter().copied().filter(|charge| charge.end.is_some()));
        self.require(ended == item.charges.ended, "I26", subject(), "its sum of ended charges is wrong");
        let processed = sums(charges.iter().copied().filter(|charge| charge.processed.is_some()));
        let detail = "its sum of processed charges is wrong";
        self.require(processed == item.charges.processed, "I26", subject(), detail);
    }
}

/// Returns whether the change instance causes this charge.
fn is_caused(charge: &Charge, change: &Change) -> bool {
    match charge.id.charge_type() {
        ChargeType::CostPerChange => {
            charge.id == ChargeId::of_change(change.id)
                && is_charged_for(change)
                && charge.price == change.prices.per_change
                && (charge.start, charge.end) == (change.created, Some(change.created))
        }
        ChargeType::MonthlyCost => {
            // Earlier releases took a block of the team's numbers for a charge after a division.
            (charge.id.is_continued() || charge.id.number() % CHANGE_STRIDE == 1)
                && charge.price == change.prices.monthly
                && charge.price != Amount::ZERO
                && charge.end.is_none_or(|end| charge.start <= end)
        }
    }
}

/// Returns the prices in the order of the approvals (I6).
fn tariffs(changes: &[&Change]) -> Vec<Tariff> {
    let mut main: Vec<_> = changes.iter().filter(|change| !change.is_dependant()).collect();
    main.sort_by_key(|change| (change.submission, change.attempt));
    let mut tariffs: Vec<Tariff> = Vec::new();
    for change in main {
        // An unneeded removal ends the time in service without an approval (R63).
        let is_end = |entry: &Entry| entry.change_type == ChangeType::Delete && entry.to == State::Completed;
        let is_approval = |entry: &&Entry| match entry.from {
            None => entry.to == State::Approved || is_end(entry),
            from => from == Some(State::Pending) && entry.to == State::Approved,
        };
        for entry in change.history.iter().filter(is_approval) {
            let is_gone = entry.change_type == ChangeType::Delete;
            let price = if is_gone { Amount::ZERO } else { change.prices.monthly };
            if tariffs.last().map_or(Amount::ZERO, |tariff| tariff.price) != price {
                tariffs.push(Tariff { change: change.id, price, at: entry.at });
            }
        }
    }
    tariffs
}

/// Returns whether the charges, in order of time, cover exactly the times of the prices.
fn covers(tariffs: &[Tariff], charges: &[&Charge]) -> bool {
    let mut rest = charges.to_vec();
    let ends = tariffs.iter().skip(1).map(Some).chain([None]);
    let covered = tariffs.iter().zip(ends).all(|(tariff, next)| {
        let (own, others): (Vec<_>, Vec<_>) = rest.iter().partition(|charge| charge.change == tariff.change);
        rest = others;
        if tariff.price == Amount::ZERO {
            return own.is_empty();
        }
        let starts = own.iter().skip(1).map(|charge| Some(charge.start));
        let chained = own.iter().zip(starts).all(|(charge, start)| charge.end == start);
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return false };
        let begins = first.id == ChargeId::of_time(tariff.change) && first.start >= tariff.at;
        let following = next.filter(|next| next.price != Amount::ZERO);
        let following = following.and_then(|next| rest.iter().find(|charge| charge.change == next.change));
        let ends = match (last.end, next) {
            (None, None) => true,
            (Some(end), Some(next)) => end >= next.at && following.is_none_or(|next| next.start == end),
            (None, Some(_)) | (Some(_), None) => false,
        };
        chained && begins && ends
    });
    covered && rest.is_empty()
}

fn sums<'a>(charges: impl Iterator<Item = &'a Charge>) -> Prices {
    let mut sums = Prices::NONE;
    for charge in charges {
        // Only ended charges are summed, so the time argument is irrelevant.
        sums.add(charge.id.charge_type(), charge.total(charge.start));
    }
    sums
}
