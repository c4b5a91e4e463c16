//! References between items: those of the items of a response, and the items that a grant shows (R69, R72).

use crate::derived;
use crate::named_items::{self, is_named};
use domain::base::id::ApplicationId;
use domain::base::json;
use domain::base::refs::Reference;
use domain::catalog::schema::{Budget, References};
use domain::catalog::service::{ReferencesSee, Service};
use domain::model::declaration::DEPTH_MAX;
use domain::rules::plan::Target;
use domain::views::references::{positions, sees};
use domain::views::related::Related;
use domain::{Item, ItemId};
use dovetail_aws::off_worker;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Read, RelatedKey, Table};
use futures_util::future::try_join;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of referenced items of one response. The first item of a response has at most 512.
const TARGETS_MAX: usize = 1_000;

/// Maximum number of referenced items of one response that show their values.
const VALUES_MAX: usize = 200;

/// Number of items whose values are read at once. A function has little memory for declarations.
const VALUES_AT_ONCE: usize = 20;

/// Maximum size of the values of one response, in bytes; the last read may exceed it.
const VALUE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Returns an item that another team grants to the caller's team. Any other item looks like a missing one.
pub(crate) async fn granted(table: &Table, call: &Call) -> Result<Reply, Failure> {
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

/// Adds the references of the items of rows, which costs nothing for items without any.
///
/// Returns the number of rows, from the first on, whose references are added; at least one.
pub(crate) async fn add(
    table: &Table,
    rows: &[Option<Item>],
    related: &mut Related,
) -> Result<usize, Failure> {
    let count = count_within_limit(rows);
    let items = rows.iter().take(count).flatten();
    let items: Vec<&Item> = items.filter(|item| item.declared && size_of(item) > 0).collect();
    if items.is_empty() {
        return Ok(count);
    }
    add_targets(table, &items, related).await?;
    let here = find_by_name(table, &items, related).await?;
    add_positions(table, &items, &here, related).await?;
    add_values(table, &items, related).await?;
    Ok(count)
}

fn size_of(item: &Item) -> usize {
    item.references.len().saturating_add(item.used().len())
}

/// Returns the number of rows, from the first on, whose references one response can show; at least one.
fn count_within_limit(rows: &[Option<Item>]) -> usize {
    let sizes = rows.iter().scan(0, |sum: &mut usize, item| {
        *sum = sum.saturating_add(item.as_ref().map_or(0, size_of));
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= TARGETS_MAX).count().max(1)
}

/// Adds the referenced items and their services.
async fn add_targets(table: &Table, items: &[&Item], related: &mut Related) -> Result<(), Failure> {
    let elsewhere = items.iter().flat_map(|item| item.used().iter().copied()).collect();
    let references = || items.iter().flat_map(|item| &item.references);
    let here = references().filter_map(|reference| reference.item);
    let here = here.filter(|id| !related.items.contains_key(id)).collect();
    let titles = references().map(|reference| reference.service.clone());
    let titles = titles.filter(|title| !related.services.contains_key(title)).collect();
    let (targets, more) = try_join(table.targets(&elsewhere), table.referenced(&here, &titles)).await?;
    related.add(more);
    related.targets.extend(targets);
    let titles = related.targets.values().map(|target| target.item.service.title.clone()).collect();
    add_services(table, titles, related).await
}

/// Adds the services with these titles, as far as the response lacks them.
pub(crate) async fn add_services(
    table: &Table,
    mut titles: BTreeSet<String>,
    related: &mut Related,
) -> Result<(), Failure> {
    titles.retain(|title| !related.services.contains_key(title));
    if !titles.is_empty() {
        related.add(table.referenced(&BTreeSet::new(), &titles).await?);
    }
    Ok(())
}

/// The items of applications by reference.
type Here = BTreeMap<ApplicationId, BTreeMap<Reference, ItemId>>;

/// Returns the items that references within applications name. An item without its id in the record, or with that of
/// another item, takes a search.
async fn find_by_name(table: &Table, items: &[&Item], related: &mut Related) -> Result<Here, Failure> {
    let mut here = Here::new();
    let mut missing: BTreeMap<ApplicationId, BTreeSet<Reference>> = BTreeMap::new();
    for item in items {
        let application = item.application_id();
        for reference in &item.references {
            let stored = reference.item.and_then(|id| related.items.get(&id));
            let reference = reference.to_reference();
            match stored.filter(|item| is_named(&reference, application, item)) {
                Some(item) => drop(here.entry(application).or_default().insert(reference, item.id)),
                None => drop(missing.entry(application).or_default().insert(reference)),
            }
        }
    }
    let searched =
        named_items::search(table, missing.keys().copied().collect(), &mut Read::default()).await?;
    for (application, declared) in searched {
        for reference in missing.remove(&application).unwrap_or_default() {
            if let Some(item) = declared.as_ref().and_then(|items| items.get(&reference)) {
                here.entry(application).or_default().insert(reference, item.id);
                related.items.insert(item.id, item.clone());
            }
        }
    }
    Ok(here)
}

/// Adds the JSON pointers of the references.
async fn add_positions(
    table: &Table,
    items: &[&Item],
    here: &Here,
    related: &mut Related,
) -> Result<(), Failure> {
    let titles: BTreeSet<&str> = items.iter().map(|item| item.service.title.as_str()).collect();
    let services = titles.iter().filter_map(|title| related.services.get(*title).cloned());
    let services: Vec<Service> = services.collect();
    let texts = table.schema_texts(&services).await?;
    let named = BTreeMap::new();
    let found = off_worker(|| {
        let definitions = services.iter().zip(texts);
        let definitions: BTreeMap<&str, References> = definitions
            .map(|(service, text)| (service.title.as_str(), References::with_reach(&text)))
            .collect();
        let of_item = |item: &&Item| {
            let references = definitions.get(item.service.title.as_str())?;
            let text = related.declarations.get(&(item.consumer.id, item.version.hash));
            let body = text.and_then(|text| json::parse(text.as_bytes(), DEPTH_MAX).ok()).unwrap_or_default();
            let here = here.get(&item.application_id()).unwrap_or(&named);
            Some((item.id, positions(item, references, &body, here, &related.targets)))
        };
        items.iter().filter_map(of_item).collect::<Vec<_>>()
    });
    related.references.extend(found);
    Ok(())
}

/// Adds the values that the services of referenced items show, up to the limits of a response.
async fn add_values(table: &Table, items: &[&Item], related: &mut Related) -> Result<(), Failure> {
    let mut shown: BTreeMap<ItemId, ReferencesSee> = BTreeMap::new();
    for item in items {
        for (_, id) in related.references.get(&item.id).into_iter().flatten() {
            let sees = sees(item, *id, related);
            shown.entry(*id).and_modify(|most| *most = sees.max(*most)).or_insert(sees);
        }
    }
    shown.retain(|_, sees| *sees > ReferencesSee::State);
    let shown: Vec<(ItemId, ReferencesSee)> = shown.into_iter().take(VALUES_MAX).collect();
    let mut bytes = 0;
    for some in shown.chunks(VALUES_AT_ONCE) {
        if bytes >= VALUE_BYTES_MAX {
            break;
        }
        let of = |wanted| {
            let ids = some.iter().filter(move |(_, sees)| *sees == wanted);
            ids.filter_map(|(id, _)| related.referenced(*id).cloned()).collect::<Vec<Item>>()
        };
        let (with_deployed, whole) = (of(ReferencesSee::Deployed), of(ReferencesSee::All));
        let deployed = with_deployed.iter().filter_map(|item| item.shown_deployed());
        let deployed = deployed.map(|latest| RelatedKey::Deployed(latest.id));
        let (deployed, documents) =
            try_join(table.related(deployed), table.related_to_documents(&whole)).await?;
        bytes += size_of_texts(&deployed).saturating_add(size_of_texts(&documents));
        related.add(deployed);
        related.add(documents);
        derived::add(table, &whole, related).await?;
    }
    Ok(())
}

/// Returns the size of declarations and deployed items, in bytes.
fn size_of_texts(related: &Related) -> usize {
    let declared = related.declarations.values().map(String::len);
    let deployed = related.deployed.values().map(|deployed| deployed.data.len());
    declared.chain(deployed).fold(0, usize::saturating_add)
}
