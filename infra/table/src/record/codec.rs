//! The conversion of a domain value into attributes and back.

use super::attributes::{Attributes, integer, key_text, text};
use super::conversion::{Bad, Part};
use crate::client::Error;
use crate::key::Key;
use aws_sdk_dynamodb::types::AttributeValue;
use domain::base::side::Side;
use domain::catalog::service::{ReferencesSee, Settings, UpdateStrategy};
use domain::model::declared::Declared;
use domain::model::strategy::Strategy;
use domain::model::work::PlannedChange;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The newest version of the record format that this code reads and writes.
pub const FORMAT: u64 = 10;

/// The version of a record without an attribute of a newer format, so that older code reads it too.
pub(crate) const FORMAT_BASE: u64 = 2;

/// The version of a record with an attribute of the gone items (R44).
pub(super) const FORMAT_GONE: u64 = 3;

/// The version of a record with an attribute of the generations of applications (R45).
pub(super) const FORMAT_GENERATIONS: u64 = 4;

/// The version of a record with an attribute of the words of definitions (R46).
pub(super) const FORMAT_WORDS: u64 = 5;

/// The version of a record with an attribute of checked decisions (R49).
pub(super) const FORMAT_CHECKED: u64 = 6;

/// The version of a record with an attribute of confirmed removals (R57) or a message of a submission.
pub(super) const FORMAT_CONFIRMED: u64 = 7;

/// The version of a record about secrets (R58).
pub(super) const FORMAT_SECRETS: u64 = 8;

/// The version of a record about replacement (R60), unneeded change instances (R63), claims (R64) or
/// reminders (R65).
pub(super) const FORMAT_LIFECYCLE: u64 = 9;

/// The version of a record about references between applications and teams (R69, R71), or what references show (R72).
pub(crate) const FORMAT_USES: u64 = 10;

/// Returns the version of a record with these settings.
pub(super) fn of_settings(settings: &Settings) -> u64 {
    let is_newer = settings.update_strategy != UpdateStrategy::Modify
        || settings.complete_unneeded
        || settings.claim_required;
    if settings.references_see != ReferencesSee::State || settings.require_ready {
        return FORMAT_USES;
    }
    if is_newer { FORMAT_LIFECYCLE } else { FORMAT_BASE }
}

/// Returns the version of a record with a planned change, by the settings that it copies.
pub(super) fn of_planned(planned: &PlannedChange) -> u64 {
    let is_newer =
        planned.strategy != Strategy::Modify || planned.complete_unneeded || planned.claim_required;
    let is_of_uses = |declared: &Declared| declared.has_uses() || declared.new_name.is_some();
    if planned.declared.as_ref().is_some_and(is_of_uses) {
        return FORMAT_USES;
    }
    if is_newer { FORMAT_LIFECYCLE } else { FORMAT_BASE }
}

/// Returns the version of a record of a team that may want its removals confirmed.
pub(super) const fn of_confirmed(confirm_removals: bool) -> u64 {
    if confirm_removals { FORMAT_CONFIRMED } else { FORMAT_BASE }
}

/// The version of a record of a consumer's webhook.
const FORMAT_CONSUMER_WEBHOOKS: u64 = 7;

/// Returns the version of a record of a webhook of a team in this role.
pub(super) const fn of_side(side: Side) -> u64 {
    match side {
        Side::ServiceOwner => FORMAT_BASE,
        Side::Consumer => FORMAT_CONSUMER_WEBHOOKS,
    }
}

/// Returns the version of a record that may have the message of a submission.
pub(super) const fn of_message(message: Option<&str>) -> u64 {
    of_confirmed(message.is_some())
}

/// Returns the version of a record that may have a checking schema version.
pub(super) const fn of_checked(schema_version: Option<u64>) -> u64 {
    if schema_version.is_none() { FORMAT_BASE } else { FORMAT_CHECKED }
}

/// Returns the version of a record of an application with this generation.
pub(super) const fn of_generation(generation: u64) -> u64 {
    if generation == 0 { FORMAT_BASE } else { FORMAT_GENERATIONS }
}

/// The stored form of a domain value.
pub(crate) trait Record: Part<<Self as Record>::Value> + Serialize + DeserializeOwned {
    /// The record type in `ty`.
    const TYPE: &'static str;
    type Value;

    /// Returns the key of a value.
    fn key(value: &Self::Value) -> Key;
    /// Returns the version of the stored form: the first one whose code knows all of its attributes.
    fn format(_value: &Self::Value) -> u64 {
        FORMAT_BASE
    }
    /// Returns the index entries of a value: number of the index, partition, sort key.
    fn indexes(_value: &Self::Value) -> Vec<(u8, String, String)> {
        Vec::new()
    }
}

/// Returns the attributes of a value.
pub(crate) fn write<R: Record>(value: &R::Value) -> Result<Attributes, Error> {
    let key = R::key(value);
    let mut attributes: Attributes =
        serde_dynamo::to_item(R::of(value)).map_err(|error| Error::corrupt(key.to_string(), error))?;
    attributes.insert("ty".to_owned(), AttributeValue::S(R::TYPE.to_owned()));
    // The attribute `v`. Code of an earlier format refuses the record instead of dropping an attribute.
    attributes.insert("v".to_owned(), AttributeValue::N(R::format(value).to_string()));
    for (index, pk, sk) in R::indexes(value) {
        attributes.insert(format!("gs{index}pk"), AttributeValue::S(pk));
        attributes.insert(format!("gs{index}sk"), AttributeValue::S(sk));
    }
    attributes.insert("pk".to_owned(), AttributeValue::S(key.pk));
    attributes.insert("sk".to_owned(), AttributeValue::S(key.sk));
    Ok(attributes)
}

/// Returns the value of attributes.
pub(crate) fn read<R: Record>(attributes: Attributes) -> Result<R::Value, Error> {
    let key = key_text(&attributes);
    if text(&attributes, "ty") != Some(R::TYPE) {
        return Err(Error::corrupt(key, format!("the record is not a {}", R::TYPE)));
    }
    is_of_this_format(&attributes)?;
    // The decoder's message may contain values, so the error names the key alone.
    let record: R = serde_dynamo::from_item(attributes)
        .map_err(|_| Error::corrupt(key.clone(), "its attributes do not decode"))?;
    record.value().map_err(|Bad(what)| Error::corrupt(key, format!("invalid {what}")))
}

/// Fails if attributes have another format than this code.
pub(crate) fn is_of_this_format(attributes: &Attributes) -> Result<(), Error> {
    let corrupt = |reason| Err(Error::corrupt(key_text(attributes), reason));
    match integer(attributes, "v") {
        Some(FORMAT_BASE..=FORMAT) => Ok(()),
        Some(1) => corrupt("its format is older than this version supports: start with new data"),
        Some(_) | None => corrupt("its format is newer than this version supports"),
    }
}
