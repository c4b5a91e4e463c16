//! The questions about items, and the interpretation of responses.

use super::{HealthReport, REASON_BYTES_MAX, Status};
use crate::base::id::ItemId;
use crate::model::item::Item;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The reason why a response is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A status code other than success.
    Status(u16),
    TimedOut,
    /// No connection, an untrusted one, or a response without HTTP.
    Unreachable,
    /// The name resolves to an address that is not public.
    NotPublic,
    /// A response of another form, or one that is too long.
    Malformed,
}

impl Failed {
    /// Returns the status code, if there was one.
    pub const fn status(self) -> Option<u16> {
        match self {
            Self::Status(status) => Some(status),
            Self::TimedOut | Self::Unreachable | Self::NotPublic | Self::Malformed => None,
        }
    }

    /// Returns the name in metrics and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status(_) => "status",
            Self::TimedOut => "timeout",
            Self::Unreachable => "unreachable",
            Self::NotPublic => "not_public",
            Self::Malformed => "malformed",
        }
    }

    /// Parses a failure from its name and status code.
    pub fn parse(name: &str, status: Option<u16>) -> Option<Self> {
        match status {
            Some(status) => (name == "status").then_some(Self::Status(status)),
            None => [Self::TimedOut, Self::Unreachable, Self::NotPublic, Self::Malformed]
                .into_iter()
                .find(|failed| failed.name() == name),
        }
    }

    /// Returns the result for an item of the failed request.
    pub fn to_report(self) -> HealthReport {
        HealthReport {
            status: Status::Unknown,
            reason: Some(format!("the healthcheck failed: {}", self.name())),
        }
    }
}

/// Builds the question about one item.
pub fn question_about(item: &Item) -> Value {
    // Names and ids only: declarations may hold secrets, and the target needs none of them.
    json!({
        "service": item.service.title,
        "service_item": item.name,
        "application": item.application,
        "consumer": item.consumer.name,
        "id": item.id.get(),
    })
}

/// Builds the question about several items of a service.
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

/// Parses the response about one item.
pub fn about_one(answer: &[u8]) -> Result<HealthReport, Failed> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| Failed::Malformed)?;
    parse_report(&answer).ok_or(Failed::Malformed)
}

/// The response about several items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthReports {
    /// The result of each item in the question.
    pub items: BTreeMap<ItemId, HealthReport>,
    /// The number of faults: unreadable entries, entries of other items, repetitions, and items without an entry.
    pub faults: u64,
}

/// Parses the response about several items; entries of other items only count as faults.
pub fn about_all(answer: &[u8], items: &[Item]) -> Result<HealthReports, Failed> {
    let answer: Value = serde_json::from_slice(answer).map_err(|_| Failed::Malformed)?;
    let entries = answer.get("service_items").and_then(Value::as_array).ok_or(Failed::Malformed)?;
    let mut reports = HealthReports { items: BTreeMap::new(), faults: 0 };
    for entry in entries {
        let id = entry.get("id").and_then(number).and_then(ItemId::parse);
        // The target must not change the health of items that it was not asked about, nor answer twice.
        let id = id.filter(|id| items.iter().any(|item| item.id == *id) && !reports.items.contains_key(id));
        match id.zip(parse_report(entry)) {
            Some((id, report)) => drop(reports.items.insert(id, report)),
            None => reports.faults = reports.faults.saturating_add(1),
        }
    }
    for item in items {
        if !reports.items.contains_key(&item.id) {
            reports.faults = reports.faults.saturating_add(1);
            let reason = Some("the response does not contain this item".to_owned());
            reports.items.insert(item.id, HealthReport { status: Status::Unknown, reason });
        }
    }
    Ok(reports)
}

/// Reads a number, or a string of digits.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn parse_report(entry: &Value) -> Option<HealthReport> {
    let status = entry.get("status")?.as_str().and_then(Status::parse)?;
    let reason = match entry.get("reason") {
        None | Some(Value::Null) => None,
        Some(reason) => Some(cut(reason.as_str()?)),
    };
    Some(HealthReport { status, reason })
}

/// Cuts a text at the limit, on a character boundary.
fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(REASON_BYTES_MAX)).unwrap_or_default().to_owned()
}
