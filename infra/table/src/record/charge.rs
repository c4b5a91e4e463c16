//! Charges, and what they come to on their items and change instances.

use super::Record;
use super::parts::{ActorPart, Bad, ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::actor::TeamRef;
use domain::charge::{Charge, Charges, Prices, Processed, Running};
use domain::id::{ChangeId, ChargeId, ItemId};
use domain::money::Amount;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct ChargeRecord {
    id: u64,
    it: u64,
    nm: String,
    app: String,
    svc: ServicePart,
    so: TeamPart,
    /// The consumer's name; its id is in that of the charge.
    cs: String,
    ci: u64,
    pr: AmountPart,
    cr: u64,
    /// The end; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    en: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pd: Option<ProcessedPart>,
}

#[derive(Serialize, Deserialize)]
struct ProcessedPart {
    at: u64,
    by: ActorPart,
}

/// An amount, as a decimal number in a text: longer than numbers are read back exactly everywhere.
#[derive(Serialize, Deserialize)]
struct AmountPart(String);

impl AmountPart {
    fn of(amount: Amount) -> Self {
        Self(amount.to_string())
    }

    fn value(&self) -> Result<Amount, Bad> {
        Amount::parse(&self.0).ok_or(Bad("amount"))
    }
}

/// Prices or sums; what is nothing is absent.
#[derive(Serialize, Deserialize)]
pub(crate) struct PricesPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<AmountPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<AmountPart>,
}

impl PricesPart {
    /// None, where it is nothing.
    pub(crate) fn of(prices: Prices) -> Option<Self> {
        let part = |amount: Amount| (amount != Amount::ZERO).then(|| AmountPart::of(amount));
        (prices != Prices::NONE).then(|| Self { c: part(prices.per_change), m: part(prices.monthly) })
    }

    /// Of one that may be absent.
    pub(crate) fn value(prices: Option<Self>) -> Result<Prices, Bad> {
        let Some(Self { c, m }) = prices else { return Ok(Prices::NONE) };
        let amount = |part: Option<AmountPart>| part.map_or(Ok(Amount::ZERO), |part| part.value());
        Ok(Prices { per_change: amount(c)?, monthly: amount(m)? })
    }
}

/// What an item's charges come to; absent, where there are none.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChargesPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    ru: Option<RunningPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    en: Option<PricesPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pd: Option<PricesPart>,
}

#[derive(Serialize, Deserialize)]
struct RunningPart {
    id: u64,
    pr: AmountPart,
    cr: u64,
}

impl ChargesPart {
    pub(crate) fn of(charges: &Charges) -> Option<Self> {
        let running = |running: Running| RunningPart {
            id: running.charge.get(),
            pr: AmountPart::of(running.price),
            cr: running.start.micros(),
        };
        (*charges != Charges::NONE).then(|| Self {
            ru: charges.running.map(running),
            en: PricesPart::of(charges.ended),
            pd: PricesPart::of(charges.processed),
        })
    }

    pub(crate) fn value(charges: Option<Self>) -> Result<Charges, Bad> {
        let Some(Self { ru, en, pd }) = charges else { return Ok(Charges::NONE) };
        let running = |part: RunningPart| {
            let charge = ChargeId::parse(part.id).ok_or(Bad("charge"))?;
            Ok(Running { charge, price: part.pr.value()?, start: at(part.cr) })
        };
        Ok(Charges {
            running: ru.map(running).transpose()?,
            ended: PricesPart::value(en)?,
            processed: PricesPart::value(pd)?,
        })
    }
}

impl Record for ChargeRecord {
    const TYPE: &'static str = "CHARGE";
    type Value = Charge;

    fn of(charge: &Charge) -> Self {
        let processed = |processed: &Processed| ProcessedPart {
            at: processed.at.micros(),
            by: ActorPart::of(&processed.by),
        };
        Self {
            id: charge.id.get(),
            it: charge.item.get(),
            nm: charge.item_name.clone(),
            app: charge.application.clone(),
            svc: ServicePart::of(&charge.service),
            so: TeamPart::of(&charge.service_owner),
            cs: charge.consumer.name.clone(),
            ci: charge.change.get(),
            pr: AmountPart::of(charge.price),
            cr: charge.start.micros(),
            en: charge.end.map(|end| end.micros()),
            pd: charge.processed.as_ref().map(processed),
        }
    }

    fn value(self) -> Result<Charge, Bad> {
        let id = ChargeId::parse(self.id).ok_or(Bad("charge"))?;
        let processed = |part: ProcessedPart| Ok(Processed { at: at(part.at), by: part.by.value()? });
        Ok(Charge {
            id,
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            item_name: self.nm,
            application: self.app,
            service: self.svc.value()?,
            service_owner: self.so.value()?,
            consumer: TeamRef { id: id.team(), name: self.cs },
            change: ChangeId::parse(self.ci).ok_or(Bad("change"))?,
            price: self.pr.value()?,
            start: at(self.cr),
            end: self.en.map(at),
            processed: self.pd.map(processed).transpose()?,
        })
    }

    fn key(charge: &Charge) -> Key {
        key::charge(charge.id)
    }

    fn indexes(charge: &Charge) -> Vec<(u8, String, String)> {
        let (owner, is_processed) = (charge.service_owner.id, charge.processed.is_some());
        let queue = key::owner_charges(owner, charge.id.charge_type(), is_processed);
        vec![(2, queue, key::by_age(charge.start, charge.id.get()))]
    }
}
