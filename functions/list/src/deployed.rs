//! Deployed items: all versions in a role, the newest ones for dependent teams, and one version.

use crate::filter::{Filter, single};
use crate::items;
use crate::order::{Field, Orders, stored_order};
use crate::page::{List, ListRequest, only_knows};
use domain::base::id::DeployedId;
use domain::model::deployed::Deployed;
use domain::rules::visibility::Side;
use domain::{Item, ItemId, TeamId};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{RelatedKey, Source, Table};

const FILTERS: &[&str] = &[
    "application_id",
    "consumer_team_id",
    "service_id",
    "service_owner_team_id",
    "service_item_id",
    "declaration",
    "declaration_contains",
    "declaration_regex",
];

const FIELDS: &[Field<Deployed>] = &[
    ("created", |deployed| deployed.created.to_wire()),
    ("id", |deployed| format!("{:016}", deployed.id.get())),
    ("version", |deployed| format!("{:020}", deployed.version)),
];

/// Lists the versions for items of the caller's services, or for the caller's own items.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let (team, side) = (call.caller.team.id, call.side);
    let mut filter = filter(call)?;
    let item = single(&call.query, "service_item_id")?;
    let source = match (item.and_then(ItemId::parse), side) {
        (Some(id), _) => {
            filter.test(move |deployed| side.shows_deployed(deployed, team));
            let source = Source::<Deployed>::of_item(id);
            if items::is_visible(request.table, call, id).await? { source } else { source.emptied() }
        }
        (None, Side::Consumer) => Source::<Deployed>::of_consumer(team),
        (None, Side::ServiceOwner) => Source::<Deployed>::owned_by(team),
    };
    let orders = Orders::By { stored: stored_order(side, item.is_some()), fields: FIELDS };
    let list = List { request, source, filter, orders };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    page.reply(page.rows.iter().map(|deployed| view::deployed_item(deployed, &viewpoint)))
}

/// Lists the newest version of each item in [`items::dependent`], if it has one.
pub(crate) async fn dependent(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    let mut of_items = Filter::new();
    of_items.newest(filter(call)?);
    let source = items::shared(call, &mut of_items)?;
    let list = List { request, source, filter: of_items, orders: Orders::Ignored };
    let page = list.page().await?;
    let ids = page.rows.iter().filter_map(Item::shown_deployed).map(|latest| latest.id);
    let related = request.table.related(ids.clone().map(RelatedKey::Deployed)).await?;
    let viewpoint = Viewpoint::of(call);
    let mut results = Vec::new();
    for id in ids {
        // A transaction between the two reads can hide the version of a listed item.
        results.extend(related.deployed.get(&id).map(|deployed| view::deployed_item(deployed, &viewpoint)));
    }
    page.reply(results)
}

/// Returns one version.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let team = call.caller.team.id;
    let id = call.id_of(DeployedId::parse, DeployedId::team)?;
    let deployed = table.deployed(id).await?.ok_or(Code::NotFound)?;
    if call.side.shows_deployed(&deployed, team) || is_newest(table, call.side, &deployed, team).await? {
        return Reply::new(200, view::deployed_item(&deployed, &Viewpoint::of(call)));
    }
    Err(Code::NotFound.into())
}

/// Returns whether the version is the newest of an item with a share for the team. No other item is read.
async fn is_newest(table: &Table, side: Side, deployed: &Deployed, team: TeamId) -> Result<bool, Failure> {
    if !table.has_share(deployed.item, team).await? {
        return Ok(false);
    }
    let item = table.item(deployed.item).await?;
    Ok(item.is_some_and(|item| side.shows_newest(deployed, &item, team)))
}

fn filter(call: &Call) -> Result<Filter<Deployed>, Failure> {
    only_knows(call, FILTERS)?;
    let query = &call.query;
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |deployed: &Deployed| deployed.application_id().get())?;
    filter.ids(query, "consumer_team_id", |deployed| deployed.consumer.id.get())?;
    filter.ids(query, "service_owner_team_id", |deployed| deployed.service_owner.id.get())?;
    filter.ids(query, "service_id", |deployed| deployed.service.id.get())?;
    filter.ids(query, "service_item_id", |deployed| deployed.item.get())?;
    filter.texts_of(query, |deployed| &deployed.data)?;
    Ok(filter)
}
