//! Records: the conversion between domain values and stored attributes. `docs/reference/records.md` is generated from
//! the comments of the structs.
//!
//! Every record has a type (`ty`) and a format version (`v`). A function rejects a newer format, so an older function
//! never drops an unknown attribute.

mod access;
mod bytes;
mod catalog;
mod change;
mod charge;
mod entry;
mod healthcheck;
mod item;
mod kept;
mod mandatory;
mod member;
mod message;
mod parts;
mod recorded;
mod settings;
mod submission;
mod team;
mod webhook;

pub(crate) use access::ApiKeyRecord;
pub(crate) use catalog::{SchemaRecord, ServiceRecord, StoredSchema};
pub(crate) use change::{ChangeRecord, closed_queue};
pub(crate) use charge::ChargeRecord;
pub(crate) use entry::EntryRecord;
pub(crate) use healthcheck::{AskedRecord, CourseRecord, HealthRecord, HealthcheckRecord};
pub(crate) use item::{DeployedRecord, ItemRecord};
pub(crate) use kept::{ConfigRecord, DocsRecord};
pub(crate) use mandatory::MandatoryRecord;
pub(crate) use member::MemberRecord;
pub(crate) use message::MessagesRecord;
pub(crate) use parts::Bad;
pub(crate) use recorded::RecordedRecord;
pub(crate) use submission::{RememberedRecord, ShareRecord, StagingRecord, SubmissionRecord, WorkRecord};
pub(crate) use team::{ApplicationRecord, HeadRecord, ReplacedRecord, TeamRecord};
pub(crate) use webhook::{CoolingRecord, GivenUpRecord, RepliedRecord, WebhookRecord};

use crate::Error;
use crate::key::Key;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// The attributes of a record.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// The format version of this code.
pub(crate) const FORMAT: u64 = 2;

/// The stored form of a domain value.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// The record type in `ty`.
    const TYPE: &'static str;
    type Value;

    /// Returns the record of a value.
    fn of(value: &Self::Value) -> Self;
    /// Returns the value of a record.
    fn value(self) -> Result<Self::Value, Bad>;
    /// Returns the key of a value.
    fn key(value: &Self::Value) -> Key;
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
    attributes.insert("v".to_owned(), AttributeValue::N(FORMAT.to_string()));
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
    let key = place(&attributes);
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
    let corrupt = |reason| Err(Error::corrupt(place(attributes), reason));
    match integer(attributes, "v") {
        Some(FORMAT) => Ok(()),
        Some(1) => corrupt("its format is older than this version supports: start with new data"),
        Some(_) | None => corrupt("its format is newer than this version supports"),
    }
}

/// Returns the record type of attributes.
pub(crate) fn type_of(attributes: &Attributes) -> Option<&str> {
    text(attributes, "ty")
}

/// Returns a text attribute.
pub(crate) fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.get(name).and_then(|value| value.as_s().ok()).map(String::as_str)
}

/// Returns an integer attribute.
pub(crate) fn integer(attributes: &Attributes, name: &str) -> Option<u64> {
    attributes.get(name).and_then(|value| value.as_n().ok()).and_then(|value| value.parse().ok())
}

/// Returns the key of attributes.
pub(crate) fn key(attributes: &Attributes) -> Option<Key> {
    Some(Key::new(text(attributes, "pk")?, text(attributes, "sk")?))
}

/// Returns the key of attributes, for messages.
pub(crate) fn place(attributes: &Attributes) -> String {
    format!("{} / {}", text(attributes, "pk").unwrap_or("?"), text(attributes, "sk").unwrap_or("?"))
}
