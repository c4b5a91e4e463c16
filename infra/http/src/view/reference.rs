//! References between items on the wire (R69, R72).

use super::Viewpoint;
use super::item::latest_view;
use domain::base::side::Side;
use domain::catalog::schema::Budget;
use domain::catalog::service::ReferencesSee;
use domain::model::item::Creation;
use domain::views::derived::base;
use domain::views::references::{Position, sees};
use domain::views::related::Related;
use domain::{Item, ItemId};
use serde_json::{Value, json};

/// Returns the references of an item, if they are loaded. A gone item has its id alone.
///
/// A document that exceeds the budget is not complete.
pub(super) fn references(
    item: &Item,
    related: &Related,
    viewpoint: &Viewpoint,
    budget: &mut Budget,
) -> Vec<Value> {
    let positions = related.references.get(&item.id).map_or(&[][..], Vec::as_slice);
    positions.iter().map(|position| reference(item, position, related, (viewpoint, &mut *budget))).collect()
}

fn reference(
    item: &Item,
    (pointer, id): &Position,
    related: &Related,
    (viewpoint, budget): (&Viewpoint, &mut Budget),
) -> Value {
    let target = related.referenced(*id);
    let mut view = json!({
        "pointer": pointer,
        "service_item": id.get(),
        "url": url(*id, target, viewpoint),
        "service": target.map(|target| &target.service.title),
        "name": target.map(|target| &target.name),
        "application": target.map(|target| &target.application),
        "team": target.map(|target| &target.consumer.name),
        "runtime_state": target.map(|target| target.runtime_state.name()),
        "change_state": target.map(|target| target.change_state().name()),
        "declared": target.is_some_and(|target| target.declared),
        "in_place": target.is_some_and(|target| target.main().creation == Creation::Done),
    });
    let Some(target) = target else { return view };
    let sees = sees(item, *id, related);
    let deployed = target.shown_deployed().and_then(|latest| related.deployed.get(&latest.id));
    if sees >= ReferencesSee::Deployed && (deployed.is_some() || target.shown_deployed().is_none()) {
        view["deployed_item"] = json!(latest_view(deployed));
    }
    if sees == ReferencesSee::All
        && let Some(document) = base(target, related, budget)
    {
        let derived = related.derived.get(id);
        view["document"] = derived.map_or(json!(document), |derived| json!(derived.apply(document.clone())));
    }
    view
}

/// Returns the URL of a referenced item, if the caller may read the item there.
fn url(id: ItemId, target: Option<&Item>, viewpoint: &Viewpoint) -> Option<String> {
    let collection = match viewpoint.side {
        Side::Consumer if id.team() == viewpoint.team => "service_items",
        Side::Consumer => "granted_items",
        Side::ServiceOwner => target
            .filter(|target| viewpoint.side.shows_item(target, viewpoint.team))
            .map(|_| "service_items")?,
    };
    Some(viewpoint.url(collection, id.get()))
}
