//! The changes of referenced items that the change instances of a response follow (R73).

use crate::references;
use domain::Change;
use domain::base::id::ChangeId;
use domain::views::causes::{Cause, shown};
use domain::views::related::Related;
use dovetail_aws::off_worker;
use dovetail_http::Failure;
use dovetail_table::{RelatedKey, Table};
use std::collections::BTreeSet;

/// Maximum size of the declarations of the causes of one response, in bytes; those of one change instance may exceed it.
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// Adds the causes of change instances, which costs nothing for those without any.
///
/// Returns the number of change instances, from the first on, whose causes are added; at least one.
pub(crate) async fn add(table: &Table, changes: &[Change], related: &mut Related) -> Result<usize, Failure> {
    let ids: BTreeSet<ChangeId> = changes.iter().flat_map(shown).copied().collect();
    if ids.is_empty() {
        return Ok(changes.len());
    }
    let causes = table.changes(&ids.into_iter().collect::<Vec<_>>()).await?;
    let mut bytes = 0_usize;
    for (row, change) in changes.iter().enumerate() {
        let of_row: BTreeSet<&ChangeId> =
            shown(change).iter().filter(|id| !related.causes.contains_key(id)).collect();
        let of_row: Vec<&Change> = causes.iter().filter(|cause| of_row.contains(&cause.id)).collect();
        if of_row.is_empty() {
            continue;
        }
        if row > 0 && bytes >= BYTES_MAX {
            return Ok(row);
        }
        bytes = bytes.saturating_add(add_to_row(table, &of_row, related).await?);
    }
    Ok(changes.len())
}

/// Adds the causes of one change instance, and returns the size of their declarations in bytes.
async fn add_to_row(table: &Table, causes: &[&Change], related: &mut Related) -> Result<usize, Failure> {
    let versions = causes.iter().flat_map(|cause| {
        let versions = cause.old.into_iter().chain(cause.new);
        versions.map(|version| RelatedKey::Declaration(cause.consumer.id, version.hash))
    });
    let texts = table.related(versions).await?;
    let titles = causes.iter().map(|cause| cause.service.title.clone()).collect();
    references::add_services(table, titles, related).await?;
    let compared = off_worker(|| {
        causes.iter().map(|cause| (cause.id, Cause::of(cause, &texts.declarations))).collect::<Vec<_>>()
    });
    related.causes.extend(compared);
    Ok(texts.declarations.values().map(String::len).fold(0, usize::saturating_add))
}
