//! What is asked about items, and what an answer means.

use super::{REASON_BYTES_MAX, Status, Told};
use crate::id::ItemId;
use crate::item::Item;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Why there is no answer to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Another status than one of success.
    Status(u16),
    /// None in time.
    TimedOut,
    /// No connection, or none that can be trusted, or no answer that is HTTP.
    Unreachable,
    /// The name leads to an address that is not public.
    NotPublic,
    /// An answer of another form, or one that is too long.
    Malformed,
}

impl Failed {
    /// The status, if there was one.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status),
            Self::TimedOut | Self::Unreachable | Self::NotPublic | Self::Malformed => None,
        }
    }

    /// The one name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status(_) => "status",
            Self::TimedOut => "timeout",
            Self::Unreachable => "unreachable",
            Self::NotPublic => "not_public",
            Self::Malformed => "malformed",
        }
    }

    /// Reads what the other two told.
    pub fn parse(name: &str, status: Option<u16>) -> Option<Self> {
        match status {
            Some(status) => (name == "status").then_some(Self::Status(status)),
            None => [Self::TimedOut, Self::Unreachable, Self::NotPublic, Self::Malformed]
                .into_iter()
                .find(|failed| failed.name() == name),
        }
    }

    /// What is told of an item that was asked about.
    pub fn told(self) -> Told {
        Told { status: Status::Unknown, reason: Some(format!("the healthcheck has failed: {}", self.name())) }
    }
}

/// What is asked about one item.
pub fn question_about(item: &Item) -> Value {
    json!({
        "service": item.service.title,
        "service_item": item.name,
        "application": item.application,
        "consumer": item.consumer.name,
        "id": item.id.get(),
    })
}

/// What is asked about several items of a service.
pub fn question_about_all(service: &str, items: &[Item]) -> Value {
    let of = |item: &Item| {
        json!({
            "id": item.id.get(),
            "name": item.name,
            "application": item.application,
            "consumer": item.consumer.name,
        })
    };
    json!({"service": service, "service_items": items.iter().map(of).collect::<Vec<_>>()})
}

/// What an answer tells of the one item that was asked about.
pub fn about_one(answer: &[u8]) -> Result<Told, Failed> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| Failed::Malformed)?;
    told(&answer).ok_or(Failed::Malformed)
}

/// What an answer tells of several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldOfAll {
    /// What it tells of each that was asked about.
    pub items: BTreeMap<ItemId, Told>,
    /// How many of its entries cannot be read, are of other items, or of one that it has told of before; and how many
    /// items it does not tell of.
    pub faults: u64,
}

/// What an answer tells of the items that were asked about. Of others it tells nothing, whatever it says.
pub fn about_all(answer: &[u8], asked: &[Item]) -> Result<ToldOfAll, Failed> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| Failed::Malformed)?;
    let entries = answer.get("service_items").and_then(Value::as_array).ok_or(Failed::Malformed)?;
    let mut told_of = ToldOfAll { items: BTreeMap::new(), faults: 0 };
    for entry in entries {
        let id = entry.get("id").and_then(number).and_then(ItemId::parse);
        let id = id.filter(|id| asked.iter().any(|item| item.id == *id) && !told_of.items.contains_key(id));
        match id.zip(told(entry)) {
            Some((id, told)) => drop(told_of.items.insert(id, told)),
            None => told_of.faults = told_of.faults.saturating_add(1),
        }
    }
    for item in asked {
        if !told_of.items.contains_key(&item.id) {
            told_of.faults = told_of.faults.saturating_add(1);
            let reason = Some("the answer does not tell of it".to_owned());
            told_of.items.insert(item.id, Told { status: Status::Unknown, reason });
        }
    }
    Ok(told_of)
}

/// A number, or the digits of one.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn told(entry: &Value) -> Option<Told> {
    let status = entry.get("status")?.as_str().and_then(Status::parse)?;
    let reason = match entry.get("reason") {
        None | Some(Value::Null) => None,
        Some(reason) => Some(cut(reason.as_str()?)),
    };
    Some(Told { status, reason })
}

/// A text up to the bytes that there is room for.
fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(REASON_BYTES_MAX)).unwrap_or_default().to_owned()
}
