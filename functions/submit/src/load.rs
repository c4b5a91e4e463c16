//! What a plan is made on, in two round trips: the team; then the items and services that may be concerned. When an item
//! is removed whose service is no longer declared, a third one reads that.

use crate::submitted::Submitted;
use domain::declaration::DeclaredApplication;
use domain::id::{ApplicationId, TeamId};
use domain::item::Item;
use domain::mandatory::Mandatory;
use domain::plan::{self, Items, Offers, Stored};
use domain::submission::Remembered;
use dovetail_http::{Call, Code, Failure};
use dovetail_table::{Error, Table};
use futures_util::future::try_join_all;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The team, and what is remembered of the request.
pub(crate) struct LoadedTeam {
    pub(crate) stored: Stored,
    owes: bool,
    /// What metadata have to be.
    mandatory: Arc<Mandatory>,
    /// The teams that have messages for the consumers of their services.
    pub(crate) message_owners: Arc<BTreeSet<TeamId>>,
    /// What the idempotency key led to before.
    pub(crate) remembered: Option<Remembered>,
}

/// What a plan is made on.
pub(crate) struct Loaded {
    pub(crate) stored: Stored,
    /// Whether earlier submissions still owe change instances, if that was to be read: those may be closed by this one.
    pub(crate) owes: bool,
    pub(crate) items: Items,
    pub(crate) offers: Offers,
    /// What metadata have to be.
    pub(crate) mandatory: Arc<Mandatory>,
}

/// Loads the team, strongly consistent; and whether it owes anything, where a preview rests on that. Who has messages
/// and what metadata have to be is known for a minute.
pub(crate) async fn team(
    table: &Table,
    call: &Call,
    submitted: &Submitted,
    previewed: bool,
) -> Result<LoadedTeam, Failure> {
    let team = call.caller.team.id;
    let remembered = async {
        match &submitted.idempotency {
            Some((key, _)) => table.remembered(team, key, call.now).await,
            None => Ok(None),
        }
    };
    let owes = async { if previewed { table.owes(team).await } else { Ok(false) } };
    let owners = table.known_message_owners(call.now);
    let mandatory = table.known_mandatory(call.now);
    let (stored, remembered, owes, message_owners, mandatory) =
        tokio::try_join!(table.stored_team(team), remembered, owes, owners, mandatory)?;
    // A key without a team is no key.
    let stored = stored.ok_or(Code::Unauthenticated)?;
    Ok(LoadedTeam { stored, owes, mandatory, message_owners, remembered })
}

async fn of_application(table: &Table, id: ApplicationId) -> Result<(ApplicationId, Vec<Item>), Error> {
    Ok((id, table.items_of(id).await?))
}

/// Loads what else is needed; of applications that are declared as they are stored, nothing.
pub(crate) async fn items(table: &Table, team: LoadedTeam, submitted: &Submitted) -> Result<Loaded, Failure> {
    let LoadedTeam { stored, owes, mandatory, .. } = team;
    if stored.head.in_flight.is_some() {
        // Nothing can be planned: what is stored is becoming something else.
        return Ok(Loaded { stored, owes, items: Items::new(), offers: Offers::new(), mandatory });
    }
    let to_read = plan::to_read(&stored, &submitted.declaration, submitted.scope);
    let is_unchanged = |declared: &DeclaredApplication| {
        stored.applications.iter().any(|known| known.name == declared.name && !to_read.contains(&known.id))
    };
    let changed = submitted.declaration.applications.iter().filter(|declared| !is_unchanged(declared));
    let titles: BTreeSet<&str> =
        changed.flat_map(|declared| &declared.items).map(|item| item.service.as_str()).collect();
    let reads = to_read.iter().map(|application| of_application(table, *application));
    let (items, mut offers) = tokio::try_join!(try_join_all(reads), table.offers(&titles))?;
    let items: Items = items.into_iter().collect();
    let gone: BTreeSet<&str> = items
        .values()
        .flatten()
        .map(|item| item.service.title.as_str())
        .filter(|title| !offers.contains_key(*title))
        .collect();
    if !gone.is_empty() {
        offers.extend(table.offers(&gone).await?);
    }
    Ok(Loaded { stored, owes, items, offers, mandatory })
}
