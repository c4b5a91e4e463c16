//! Records: each domain value as the attributes it is stored as, and back.
//!
//! Every record names its type (`ty`) and format version (`v`). One written by a newer format is refused, so
//! that an older function never drops what it does not know.

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

/// The format that this code writes and reads.
pub(crate) const FORMAT: u64 = 2;

/// A domain value's record.
pub(crate) trait Record: Serialize + DeserializeOwned {
    /// The record type in `ty`.
    const TYPE: &'static str;
    /// The domain value.
    type Value;

    /// The record of a value.
    fn of(value: &Self::Value) -> Self;
    /// The value of a record.
    fn value(self) -> Result<Self::Value, Bad>;
    /// Where it is stored.
    fn key(value: &Self::Value) -> Key;
    /// Its entries in the indexes: number of the index, partition, sort key.
    fn indexes(_value: &Self::Value) -> Vec<(u8, String, String)> {
        Vec::new()
    }
}

/// The attributes that a value is stored as.
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

/// The value that attributes stand for.
pub(crate) fn read<R: Record>(attributes: Attributes) -> Result<R::Value, Error> {
    let key = place(&attributes);
    if text(&attributes, "ty") != Some(R::TYPE) {
        return Err(Error::corrupt(key, format!("it is no {}", R::TYPE)));
    }
    is_of_this_format(&attributes)?;
    // The decoder's own message may show values: only the place is told.
    let record: R = serde_dynamo::from_item(attributes)
        .map_err(|_| Error::corrupt(key.clone(), "its attributes do not decode"))?;
    record.value().map_err(|Bad(what)| Error::corrupt(key, format!("bad {what}")))
}

/// Fails unless attributes are of the format that this code reads.
pub(crate) fn is_of_this_format(attributes: &Attributes) -> Result<(), Error> {
    let corrupt = |reason| Err(Error::corrupt(place(attributes), reason));
    match integer(attributes, "v") {
        Some(FORMAT) => Ok(()),
        Some(1) => corrupt("its format is that of an older version: begin with new data"),
        Some(_) | None => corrupt("its format is newer than this code"),
    }
}

/// The record type of attributes.
pub(crate) fn type_of(attributes: &Attributes) -> Option<&str> {
    text(attributes, "ty")
}

/// A text attribute.
pub(crate) fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.get(name).and_then(|value| value.as_s().ok()).map(String::as_str)
}

/// An integer attribute.
pub(crate) fn integer(attributes: &Attributes, name: &str) -> Option<u64> {
    attributes.get(name).and_then(|value| value.as_n().ok()).and_then(|value| value.parse().ok())
}

/// The key of attributes.
pub(crate) fn key(attributes: &Attributes) -> Option<Key> {
    Some(Key::new(text(attributes, "pk")?, text(attributes, "sk")?))
}

/// The key of attributes, for messages.
pub(crate) fn place(attributes: &Attributes) -> String {
    format!("{} / {}", text(attributes, "pk").unwrap_or("?"), text(attributes, "sk").unwrap_or("?"))
}
