//! Charges, and their sums on items and change instances.

use super::codec::{Record, of_generation};
use super::conversion::{Bad, Part, mirrors};
use super::parts::{ActorPart, ServicePart, TeamPart};
use crate::key::{self, Key};
use domain::TeamRef;
use domain::base::id::ChargeId;
use domain::base::money::{Amount, Prices};
use domain::model::charge::{Charge, Charges, Processed, Running};
use serde::{Deserialize, Serialize};

/// A charge: a fee for a change instance, or a period of time in service.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChargeRecord {
    /// Id of the charge, which contains the charge type.
    id: u64,
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Name of the service item.
    #[serde(rename = "nm")]
    item_name: String,
    /// Name of the application.
    #[serde(rename = "app")]
    application: String,
    /// Generation of the application. Absent for generation 0, and known since format 4.
    #[serde(rename = "ag", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Service owner.
    #[serde(rename = "so")]
    service_owner: TeamPart,
    /// Name of the consumer team. The id of the charge contains the team id.
    #[serde(rename = "cs")]
    consumer: String,
    /// Id of the charged change instance, or of the one whose approval set the price.
    #[serde(rename = "ci")]
    change: u64,
    /// Price: of the change, or of a month of 730 hours.
    #[serde(rename = "pr")]
    price: AmountPart,
    /// Start of the charged period, or for a fee the creation of the change instance.
    #[serde(rename = "cr")]
    start: u64,
    /// End of the charged period. Absent while the charge runs.
    #[serde(rename = "en", skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    /// Processing mark. Absent until a service owner sets it.
    #[serde(rename = "pd", skip_serializing_if = "Option::is_none")]
    processed: Option<ProcessedPart>,
}

/// The mark of a processed charge.
#[derive(Serialize, Deserialize)]
struct ProcessedPart {
    /// Time of the mark.
    at: u64,
    /// Author of the mark.
    by: ActorPart,
}

mirrors! { ProcessedPart = Processed { at, by } }

/// An amount: a decimal number as text. Few readers decode a number of this length exactly.
#[derive(Serialize, Deserialize)]
struct AmountPart(String);

impl Part<Amount> for AmountPart {
    fn of(amount: &Amount) -> Self {
        Self(amount.to_string())
    }

    fn value(self) -> Result<Amount, Bad> {
        Amount::parse(&self.0).ok_or(Bad("amount"))
    }
}

/// Two prices or two sums. An amount of 0 is absent.
#[derive(Serialize, Deserialize)]
pub(crate) struct PricesPart {
    /// Fee per change instance.
    #[serde(rename = "c", skip_serializing_if = "Option::is_none")]
    per_change: Option<AmountPart>,
    /// Price per month in service.
    #[serde(rename = "m", skip_serializing_if = "Option::is_none")]
    monthly: Option<AmountPart>,
}

mirrors! { PricesPart = Prices { per_change, monthly } }

/// The sum of an item's charges.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChargesPart {
    /// Running charge. Absent if no charge is running.
    #[serde(rename = "ru", skip_serializing_if = "Option::is_none")]
    running: Option<RunningPart>,
    /// Sum of the ended charges.
    #[serde(rename = "en", skip_serializing_if = "Option::is_none")]
    ended: Option<PricesPart>,
    /// Processed part of the sum of the ended charges.
    #[serde(rename = "pd", skip_serializing_if = "Option::is_none")]
    processed: Option<PricesPart>,
}

mirrors! { ChargesPart = Charges { running, ended, processed } }

/// A running charge.
#[derive(Serialize, Deserialize)]
struct RunningPart {
    /// Id of the charge.
    #[serde(rename = "id")]
    charge: u64,
    /// Price per month.
    #[serde(rename = "pr")]
    price: AmountPart,
    /// Start.
    #[serde(rename = "cr")]
    start: u64,
}

mirrors! { RunningPart = Running { charge, price, start } }

impl Part<Charge> for ChargeRecord {
    fn of(charge: &Charge) -> Self {
        Self {
            id: Part::of(&charge.id),
            item: Part::of(&charge.item),
            item_name: charge.item_name.clone(),
            application: charge.application.clone(),
            generation: Part::of(&charge.generation),
            service: Part::of(&charge.service),
            service_owner: Part::of(&charge.service_owner),
            consumer: charge.consumer.name.clone(),
            change: Part::of(&charge.change),
            price: Part::of(&charge.price),
            start: Part::of(&charge.start),
            end: Part::of(&charge.end),
            processed: Part::of(&charge.processed),
        }
    }

    fn value(self) -> Result<Charge, Bad> {
        let id: ChargeId = self.id.value()?;
        Ok(Charge {
            id,
            item: self.item.value()?,
            item_name: self.item_name,
            application: self.application,
            generation: self.generation.value()?,
            service: self.service.value()?,
            service_owner: self.service_owner.value()?,
            consumer: TeamRef { id: id.team(), name: self.consumer },
            change: self.change.value()?,
            price: self.price.value()?,
            start: self.start.value()?,
            end: self.end.value()?,
            processed: self.processed.value()?,
        })
    }
}

impl Record for ChargeRecord {
    const TYPE: &'static str = "CHARGE";
    type Value = Charge;

    fn key(charge: &Charge) -> Key {
        key::charge(charge.id)
    }

    fn format(charge: &Charge) -> u64 {
        of_generation(charge.generation)
    }

    fn indexes(charge: &Charge) -> Vec<(u8, String, String)> {
        let (owner, is_processed) = (charge.service_owner.id, charge.processed.is_some());
        let queue = key::owner_charges(owner, charge.id.charge_type(), is_processed);
        vec![(2, queue, key::by_age(charge.start, charge.id.get()))]
    }
}
