//! What a plan is made on: the team, the items that may be concerned, the services; in two round trips, three
//! when a service is no longer declared.

use domain::declaration::Declaration;
use domain::id::TeamId;
use domain::plan::{self, Items, Offers, Stored};
use domain::submission::Scope;
use dovetail_http::{Code, Failure};
use dovetail_table::Table;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

/// What a plan is made on.
pub(crate) struct Loaded {
    pub(crate) stored: Stored,
    pub(crate) items: Items,
    pub(crate) offers: Offers,
}

/// Loads it, strongly consistent.
pub(crate) async fn everything(
    table: &Table,
    team: TeamId,
    declaration: &Declaration,
    scope: Scope,
) -> Result<Loaded, Failure> {
    let declared = declaration.applications.iter().flat_map(|application| &application.items);
    let titles: BTreeSet<&str> = declared.map(|item| item.service.as_str()).collect();
    let (stored, mut offers) = tokio::try_join!(table.stored_team(team), table.offers(&titles))?;
    // A key without a team is no key.
    let stored = stored.ok_or(Code::Unauthenticated)?;
    let reads = plan::to_read(&stored, declaration, scope).into_iter().map(async |application| {
        Ok::<_, dovetail_table::Error>((application, table.items_of(application).await?))
    });
    let items: Items = try_join_all(reads).await?.into_iter().collect();
    let gone: BTreeSet<&str> = items
        .values()
        .flatten()
        .map(|item| item.service.title.as_str())
        .filter(|title| !offers.contains_key(*title))
        .collect();
    if !gone.is_empty() {
        offers.extend(table.offers(&gone).await?);
    }
    Ok(Loaded { stored, items, offers })
}
