//! Loading what stands beside the records of a reply, in at most two rounds of batch reads.

use crate::key::{self, Key};
use crate::record::{self, ApplicationRecord, DeployedRecord, ItemRecord, Record, ServiceRecord, TeamRecord};
use crate::{Error, Table};
use domain::change::Change;
use domain::deployed::Deployed;
use domain::id::{DeployedId, TeamId};
use domain::item::Item;
use domain::json::Hash;
use domain::related::Related;
use domain::submission::Submission;
use std::collections::BTreeSet;

/// A record that a row of a list points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A declaration of this consumer.
    Declaration(TeamId, Hash),
    /// A deployed item.
    Deployed(DeployedId),
    /// A team.
    Team(TeamId),
}

impl Table {
    /// What stands beside change instances: their items, teams, applications, declarations, deployed items.
    pub async fn related_to_changes(&self, changes: &[Change]) -> Result<Related, Error> {
        let mut keys = Vec::new();
        for change in changes {
            keys.extend([
                key::item(change.item),
                key::team(change.consumer.id),
                key::team(change.service_owner.id),
                key::application(change.item.application()),
            ]);
        }
        let mut related = self.related(keys).await?;
        let mut more: BTreeSet<Key> = BTreeSet::new();
        for change in changes {
            let versions = change.new.iter().chain(&change.old);
            more.extend(versions.map(|version| key::declaration(change.consumer.id, version.hash)));
            more.extend(change.deployed_before.map(key::deployed));
        }
        more.extend(related.items.values().flat_map(beside_item));
        self.add(&mut related, more.into_iter().collect()).await?;
        Ok(related)
    }

    /// What stands beside items: their teams, applications, services, declarations, deployed items.
    pub async fn related_to_items(&self, items: &[Item]) -> Result<Related, Error> {
        let keys = items.iter().flat_map(|item| {
            let own = [
                key::team(item.consumer.id),
                key::application(item.id.application()),
                key::service(&item.service.title),
            ];
            own.into_iter().chain(beside_item(item))
        });
        self.related(keys.collect()).await
    }

    /// The first change instances of a submission's own items, as far as they exist, as they are now.
    pub async fn changes_of(&self, submission: &Submission, limit: usize) -> Result<Vec<Change>, Error> {
        self.changes(&submission.direct_changes().take(limit).collect::<Vec<_>>()).await
    }

    /// What is wanted beside rows, as far as it exists.
    pub async fn beside(&self, wanted: impl Iterator<Item = Beside>) -> Result<Related, Error> {
        let key = |wanted| match wanted {
            Beside::Declaration(team, hash) => key::declaration(team, hash),
            Beside::Deployed(id) => key::deployed(id),
            Beside::Team(id) => key::team(id),
        };
        self.related(wanted.map(key).collect()).await
    }

    async fn related(&self, keys: Vec<Key>) -> Result<Related, Error> {
        let mut related = Related::default();
        self.add(&mut related, keys).await?;
        Ok(related)
    }

    async fn add(&self, related: &mut Related, keys: Vec<Key>) -> Result<(), Error> {
        for row in self.batch(keys).await? {
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
                Some("DECLARATION") => {
                    let (key, text) = declaration(&row)?;
                    related.declarations.insert(key, text);
                }
                other => return Err(Error::corrupt(record::place(&row), format!("{other:?} unexpected"))),
            }
        }
        Ok(())
    }
}

fn beside_item(item: &Item) -> Vec<Key> {
    let declaration = key::declaration(item.consumer.id, item.version.hash);
    std::iter::once(declaration).chain(item.deployed.map(|latest| key::deployed(latest.id))).collect()
}

/// A stored declaration: its team and hash, and its text.
pub(crate) fn declaration(row: &record::Attributes) -> Result<((TeamId, Hash), String), Error> {
    let corrupt = || Error::corrupt(record::place(row), "it is no declaration");
    let team = record::text(row, "pk")
        .and_then(|pk| pk.strip_prefix("DECLARATION#"))
        .and_then(|id| id.parse().ok())
        .and_then(TeamId::new);
    let hash = record::text(row, "sk").and_then(Hash::parse);
    let text = record::text(row, "json").map(str::to_owned);
    Ok(((team.ok_or_else(corrupt)?, hash.ok_or_else(corrupt)?), text.ok_or_else(corrupt)?))
}
