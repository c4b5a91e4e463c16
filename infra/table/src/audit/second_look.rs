//! The second look at suspected violations.
//!
//! The second look lists the records of a team partition by partition. Then it reads the records of a violation with
//! `TransactGetItems`. If each record is as listed, all of them had this content at one moment, and the violation
//! counts. If one has moved, the look starts again.

use super::dependencies::{dependency_keys, of_team};
use super::findings::count;
use super::row_hash;
use super::rows::Rows;
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::read::for_each_page;
use crate::record::{self, Attributes, size};
use aws_sdk_dynamodb::types::{Get, TransactGetItem};
use domain::audit::invariant::{Definitions, Snapshot, Subject, Violation, ages, catalogue, violations};
use domain::catalog::service::Service;
use domain::{TeamId, Timestamp};
use dovetail_aws::retry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most records and bytes of one transaction; DynamoDB allows 100 and 4 MB.
const READS_MAX: usize = 100;
const BYTES_MAX: usize = 3_000_000;

/// The most catalogue records of one transaction: a schema may have 64 KiB, so 40 of them stay below 4 MB.
const CATALOGUE_READS_MAX: usize = 40;

/// The records of teams, read partition by partition.
#[derive(Default)]
pub(super) struct Listing {
    by_key: BTreeMap<Key, Listed>,
    pub(super) rows: Rows,
}

/// A row of a listing, without its content.
#[derive(Clone, Copy)]
struct Listed {
    hash: u64,
    bytes: usize,
}

impl Listing {
    /// Returns the hash of a row.
    pub(super) fn hash(&self, key: &Key) -> Option<u64> {
        self.by_key.get(key).map(|listed| listed.hash)
    }

    fn add(&mut self, row: Attributes) {
        let listed = Listed { hash: row_hash::of_row(&row), bytes: size::of_record(&row) };
        self.by_key.extend(record::key(&row).map(|key| (key, listed)));
        self.rows.add(row);
    }
}

impl Table {
    /// Returns the violations of a team that hold, and the number of unsettled ones.
    pub(super) async fn recheck_team(
        &self,
        team: TeamId,
        now: Option<Timestamp>,
        definitions: &Arc<Definitions>,
    ) -> Result<(Vec<Violation>, u64), Error> {
        let mut unsettled = (Vec::new(), 0);
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            let listing = self.listing(team, Rows::with(Arc::clone(definitions))).await?;
            let snapshot = &listing.rows.snapshot;
            let aged = now.map(|now| ages(snapshot, now)).unwrap_or_default();
            let violations = [violations(snapshot), aged].concat();
            let about: Vec<_> =
                violations.iter().map(|violation| dependency_keys(snapshot, team, violation)).collect();
            let moved = self.moved(&listing, about.iter().flatten().cloned().collect()).await?;
            let (stands, moving): (Vec<_>, Vec<_>) =
                violations.into_iter().zip(about).partition(|(_, about)| about.is_disjoint(&moved));
            unsettled = (stands.into_iter().map(|(violation, _)| violation).collect(), count(&moving));
            if moving.is_empty() {
                break;
            }
        }
        Ok(unsettled)
    }

    /// Returns a listing in which the records that repairs need are of one moment, or `None` if they always moved.
    pub(super) async fn standing(&self, team: TeamId) -> Result<Option<Listing>, Error> {
        let mut looks = retry::AUDIT.attempts();
        while looks.next().await.is_some() {
            let listing = self.listing(team, Rows::default()).await?;
            if self.moved(&listing, of_team(&listing.rows.snapshot, team)).await?.is_empty() {
                return Ok(Some(listing));
            }
        }
        Ok(None)
    }

    /// Adds the records of a team to `rows`, partition by partition.
    async fn listing(&self, team: TeamId, rows: Rows) -> Result<Listing, Error> {
        let mut listing = Listing { by_key: BTreeMap::new(), rows };
        self.list(&mut listing, key::partitions_of(team)).await?;
        Ok(listing)
    }

    /// Adds the records of partitions to a listing.
    pub(super) async fn list(&self, listing: &mut Listing, partitions: Vec<String>) -> Result<(), Error> {
        for partition in partitions {
            let query = self.partition_query(&self.name, &partition, "");
            for_each_page(query, |page| {
                for row in page {
                    listing.add(row);
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Returns the keys of records that are not as listed.
    pub(super) async fn moved(&self, listing: &Listing, keys: BTreeSet<Key>) -> Result<BTreeSet<Key>, Error> {
        let mut moved = BTreeSet::new();
        let (mut some, mut bytes) = (Vec::new(), 0);
        for key in keys {
            let more = listing.by_key.get(&key).map_or(0, |listed| listed.bytes);
            if some.len() == READS_MAX || bytes + more > BYTES_MAX {
                moved.extend(self.some_moved(listing, std::mem::take(&mut some)).await?);
                bytes = 0;
            }
            bytes += more;
            some.push(key);
        }
        moved.extend(self.some_moved(listing, some).await?);
        Ok(moved)
    }

    async fn some_moved(&self, listing: &Listing, keys: Vec<Key>) -> Result<Vec<Key>, Error> {
        // Records that change too often for a transactional read count as moved.
        let Some(rows) = self.at_one_moment(&keys).await? else { return Ok(keys) };
        let pairs = keys.into_iter().zip(rows);
        let has_moved = |(key, row): &(Key, Option<Attributes>)| {
            row.as_ref().map(row_hash::of_row) != listing.by_key.get(key).map(|listed| listed.hash)
        };
        Ok(pairs.filter(has_moved).map(|(key, _)| key).collect())
    }

    /// Reads records as of one moment, in the order of the keys; `None` if every attempt conflicted with a write.
    async fn at_one_moment(&self, keys: &[Key]) -> Result<Option<Vec<Option<Attributes>>>, Error> {
        if keys.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let get = |key: &Key| {
            let get = Get::builder().table_name(&self.name).set_key(Some(key.clone().into())).build();
            get.map(|get| TransactGetItem::builder().get(get).build())
                .map_err(|error| Error::corrupt("get", error))
        };
        let gets = keys.iter().map(get).collect::<Result<Vec<_>, _>>()?;
        let mut reads = retry::AUDIT.attempts();
        while reads.next().await.is_some() {
            let read = self.client.transact_get_items().set_transact_items(Some(gets.clone())).call().await;
            match read {
                Ok(read) => {
                    let rows = read.responses.unwrap_or_default().into_iter();
                    return Ok(Some(rows.map(|one| one.item).collect()));
                }
                Err(error) => {
                    let cancelled =
                        error.as_service_error().is_some_and(|e| e.is_transaction_canceled_exception());
                    if !cancelled {
                        return Err(error.into());
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the violations of single rows that still hold, and the number of rows that could not be read.
    pub(super) async fn recheck_rows(&self, flaws: Vec<Violation>) -> Result<(Vec<Violation>, u64), Error> {
        let (mut rows, mut unsettled) = (Rows::default(), 0);
        let subjects: BTreeSet<Subject> = flaws.into_iter().map(|flaw| flaw.subject).collect();
        for subject in subjects {
            let Subject::Record { partition, sort } = subject else { continue };
            match self.at_one_moment(&[Key::new(partition, sort)]).await? {
                Some(read) => read.into_iter().flatten().for_each(|row| rows.add(row)),
                None => unsettled += 1,
            }
        }
        Ok(([rows.flaws, rows.set_aside].concat(), unsettled))
    }

    /// Returns the violations of the catalogue that still hold after a read of their records, and the unsettled
    /// number.
    pub(super) async fn recheck_catalogue(
        &self,
        snapshot: Snapshot,
        mut violations: Vec<Violation>,
    ) -> Result<(Vec<Violation>, u64), Error> {
        let mut rows = Rows::default();
        rows.snapshot = snapshot;
        let mut unread: BTreeSet<Subject> = BTreeSet::new();
        // The first round may show a new version of a service, whose schema only the second round reads.
        for _ in 0..2 {
            unread.clear();
            let subjects: BTreeSet<Subject> =
                violations.into_iter().map(|violation| violation.subject).collect();
            for subject in subjects {
                let keys: Vec<Key> = catalogue_dependencies(&rows.snapshot, &subject).into_iter().collect();
                for some in keys.chunks(CATALOGUE_READS_MAX) {
                    match self.at_one_moment(some).await? {
                        Some(read) => read.into_iter().flatten().for_each(|row| rows.add(row)),
                        None => unread.extend([subject.clone()]),
                    }
                }
            }
            violations = catalogue(&rows.snapshot);
        }
        let (moving, stands): (Vec<_>, Vec<_>) =
            violations.into_iter().partition(|violation| unread.contains(&violation.subject));
        Ok((stands, count(&moving)))
    }
}

/// Returns the keys of the records that a violation of the catalogue depends on.
fn catalogue_dependencies(snapshot: &Snapshot, subject: &Subject) -> BTreeSet<Key> {
    let catalogue = &snapshot.catalogue;
    let of_service = |title: &String| {
        let versions = catalogue.services.get(title).map_or(1, |service| service.schema_version);
        let service = catalogue.services.get(title);
        let id = service.map(|service| key::service_id(service.id));
        let schemas = (1..=versions).map(|version| key::schema(title, version));
        let former_dependents =
            service.into_iter().flat_map(|service| service.former_dependents.iter().copied());
        let teams = service.into_iter().flat_map(Service::teams).map(|team| team.id).chain(former_dependents);
        let teams = teams.map(key::team);
        schemas
            .chain(id)
            .chain(teams)
            .chain([key::service(title), key::docs(title)])
            .collect::<BTreeSet<Key>>()
    };
    let mut keys = BTreeSet::new();
    if let Subject::Service(title) = subject {
        keys = of_service(title);
    }
    if let Subject::ServiceId(id) = subject {
        keys.extend(catalogue.titles.get(id).map(of_service).unwrap_or_default());
        keys.insert(key::service_id(*id));
    }
    if let Subject::TeamName(name) = subject {
        keys.extend(catalogue.names.get(name).map(|team| key::team(*team)));
        keys.insert(key::team_name(name));
    }
    if let Subject::Team(id) = subject {
        keys.insert(key::team(*id));
    }
    if let Subject::Messages(id) = subject {
        let services = catalogue.messages.get(id).into_iter().flat_map(|messages| &messages.all);
        let services = services.flat_map(|message| &message.content.services);
        keys.extend(services.map(|service| key::service(&service.title)));
        keys.extend([key::messages(*id), key::team(*id)]);
    }
    if *subject == Subject::MetadataPolicy {
        let newest = catalogue.policy_versions.last().copied().unwrap_or_default();
        keys.extend((1..=newest).map(key::metadata_policy));
    }
    if *subject == Subject::Counters {
        keys.insert(key::counters());
    }
    keys
}
