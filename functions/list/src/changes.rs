//! Change instances: the lists of a role, of dependent teams and of kind REFERENCED, and one.

use crate::causes;
use crate::filter::{Filter, single, texts};
use crate::items;
use crate::order::{Field, Orders, stored_order};
use crate::page::{List, ListRequest, is_paging, only_knows};
use crate::references;
use domain::account::audit_log::AuditEntry;
use domain::base::actor::Role;
use domain::base::state::{ChangeType, Kind, Stage};
use domain::catalog::schema::Budget;
use domain::model::claim::Claim;
use domain::model::submission::Submission;
use domain::rules::visibility::Side;
use domain::views::related::Related;
use domain::{Change, ChangeId, Item, ItemId, State, SubmissionId, TeamId};
use dovetail_aws::off_worker;
use dovetail_http::view::{self, ChangeView, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Source, Table};
use std::collections::BTreeMap;

const FILTERS: &[&str] = &[
    "application_id",
    "change_type",
    "commit_id",
    "consumer_team_id",
    "declaration",
    "declaration_contains",
    "declaration_regex",
    "start_date",
    "modified",
    "end_date",
    "proposal",
    "references",
    "replacement",
    "exclude_referenced",
    "is_ready",
    "is_dependant",
    "light",
    "service_id",
    "service_item_id",
    "service_name",
    "service_owner_team_id",
    "state",
    "submission_id",
    "unneeded",
];

/// Maximum number of rows of a page with references.
const WITH_REFERENCES_MAX: usize = 50;

/// The parameters of an owner's lists about the claims on its work (R64).
const CLAIM_FILTERS: &[&str] = &["claimed", "claimed_by", "claims"];

const FIELDS: &[Field<Change>] = &[
    ("created", |change| change.created.to_wire()),
    ("id", |change| format!("{:016}", change.id.get())),
    ("modified", |change| change.modified().to_wire()),
    ("state", |change| change.state.name().to_owned()),
    ("change_type", |change| change.change_type.name().to_owned()),
];

/// Lists the change instances owned by the caller, or those of its own items.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let (source, filter) = wanted(request.table, call).await?;
    let by_item = single(&call.query, "service_item_id")?.is_some();
    let orders = Orders::By { stored: stored_order(call.side, by_item), fields: FIELDS };
    reply(&List { request, source, filter, orders }).await
}

/// Lists the change instances of dependent teams.
pub(crate) async fn dependent(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let (source, mut filter) = wanted(request.table, request.call).await?;
    filter.matches_min = None;
    filter.test(Change::is_dependant);
    reply(&List { request, source, filter, orders: Orders::Ignored }).await
}

/// Lists the change instances of kind REFERENCED.
pub(crate) async fn referenced(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let (source, mut filter) = wanted(request.table, request.call).await?;
    filter.matches_min = None;
    filter.test(|change| change.kind == Kind::Referenced);
    reply(&List { request, source, filter, orders: Orders::Ignored }).await
}

/// Returns one change instance.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let change = table.change(call.id_of(ChangeId::parse, ChangeId::team)?).await?;
    let change = change.filter(|change| call.side.shows_change(change, call.caller.team.id));
    let change = change.ok_or(Code::NotFound)?;
    let changes = std::slice::from_ref(&change);
    let mut related = table.related_to_changes(changes).await?;
    table.add_definitions_of_changes(changes, &mut related).await?;
    if call.query.truth("secrets")? == Some(true) {
        reveal(table, call, &change, &mut related).await?;
    }
    add_references(table, changes, &mut related).await?;
    let waits = Waits::read(table, changes).await?;
    let claims = Claims::of_one(table, call, &change).await?;
    let (viewpoint, mut budget) = (Viewpoint::of(call), Budget::of_request());
    let view = || {
        let view = view::change_instance_with_proposal(&change, &related, &viewpoint, &mut budget);
        let view = waits.shown(&change, view, &viewpoint);
        claims.shown(&change, view.with_references(&change, &related, &viewpoint, &mut budget))
    };
    let tag = view::change_tag(&change, related.items.get(&change.item));
    Ok(Reply::new(200, off_worker(view))?.with_tag(&tag))
}

/// Puts the secrets of the new declaration in place of their masks, and records the read (R58).
async fn reveal(table: &Table, call: &Call, change: &Change, related: &mut Related) -> Result<(), Failure> {
    if !matches!(call.caller.role, Role::General | Role::Admin) {
        return Err(Code::ReadOnlyKey.into());
    }
    let is_owner = call.side == Side::ServiceOwner && change.service_owner.id == call.caller.team.id;
    if !is_owner || change.is_dependant() {
        return Err(Code::NotOwner.into());
    }
    let new = change.new.filter(|_| matches!(change.state, State::Pending | State::Approved));
    let key = (change.consumer.id, new.ok_or(Code::NoSecretsNow)?.hash);
    let Some(stored) = table.secrets(vec![key]).await?.remove(&key) else { return Ok(()) };
    // The entry comes before the reply, so that no secret leaves without it.
    table.record_read(&AuditEntry::of_secrets(change, &call.ctx())).await?;
    if let Some(text) = related.declarations.get_mut(&key) {
        // An older release stored masks that stand for more bytes than a record can hold.
        *text = stored.secrets.revealed_text(text).map_err(|_| Code::Broken)?;
    }
    Ok(())
}

/// Returns the narrowest source of the rows, and the filter for them.
async fn wanted(table: &Table, call: &Call) -> Result<(Source<Change>, Filter<Change>), Failure> {
    let (query, side, team) = (&call.query, call.side, call.caller.team.id);
    match side {
        Side::ServiceOwner => only_knows(call, &[FILTERS, CLAIM_FILTERS].concat())?,
        Side::Consumer => only_knows(call, FILTERS)?,
    }
    let states = states(call)?;
    let item = single(query, "service_item_id")?;
    let mut existing = None;
    let source = match (item.and_then(ItemId::parse), side) {
        (Some(id), _) => {
            let source = Source::<Change>::of_item(id);
            if items::is_visible(table, call, id).await? { source } else { source.emptied() }
        }
        (None, Side::Consumer) => match submission(table, call).await? {
            Some(submission) => {
                existing = Some(submission.opened);
                Source::<Change>::since(&submission)
            }
            None => Source::<Change>::of_consumer(team),
        },
        (None, Side::ServiceOwner) => Source::<Change>::owned_by(team, &states),
    };
    let mut filter = filter(call)?;
    // The record of a submission counts its change instances without retries, so this is a minimum.
    let is_all = query.names().all(|name| name == "submission_id" || name == "ordering" || is_paging(name));
    filter.matches_min = existing.filter(|_| is_all);
    // These sources also have rows of other owners or in other states.
    if item.is_some() || side == Side::Consumer && query.get("state").is_some() {
        filter.test(move |change| owned_in(side, change, team) && states.contains(&change.state));
    }
    Ok((source, filter))
}

/// Returns the submission in the query, if it belongs to the caller's team.
async fn submission(table: &Table, call: &Call) -> Result<Option<Submission>, Failure> {
    let id = single(&call.query, "submission_id")?.and_then(SubmissionId::parse);
    match id.filter(|id| id.team() == call.caller.team.id) {
        Some(id) => Ok(table.submission(id).await?),
        None => Ok(None),
    }
}

fn filter(call: &Call) -> Result<Filter<Change>, Failure> {
    let query = &call.query;
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |change: &Change| change.application_id().get())?;
    filter.ids(query, "consumer_team_id", |change| change.consumer.id.get())?;
    filter.ids(query, "service_id", |change| change.service.id.get())?;
    filter.ids(query, "service_item_id", |change| change.item.get())?;
    filter.ids(query, "service_owner_team_id", |change| change.service_owner.id.get())?;
    filter.ids(query, "submission_id", |change| change.submission.get())?;
    filter.texts(query, "service_name", |change| &change.service.title);
    filter.texts(query, "commit_id", |change| change.commit_id.as_deref().unwrap_or_default());
    let types = ChangeType::ALL.map(ChangeType::name);
    filter.words(query, "change_type", &types, |change| change.change_type.name())?;
    if query.truth("exclude_referenced")? == Some(true) {
        filter.test(|change| change.kind != Kind::Referenced);
    }
    filter.truth(query, "is_dependant", Change::is_dependant)?;
    filter.truth(query, "replacement", Change::is_first_half)?;
    filter.truth(query, "unneeded", |change| change.unneeded)?;
    add_claim_filters(&mut filter, call)?;
    if let Some(wanted) = query.truth("is_ready")? {
        filter.is_ready(wanted);
    }
    filter.dates(query, Change::modified)?;
    filter.declarations(query, |change| {
        let version = change.new.or(change.old)?;
        Some((change.consumer.id, version.hash))
    })?;
    Ok(filter)
}

/// Adds the filters on the claims of workers at the time of the request.
fn add_claim_filters(filter: &mut Filter<Change>, call: &Call) -> Result<(), Failure> {
    let now = call.now;
    if let Some(wanted) = call.query.truth("claimed")? {
        filter.claim(move |claim| claim.is_some_and(|claim| !claim.is_free(now)) == wanted);
    }
    if let Some(workers) = texts(&call.query, "claimed_by") {
        filter.claim(move |claim| {
            let lease = claim.and_then(|claim| claim.live(now));
            lease.is_some_and(|lease| workers.contains(&lease.worker))
        });
    }
    Ok(())
}

/// Returns the states in the query; all by default.
fn states(call: &Call) -> Result<Vec<State>, Failure> {
    let Some(names) = call.query.list("state") else { return Ok(State::ALL.to_vec()) };
    let states: Option<Vec<State>> = names.iter().map(|name| State::parse(name)).collect();
    let allowed_names = State::ALL.map(State::name).join(", ");
    let mut states = states.ok_or_else(|| {
        Call::bad_filter(&FieldError::new("state", format!("must be one of {allowed_names}")))
    })?;
    // Each state is a partition of the index, so a repeated state would repeat its rows.
    states.sort_unstable();
    states.dedup();
    Ok(states)
}

/// Returns whether a list in this role contains the change instance. The queue of an owner has only the owner's change
/// instances.
fn owned_in(side: Side, change: &Change, team: TeamId) -> bool {
    match side {
        Side::ServiceOwner => change.owner.id == team,
        Side::Consumer => change.consumer.id == team,
    }
}

async fn reply(list: &List<'_, Change>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = list.request;
    let viewpoint = Viewpoint::of(call);
    if call.query.truth("light")? == Some(true) {
        let page = list.uncounted_page().await?;
        let claims = Claims::of_rows(table, call, &page.rows).await?;
        let waits = Waits::of_rows(table, call, &page.rows).await?;
        let light = |change| {
            let view = waits.shown(change, view::light_change_instance(change, &viewpoint), &viewpoint);
            claims.shown(change, view)
        };
        return page.reply(page.rows.iter().map(light));
    }
    let has_references = call.query.truth("references")? == Some(true);
    let page = list.page_of_at_most(if has_references { WITH_REFERENCES_MAX } else { usize::MAX }).await?;
    let claims = Claims::of_rows(table, call, &page.rows).await?;
    let waits = Waits::of_rows(table, call, &page.rows).await?;
    let mut related = match call.side {
        // The rows of an owner come from an index, so their related records may be as late as the rows.
        Side::ServiceOwner => table.related_to_queue(&page.rows).await?,
        Side::Consumer => table.related_to_changes(&page.rows).await?,
    };
    let has_proposal = call.query.truth("proposal")? == Some(true);
    if !has_proposal && !has_references {
        let full = |change| {
            let view = waits.shown(change, view::change_instance(change, &related, &viewpoint), &viewpoint);
            claims.shown(change, view)
        };
        return page.reply(page.rows.iter().map(full));
    }
    let mut rows = page.rows.len();
    if has_references {
        rows = add_references(table, &page.rows, &mut related).await?;
    }
    if has_proposal {
        let changes = page.rows.get(..rows).unwrap_or(&page.rows);
        rows = table.add_definitions_of_changes(changes, &mut related).await?;
    }
    page.reply_within_budget(page.rows.iter().take(rows), |change, budget| {
        let mut view = if has_proposal {
            view::change_instance_with_proposal(change, &related, &viewpoint, budget)
        } else {
            view::change_instance(change, &related, &viewpoint)
        };
        if has_references {
            view = view.with_references(change, &related, &viewpoint, budget);
        }
        claims.shown(change, waits.shown(change, view, &viewpoint))
    })
}

/// Adds the references of the items of change instances, and the causes (R72, R73).
///
/// Returns the number of change instances, from the first on, for which both are added; at least one.
async fn add_references(table: &Table, changes: &[Change], related: &mut Related) -> Result<usize, Failure> {
    let items: Vec<Option<Item>> =
        changes.iter().map(|change| related.items.get(&change.item).cloned()).collect();
    let rows = references::add(table, &items, related).await?;
    let changes = changes.get(..rows).unwrap_or(changes);
    causes::add(table, changes, related).await
}

/// The items for which open change instances wait (R74); none if the request does not show them.
struct Waits(Option<BTreeMap<ItemId, Item>>);

impl Waits {
    /// Reads the items for a page, if a parameter is about them.
    async fn of_rows(table: &Table, call: &Call, rows: &[Change]) -> Result<Self, Failure> {
        let is_wanted = call.query.truth("references")? == Some(true) || call.query.get("is_ready").is_some();
        if is_wanted { Self::read(table, rows).await } else { Ok(Self(None)) }
    }

    async fn read(table: &Table, changes: &[Change]) -> Result<Self, Failure> {
        let open = changes.iter().filter(|change| change.state.stage() != Stage::Resolved);
        Ok(Self(Some(table.awaited(open).await?)))
    }

    /// Returns the view of a change instance with what it waits for.
    fn shown<'a>(&self, change: &Change, view: ChangeView<'a>, viewpoint: &Viewpoint) -> ChangeView<'a> {
        match &self.0 {
            Some(items) => view.with_waits(change, items, viewpoint),
            None => view,
        }
    }
}

/// The claims on the work of change instances; none if the request does not show them.
struct Claims(Option<BTreeMap<(ItemId, TeamId), Claim>>);

impl Claims {
    /// Reads the claims of a page, if a parameter is about claims.
    async fn of_rows(table: &Table, call: &Call, rows: &[Change]) -> Result<Self, Failure> {
        let has_filter = ["claimed", "claimed_by"].iter().any(|name| call.query.get(name).is_some());
        if !call.query.truth("claims")?.unwrap_or(has_filter) {
            return Ok(Self(None));
        }
        let work = rows.iter().map(|change| (change.item, change.owner.id)).collect();
        Ok(Self(Some(table.claims(work).await?)))
    }

    /// Reads the claim on one change instance for its owner, if the request or the service asks for it.
    async fn of_one(table: &Table, call: &Call, change: &Change) -> Result<Self, Failure> {
        let is_wanted = call.query.truth("claims")?.unwrap_or(change.claim_required);
        let is_owner = call.side == Side::ServiceOwner && change.owner.id == call.caller.team.id;
        if !is_wanted || !is_owner {
            return Ok(Self(None));
        }
        let claim = table.claim(change.item, change.owner.id).await?;
        Ok(Self(Some(BTreeMap::from([((claim.item, claim.owner), claim)]))))
    }

    /// Returns the view of a change instance with its claim.
    fn shown<'a>(&self, change: &Change, view: ChangeView<'a>) -> ChangeView<'a> {
        match &self.0 {
            Some(claims) => view.with_claim(claims.get(&(change.item, change.owner.id))),
            None => view,
        }
    }
}
