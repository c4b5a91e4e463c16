//! Reads of the records that a response shows next to its own, in one or two rounds of batch reads.

use super::batch::Consistency;
use super::healthcheck_cache::health_keys;
use super::lists::Source;
use super::range::Direction;
use crate::client::schema_cache::SCHEMAS_BYTES_MAX;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, CheckScheduleRecord, DeployedRecord, HealthRecord, ItemRecord, Record,
    ServiceRecord, TeamRecord,
};
use domain::base::id::{ApplicationId, DeployedId};
use domain::base::state::Stage;
use domain::model::deployed::Deployed;
use domain::model::item::LatestDeployed;
use domain::model::submission::Submission;
use domain::views::related::Related;
use domain::views::tally::Tally;
use domain::{Change, Hash, Item, ItemId, TeamId};
use futures_util::future::{try_join, try_join_all, try_join3};
use std::collections::BTreeSet;

/// A record that a row of a list refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelatedKey {
    /// A declaration of this consumer, by its hash.
    Declaration(TeamId, Hash),
    Deployed(DeployedId),
    Team(TeamId),
    /// An item for which a change instance waits, also a gone one.
    Awaited(ItemId),
    /// The claim on the work of an owner on an item.
    Claim(ItemId, TeamId),
    /// The items of an application by state. Each application takes a query of its own.
    Tally(ApplicationId),
}

/// The most items of an application that are counted; a larger one has no counts in the response.
const TALLIED_MAX: usize = 10_000;

/// The rows of one query for the counts.
const TALLIED_AT_ONCE: usize = 1_000;

impl Table {
    /// Returns the items, teams, applications, declarations and deployed items of change instances.
    pub async fn related_to_changes(&self, changes: &[Change]) -> Result<Related, Error> {
        // One batch is either strongly or eventually consistent. Records that change are read as they are now, so a
        // caller that has just seen COMPLETED also sees its deployed item. The other records never change and cost
        // half.
        let versions: BTreeSet<Key> = changes.iter().flat_map(versions_of_change).collect();
        let current = changes.iter().flat_map(current_of_change);
        let (mut related, more) = try_join(
            self.batch_get_related(current, Consistency::Strong),
            self.batch_get_related(versions.clone(), Consistency::Complete),
        )
        .await?;
        merge(&mut related, more);
        self.add_gone_items(changes, &mut related).await?;
        self.add_retired(changes.iter().map(Change::application_id), &mut related).await?;
        self.with_versions_of_items(related, &versions).await
    }

    /// Adds the items of change instances that are gone, which costs nothing while all items are live.
    async fn add_gone_items(&self, changes: &[Change], related: &mut Related) -> Result<(), Error> {
        let missing = changes.iter().map(|change| change.item).filter(|id| !related.items.contains_key(id));
        let gone: BTreeSet<Key> = missing.map(key::gone).collect();
        let gone = self.batch_get::<ItemRecord>(gone, Consistency::Strong).await?;
        related.items.extend(gone.into_iter().map(|item| (item.id, item)));
        Ok(())
    }

    /// Adds the applications that have retired, which costs nothing while all applications have their numbers.
    pub(super) async fn add_retired(
        &self,
        applications: impl IntoIterator<Item = ApplicationId>,
        related: &mut Related,
    ) -> Result<(), Error> {
        let has_retired = |id: &ApplicationId| !related.applications.contains_key(id);
        let retired: BTreeSet<Key> = applications.into_iter().filter(has_retired).map(key::retired).collect();
        let retired = self.batch_get::<ApplicationRecord>(retired, Consistency::Complete).await?;
        related.applications.extend(retired.into_iter().map(|application| (application.id, application)));
        Ok(())
    }

    /// Returns the records of [`related_to_changes`](Self::related_to_changes) for rows of an owner's queue, in one
    /// batch at half the price.
    ///
    /// The queue is an index and may be late, so its records may be as well.
    pub async fn related_to_queue(&self, changes: &[Change]) -> Result<Related, Error> {
        let versions: BTreeSet<Key> = changes.iter().flat_map(versions_of_change).collect();
        let keys = changes.iter().flat_map(current_of_change).chain(versions.iter().cloned());
        let mut related = self.batch_get_related(keys, Consistency::Complete).await?;
        self.add_gone_items(changes, &mut related).await?;
        self.add_retired(changes.iter().map(Change::application_id), &mut related).await?;
        self.with_versions_of_items(related, &versions).await
    }

    /// Adds the records that only the items refer to. Most change instances refer to the same ones.
    async fn with_versions_of_items(
        &self,
        mut related: Related,
        loaded: &BTreeSet<Key>,
    ) -> Result<Related, Error> {
        let keys: BTreeSet<Key> = related.items.values().flat_map(versions_of_item).collect();
        let keys = keys.difference(loaded).cloned();
        let more = self.batch_get_related(keys, Consistency::Complete).await?;
        merge(&mut related, more);
        Ok(related)
    }

    /// Adds the paths of the definitions of open change instances, for their proposals (R49).
    ///
    /// Returns the number of change instances, from the first on, with a definition that a request can hold; at least
    /// one.
    pub async fn add_definitions_of_changes(
        &self,
        changes: &[Change],
        related: &mut Related,
    ) -> Result<usize, Error> {
        let is_open = |change: &Change| change.state.stage() != Stage::Resolved && change.new.is_some();
        let checked = |change: &Change| {
            let newest = related.items.get(&change.item).and_then(Item::shown_deployed);
            Some((change.service.title.clone(), newest, change.schema_version.filter(|_| is_open(change))?))
        };
        self.add_versions(changes.iter().map(checked).collect(), related).await
    }

    /// Adds the paths of definitions, and the upgrades to them from deployed versions of earlier definitions (R56).
    ///
    /// `versions` are the versions of the rows; none for a row without a definition. Returns the number of rows, from
    /// the first on, for which all definitions are added.
    async fn add_versions(
        &self,
        versions: Vec<Option<CheckedVersion>>,
        related: &mut Related,
    ) -> Result<usize, Error> {
        let definitions = versions.iter().flatten().map(|(title, _, version)| (title.clone(), *version));
        self.add_definitions(definitions.collect(), related).await?;
        let (rows, mut bytes) = (versions.len(), 0_usize);
        for (row, version) in versions.into_iter().enumerate() {
            let Some((title, Some(newest), to)) = version else { continue };
            let upgrade = (title, newest.schema_version, to);
            if newest.schema_version == Some(to) || related.upgrades.contains_key(&upgrade) {
                continue;
            }
            let Some(upgrades) = self.upgrades(&upgrade.0, newest.schema_version, to).await? else {
                continue;
            };
            bytes = bytes.saturating_add(upgrades.bytes());
            // A request holds them all in memory at once.
            if row > 0 && bytes > SCHEMAS_BYTES_MAX {
                return Ok(row);
            }
            related.upgrades.insert(upgrade, upgrades);
        }
        Ok(rows)
    }

    /// Adds the paths of the definitions of items, for their documents (R49), and the texts of their drift (R54).
    ///
    /// Returns the number of items, from the first on, with a definition that a request can hold; at least one.
    pub async fn add_definitions_of_items(
        &self,
        items: &[Item],
        related: &mut Related,
    ) -> Result<usize, Error> {
        self.add_texts_of_drift(items, related).await?;
        self.add_versions(checked_versions(items, related), related).await
    }

    /// Returns the services, declarations and deployed versions of items for their documents, with the definitions
    /// (R70).
    pub async fn related_to_documents(&self, items: &[Item]) -> Result<Related, Error> {
        let service = |item: &Item| key::service(&item.service.title);
        let keys: BTreeSet<Key> =
            items.iter().flat_map(|item| versions_of_item(item).chain([service(item)])).collect();
        let mut related = self.batch_get_related(keys, Consistency::Complete).await?;
        self.add_versions(checked_versions(items, &related), &mut related).await?;
        Ok(related)
    }

    /// Adds the texts for the differences of drifted items (R54), which costs nothing while no item has drifted.
    pub async fn add_texts_of_drift(&self, items: &[Item], related: &mut Related) -> Result<(), Error> {
        let drifted = || items.iter().filter_map(|item| Some((item, item.drift?, item.deployed?)));
        let texts = drifted().map(|(item, drift, _)| key::declaration(item.consumer.id, drift.declared));
        let deployed = drifted().flat_map(|(item, _, newest)| {
            item.base.earlier().into_iter().chain([newest.id]).map(key::deployed)
        });
        let keys: BTreeSet<Key> = texts.chain(deployed).collect();
        let more = self.batch_get_related(keys, Consistency::Complete).await?;
        merge(related, more);
        let versions = drifted()
            .filter_map(|(item, _, newest)| Some((item.service.title.clone(), newest.schema_version?)))
            .collect();
        self.add_definitions(versions, related).await
    }

    async fn add_definitions(
        &self,
        versions: BTreeSet<(String, u64)>,
        related: &mut Related,
    ) -> Result<(), Error> {
        let missing = versions.into_iter().filter(|version| !related.definitions.contains_key(version));
        let read = missing.collect::<Vec<_>>().into_iter().map(async |(title, version)| {
            let paths = self.paths(&title, version).await?;
            Ok::<_, Error>(((title, version), paths))
        });
        related.definitions.extend(try_join_all(read).await?);
        Ok(())
    }

    /// Returns the teams, application, service, declaration, deployed item and health of an item.
    pub async fn related_to_item(&self, item: &Item) -> Result<Related, Error> {
        let current = self.batch_get_related(current_of_item(item), Consistency::Strong);
        let versions = self.versions_and_health(std::slice::from_ref(item), versions_of_item(item).collect());
        let (mut related, more) = try_join(current, versions).await?;
        merge(&mut related, more);
        self.add_retired([item.application_id()], &mut related).await?;
        Ok(related)
    }

    /// Returns the records of [`related_to_item`](Self::related_to_item) for the items of a list, in one batch, as late
    /// as an index may be.
    pub async fn related_to_items(&self, items: &[Item]) -> Result<Related, Error> {
        let keys = items.iter().flat_map(|item| versions_of_item(item).chain(current_of_item(item)));
        let mut related = self.versions_and_health(items, keys.collect()).await?;
        self.add_retired(items.iter().map(Item::application_id), &mut related).await?;
        Ok(related)
    }

    /// Returns the records under `keys`, and in the same round the health of items.
    async fn versions_and_health(&self, items: &[Item], keys: BTreeSet<Key>) -> Result<Related, Error> {
        let now = dovetail_aws::now();
        let cached = self.cached_healthchecks(items, now);
        let rows = self.batch_get_complete(keys, health_keys(items, &cached)).await?;
        let mut related = related_of(rows)?;
        self.add_health_of_uncached(items, &cached, now, &mut related).await?;
        Ok(related)
    }

    /// Returns the first `limit` change instances of a submission's own items that exist now.
    pub async fn changes_of(&self, submission: &Submission, limit: usize) -> Result<Vec<Change>, Error> {
        self.changes(&submission.direct_changes().take(limit).collect::<Vec<_>>()).await
    }

    /// Returns the records that exist under these keys.
    pub async fn related(&self, wanted: impl IntoIterator<Item = RelatedKey>) -> Result<Related, Error> {
        let (mut keys, mut claims, mut tallies) = (Vec::new(), Vec::new(), Vec::new());
        let mut awaited = BTreeSet::new();
        for wanted in wanted {
            match wanted {
                RelatedKey::Declaration(team, hash) => keys.push(key::declaration(team, hash)),
                RelatedKey::Deployed(id) => keys.push(key::deployed(id)),
                RelatedKey::Team(id) => keys.push(key::team(id)),
                RelatedKey::Awaited(id) => {
                    awaited.insert(id);
                }
                RelatedKey::Claim(item, owner) => claims.push((item, owner)),
                RelatedKey::Tally(application) => tallies.push(self.tally(application)),
            }
        }
        let records = self.batch_get_related(keys, Consistency::Complete);
        let (mut related, claims, tallies) =
            try_join3(records, self.claims(claims), try_join_all(tallies)).await?;
        related.claims = claims;
        related.tallies = tallies.into_iter().flatten().collect();
        related.items.extend(self.items_with_gone(awaited).await?);
        Ok(related)
    }

    /// Counts the items of an application that are not gone, by state; `None` if there are too many.
    async fn tally(&self, application: ApplicationId) -> Result<Option<(ApplicationId, Tally)>, Error> {
        let source = Source::<Item>::of_application_number(application).live();
        let mut rows = self.rows(&source, Direction::Ascending, None).at_once(TALLIED_AT_ONCE);
        let mut tally = Tally::default();
        while let Some(batch) = rows.next().await? {
            // A retired application has no live item, because the items under its number belong to another application
            // (R45).
            for row in batch.iter().filter(|row| row.value.application_id() == application) {
                tally.add(&row.value);
            }
            if tally.items() > TALLIED_MAX {
                return Ok(None);
            }
        }
        Ok(Some((application, tally)))
    }

    pub(crate) async fn batch_get_related(
        &self,
        keys: impl IntoIterator<Item = Key>,
        consistency: Consistency,
    ) -> Result<Related, Error> {
        related_of(self.batch_get_rows(keys, consistency).await?)
    }
}

/// A version of a definition, with the deployed version that an upgrade may continue.
type CheckedVersion = (String, Option<LatestDeployed>, u64);

/// Returns the versions of the definitions that checked the items; none for an item without words.
fn checked_versions(items: &[Item], related: &Related) -> Vec<Option<CheckedVersion>> {
    let checked = |item: &Item| {
        let service = related.services.get(&item.service.title);
        let first = service.and_then(|service| service.first_with_words)?;
        let is_checked = item.declared && item.schema_version >= first;
        is_checked.then(|| (item.service.title.clone(), item.shown_deployed(), item.schema_version))
    };
    items.iter().map(checked).collect()
}

/// Sorts rows into their types.
fn related_of(rows: Vec<record::Attributes>) -> Result<Related, Error> {
    let mut related = Related::default();
    for row in rows {
        match record::type_of(&row) {
            Some(ItemRecord::TYPE) => {
                let item = record::read::<ItemRecord>(row)?;
                related.items.insert(item.id, item);
            }
            Some(TeamRecord::TYPE) => {
                let team = record::read::<TeamRecord>(row)?;
                related.teams.insert(team.id, team);
            }
            Some(ApplicationRecord::TYPE) => {
                let application = record::read::<ApplicationRecord>(row)?;
                related.applications.insert(application.id, application);
            }
            Some(ServiceRecord::TYPE) => {
                let service = record::read::<ServiceRecord>(row)?;
                related.services.insert(service.title.clone(), service);
            }
            Some(DeployedRecord::TYPE) => {
                let deployed: Deployed = record::read::<DeployedRecord>(row)?;
                related.deployed.insert(deployed.id, deployed);
            }
            Some(CheckScheduleRecord::TYPE) => {
                let schedule = record::read::<CheckScheduleRecord>(row)?;
                related.check_schedules.insert(schedule.service.id, schedule);
            }
            Some(HealthRecord::TYPE) => {
                let health = record::read::<HealthRecord>(row)?;
                related.healths.insert(health.item, health);
            }
            Some("DECLARATION") => {
                let (key, text) = declaration(&row)?;
                related.declarations.insert(key, text);
            }
            other => {
                return Err(Error::corrupt(
                    record::key_text(&row),
                    format!("unexpected record type {other:?}"),
                ));
            }
        }
    }
    Ok(related)
}

/// Adds records of the types that never change, and health.
fn merge(related: &mut Related, more: Related) {
    related.declarations.extend(more.declarations);
    related.deployed.extend(more.deployed);
    related.check_schedules.extend(more.check_schedules);
    related.healths.extend(more.healths);
}

/// Returns the keys of records that change, and that the response shows as they are now.
fn current_of_item(item: &Item) -> [Key; 3] {
    [key::team(item.consumer.id), key::application(item.application_id()), key::service(&item.service.title)]
}

fn current_of_change(change: &Change) -> [Key; 5] {
    [
        key::service(&change.service.title),
        key::item(change.item),
        key::team(change.consumer.id),
        key::team(change.service_owner.id),
        key::application(change.application_id()),
    ]
}

/// Returns the keys of declarations and deployed items, which never change.
fn versions_of_item(item: &Item) -> impl Iterator<Item = Key> + use<> {
    let declaration = key::declaration(item.consumer.id, item.version.hash);
    std::iter::once(declaration).chain(item.shown_deployed().map(|latest| key::deployed(latest.id)))
}

fn versions_of_change(change: &Change) -> impl Iterator<Item = Key> {
    let versions = change.new.iter().chain(&change.old);
    let declarations = versions.map(|version| key::declaration(change.consumer.id, version.hash));
    let planned = change.planned().map(|hash| key::declaration(change.consumer.id, hash));
    declarations.chain(planned).chain(change.deployed_before.map(key::deployed))
}

/// Returns the team, the hash and the text of a stored declaration.
pub(crate) fn declaration(row: &record::Attributes) -> Result<((TeamId, Hash), String), Error> {
    let corrupt = || Error::corrupt(record::key_text(row), "the record is not a declaration");
    let team = record::text(row, "pk")
        .and_then(|pk| pk.strip_prefix("DECLARATION#"))
        .and_then(|id| id.parse().ok())
        .and_then(TeamId::new);
    let hash = record::text(row, "sk").and_then(Hash::parse);
    let text = record::text(row, "json").map(str::to_owned);
    Ok(((team.ok_or_else(corrupt)?, hash.ok_or_else(corrupt)?), text.ok_or_else(corrupt)?))
}
