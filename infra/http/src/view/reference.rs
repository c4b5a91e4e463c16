//! References between items on the wire (R69, R72).

use super::{Stored, Viewpoint, add_member};
use domain::base::side::Side;
use domain::catalog::schema::Budget;
use domain::catalog::service::ReferencesSee;
use domain::model::deployed::Deployed;
use domain::views::derived::base;
use domain::views::references::sees;
use domain::views::related::{Position, Related};
use domain::{Item, ItemId};
use serde::Serialize;
use serde_json::{Value, json};

wire! {
    /// The newest deployed version; without one, an object without members.
    pub(super) fn latest_view(deployed: Option<&'a Deployed>) -> pub(crate) LatestView<'a> {
        #[serde(skip_serializing_if = "Option::is_none")] data: Option<Stored<'a>> =
            deployed.map(|deployed| Stored(&deployed.data)),
        #[serde(skip_serializing_if = "Option::is_none")] version: Option<u64> =
            deployed.map(|deployed| deployed.version),
    }
}

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
        "in_place": target.is_some_and(|target| target.is_in_place()),
    });
    let Some(target) = target else { return view };
    let sees = sees(item, *id, related);
    let deployed = target.shown_deployed().and_then(|latest| related.deployed.get(&latest.id));
    if sees >= ReferencesSee::Deployed && (deployed.is_some() || target.shown_deployed().is_none()) {
        add_member(&mut view, "deployed_item", json!(latest_view(deployed)));
    }
    if sees == ReferencesSee::All
        && let Some(document) = base(target, related, budget)
    {
        let derived = related.derived.get(id);
        let document =
            derived.map_or_else(|| json!(document), |derived| json!(derived.apply(document.clone())));
        add_member(&mut view, "document", document);
    }
    view
}

/// Returns the URL of a referenced item, if the caller may read the item there.
fn url(id: ItemId, target: Option<&Item>, viewpoint: &Viewpoint) -> Option<String> {
    match viewpoint.side {
        Side::Consumer if id.team() != viewpoint.team => Some(viewpoint.url("granted_items", id.get())),
        Side::Consumer => Some(viewpoint.url("service_items", id.get())),
        Side::ServiceOwner => item_url(target?, viewpoint),
    }
}

/// Returns the URL of an item, if it belongs to the caller's team in its role.
pub(super) fn item_url(item: &Item, viewpoint: &Viewpoint) -> Option<String> {
    let is_shown = viewpoint.side.shows_item(item, viewpoint.team);
    is_shown.then(|| viewpoint.url("service_items", item.id.get()))
}
