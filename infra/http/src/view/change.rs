//! Change instances and their histories on the wire.

use super::difference::differences_of;
use super::reference::{item_url, references};
use super::{
    ApplicationView, Stored, TeamView, Viewpoint, add_member, application_view, declaration, is_zero,
    team_ref, team_with_metadata,
};
use domain::base::id::DeployedId;
use domain::base::state::{RuntimeState, Stage};
use domain::catalog::schema::Budget;
use domain::catalog::service::ReferencesSee;
use domain::model::change::{Entry, Version};
use domain::model::claim::Claim;
use domain::model::wait::Wait;
use domain::rules::order::left;
use domain::views::causes::{self, Cause};
use domain::views::proposal::{Proposal, Verified};
use domain::views::related::Related;
use domain::{Change, ChangeId, Hash, Item, ItemId, State, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

wire! {
    /// Returns a change instance from its own record: without metadata, declarations and the present state of its item.
    pub fn light_change_instance(change: &'a Change, viewpoint: &Viewpoint) -> pub ChangeView<'a> {
        application: ApplicationView<'a> = application_view(change.application_id(), None, &change.application, None),
        attempt: u64 = change.attempt,
        cause: Option<u64> = change.first_cause().map(ChangeId::get),
        #[serde(skip_serializing_if = "Option::is_none")] causes: Option<Vec<Value>> = None,
        #[serde(skip_serializing_if = "is_zero")] causes_count: usize = change.causes.len(),
        change_type: &'static str = change.change_type.name(),
        #[serde(skip_serializing_if = "Option::is_none")] claim: Option<Value> = None,
        claim_required: bool = change.claim_required,
        consumer_team: TeamView<'a> = team_ref(&change.consumer),
        created: String = change.created.to_wire(),
        id: u64 = change.id.get(),
        #[serde(skip_serializing_if = "Option::is_none")] import_id: Option<Value> = None,
        is_dependant: bool = change.is_dependant(),
        #[serde(skip_serializing_if = "Option::is_none")] is_ready: Option<bool> = None,
        kind: &'static str = change.kind.name(),
        log: &'a str = &change.log,
        modified: String = change.modified().to_wire(),
        never_in_service: bool = change.never_in_service,
        new_declaration: Option<VersionView<'a>> = change.new.map(|version| version_view(version, None)),
        old_declaration: Option<VersionView<'a>> = change.former().map(|version| version_view(version, None)),
        owner: TeamView<'a> = team_ref(&change.owner),
        #[serde(skip_serializing_if = "Option::is_none")] planned_item: Option<Stored<'a>> = None,
        #[serde(skip_serializing_if = "Option::is_none")] prior: Option<&'static str> = None,
        #[serde(skip_serializing_if = "Option::is_none")] proposed_item: Option<Value> = None,
        #[serde(skip_serializing_if = "Option::is_none")] references: Option<Vec<Value>> = None,
        replacement: bool = change.is_first_half(),
        service: ServiceView<'a> = service_view(change),
        service_item: ItemView<'a> = item_view(change, viewpoint),
        service_owner_team: TeamView<'a> = team_ref(&change.service_owner),
        state: &'static str = change.state.name(),
        submission: SubmissionView<'a> = submission_view(change),
        supersedes: Vec<u64> = change.supersedes.iter().map(|id| id.get()).collect(),
        #[serde(skip_serializing_if = "Option::is_none")] unknown: Option<Vec<String>> = None,
        unneeded: bool = change.unneeded,
        url: String = viewpoint.url("change_instances", change.id.get()),
        #[serde(skip_serializing_if = "Option::is_none")] waits_for: Option<Vec<Value>> = None,
    }

    fn version_view(version: Version, declaration: Option<Stored<'a>>) -> pub(crate) VersionView<'a> {
        #[serde(skip_serializing_if = "Option::is_none")] declaration: Option<Stored<'a>> = declaration,
        #[serde(skip_serializing_if = "Option::is_none")] schema_version: Option<u64> = None,
        version: u64 = version.number,
    }

    fn service_view(change: &'a Change) -> pub(crate) ServiceView<'a> {
        #[serde(skip_serializing_if = "Option::is_none")] allow_manual_approval: Option<bool> = None,
        #[serde(skip_serializing_if = "Option::is_none")] allow_manual_completion: Option<bool> = None,
        id: u64 = change.service.id.get(),
        name: &'a str = &change.service.title,
    }

    fn item_view(change: &'a Change, viewpoint: &Viewpoint) -> pub(crate) ItemView<'a> {
        #[serde(skip_serializing_if = "Option::is_none")] declaration: Option<Stored<'a>> = None,
        #[serde(skip_serializing_if = "Option::is_none")] deployed_item: Option<Stored<'a>> = None,
        id: Option<u64> = Some(change.item.get()),
        name: &'a str = &change.item_name,
        #[serde(skip_serializing_if = "Option::is_none")] runtime_state: Option<&'static str> = None,
        url: Option<String> = Some(viewpoint.url("service_items", change.item.get())),
    }

    fn submission_view(change: &'a Change) -> pub(crate) SubmissionView<'a> {
        commit_id: Option<&'a str> = change.commit_id.as_deref(),
        id: u64 = change.submission.get(),
    }
}

/// Returns a change instance as it is now.
pub fn change_instance<'a>(
    change: &'a Change,
    related: &'a Related,
    viewpoint: &Viewpoint,
) -> ChangeView<'a> {
    let item = related.items.get(&change.item);
    let now = ItemNow {
        runtime_state: item.map_or(change.runtime_state, |item| item.runtime_state),
        declaration: item.map(|item| item.version.hash),
        deployed: item.and_then(Item::shown_deployed).map(|latest| latest.id),
    };
    view(change, now, related, viewpoint)
}

impl ChangeView<'_> {
    /// Shows the references of the item, and the causes, if there are any (R72, R73).
    #[must_use]
    pub fn with_references(
        self,
        change: &Change,
        related: &Related,
        viewpoint: &Viewpoint,
        budget: &mut Budget,
    ) -> Self {
        let item = related.items.get(&change.item);
        let references = item.map(|item| references(item, related, viewpoint, budget));
        let causes = causes::shown(change).iter().filter_map(|id| related.causes.get(id));
        let causes: Vec<Value> = causes.map(|cause| cause_view(cause, Some(cause.change), related)).collect();
        Self {
            references: references.filter(|all| !all.is_empty()),
            causes: (!causes.is_empty()).then_some(causes),
            ..self
        }
    }

    /// Shows what has to happen before an open change instance (R74). `items` has the awaited items.
    #[must_use]
    pub fn with_waits(self, change: &Change, items: &BTreeMap<ItemId, Item>, viewpoint: &Viewpoint) -> Self {
        if change.state.stage() == Stage::Resolved {
            return self;
        }
        let left = left(change, items);
        let waits = left.iter().map(|wait| wait_view(wait, items, viewpoint)).collect();
        Self { is_ready: Some(left.is_empty()), waits_for: Some(waits), ..self }
    }

    /// Shows the claim on the work of the owner.
    #[must_use]
    pub fn with_claim(self, claim: Option<&Claim>) -> Self {
        Self { claim: Some(claim_view(claim)), ..self }
    }
}

/// Returns the change of a referenced item: the pointers that differ, with their values if the service shows its items to
/// references as a whole (R73). A preview knows no id of the change instance.
pub(crate) fn cause_view(cause: &Cause, change: Option<ChangeId>, related: &Related) -> Value {
    let settings = related.services.get(&cause.service).map(|service| &service.settings);
    let mut view = json!({
        "service_item": cause.item.get(),
        "service": cause.service,
        "name": cause.name,
        "change_instance": change.map(ChangeId::get),
        "pointers": cause.differences.iter().map(|field| &field.pointer).collect::<Vec<_>>(),
    });
    if settings.is_some_and(|settings| settings.references_see == ReferencesSee::All) {
        add_member(&mut view, "differences", differences_of(cause.differences.iter().cloned()));
    }
    view
}

/// Returns something that has to happen before a change instance: the item with its owner and states, and since when its
/// owner has the change instance. An item of a staged submission may be missing.
pub fn wait_view(wait: &Wait, items: &BTreeMap<ItemId, Item>, viewpoint: &Viewpoint) -> Value {
    let item = items.get(&wait.item);
    let open = item.and_then(|item| item.main().open().max_by_key(|slot| slot.change));
    json!({
        "service_item": wait.item.get(),
        "url": item.and_then(|item| item_url(item, viewpoint)),
        "service": item.map(|item| &item.service.title),
        "name": item.map(|item| &item.name),
        "owner": item.map(|item| team_ref(&item.service_owner)),
        "change_instance": wait.change.map(ChangeId::get),
        "runtime_state": item.map(|item| item.runtime_state.name()),
        "change_state": item.map(|item| item.change_state().name()),
        "since": open.map(|slot| slot.chain_head.at.to_wire()),
    })
}

/// Returns the newest claim on work: its number, and the worker with the end of its lease. After a release, worker and
/// end are null. Work that was never claimed has null.
pub fn claim_view(claim: Option<&Claim>) -> Value {
    let Some(claim) = claim.filter(|claim| claim.number > 0) else { return Value::Null };
    let (worker, until) =
        claim.lease.as_ref().map(|lease| (lease.worker.as_str(), lease.until.to_wire())).unzip();
    json!({"number": claim.number, "worker": worker, "until": until})
}

/// Returns the tag of a change instance: it differs after each entry of its history, and after each deployed item.
pub fn change_tag(change: &Change, item: Option<&Item>) -> String {
    let deployed = item.and_then(|item| item.deployed).map_or(0, |latest| latest.id.get());
    format!("{}-{deployed}", change.chain_head().entries)
}

/// Returns a change instance as it is now, with its proposal to the owner if it is open (R49).
///
/// A proposal that exceeds the budget is not complete.
pub fn change_instance_with_proposal<'a>(
    change: &'a Change,
    related: &'a Related,
    viewpoint: &Viewpoint,
    budget: &mut Budget,
) -> ChangeView<'a> {
    let mut view = change_instance(change, related, viewpoint);
    if let Some(proposal) = Proposal::of(change, related, budget) {
        propose(&mut view, change, related, proposal);
    }
    view
}

fn propose<'a>(view: &mut ChangeView<'a>, change: &'a Change, related: &'a Related, proposal: Proposal) {
    let Proposal { item, unknown, verified } = proposal;
    (view.proposed_item, view.unknown) = (Some(item), Some(unknown));
    if let Some(Verified { prior, import_id }) = verified {
        // An adoption ignores an earlier plan.
        let planned = change.planned().filter(|_| import_id.is_none());
        let planned = planned.map(|hash| declaration(change.consumer.id, hash, related));
        view.planned_item = Some(planned.unwrap_or(Stored::NULL));
        view.prior = Some(prior);
        view.import_id = Some(import_id.unwrap_or_default());
    }
    if let Some(new) = &mut view.new_declaration {
        new.schema_version = change.schema_version;
    }
}

/// Returns a change instance from [`Change::as_created`]. All replies to its submission are equal, whatever has changed
/// since.
pub fn change_instance_as_created<'a>(
    created: &'a Change,
    related: &'a Related,
    viewpoint: &Viewpoint,
) -> ChangeView<'a> {
    let now = ItemNow {
        runtime_state: created.runtime_state,
        declaration: created.new.or(created.old).map(|version| version.hash),
        deployed: created.deployed_before,
    };
    view(created, now, related, viewpoint)
}

/// The fields of the item in a change instance.
struct ItemNow {
    runtime_state: RuntimeState,
    declaration: Option<Hash>,
    deployed: Option<DeployedId>,
}

fn view<'a>(change: &'a Change, now: ItemNow, related: &'a Related, viewpoint: &Viewpoint) -> ChangeView<'a> {
    let declared = |hash| declaration(change.consumer.id, hash, related);
    let version = |version: Version| version_view(version, Some(declared(version.hash)));
    let deployed = now.deployed.and_then(|id| related.deployed.get(&id));
    let settings = related.services.get(&change.service.title).map(|service| &service.settings);
    let mut view = light_change_instance(change, viewpoint);
    view.application = application_view(change.application_id(), Some(related), &change.application, None);
    view.consumer_team = team_with_metadata(&change.consumer, related);
    view.new_declaration = change.new.map(version);
    view.old_declaration = change.former().map(version);
    view.service.allow_manual_approval = settings.map(|settings| settings.allow_manual_approval);
    view.service.allow_manual_completion = settings.map(|settings| settings.allow_manual_completion);
    view.service_item.declaration = Some(now.declaration.map_or(Stored::NONE, declared));
    view.service_item.deployed_item = Some(deployed.map_or(Stored::NONE, |one| Stored(&one.data)));
    view.service_item.runtime_state = Some(now.runtime_state.name());
    view.service_owner_team = team_with_metadata(&change.service_owner, related);
    view
}

/// Returns the history of a change instance, newest entry first.
pub fn history(change: &Change) -> Vec<EntryView<'_>> {
    let mut log = "";
    let entries = change.history.iter().zip(1..).map(|(entry, sequence)| {
        // An entry without a log text shows the newest one before it.
        log = entry.log.as_deref().unwrap_or(log);
        // The creation is the work of the submission, so it has the submission's message.
        let message = change.message.as_deref().filter(|_| entry.from.is_none());
        entry_view(change, entry, sequence, log, message)
    });
    let mut entries: Vec<_> = entries.collect();
    entries.reverse();
    entries
}

wire! {
    /// A history entry; `log` is the newest log text at that time.
    fn entry_view(
        change: &Change, entry: &'a Entry, sequence: u64, log: &'a str, message: Option<&'a str>,
    ) -> pub EntryView<'a> {
        change_type: &'static str = entry.change_type.name(),
        changed_by: String = entry.by.changed_by(),
        changed_by_team: Option<&'a str> = entry.by.team().map(|team| team.name.as_str()),
        changed_by_team_id: Option<u64> = entry.by.team().map(|team| team.id.get()),
        id: u64 = change.id.get(),
        log: &'a str = log,
        message: Option<&'a str> = message,
        modified: String = entry.at.to_wire(),
        note: Option<String> = entry.note(),
        previous_state: Option<&'static str> = entry.from.map(State::name),
        reason: &'static str = entry.reason.name(),
        request: &'a str = &entry.request,
        sequence: u64 = sequence,
        state: &'static str = entry.to.name(),
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
