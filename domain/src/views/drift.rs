//! The difference of a drifted item from its completed declaration (R54).

use crate::model::item::Item;
use crate::rules::verify;
use crate::rules::verify::Difference;
use crate::views::related::Related;
use serde_json::Value;

/// Returns the differences of a drifted item; none without drift, or if `related` lacks a text.
pub fn differences(item: &Item, related: &Related) -> Option<Vec<Difference>> {
    let (drift, newest) = (item.drift?, item.deployed?);
    let paths = related.definitions.get(&(item.service.title.clone(), newest.schema_version?))?;
    let data = |id| related.deployed.get(&id).and_then(|deployed| value(&deployed.data));
    let base = match item.base.earlier() {
        Some(id) => Some(data(id)?),
        None => None,
    };
    let declared = value(related.declarations.get(&(item.consumer.id, drift.declared))?)?;
    Some(verify::differences(paths, base.as_ref(), &declared, &data(newest.id)?))
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}
