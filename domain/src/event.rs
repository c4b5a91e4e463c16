//! What is published for one history entry (docs/architecture.md): ids, names and states, never a declaration or log.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::{Actor, TeamRef};
    use crate::change::{Chain, ChangeType, Kind, Reason, Version};
    use crate::id::{ApplicationId, ChangeId, ItemId, ServiceId, SubmissionId, TeamId};
    use crate::item::RuntimeState;
    use crate::json::Hash;
    use crate::service::ServiceRef;
    use crate::timestamp::Timestamp;

    fn entry(from: Option<State>, to: State) -> Entry {
        Entry {
            from,
            to,
            at: Timestamp::from_micros(1),
            by: Actor::System,
            request: "request-1".to_owned(),
            reason: Reason::State,
            closed_by: None,
            log: Some("SECRET".to_owned()),
            change_type: ChangeType::Create,
            chain: Chain::START,
        }
    }

    fn change() -> Change {
        let team = TeamId::new(4).unwrap();
        let consumer = TeamRef { id: team, name: "AwesomeConsumer".to_owned() };
        let owner = TeamRef { id: TeamId::new(1).unwrap(), name: "VMOwnerTeam".to_owned() };
        Change {
            id: ChangeId::new(team, 16).unwrap(),
            item: ItemId::new(ApplicationId::new(team, 1).unwrap(), 1).unwrap(),
            item_name: "CoreVM1".to_owned(),
            application: "NewApp1".to_owned(),
            service: ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() },
            owner: owner.clone(),
            service_owner: owner,
            consumer,
            kind: Kind::Direct,
            cause: None,
            change_type: ChangeType::Create,
            state: State::Approved,
            submission: SubmissionId::new(team, 1).unwrap(),
            commit_id: None,
            attempt: 1,
            new: Some(Version { number: 1, hash: Hash::of("SECRET") }),
            old: None,
            supersedes: Vec::new(),
            superseded_at_birth: 0,
            never_in_service: false,
            runtime_state: RuntimeState::Requested,
            deployed_before: None,
            log: "SECRET".to_owned(),
            created: Timestamp::from_micros(1),
            history: vec![entry(None, State::Pending), entry(Some(State::Pending), State::Approved)],
        }
    }

    #[test]
    fn each_entry_is_one_event_with_an_id_of_its_own_in_order() {
        let events = of_history(&change());
        let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids, ["137438953488:1", "137438953488:2"]);
        assert_eq!(events[1].sequence, 2);
        let data = &events[1].detail["data"];
        assert_eq!((&data["from"], &data["to"]), (&json!("PENDING"), &json!("APPROVED")));
        assert_eq!(data["service_item"], "CoreVM1");
    }

    #[test]
    fn no_event_tells_a_declaration_or_a_log() {
        let told: String = of_history(&change()).iter().map(|event| event.detail.to_string()).collect();
        assert!(!told.contains("SECRET") && !told.contains(&Hash::of("SECRET").to_string()), "{told}");
    }
}
