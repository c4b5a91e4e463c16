//! Searches for items by their names. A reference has the name of its item, and no index of names exists, so a search
//! reads the live items of an application.

use domain::Item;
use domain::base::id::ApplicationId;
use domain::base::refs::Reference;
use dovetail_http::Failure;
use dovetail_table::{Bound, Direction, Read, Source, Table};
use futures_util::future::try_join_all;
use std::collections::{BTreeMap, BTreeSet};

/// The bound of the searches for one response.
const SEARCHED: Bound = Bound { rows: 10_000, units: 2_000 };

/// Number of searches at once.
const SEARCHES_AT_ONCE: usize = 4;

/// Number of items in one read of a search.
const ITEMS_AT_ONCE: usize = 1_000;

/// Searches applications, until the bound of the searches. Applications after it are missing in the result.
pub(crate) async fn search(
    table: &Table,
    applications: BTreeSet<ApplicationId>,
    read: &mut Read,
) -> Result<BTreeMap<ApplicationId, Declared>, Failure> {
    let mut all = BTreeMap::new();
    let applications: Vec<ApplicationId> = applications.into_iter().collect();
    for some in applications.chunks(SEARCHES_AT_ONCE) {
        if read.reaches(&SEARCHED) {
            break;
        }
        let searches = some.iter().map(|application| declared_items(table, *application));
        let found = read.by(try_join_all(searches)).await?;
        for (application, (items, rows)) in some.iter().zip(found) {
            read.rows(rows);
            all.insert(*application, items);
        }
    }
    Ok(all)
}

/// Returns whether a declared item has the name in a reference.
pub(crate) fn is_named(reference: &Reference, application: ApplicationId, item: &Item) -> bool {
    item.declared
        && item.application_id() == application
        && item.key() == (&reference.service, &reference.name)
}

/// The declared items of an application by reference; none past the bound of a search.
pub(crate) type Declared = Option<BTreeMap<Reference, Item>>;

/// Returns the declared items of an application, and the number of read rows.
async fn declared_items(table: &Table, application: ApplicationId) -> Result<(Declared, usize), Failure> {
    let source = Source::<Item>::of_application_number(application).live();
    let mut rows = table.rows(&source, Direction::Ascending, None).at_once(ITEMS_AT_ONCE);
    let (mut items, mut read, mut count) = (BTreeMap::new(), Read::default(), 0_usize);
    while let Some(batch) = read.by(rows.next()).await? {
        read.rows(batch.len());
        count = count.saturating_add(batch.len());
        let declared = batch.into_iter().map(|row| row.value).filter(|item| item.declared);
        // The items under the number of a retired application belong to another one (R45).
        let own = declared.filter(|item| item.application_id() == application);
        items.extend(own.map(|item| {
            let (service, name) = (item.service.title.clone(), item.name.clone());
            (Reference { service, name }, item)
        }));
        if read.reaches(&SEARCHED) && !rows.is_over() {
            return Ok((None, count));
        }
    }
    Ok((Some(items), count))
}
