//! The positions of references in the declarations of a page.

use crate::bound::FILTERED;
use domain::base::refs::{ItemReference, Reference};
use domain::catalog::schema::References;
use domain::catalog::service::Service;
use domain::views::graph::Graph;
use domain::{Item, ItemId};
use dovetail_http::Failure;
use dovetail_table::{Read, RelatedKey, Table};
use serde_json::Value;
use std::collections::BTreeMap;

/// Number of declarations in one read. A function has little memory for declarations.
const AT_ONCE: usize = 100;

/// Returns the references of items in their order, each with its pointers, up to the bound of one page.
pub(super) async fn positions(
    table: &Table,
    graph: &Graph<'_>,
    page: &[&Item],
    services: &[Service],
) -> Result<Vec<Vec<(ItemId, String)>>, Failure> {
    let titles: BTreeMap<&str, &Service> =
        services.iter().map(|service| (service.title.as_str(), service)).collect();
    let definitions = definitions(table, &titles, page).await?;
    let (mut all, mut read) = (Vec::new(), Read::default());
    for some in page.chunks(AT_ONCE) {
        let referencing = some.iter().filter(|item| graph.references(item).next().is_some());
        let texts = referencing.map(|item| RelatedKey::Declaration(item.consumer.id, item.version.hash));
        let related = read.by(table.related(texts)).await?;
        all.extend(some.iter().map(|item| {
            let text = related.declarations.get(&(item.consumer.id, item.version.hash));
            let body: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
            let definition = definitions.get(item.service.title.as_str());
            let pointers = definition.zip(body).map(|(definition, body)| definition.pointers(&body));
            let pointers = pointers.unwrap_or_default();
            let references = graph.references(item);
            references.flat_map(|(reference, to)| of_reference(&pointers, reference, to)).collect()
        }));
        if read.reaches(&FILTERED) {
            break;
        }
    }
    Ok(all)
}

/// Returns the reference properties of the present definitions of the services with references on the page.
async fn definitions<'a>(
    table: &Table,
    services: &BTreeMap<&'a str, &Service>,
    page: &[&'a Item],
) -> Result<BTreeMap<String, References>, Failure> {
    let referencing = page.iter().filter(|item| !item.references.is_empty());
    let needed: BTreeMap<&str, &Service> = referencing
        .filter_map(|item| services.get_key_value(item.service.title.as_str()))
        .map(|(title, service)| (*title, *service))
        .collect();
    let needed: Vec<Service> = needed.into_values().cloned().collect();
    let texts = table.schema_texts(&needed).await?;
    let parsed = needed.into_iter().zip(texts);
    Ok(parsed.map(|(service, text)| (service.title, References::of(&text))).collect())
}

/// Returns the positions of a reference. An earlier definition may have used another property. In this case, the
/// reference belongs to the item as a whole.
fn of_reference(
    pointers: &BTreeMap<Reference, Vec<String>>,
    reference: &ItemReference,
    to: ItemId,
) -> Vec<(ItemId, String)> {
    let whole = || vec![String::new()];
    let pointers = pointers.get(&reference.to_reference()).cloned().unwrap_or_else(whole);
    pointers.into_iter().map(|pointer| (to, pointer)).collect()
}
