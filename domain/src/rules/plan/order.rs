//! The order of the changes of a submission: what each one waits for (R74).
//!
//! A wait is advice to owners and workers, so a rule that leaves one out is always safe. A circle of waits would be a
//! deadlock, so no wait closes one: neither with the others of the submission nor with those of older open change
//! instances.

mod components;

use self::components::components;
use super::application::{Diff, Referenced};
use super::{Offers, approval_required};
use crate::base::id::{ChangeId, ItemId};
use crate::base::refs::ItemReference;
use crate::model::item::Item;
use crate::model::wait::{UNBLOCKS_MAX, WAITS_MAX, Wait};
use crate::model::work::PlannedChange;
use std::collections::{BTreeMap, BTreeSet};

/// An item that is declared after the submission.
struct Node<'a> {
    references: &'a [ItemReference],
    is_in_place: bool,
}

/// The reason for a wait between two items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// A referenced item is modified.
    Cause,
    /// Another item still refers to the removed one.
    Removal,
    /// A referenced item is not in place.
    Item,
}

/// A new wait of one item for another one.
struct Edge {
    from: ItemId,
    wait: Wait,
    reason: Reason,
}

impl Edge {
    /// Returns whether both items are in the same circle.
    fn is_in(&self, circles: &BTreeMap<ItemId, usize>) -> bool {
        circles.get(&self.from).is_some_and(|circle| circles.get(&self.wait.item) == Some(circle))
    }
}

/// The items that each item waits for, or refers to.
type Graph = BTreeMap<ItemId, BTreeSet<ItemId>>;

/// Sets the waits of the changes of one application. `stored` are its items before the submission.
pub(super) fn set_waits(diff: &mut Diff<'_>, stored: &[Item], offers: &Offers) {
    let Diff { direct, referenced, .. } = diff;
    let mut edges = for_items(direct, &nodes(direct, stored));
    edges.extend(for_removals(direct));
    edges.extend(for_causes(direct, referenced));
    if edges.is_empty() {
        return;
    }
    let mut waits: BTreeMap<ItemId, BTreeSet<Wait>> = BTreeMap::new();
    for Edge { from, wait, .. } in without_circles(edges, &older(direct, referenced, stored, offers)) {
        waits.entry(from).or_default().insert(wait);
    }
    let mut of = |item| -> Vec<Wait> { waits.remove(&item).into_iter().flatten().take(WAITS_MAX).collect() };
    for (_, planned) in direct.iter_mut() {
        planned.waits = of(planned.item);
    }
    for referenced in referenced.iter_mut() {
        referenced.waits = of(referenced.item.id);
    }
    set_unblocks(direct, referenced);
}

/// Sets how many items wait for each direct change.
fn set_unblocks(direct: &mut [(Option<&Item>, PlannedChange)], referenced: &[Referenced<'_>]) {
    let of_direct = direct.iter().map(|(_, planned)| &planned.waits);
    let mut counts: BTreeMap<ItemId, usize> = BTreeMap::new();
    for waits in of_direct.chain(referenced.iter().map(|one| &one.waits)) {
        for awaited in waits.iter().map(|wait| wait.item).collect::<BTreeSet<ItemId>>() {
            *counts.entry(awaited).or_default() += 1;
        }
    }
    for (_, planned) in direct {
        planned.unblocks = counts.get(&planned.item).map_or(0, |count| UNBLOCKS_MAX.min(*count));
    }
}

/// Returns the items that are declared after the submission; none if no item has a reference.
fn nodes<'a>(direct: &'a [(Option<&Item>, PlannedChange)], stored: &'a [Item]) -> BTreeMap<ItemId, Node<'a>> {
    let declared =
        || direct.iter().filter_map(|(before, planned)| Some((before, planned, planned.declared.as_ref()?)));
    let has_references = declared().any(|(_, _, declared)| declared.stays && !declared.references.is_empty());
    if !has_references {
        return BTreeMap::new();
    }
    let changed: BTreeSet<ItemId> = direct.iter().map(|(_, planned)| planned.item).collect();
    let unchanged = stored.iter().filter(|item| item.declared && !changed.contains(&item.id));
    let unchanged = unchanged
        .map(|item| (item.id, Node { references: &item.references, is_in_place: item.is_in_place() }));
    let planned = declared().filter(|(_, _, declared)| declared.stays).map(|(before, planned, declared)| {
        // An item with one in reserve may go before its turn (R44).
        let is_in_place = planned.spare.is_none() && before.is_some_and(Item::is_in_place);
        (planned.item, Node { references: &declared.references, is_in_place })
    });
    unchanged.chain(planned).collect()
}

/// Returns the waits for referenced items of which the service owner has nothing in place.
///
/// Items that refer to each other in a circle, all without anything in place, do not wait for each other.
fn for_items(direct: &[(Option<&Item>, PlannedChange)], nodes: &BTreeMap<ItemId, Node<'_>>) -> Vec<Edge> {
    let is_missing = |id: &ItemId| nodes.get(id).is_some_and(|node| !node.is_in_place);
    let missing = nodes.iter().filter(|(_, node)| !node.is_in_place).map(|(id, node)| {
        let to = node.references.iter().filter_map(|reference| reference.item).filter(is_missing);
        (*id, to.collect())
    });
    let circles = components(&missing.collect());
    let spares = direct.iter().filter_map(|(_, planned)| Some((planned.item, planned.spare.as_ref()?.item)));
    let spares: BTreeMap<ItemId, ItemId> = spares.collect();
    let mut edges = Vec::new();
    for (_, planned) in direct {
        let Some(declared) = planned.declared.as_ref().filter(|declared| declared.stays) else { continue };
        let from = planned.item;
        let targets: BTreeSet<ItemId> =
            declared.references.iter().filter_map(|reference| reference.item).filter(is_missing).collect();
        let wait = |item| Edge {
            from,
            wait: Wait { item, change: None, spare: spares.get(&item).copied() },
            reason: Reason::Item,
        };
        edges.extend(targets.into_iter().filter(|to| *to != from).map(wait));
    }
    edges.retain(|edge| !edge.is_in(&circles));
    edges
}

/// Returns the waits of removals for the change instances that drop a reference to the removed item.
fn for_removals(direct: &[(Option<&Item>, PlannedChange)]) -> Vec<Edge> {
    let removed = direct.iter().filter(|(_, planned)| is_removal(planned));
    let removed: BTreeSet<ItemId> = removed.map(|(_, planned)| planned.item).collect();
    if removed.is_empty() {
        return Vec::new();
    }
    let by_name: BTreeMap<(&str, &str), ItemId> = direct
        .iter()
        .filter_map(|(before, planned)| {
            let before = before.filter(|_| removed.contains(&planned.item))?;
            Some((before.key(), planned.item))
        })
        .collect();
    let mut edges = Vec::new();
    for (before, planned) in direct {
        // The references of an older release have no ids, but the removed items have names.
        for reference in
            before.filter(|before| before.declared).into_iter().flat_map(|before| &before.references)
        {
            let Some(from) = by_name.get(&(reference.service.as_str(), reference.name.as_str())).copied()
            else {
                continue;
            };
            let wait = Wait { item: planned.item, change: Some(planned.id), spare: None };
            edges.extend((from != planned.item).then_some(Edge { from, wait, reason: Reason::Removal }));
        }
    }
    let between = edges.iter().filter(|edge| removed.contains(&edge.wait.item));
    let circles = components(&with_edges(Graph::new(), between));
    edges.retain(|edge| !edge.is_in(&circles));
    edges
}

fn is_removal(planned: &PlannedChange) -> bool {
    planned.declared.as_ref().is_some_and(|declared| !declared.stays)
}

/// Returns the waits of referenced change instances for the changes of the modified items.
fn for_causes(direct: &[(Option<&Item>, PlannedChange)], referenced: &[Referenced<'_>]) -> Vec<Edge> {
    if referenced.is_empty() {
        return Vec::new();
    }
    let items: BTreeMap<ChangeId, ItemId> =
        direct.iter().map(|(_, planned)| (planned.id, planned.item)).collect();
    let mut edges = Vec::new();
    for referenced in referenced {
        for cause in &referenced.causes {
            let Some(item) = items.get(cause).copied() else { continue };
            let wait = Wait { item, change: Some(*cause), spare: None };
            edges.push(Edge { from: referenced.item.id, wait, reason: Reason::Cause });
        }
    }
    edges
}

/// Returns the waits without those that close a circle with each other or with `older` ones.
fn without_circles(mut edges: Vec<Edge>, older: &Graph) -> Vec<Edge> {
    // Without the waits of all reasons, only the older ones are left, which make no circle.
    for reason in [Reason::Cause, Reason::Removal, Reason::Item] {
        let circles = components(&with_edges(older.clone(), &edges));
        edges.retain(|edge| edge.reason != reason || !edge.is_in(&circles));
    }
    edges
}

/// Returns the waits of older change instances that stay open.
fn older(
    direct: &[(Option<&Item>, PlannedChange)],
    referenced: &[Referenced<'_>],
    stored: &[Item],
    offers: &Offers,
) -> Graph {
    let of_direct = direct.iter().map(|(_, planned)| planned.item);
    let renewed: BTreeSet<ItemId> = of_direct.chain(referenced.iter().map(|one| one.item.id)).collect();
    // A new change instance displaces the older one in its stage. Without an approval, it displaces both.
    let stays = |item: &&Item| {
        let is_approved = item.main().validated.is_some() && approval_required(&item.service.title, offers);
        if renewed.contains(&item.id) { is_approved } else { item.main().open().next().is_some() }
    };
    let waiting = stored.iter().filter(|item| !item.waits_for.is_empty()).filter(stays);
    waiting.map(|item| (item.id, item.waits_for.iter().copied().collect())).collect()
}

/// Returns a graph with these waits as further edges.
fn with_edges<'a>(mut graph: Graph, edges: impl IntoIterator<Item = &'a Edge>) -> Graph {
    for Edge { from, wait, .. } in edges {
        graph.entry(*from).or_default().insert(wait.item);
    }
    graph
}
