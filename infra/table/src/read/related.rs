//! Reads of the records that a response shows next to its own, in one or two rounds of batch reads.

use super::lists::{Direction, Source};
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, CheckScheduleRecord, DeployedRecord, HealthRecord, ItemRecord, Record,
    ServiceRecord, TeamRecord,
};
use domain::base::id::{ApplicationId, DeployedId};
use domain::model::deployed::Deployed;
use domain::model::submission::Submission;
use domain::views::related::Related;
use domain::views::tally::Tally;
use domain::{Change, Hash, Item, TeamId};
use futures_util::future::{try_join, try_join_all};

/// A record that a row of a list refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelatedKey {
    /// A declaration of this consumer, by its hash.
    Declaration(TeamId, Hash),
    Deployed(DeployedId),
    Team(TeamId),
    /// The items of an application by state. Each application takes a query of its own.
    Tally(ApplicationId),
}

/// The most items of an application that are counted; a larger one has no counts in the response.
const TALLIED_MAX: usize = 10_000;

/// The rows of one query for the counts.
const TALLIED_AT_ONCE: usize = 1_000;

impl RelatedKey {
    fn key(self) -> Option<Key> {
        Some(match self {
            Self::Declaration(team, hash) => key::declaration(team, hash),
            Self::Deployed(id) => key::deployed(id),
            Self::Team(id) => key::team(id),
            Self::Tally(_) => return None,
        })
    }

    const fn tallied(self) -> Option<ApplicationId> {
        match self {
            Self::Tally(application) => Some(application),
            Self::Declaration(..) | Self::Deployed(_) | Self::Team(_) => None,
        }
    }
}

impl Table {
    /// Returns the items, teams, applications, declarations and deployed items of change instances.
    pub async fn related_to_changes(&self, changes: &[Change]) -> Result<Related, Error> {
        // One batch is either strongly or eventually consistent. Records that change are read as they are now, so a
        // caller that has just seen COMPLETED also sees its deployed item. The others never change and cost half.
        let moving = self.related(changes.iter().flat_map(mutable_keys_of_change).collect());
        let named = changes.iter().flat_map(named_by_change).collect();
        let (moving, eventual) = try_join(moving, self.lastingly_related(named)).await?;
        self.named_by_items(merge_eventual(moving, eventual)).await
    }

    /// Returns the same for rows of an owner's queue, in one batch at half the price.
    ///
    /// The queue is an index and may be late, so its records may be as well.
    pub async fn related_to_queue(&self, changes: &[Change]) -> Result<Related, Error> {
        let keys = changes
            .iter()
            .flat_map(|change| mutable_keys_of_change(change).into_iter().chain(named_by_change(change)));
        self.named_by_items(self.lastingly_related(keys.collect()).await?).await
    }

    /// Adds the records that only the items refer to. Most change instances refer to the same ones.
    async fn named_by_items(&self, related: Related) -> Result<Related, Error> {
        let is_read = |wanted: &RelatedKey| match wanted {
            RelatedKey::Declaration(team, hash) => related.declarations.contains_key(&(*team, *hash)),
            RelatedKey::Deployed(id) => related.deployed.contains_key(id),
            RelatedKey::Team(id) => related.teams.contains_key(id),
            RelatedKey::Tally(id) => related.tallies.contains_key(id),
        };
        let named = related.items.values().flat_map(named_by_item);
        let more = self.related_records(named.filter(|wanted| !is_read(wanted))).await?;
        Ok(merge_eventual(related, more))
    }

    /// Returns the teams, application, service, declaration, deployed item and health of an item.
    pub async fn related_to_item(&self, item: &Item) -> Result<Related, Error> {
        let mutable = self.related(mutable_keys_of_item(item).into());
        let (moving, eventual) =
            try_join(mutable, self.related_eventually(std::slice::from_ref(item), Vec::new())).await?;
        Ok(merge_eventual(moving, eventual))
    }

    /// Returns the same for the items of a list, in one batch, as late as an index may be.
    pub async fn related_to_items(&self, items: &[Item]) -> Result<Related, Error> {
        self.related_eventually(items, items.iter().flat_map(mutable_keys_of_item).collect()).await
    }

    /// Returns the records that items refer to, their health, and the records under `wanted`.
    async fn related_eventually(&self, items: &[Item], wanted: Vec<Key>) -> Result<Related, Error> {
        let named = items.iter().flat_map(named_by_item).filter_map(RelatedKey::key);
        let now = dovetail_aws::now();
        let keys = named.chain(wanted).collect();
        let mut related = Related::default();
        add(&mut related, self.batch_eventual_with(keys, self.checks_of(items, now)).await?)?;
        let more = self.read_uncached_health(items, now, &related).await?;
        add(&mut related, more)?;
        Ok(related)
    }

    /// Returns the first `limit` change instances of a submission's own items that exist now.
    pub async fn changes_of(&self, submission: &Submission, limit: usize) -> Result<Vec<Change>, Error> {
        self.changes(&submission.direct_changes().take(limit).collect::<Vec<_>>()).await
    }

    /// Returns the records of `wanted` that exist.
    pub async fn related_records(&self, wanted: impl Iterator<Item = RelatedKey>) -> Result<Related, Error> {
        let wanted: Vec<RelatedKey> = wanted.collect();
        let keys = wanted.iter().filter_map(|wanted| wanted.key()).collect();
        let tallied = wanted.iter().filter_map(|wanted| wanted.tallied());
        let tallies = try_join_all(tallied.map(|application| self.tally(application)));
        let (mut related, tallies) = try_join(self.lastingly_related(keys), tallies).await?;
        related.tallies = tallies.into_iter().flatten().collect();
        Ok(related)
    }

    /// Counts the items of an application by state; `None` if there are too many.
    async fn tally(&self, application: ApplicationId) -> Result<Option<(ApplicationId, Tally)>, Error> {
        let source = Source::<Item>::of_application(application);
        let mut rows = self.rows(&source, Direction::Ascending, None).at_once(TALLIED_AT_ONCE);
        let mut tally = Tally::default();
        while let Some(batch) = rows.next().await? {
            for row in &batch {
                tally.add(&row.value);
            }
            if tally.items() > TALLIED_MAX {
                return Ok(None);
            }
        }
        Ok(Some((application, tally)))
    }

    async fn related(&self, keys: Vec<Key>) -> Result<Related, Error> {
        let mut related = Related::default();
        add(&mut related, self.batch(keys).await?)?;
        Ok(related)
    }

    /// Returns related records that never change, or may be a moment old.
    pub(crate) async fn lastingly_related(&self, keys: Vec<Key>) -> Result<Related, Error> {
        let mut related = Related::default();
        add(&mut related, self.batch_eventual(keys).await?)?;
        Ok(related)
    }
}

fn add(related: &mut Related, rows: Vec<record::Attributes>) -> Result<(), Error> {
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
    Ok(())
}

/// Adds the records of an eventually consistent read to those of a strongly consistent one.
fn merge_eventual(mut related: Related, eventual: Related) -> Related {
    related.declarations.extend(eventual.declarations);
    related.deployed.extend(eventual.deployed);
    related.check_schedules.extend(eventual.check_schedules);
    related.healths.extend(eventual.healths);
    related
}

fn mutable_keys_of_item(item: &Item) -> [Key; 3] {
    [key::team(item.consumer.id), key::application(item.id.application()), key::service(&item.service.title)]
}

fn mutable_keys_of_change(change: &Change) -> [Key; 5] {
    [
        key::service(&change.service.title),
        key::item(change.item),
        key::team(change.consumer.id),
        key::team(change.service_owner.id),
        key::application(change.item.application()),
    ]
}

fn named_by_change(change: &Change) -> Vec<Key> {
    let versions = change.new.iter().chain(&change.old);
    let declarations = versions.map(|version| key::declaration(change.consumer.id, version.hash));
    declarations.chain(change.deployed_before.map(key::deployed)).collect()
}

fn named_by_item(item: &Item) -> impl Iterator<Item = RelatedKey> {
    let declaration = RelatedKey::Declaration(item.consumer.id, item.version.hash);
    std::iter::once(declaration).chain(item.deployed.map(|latest| RelatedKey::Deployed(latest.id)))
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
