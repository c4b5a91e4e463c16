//! References to items of other applications and teams: those of an item, and the items that a grant shows (R69, R71).

use crate::derived;
use domain::base::json;
use domain::catalog::schema::{Budget, References};
use domain::model::declaration::DEPTH_MAX;
use domain::rules::plan::Target;
use domain::rules::visibility::Side;
use domain::views::references::elsewhere;
use domain::views::related::Related;
use domain::{Item, ItemId};
use dovetail_aws::off_worker;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::Table;
use std::collections::BTreeSet;

/// Returns whether a request reads an item that another team grants.
pub(crate) fn is_granted(call: &Call) -> Result<bool, Failure> {
    Ok(call.side == Side::Consumer && call.query.truth("granted")? == Some(true))
}

/// Returns an item that another team grants to the caller's team. Any other item looks like a missing one.
pub(crate) async fn granted(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["granted"])?;
    let id = call.id(ItemId::parse)?;
    let target = table.targets(&BTreeSet::from([id])).await?.remove(&id);
    let is_shown = |target: &Target| {
        target.item.consumer.id == call.caller.team.id || target.is_granted_to(&call.caller.team.name)
    };
    let item = target.filter(is_shown).ok_or(Code::NotFound)?.item;
    let items = std::slice::from_ref(&item);
    let mut related = table.related_to_item(&item).await?;
    table.add_definitions_of_items(items, &mut related).await?;
    derived::add(table, items, &mut related).await?;
    let (viewpoint, mut budget) = (Viewpoint::of(call), Budget::of_request());
    let view = || view::granted_item(&item, &related, &viewpoint, &mut budget);
    Reply::new(200, off_worker(view))
}

/// Adds the references of an item to items of other applications and teams; this costs nothing without any.
pub(crate) async fn add(table: &Table, item: &Item, related: &mut Related) -> Result<(), Failure> {
    let ids: BTreeSet<ItemId> = item.used().iter().copied().collect();
    let Some(service) = related.services.get(&item.service.title).filter(|_| !ids.is_empty()) else {
        return Ok(());
    };
    let targets = table.targets(&ids).await?;
    let texts = table.schema_texts(std::slice::from_ref(service)).await?;
    let references = texts.first().map(|text| References::with_reach(text)).unwrap_or_default();
    let declared = related.declarations.get(&(item.consumer.id, item.version.hash));
    let body = declared.and_then(|text| json::parse(text.as_bytes(), DEPTH_MAX).ok()).unwrap_or_default();
    related.references = elsewhere(item, &references, &body, &targets);
    related.targets = targets;
    Ok(())
}
