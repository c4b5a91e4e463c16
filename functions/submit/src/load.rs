//! The records for a plan, in two rounds of reads: the team, then items and services.
//!
//! A third round reads the services of removed items, if the declaration does not mention them.

use crate::context::Context;
use crate::revert::DECLARATIONS_AT_ONCE;
use crate::secrets::{self, Masked};
use domain::base::id::ApplicationId;
use domain::base::problem::Problem;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::model::declaration::{Declaration, DeclaredApplication};
use domain::model::item::LatestDeployed;
use domain::model::submission::{IdempotencyRecord, Scope};
use domain::rules::plan;
use domain::rules::plan::{Alike, EarlierValues, Elsewhere, Items, Offers, Stored};
use domain::{Item, TeamId};
use dovetail_http::{Code, Failure};
use dovetail_table::{Error, RelatedKey, Table};
use futures_util::future::try_join_all;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The team, and the result of the idempotency key.
pub(crate) struct LoadedTeam {
    pub(crate) stored: Stored,
    /// Whether the team has pending work, if the caller needs to know. The submission may close the change instances of
    /// pending work.
    pub(crate) has_pending_work: bool,
    /// Schemas for metadata (R42).
    pub(crate) metadata_policy: Arc<MetadataPolicy>,
    /// Teams with messages for consumers.
    pub(crate) message_owners: Arc<BTreeSet<TeamId>>,
    /// The earlier submission under the idempotency key.
    pub(crate) remembered: Option<IdempotencyRecord>,
}

/// The records for a plan.
pub(crate) struct Loaded {
    pub(crate) team: LoadedTeam,
    pub(crate) items: Items,
    pub(crate) offers: Offers,
    /// The values of earlier declarations at properties with `x-on-change` (R48, R60).
    pub(crate) earlier: EarlierValues,
    /// The applications whose number a new one may take (R45).
    pub(crate) vacant: Vec<ApplicationId>,
    /// The referenced items of other applications and teams (R69, R71).
    pub(crate) elsewhere: Elsewhere,
    /// The declaration that the plan compares, unless it is the sent one: with masks in place of secrets (R58), with
    /// the stored texts of alike items (R67), and with the old names of renamed items (R75).
    pub(crate) compared: Option<Declaration>,
    /// The problems of items that cannot have masks.
    pub(crate) unmasked: Vec<Problem>,
}

/// Loads the team and the result of an idempotency key, strongly consistent. With `previewed`, the function also
/// searches for pending work.
///
/// Teams with messages and schemas for metadata are at most a minute old.
pub(crate) async fn team(
    context: &Context<'_>,
    key: Option<&str>,
    previewed: bool,
) -> Result<LoadedTeam, Failure> {
    let Context { table, call, .. } = context;
    let team = call.caller.team.id;
    let remembered = async {
        match key {
            Some(key) => table.remembered(team, key, call.now).await,
            None => Ok(None),
        }
    };
    let has_pending_work = async { if previewed { table.has_pending_work(team).await } else { Ok(false) } };
    let owners = table.cached_message_owners(call.now);
    let metadata_policy = table.cached_metadata_policy(call.now);
    let (stored, remembered, has_pending_work, message_owners, metadata_policy) =
        tokio::try_join!(table.stored_team(team), remembered, has_pending_work, owners, metadata_policy)?;
    // A caller without a stored team is unknown.
    let stored = stored.ok_or(Code::Unauthenticated)?;
    Ok(LoadedTeam { stored, has_pending_work, metadata_policy, message_owners, remembered })
}

/// Returns the items of an application that the plan compares. Dead items do not exist for the plan (R44).
async fn of_application(table: &Table, id: ApplicationId) -> Result<(ApplicationId, Vec<Item>), Error> {
    let mut items = table.items_of(id, |item| !item.is_dead()).await?;
    table.note_claims(&mut items).await?;
    Ok((id, items))
}

/// Loads items and services. An application with an unchanged declaration needs no read.
pub(crate) async fn items(
    context: &Context<'_>,
    team: LoadedTeam,
    declaration: &Declaration,
    scope: Scope,
) -> Result<Loaded, Failure> {
    let Context { table, key, .. } = *context;
    let stored = &team.stored;
    if stored.head.in_flight.is_some() {
        // The stored items are still changing, so the planner will only wait.
        return Ok(Loaded {
            team,
            items: Items::new(),
            offers: Offers::new(),
            earlier: EarlierValues::new(),
            vacant: Vec::new(),
            elsewhere: Elsewhere::default(),
            compared: None,
            unmasked: Vec::new(),
        });
    }
    let to_read = plan::to_read(stored, declaration, scope);
    let unchanged = stored.applications.iter().filter(|application| !to_read.contains(&application.id));
    let unchanged: BTreeSet<&str> = unchanged.map(|application| application.name.as_str()).collect();
    let is_unchanged = |declared: &DeclaredApplication| unchanged.contains(declared.name.as_str());
    let changed = declaration.applications.iter().filter(|declared| !is_unchanged(declared));
    let titles: BTreeSet<&str> =
        changed.flat_map(|declared| &declared.items).map(|item| item.service.as_str()).collect();
    let reads = to_read.iter().map(|application| of_application(table, *application));
    let may_be_vacant = plan::to_ask(stored, declaration, table.reuse_from());
    let (items, mut offers, vacant) =
        tokio::try_join!(try_join_all(reads), table.offers(&titles), table.vacant(&may_be_vacant))?;
    let items: Items = items.into_iter().collect();
    // A removal needs its service too, because dependent teams get a share of it, and the service has prices.
    let gone: BTreeSet<&str> = items
        .values()
        .flatten()
        .map(|item| item.service.title.as_str())
        .filter(|title| !offers.contains_key(*title))
        .collect();
    if !gone.is_empty() {
        offers.extend(table.offers(&gone).await?);
    }
    let renamed = plan::renamed(stored, &items, declaration);
    let declaration = renamed.as_ref().unwrap_or(declaration);
    let (elsewhere, items) = elsewhere(table, (stored, items, &offers), declaration, scope).await?;
    let masked = secrets::masked(table, key, (stored, &items, &offers), declaration).await?;
    let (mut compared, unmasked) = match masked {
        Some(Masked { declaration, problems }) => (Some(declaration), problems),
        None => (None, Vec::new()),
    };
    let read = (stored, &items, &offers);
    let (earlier, alike) = earlier(table, read, compared.as_ref().unwrap_or(declaration)).await?;
    if !alike.is_empty() {
        alike.apply(compared.get_or_insert_with(|| declaration.clone()));
    }
    let compared = compared.or(renamed);
    Ok(Loaded { team, items, offers, earlier, vacant, elsewhere, compared, unmasked })
}

/// Returns the records of other applications and teams to which the declaration refers, and all items. Without such
/// references, this costs nothing.
async fn elsewhere(
    table: &Table,
    (stored, mut items, offers): (&Stored, Items, &Offers),
    declaration: &Declaration,
    scope: Scope,
) -> Result<(Elsewhere, Items), Error> {
    let to_read = plan::elsewhere_to_read(stored, &items, offers, declaration, scope);
    let applications = to_read.applications.iter().map(|application| of_application(table, *application));
    let users = to_read.removed.iter().map(|item| async { Ok((*item, table.own_users_of(*item).await?)) });
    let (applications, targets, users) = futures_util::try_join!(
        try_join_all(applications),
        table.targets(&to_read.items),
        try_join_all(users)
    )?;
    items.extend(applications);
    Ok((Elsewhere { targets, users: users.into_iter().collect(), begun: to_read.begun }, items))
}

/// Returns the values of the earlier declarations that the plan compares, and the items that are alike to one of them.
/// Most services have neither `x-on-change` nor `x-unordered`.
async fn earlier<'a>(
    table: &Table,
    (stored, items, offers): (&Stored, &'a Items, &'a Offers),
    declaration: &Declaration,
) -> Result<(EarlierValues, Alike<'a>), Error> {
    let to_read: Vec<_> = plan::earlier_to_read(stored, items, offers, declaration).into_iter().collect();
    let team = stored.team.id;
    let mut earlier = EarlierValues::new();
    let mut alike = Alike::of(stored, items, offers, declaration);
    for some in to_read.chunks(DECLARATIONS_AT_ONCE) {
        let read = table.related(some.iter().map(|(_, hash)| RelatedKey::Declaration(team, *hash))).await?;
        for (service, hash) in some {
            // Only the values stay in memory, because a function has little memory for declarations.
            if let (Some(offer), Some(text)) = (offers.get(service), read.declarations.get(&(team, *hash))) {
                earlier.insert((service.clone(), *hash), plan::on_change_values(&offer.schema, text));
                alike.compare(service, *hash, text);
            }
        }
    }
    add_observed(table, &mut earlier, offers, plan::observed_to_read(stored, items, offers, declaration))
        .await?;
    Ok((earlier, alike))
}

/// Adds the observed values of drifted items, which costs nothing while no declaration changes such an item.
async fn add_observed(
    table: &Table,
    earlier: &mut EarlierValues,
    offers: &Offers,
    observed: Vec<(String, LatestDeployed)>,
) -> Result<(), Error> {
    for some in observed.chunks(DECLARATIONS_AT_ONCE) {
        let read = table.related(some.iter().map(|(_, latest)| RelatedKey::Deployed(latest.id))).await?;
        for (service, latest) in some {
            if let (Some(offer), Some(found)) = (offers.get(service), read.deployed.get(&latest.id)) {
                let values = plan::on_change_values(&offer.schema, &found.data);
                earlier.insert((service.clone(), latest.hash), values);
            }
        }
    }
    Ok(())
}
