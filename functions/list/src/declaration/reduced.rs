//! The declarations without the additions of metadata, so that a submission of the document adds them again (R66).

use super::TEXTS_AT_ONCE;
use super::export::{AS_OF, Export};
use crate::bound::WHOLE;
use crate::history::historical;
use crate::walk::Visitor as _;
use domain::rules::expand::reduce::Reduction;
use domain::views::history::Then;
use domain::{Item, TeamId};
use dovetail_http::Failure;
use dovetail_table::{Direction, Read, RelatedKey};
use futures_util::future::try_join_all;
use serde_json::{Map, Value};

/// Leaves the additions out of the content of a team. Nothing is read unless metadata generate items.
pub(super) async fn reduce(
    export: &Export<'_>,
    team: TeamId,
    content: &mut Map<String, Value>,
    applications: &[&Then],
) -> Result<(), Failure> {
    let metadata = content.get("metadata").cloned().unwrap_or_default();
    for then in applications {
        let Some(declared) = content.get_mut(&then.now.name).and_then(Value::as_object_mut) else { continue };
        let own = declared.get("metadata").cloned().unwrap_or_default();
        let Some(mut reduction) = Reduction::of(&metadata, &own) else { continue };
        let Some(services) = declared.get_mut("services").and_then(Value::as_object_mut) else { continue };
        for (service, items) in services.iter() {
            items.as_array().into_iter().flatten().for_each(|item| reduction.add(service, item));
        }
        add_targets(export, team, then, &mut reduction).await?;
        reduction.reduce(services);
    }
    Ok(())
}

/// Adds the items that may have generated an item of the page, because another page may have them.
async fn add_targets(
    export: &Export<'_>,
    team: TeamId,
    then: &Then,
    reduction: &mut Reduction,
) -> Result<(), Failure> {
    let mut wanted = reduction.possible_targets();
    let mut rows = export.table.rows(&export.items(&then.now), Direction::Ascending, None);
    let mut read = Read::default();
    // Beyond the bound, items with unknown targets stay in the document.
    while !wanted.is_empty()
        && !read.reaches(&WHOLE)
        && let Some(batch) = read.by(rows.next()).await?
    {
        read.rows(batch.len());
        let items = batch.into_iter().map(|row| row.value);
        let is_wanted = |item: &Item| wanted.contains(&(item.service.title.clone(), item.name.clone()));
        let items: Vec<Item> = items.filter(is_wanted).collect();
        for some in items.chunks(TEXTS_AT_ONCE) {
            for (item, text) in texts(export, team, some).await? {
                reduction.add(&item.service.title, &text);
                wanted.remove(&(item.service.title.clone(), item.name.clone()));
            }
        }
    }
    Ok(())
}

/// Returns the items that were declared at the moment, each with its declaration.
async fn texts<'a>(
    export: &Export<'_>,
    team: TeamId,
    items: &'a [Item],
) -> Result<Vec<(&'a Item, Value)>, Failure> {
    let versions = try_join_all(items.iter().map(|item| export.table.declared_at(item, export.moment)));
    let mut declared = Vec::new();
    for (item, version) in items.iter().zip(versions.await?) {
        declared.extend(historical(version, AS_OF)?.map(|then| (item, then.version.hash)));
    }
    let keys = declared.iter().map(|(_, hash)| RelatedKey::Declaration(team, *hash));
    let texts = export.table.related(keys).await?.declarations;
    let text = |(item, hash)| Some((item, serde_json::from_str(texts.get(&(team, hash))?).ok()?));
    Ok(declared.into_iter().filter_map(text).collect())
}
