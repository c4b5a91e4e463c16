//! Change instances and their histories on the wire.

use super::{Viewpoint, declaration, parsed, team_metadata, team_ref};
use domain::base::id::DeployedId;
use domain::base::state::RuntimeState;
use domain::model::change::{ClosedBy, Entry, Version};
use domain::views::related::Related;
use domain::{Change, Hash, TeamRef, Timestamp};
use serde_json::{Value, json};

/// Returns a change instance as it is now.
pub fn change_instance(change: &Change, related: &Related, viewpoint: &Viewpoint) -> Value {
    let item = related.items.get(&change.item);
    let now = ItemNow {
        runtime_state: item.map_or(change.runtime_state, |item| item.runtime_state),
        declaration: item.map(|item| item.version.hash),
        deployed: item.and_then(|item| item.deployed).map(|latest| latest.id),
    };
    view(change, &now, related, viewpoint)
}

/// Returns a change instance as created: all replies to its submission are equal, whatever changed since.
pub fn change_instance_as_created(change: &Change, related: &Related, viewpoint: &Viewpoint) -> Value {
    let created = change.as_created();
    let now = ItemNow {
        runtime_state: created.runtime_state,
        declaration: created.new.or(created.old).map(|version| version.hash),
        deployed: created.deployed_before,
    };
    view(&created, &now, related, viewpoint)
}

/// The fields of the item in a change instance.
struct ItemNow {
    runtime_state: RuntimeState,
    declaration: Option<Hash>,
    deployed: Option<DeployedId>,
}

fn view(change: &Change, item: &ItemNow, related: &Related, viewpoint: &Viewpoint) -> Value {
    let mut body = light_change_instance(change, viewpoint);
    let mut add = |object: &str, name: &str, value: Value| {
        if let Some(object) = body.pointer_mut(object).and_then(Value::as_object_mut) {
            object.insert(name.to_owned(), value);
        }
    };
    let consumer = change.consumer.id;
    let application = related.applications.get(&change.item.application());
    let metadata = application.map_or_else(|| json!({}), |application| parsed(&application.metadata));
    add("/application", "metadata", metadata);
    add("/service_owner_team", "metadata", team_metadata(change.service_owner.id, related));
    add("/consumer_team", "metadata", team_metadata(consumer, related));
    if let Some(service) = related.services.get(&change.service.title) {
        add("/service", "allow_manual_approval", json!(service.settings.allow_manual_approval));
        add("/service", "allow_manual_completion", json!(service.settings.allow_manual_completion));
    }
    for (name, version) in [("/new_declaration", &change.new), ("/old_declaration", &change.old)] {
        if let Some(version) = version {
            add(name, "declaration", declaration(consumer, version.hash, related));
        }
    }
    let declared = item.declaration.map_or_else(|| json!({}), |hash| declaration(consumer, hash, related));
    let deployed = item.deployed.and_then(|id| related.deployed.get(&id));
    add("/service_item", "runtime_state", json!(item.runtime_state.name()));
    add("/service_item", "declaration", declared);
    add(
        "/service_item",
        "deployed_item",
        deployed.map_or_else(|| json!({}), |deployed| parsed(&deployed.data)),
    );
    body
}

/// Returns a change instance from its own record: without metadata, declarations and the present state of its item.
pub fn light_change_instance(change: &Change, viewpoint: &Viewpoint) -> Value {
    let version = |version: &Version| json!({"version": version.number});
    json!({
        "id": change.id.get(),
        "url": viewpoint.url("change_instances", change.id.get()),
        "state": change.state.name(),
        "change_type": change.change_type.name(),
        "kind": change.kind.name(),
        "is_dependant": change.is_dependant(),
        "cause": change.cause.map(domain::ChangeId::get),
        "attempt": change.attempt,
        "supersedes": change.supersedes.iter().map(|id| id.get()).collect::<Vec<_>>(),
        "never_in_service": change.never_in_service,
        "log": change.log,
        "created": change.created.to_wire(),
        "modified": change.modified().to_wire(),
        "owner": team_ref(&change.owner),
        "service_owner_team": team_ref(&change.service_owner),
        "consumer_team": team_ref(&change.consumer),
        "service": {
            "id": change.service.id.get(),
            "name": change.service.title,
        },
        "application": {"id": change.item.application().get(), "name": change.application},
        "service_item": {
            "id": change.item.get(),
            "url": viewpoint.url("service_items", change.item.get()),
            "name": change.item_name,
        },
        "submission": {"id": change.submission.get(), "commit_id": change.commit_id},
        "new_declaration": change.new.as_ref().map(version),
        "old_declaration": change.old.as_ref().map(version),
    })
}

/// Returns the history of a change instance, newest entry first.
pub fn history(change: &Change) -> Vec<Value> {
    let mut log = "";
    let mut entries: Vec<Value> = change
        .history
        .iter()
        .zip(1..)
        .map(|(entry, sequence)| {
            // An entry without a log text shows the newest one before it.
            log = entry.log.as_deref().unwrap_or(log);
            history_entry(change, entry, sequence, log)
        })
        .collect();
    entries.reverse();
    entries
}

/// Returns one history entry; `log` is the newest log text at that time.
pub fn history_entry(change: &Change, entry: &Entry, sequence: u64, log: &str) -> Value {
    json!({
        "id": change.id.get(),
        "sequence": sequence,
        "state": entry.to.name(),
        "previous_state": entry.from.map(domain::State::name),
        "change_type": entry.change_type.name(),
        "log": log,
        "modified": entry.at.to_wire(),
        "reason": entry.reason.name(),
        "note": entry.closed_by.map(ClosedBy::describe),
        "changed_by": entry.by.changed_by(),
        "changed_by_team": entry.by.team().map(|team: &TeamRef| &team.name),
        "changed_by_team_id": entry.by.team().map(|team| team.id.get()),
        "request": entry.request,
    })
}

/// A blocker of a submission, as in the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocker {
    pub(crate) view: Value,
    /// Owner, start of the state, log text and URL.
    pub(crate) why: String,
}

impl Blocker {
    /// Creates the view of a change instance with the start of its state.
    pub fn new(change: &Change, since: Timestamp, viewpoint: &Viewpoint) -> Self {
        let (owner, log, since) = (&change.owner, &change.log, since.to_wire());
        let url = viewpoint.url("change_instances", change.id.get());
        let log_text = if log.is_empty() { "no log text".to_owned() } else { format!("log text '{log}'") };
        let why = format!("owner {}, since {since}, {log_text}, {url}", owner.name);
        let view = json!({"id": change.id.get(), "url": url, "state": change.state.name(), "owner": team_ref(owner),
            "since": since, "log": log});
        Self { view, why }
    }
}
