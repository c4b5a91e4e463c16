//! The published events (docs/reference/events.md): ids, names and states, but no declaration and no log text.
//!
//! Every delivery of an event has the same id. The events of one subject are numbered in order.

use crate::base::id::ChangeId;
use crate::base::state::{ChangeType, State};
use crate::base::timestamp::Timestamp;
use crate::model::change::{Change, Entry};
use crate::model::deployed::Deployed;
use crate::model::submission::{Progress, Submission};
use serde_json::{Value, json};

/// The source of all events.
pub const SOURCE: &str = "dovetail.change-orchestration";

/// The event type for a new or changed change instance.
///
/// A breaking change gets a new suffix, published in parallel.
pub const CHANGE_INSTANCE: &str = "ChangeInstance.StateChanged.v1";
/// The event type for the acceptance and the progress of a submission.
pub const SUBMISSION: &str = "Submission.StateChanged.v1";
/// The event type for a new deployed item version.
pub const DEPLOYED_ITEM: &str = "DeployedItem.Created.v1";
/// The event type of a test of a webhook. Only the webhook receives it.
pub const WEBHOOK_TEST: &str = "Webhook.Triggered.v1";
/// The event type of a reminder of waiting work (R65). Only the webhook receives it.
pub const WEBHOOK_REMINDER: &str = "Webhook.Reminder.v1";

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The type with the version of its content.
    pub detail_type: &'static str,
    /// The subject; events of one subject are published in order.
    pub subject: String,
    /// The other resources of the event.
    pub resources: Vec<String>,
    /// The number among the events of its subject, from 1.
    pub sequence: u64,
    pub time: Timestamp,
    pub detail: Value,
}

impl Event {
    /// Returns `{subject's id}:{sequence}`, the same for every delivery.
    pub fn id(&self) -> &str {
        self.detail.pointer("/metadata/id").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns the events of a change instance's history after the first `entries_before` entries, oldest first.
pub fn of_change(entries_before: u64, change: &Change) -> Vec<Event> {
    let numbered = change.history.iter().zip(1..);
    let new = numbered.filter(|(_, sequence)| *sequence > entries_before);
    new.map(|(entry, sequence)| of_entry(change, entry, sequence)).collect()
}

fn of_entry(change: &Change, entry: &Entry, sequence: u64) -> Event {
    // No declaration, log text or deployed data: many teams' rules and targets read a bus, and a sent event cannot
    // be taken back (ADR 11).
    let mut data = json!({
        "id": change.id.get(),
        "from": entry.from.map(State::name),
        "to": entry.to.name(),
        "change_type": entry.change_type.name(),
        "kind": change.kind.name(),
        "cause": change.cause.map(ChangeId::get),
        "attempt": change.attempt,
        "owner": change.owner.name,
        "owner_id": change.owner.id.get(),
        "service_owner_team": change.service_owner.name,
        "consumer_team": change.consumer.name,
        "application": change.application,
        "service": change.service.title,
        "service_id": change.service.id.get(),
        "service_item": change.item_name,
        "service_item_id": change.item.get(),
        "submission": change.submission.get(),
        "actor": entry.by.changed_by(),
        "reason": entry.reason.name(),
        "note": entry.note(),
        "supersedes": change.supersedes.iter().map(|id| id.get()).collect::<Vec<_>>(),
    });
    if let Some(data) = data.as_object_mut() {
        data.extend(optional_fields(change, entry));
    }
    Event {
        detail_type: CHANGE_INSTANCE,
        subject: format!("dovetail:change_instance/{}", change.id),
        resources: vec![format!("dovetail:service_item/{}", change.item)],
        sequence,
        time: entry.at,
        detail: detail(&change.id.to_string(), sequence, change.submission.get(), &entry.request, data),
    }
}

/// Returns the fields that only some events of change instances have.
fn optional_fields(change: &Change, entry: &Entry) -> impl Iterator<Item = (String, Value)> {
    let is_replacement = entry.change_type == ChangeType::Delete && change.new.is_some();
    let is_completed = entry.to == State::Completed && entry.from != Some(State::Completed);
    // The first half of a replacement leaves nothing in place (R60).
    let unblocks = is_completed && !is_replacement && change.unblocks > 0;
    let fields = [
        ("planned", entry.planned.is_some(), json!(true)),
        ("replacement", is_replacement, json!(true)),
        ("unblocks", unblocks, json!(change.unblocks)),
    ];
    fields.into_iter().filter(|(_, applies, _)| *applies).map(|(name, _, value)| (name.to_owned(), value))
}

/// Returns the events of a submission: its acceptance, and each progress since `before`.
pub fn of_submission(before: Option<&Submission>, after: &Submission) -> Vec<Event> {
    // Submissions and change instances may have equal numbers; the prefix keeps the ids of their events apart.
    let id = format!("submission/{}", after.id);
    let progress = |from: Option<Progress>, to: Progress, sequence| {
        let data = json!({
            "id": after.id.get(),
            "from": from.map(Progress::name),
            "to": to.name(),
            "consumer_team": after.team.name,
            "changed": after.changed,
            "planned": {"direct": after.direct, "generated": after.derived},
            "actor": after.by.changed_by(),
        });
        Event {
            detail_type: SUBMISSION,
            subject: format!("dovetail:{id}"),
            resources: Vec::new(),
            sequence,
            time: if from.is_some() { after.modified } else { after.created },
            detail: detail(&id, sequence, after.id.get(), &after.request, data),
        }
    };
    let steps = steps(after);
    let reached = |submission: &Submission| {
        steps.iter().position(|step| *step == submission.progress()).map_or(0, |at| at + 1)
    };
    let before = before.map_or(0, reached);
    let accepted = after.as_accepted();
    // Without an earlier image, only the acceptance is new: each later progress has its own stream record.
    let now = if before == 0 { reached(&accepted) } else { reached(after) };
    let numbered = steps.iter().zip(1..).take(now).skip(before);
    numbered
        .map(|(step, sequence)| {
            let from = steps.iter().zip(2..).find(|(_, next)| *next == sequence).map(|(from, _)| *from);
            progress(from, *step, sequence)
        })
        .collect()
}

/// Returns the steps of a submission from its acceptance.
fn steps(submission: &Submission) -> &'static [Progress] {
    match (submission.staging, submission.derived) {
        (Some(_), _) => &[Progress::Committed, Progress::Applied, Progress::Settled],
        (None, 0) => &[Progress::Settled],
        (None, _) => &[Progress::Applied, Progress::Settled],
    }
}

/// Returns the event of a deployed item version.
pub fn of_deployed(deployed: &Deployed) -> Event {
    let mut data = json!({
        "id": deployed.id.get(),
        "version": deployed.version,
        "service_item_id": deployed.item.get(),
        "change_instance": deployed.change.get(),
        "owner": deployed.service_owner.name,
        "service_owner_team": deployed.service_owner.name,
        "consumer_team": deployed.consumer.name,
        "service": deployed.service.title,
    });
    if let (true, Some(data)) = (deployed.is_drifted, data.as_object_mut()) {
        data.insert("is_drifted".to_owned(), json!(true));
    }
    Event {
        detail_type: DEPLOYED_ITEM,
        subject: format!("dovetail:deployed_item/{}", deployed.id),
        resources: vec![
            format!("dovetail:service_item/{}", deployed.item),
            format!("dovetail:change_instance/{}", deployed.change),
        ],
        sequence: 1,
        time: deployed.created,
        detail: detail(
            &format!("deployed_item/{}", deployed.id),
            1,
            deployed.change.get(),
            &deployed.request,
            data,
        ),
    }
}

/// Builds the content of an event: its metadata with the names of `CloudEvents`, and its data.
fn detail(id: &str, sequence: u64, correlation: u64, causation: &str, data: Value) -> Value {
    json!({
        "metadata": {
            "specversion": "1.0",
            "id": format!("{id}:{sequence}"),
            "sequence": sequence,
            "correlation_id": correlation,
            "causation_id": causation,
        },
        "data": data,
    })
}

#[cfg(test)]
mod tests;
