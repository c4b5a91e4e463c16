//! What is published for one history entry (design.md D): ids, names and states, never a declaration or log.

use crate::change::{Change, Entry};
use crate::state::State;
use serde_json::{Value, json};

/// The type of the event; a breaking change gets a new suffix, published in parallel.
pub const STATE_CHANGED: &str = "ChangeInstance.StateChanged.v1";

/// An event about a change instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `{change instance}:{entry}`: the same for every delivery of the same entry.
    pub id: String,
    /// Orders the events of one change instance, from 1.
    pub sequence: u64,
    /// The event's content.
    pub detail: Value,
}

/// The events of every state change in a history, oldest first.
pub fn of_history(change: &Change) -> Vec<Event> {
    change.history.iter().zip(1..).map(|(entry, sequence)| state_changed(change, entry, sequence)).collect()
}

fn state_changed(change: &Change, entry: &Entry, sequence: u64) -> Event {
    let id = format!("{}:{sequence}", change.id);
    let detail = json!({
        "metadata": {
            "specversion": "1.0",
            "id": id,
            "sequence": sequence,
            "correlation_id": change.submission.get(),
            "causation_id": entry.request,
        },
        "data": {
            "id": change.id.get(),
            "from": entry.from.map(State::name),
            "to": entry.to.name(),
            "change_type": entry.change_type.name(),
            "kind": change.kind.name(),
            "owner": change.owner.name,
            "service_owner_team": change.service_owner.name,
            "consumer_team": change.consumer.name,
            "application": change.application,
            "service": change.service.title,
            "service_item": change.item_name,
            "service_item_id": change.item.get(),
            "submission": change.submission.get(),
            "actor": entry.by.changed_by(),
            "reason": entry.closed_by.map(crate::change::ClosedBy::describe),
            "supersedes": change.supersedes.iter().map(|id| id.get()).collect::<Vec<_>>(),
        },
    });
    Event { id, sequence, detail }
}
