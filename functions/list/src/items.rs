//! Service items: those of a role, those with a share of a dependent team, and one.

use crate::derived;
use crate::filter::{Filter, single};
use crate::history;
use crate::order::{Field, Orders, stored_order};
use crate::page::{List, ListRequest, only_knows};
use crate::references;
use domain::base::id::ApplicationId;
use domain::base::state::RuntimeState;
use domain::catalog::schema::Budget;
use domain::model::item::ChangeState;
use domain::rules::visibility::Side;
use domain::{Item, ItemId};
use dovetail_aws::off_worker;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Source, Table};

const FILTERS: &[&str] = &[
    "application_id",
    "application_name",
    "application_name_contains",
    "change_state",
    "consumer_team_id",
    "gone",
    "is_drifted",
    "name",
    "references",
    "runtime_state",
    "service_id",
    "service_name",
    "service_owner_id",
    "service_owner_team_id",
    "declaration",
    "declaration_contains",
    "declaration_regex",
    "document",
    "start_date",
    "modified",
    "end_date",
];

const FIELDS: &[Field<Item>] = &[
    ("created", |item| item.created.to_wire()),
    ("id", |item| format!("{:016}", item.id.get())),
    ("name", |item| item.name.clone()),
    ("modified", |item| item.modified.to_wire()),
    ("runtime_state", |item| item.runtime_state.name().to_owned()),
    ("change_state", |item| item.change_state().name().to_owned()),
];

/// Lists the items of the caller's services, or the caller's own items.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let filter = filter(call)?;
    let source = match call.side {
        Side::ServiceOwner => Source::<Item>::owned_by(call.caller.team.id),
        Side::Consumer => declared(call)?,
    };
    let source = narrowed(call, source)?;
    let orders = Orders::By { stored: stored_order(call.side, false), fields: FIELDS };
    reply(&List { request, source, filter, orders }).await
}

/// Lists the items with a share for the caller, or the caller's own items with a share for another team.
pub(crate) async fn dependent(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let mut filter = filter(call)?;
    let source = narrowed(call, shared(call, &mut filter)?)?;
    reply(&List { request, source, filter, orders: Orders::Ignored }).await
}

/// Returns one item, now or at an earlier time.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let item = table.item(call.id_of(ItemId::parse, ItemId::team)?).await?;
    let item = item.filter(|item| call.side.shows_item(item, call.caller.team.id));
    let mut item = item.ok_or(Code::NotFound)?;
    let moment = history::of_item(table, call, &item).await?;
    let is_historical = moment.is_some();
    if let Some(moment) = moment {
        item = history::item(table, &item, moment).await?;
    }
    let mut related = table.related_to_item(&item).await?;
    if is_historical {
        // Earlier results of healthchecks are not stored.
        related.healths.clear();
    } else {
        let items = std::slice::from_ref(&item);
        table.add_definitions_of_items(items, &mut related).await?;
        references::add(table, &[Some(item.clone())], &mut related).await?;
        derived::add(table, items, &mut related).await?;
    }
    let (viewpoint, mut budget) = (Viewpoint::of(call), Budget::of_request());
    let view = || view::service_item_with_document(&item, &related, &viewpoint, &mut budget);
    Reply::new(200, off_worker(view))
}

/// Returns whether the caller sees the item of a filter. If not, the list is empty without a read.
pub(crate) async fn is_visible(table: &Table, call: &Call, id: ItemId) -> Result<bool, Failure> {
    let team = call.caller.team.id;
    if !call.side.may_show(id.team(), team) {
        return Ok(false);
    }
    let item = table.item(id).await?;
    Ok(item.is_some_and(|item| call.side.shows_item(&item, team)))
}

/// Returns the source of items with a share.
///
/// A dependent team has an index of its shares. For a consumer, the filter tests each item.
pub(crate) fn shared(call: &Call, filter: &mut Filter<Item>) -> Result<Source<Item>, Failure> {
    match call.side {
        Side::ServiceOwner => Ok(Source::<Item>::shared_with(call.caller.team.id)),
        Side::Consumer => {
            filter.test(|item| item.dependents().next().is_some());
            declared(call)
        }
    }
}

/// Returns the narrowest source of a consumer's items.
fn declared(call: &Call) -> Result<Source<Item>, Failure> {
    let team = call.caller.team.id;
    let application = single(&call.query, "application_id")?.and_then(ApplicationId::parse);
    Ok(match application.filter(|id| id.team() == team) {
        Some(application) => Source::<Item>::of_application_number(application),
        None => Source::<Item>::of_consumer(team),
    })
}

/// Returns the source without the partition in which no row passes the filters.
fn narrowed(call: &Call, source: Source<Item>) -> Result<Source<Item>, Failure> {
    let query = &call.query;
    let gone = query.truth("gone")?;
    // A gone item is not in service, and has no open change instance (R44).
    let excludes = |name, of_gone: &[&str]| {
        query.list(name).is_some_and(|words| !words.iter().any(|word| of_gone.contains(&word.as_str())))
    };
    let idle = [ChangeState::Completed.name()];
    let left = [RuntimeState::Decommissioned.name(), RuntimeState::Requested.name()];
    let is_drifted = query.truth("is_drifted")?;
    let only_live =
        excludes("change_state", &idle) || excludes("runtime_state", &left) || is_drifted == Some(true);
    Ok(match gone {
        Some(true) => source.gone(),
        Some(false) => source.live(),
        None if only_live => source.live(),
        None => source,
    })
}

fn filter(call: &Call) -> Result<Filter<Item>, Failure> {
    only_knows(call, FILTERS)?;
    let query = &call.query;
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |item: &Item| item.application_id().get())?;
    filter.ids(query, "consumer_team_id", |item| item.consumer.id.get())?;
    filter.truth(query, "gone", |item| item.gone)?;
    filter.truth(query, "is_drifted", |item| item.drift.is_some())?;
    filter.ids(query, "service_id", |item| item.service.id.get())?;
    filter.ids(query, "service_owner_id", |item| item.service_owner.id.get())?;
    filter.ids(query, "service_owner_team_id", |item| item.service_owner.id.get())?;
    if let Some(ids) = query.integers("references")? {
        filter.test(move |item| item.used().iter().any(|id| ids.contains(&id.get())));
    }
    filter.texts(query, "name", |item| &item.name);
    filter.texts(query, "application_name", |item| &item.application);
    filter.texts(query, "service_name", |item| &item.service.title);
    filter.contains(query, "application_name_contains", |item| &item.application);
    let runtime_states = RuntimeState::ALL.map(RuntimeState::name);
    filter.words(query, "runtime_state", &runtime_states, |item| item.runtime_state.name())?;
    let change_states = ChangeState::ALL.map(ChangeState::name);
    filter.words(query, "change_state", &change_states, |item| item.change_state().name())?;
    filter.dates(query, |item| item.modified)?;
    filter.declarations(query, |item| Some((item.consumer.id, item.version.hash)))?;
    Ok(filter)
}

async fn reply(list: &List<'_, Item>) -> Result<Reply, Failure> {
    let page = list.page().await?;
    let ListRequest { table, call, .. } = list.request;
    let mut related = table.related_to_items(&page.rows).await?;
    let viewpoint = Viewpoint::of(call);
    if call.query.truth("document")? != Some(true) {
        return page.reply(page.rows.iter().map(|item| view::service_item(item, &related, &viewpoint)));
    }
    let with_definition = table.add_definitions_of_items(&page.rows, &mut related).await?;
    let rows = page.rows.get(..with_definition).unwrap_or(&page.rows);
    let with_derived = derived::add(table, rows, &mut related).await?;
    let items = page.rows.iter().take(with_derived);
    page.reply_within_budget(items, |item, budget| {
        view::service_item_with_document(item, &related, &viewpoint, budget)
    })
}
