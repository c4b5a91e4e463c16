//! Change instances and their histories on the wire.

use super::{ApplicationView, Stored, TeamView, Viewpoint, declaration, team_ref, team_with_metadata};
use domain::base::id::DeployedId;
use domain::base::state::RuntimeState;
use domain::model::change::{ClosedBy, Entry, Version};
use domain::views::related::Related;
use domain::{Change, ChangeId, Hash, State, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};

/// A change instance.
#[derive(Serialize)]
pub struct ChangeInstance<'a> {
    pub(super) application: ApplicationView<'a>,
    attempt: u64,
    cause: Option<u64>,
    pub(super) change_type: &'static str,
    pub(super) consumer_team: TeamView<'a>,
    created: String,
    id: u64,
    pub(super) is_dependant: bool,
    pub(super) kind: &'static str,
    log: &'a str,
    modified: String,
    pub(super) never_in_service: bool,
    pub(super) new_declaration: Option<VersionView<'a>>,
    pub(super) old_declaration: Option<VersionView<'a>>,
    pub(super) owner: TeamView<'a>,
    pub(super) service: ServiceView<'a>,
    pub(super) service_item: ItemView<'a>,
    pub(super) service_owner_team: TeamView<'a>,
    pub(super) state: &'static str,
    submission: SubmissionView<'a>,
    supersedes: Vec<u64>,
    url: String,
}

#[derive(Serialize)]
pub(super) struct VersionView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    declaration: Option<Stored<'a>>,
    version: u64,
}

#[derive(Serialize)]
pub(super) struct ServiceView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_manual_approval: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_manual_completion: Option<bool>,
    id: u64,
    name: &'a str,
}

#[derive(Serialize)]
pub(super) struct ItemView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    declaration: Option<Stored<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployed_item: Option<Stored<'a>>,
    pub(super) id: Option<u64>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_state: Option<&'static str>,
    pub(super) url: Option<String>,
}

#[derive(Serialize)]
struct SubmissionView<'a> {
    commit_id: Option<&'a str>,
    id: u64,
}

/// Returns a change instance as it is now.
pub fn change_instance<'a>(
    change: &'a Change,
    related: &'a Related,
    viewpoint: &Viewpoint,
) -> ChangeInstance<'a> {
    let item = related.items.get(&change.item);
    let now = ItemNow {
        runtime_state: item.map_or(change.runtime_state, |item| item.runtime_state),
        declaration: item.map(|item| item.version.hash),
        deployed: item.and_then(|item| item.deployed).map(|latest| latest.id),
    };
    view(change, &now, related, viewpoint)
}

/// Returns a change instance from [`Change::as_created`], with its item at that time.
///
/// All replies to its submission are equal, whatever changed since.
pub fn change_instance_as_created<'a>(
    created: &'a Change,
    related: &'a Related,
    viewpoint: &Viewpoint,
) -> ChangeInstance<'a> {
    let now = ItemNow {
        runtime_state: created.runtime_state,
        declaration: created.new.or(created.old).map(|version| version.hash),
        deployed: created.deployed_before,
    };
    view(created, &now, related, viewpoint)
}

/// The fields of the item in a change instance.
struct ItemNow {
    runtime_state: RuntimeState,
    declaration: Option<Hash>,
    deployed: Option<DeployedId>,
}

fn view<'a>(
    change: &'a Change,
    item: &ItemNow,
    related: &'a Related,
    viewpoint: &Viewpoint,
) -> ChangeInstance<'a> {
    let declared = |hash| declaration(change.consumer.id, hash, related);
    let version = |version: &Version| VersionView {
        declaration: Some(declared(version.hash)),
        version: version.number,
    };
    let deployed = item.deployed.and_then(|id| related.deployed.get(&id));
    let mut shown = light_change_instance(change, viewpoint);
    shown.application.metadata = Some(super::application_metadata(change.item.application(), related));
    shown.consumer_team = team_with_metadata(&change.consumer, related);
    shown.service_owner_team = team_with_metadata(&change.service_owner, related);
    shown.new_declaration = change.new.as_ref().map(version);
    shown.old_declaration = change.old.as_ref().map(version);
    let settings = related.services.get(&change.service.title).map(|service| &service.settings);
    shown.service.allow_manual_approval = settings.map(|settings| settings.allow_manual_approval);
    shown.service.allow_manual_completion = settings.map(|settings| settings.allow_manual_completion);
    shown.service_item.declaration = Some(item.declaration.map_or(Stored::NONE, declared));
    shown.service_item.deployed_item = Some(deployed.map_or(Stored::NONE, |one| Stored(&one.data)));
    shown.service_item.runtime_state = Some(item.runtime_state.name());
    shown
}

/// Returns a change instance from its own record: without metadata, declarations and the present state of its item.
pub fn light_change_instance<'a>(change: &'a Change, viewpoint: &Viewpoint) -> ChangeInstance<'a> {
    let version = |version: &Version| VersionView { declaration: None, version: version.number };
    ChangeInstance {
        application: ApplicationView {
            id: Some(change.item.application().get()),
            metadata: None,
            name: &change.application,
            owner: None,
        },
        attempt: change.attempt,
        cause: change.cause.map(ChangeId::get),
        change_type: change.change_type.name(),
        consumer_team: team_ref(&change.consumer),
        created: change.created.to_wire(),
        id: change.id.get(),
        is_dependant: change.is_dependant(),
        kind: change.kind.name(),
        log: &change.log,
        modified: change.modified().to_wire(),
        never_in_service: change.never_in_service,
        new_declaration: change.new.as_ref().map(version),
        old_declaration: change.old.as_ref().map(version),
        owner: team_ref(&change.owner),
        service: ServiceView {
            allow_manual_approval: None,
            allow_manual_completion: None,
            id: change.service.id.get(),
            name: &change.service.title,
        },
        service_item: ItemView {
            declaration: None,
            deployed_item: None,
            id: Some(change.item.get()),
            name: &change.item_name,
            runtime_state: None,
            url: Some(viewpoint.url("service_items", change.item.get())),
        },
        service_owner_team: team_ref(&change.service_owner),
        state: change.state.name(),
        submission: SubmissionView { commit_id: change.commit_id.as_deref(), id: change.submission.get() },
        supersedes: change.supersedes.iter().map(|id| id.get()).collect(),
        url: viewpoint.url("change_instances", change.id.get()),
    }
}

/// An entry of the history of a change instance.
#[derive(Serialize)]
pub struct HistoryEntry<'a> {
    change_type: &'static str,
    changed_by: String,
    changed_by_team: Option<&'a str>,
    changed_by_team_id: Option<u64>,
    id: u64,
    /// The newest log text at that time.
    log: &'a str,
    modified: String,
    note: Option<String>,
    previous_state: Option<&'static str>,
    reason: &'static str,
    request: &'a str,
    sequence: u64,
    state: &'static str,
}

/// Returns the history of a change instance, newest entry first.
pub fn history(change: &Change) -> Vec<HistoryEntry<'_>> {
    let mut log = "";
    let mut entries: Vec<HistoryEntry<'_>> = change
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

fn history_entry<'a>(change: &Change, entry: &'a Entry, sequence: u64, log: &'a str) -> HistoryEntry<'a> {
    let team = entry.by.team();
    HistoryEntry {
        change_type: entry.change_type.name(),
        changed_by: entry.by.changed_by(),
        changed_by_team: team.map(|team| team.name.as_str()),
        changed_by_team_id: team.map(|team| team.id.get()),
        id: change.id.get(),
        log,
        modified: entry.at.to_wire(),
        note: entry.closed_by.map(ClosedBy::describe),
        previous_state: entry.from.map(State::name),
        reason: entry.reason.name(),
        request: &entry.request,
        sequence,
        state: entry.to.name(),
    }
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
