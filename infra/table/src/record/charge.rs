//! Charges, and their sums on items and change instances.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{ActorPart, ServicePart, TeamPart, at};
use crate::key::{self, Key};
use domain::base::id::ChargeId;
use domain::base::money::{Amount, Prices};
use domain::model::charge::{Charge, Charges, Processed, Running};
use domain::{ChangeId, ItemId, TeamRef};
use serde::{Deserialize, Serialize};

/// A charge: a fee for a change instance, or a period of time in service.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChargeRecord {
    /// Id of the charge. It contains the charge type.
    id: u64,
    /// Id of the service item.
    it: u64,
    /// Name of the service item.
    nm: String,
    /// Name of the application.
    app: String,
    /// Service.
    svc: ServicePart,
    /// Service owner.
    so: TeamPart,
    /// Name of the consumer team. The id of the charge contains the team id.
    cs: String,
    /// Id of the charged change instance, or of the one whose approval set the price.
    ci: u64,
    /// Price: of the change, or of a month of 730 hours.
    pr: AmountPart,
    /// Start of the charged period. For a fee, the creation of the change instance.
    cr: u64,
    /// End of the charged period. Absent while the charge runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    en: Option<u64>,
    /// Processing mark. Absent until a service owner sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pd: Option<ProcessedPart>,
}

/// The mark of a processed charge.
#[derive(Serialize, Deserialize)]
struct ProcessedPart {
    /// Time of the mark.
    at: u64,
    /// Author of the mark.
    by: ActorPart,
}

/// An amount: a decimal number as text. Few readers decode a number of this length exactly.
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

/// Two prices or two sums. An amount of 0 is absent.
#[derive(Serialize, Deserialize)]
pub(crate) struct PricesPart {
    /// Fee per change instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    c: Option<AmountPart>,
    /// Price per month in service.
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<AmountPart>,
}

impl PricesPart {
    /// Returns the stored form. None if both amounts are 0.
    pub(crate) fn of(prices: Prices) -> Option<Self> {
        let part = |amount: Amount| (amount != Amount::ZERO).then(|| AmountPart::of(amount));
        (prices != Prices::NONE).then(|| Self { c: part(prices.per_change), m: part(prices.monthly) })
    }

    /// Returns the prices of an optional part. An absent part is 0.
    pub(crate) fn value(prices: Option<Self>) -> Result<Prices, Bad> {
        let Some(Self { c, m }) = prices else { return Ok(Prices::NONE) };
        let amount = |part: Option<AmountPart>| part.map_or(Ok(Amount::ZERO), |part| part.value());
        Ok(Prices { per_change: amount(c)?, monthly: amount(m)? })
    }
}

/// The sum of an item's charges.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChargesPart {
    /// Running charge. Absent if none runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    ru: Option<RunningPart>,
    /// Sum of the ended charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    en: Option<PricesPart>,
    /// Processed part of that sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pd: Option<PricesPart>,
}

/// A running charge.
#[derive(Serialize, Deserialize)]
struct RunningPart {
    /// Id of the charge.
    id: u64,
    /// Price per month.
    pr: AmountPart,
    /// Start.
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
