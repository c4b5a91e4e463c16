//! Lists: the rows of one or several partitions, merged in order and read on demand (docs/reference/http/lists.md).

use super::merge::{Merge, Reader};
use super::range::{Direction, Partition};
use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::record::{
    self, ApplicationRecord, Attributes, ChangeRecord, ChargeRecord, ConfigRecord, DeployedRecord,
    ItemRecord, ReplacedRecord, ServiceRecord, SubmissionRecord,
};
use aws_sdk_dynamodb::types::Select;
use domain::base::id::{ApplicationId, ServiceId};
use domain::base::state::ChargeType;
use domain::catalog::config::Config;
use domain::catalog::service::Service;
use domain::model::charge::Charge;
use domain::model::deployed::Deployed;
use domain::model::metadata::{Of, Replaced};
use domain::model::submission::Submission;
use domain::model::team::Application;
use domain::{Change, ChangeId, Item, ItemId, State, TeamId, Timestamp};
use futures_util::future::try_join_all;
use std::collections::VecDeque;

/// The rows of one query: default and maximum.
const ROWS_PER_READ: usize = 100;
const ROWS_PER_READ_MAX: usize = 1_000;

/// The partitions of a list, and the decoding of its rows.
#[derive(Clone, Debug)]
pub struct Source<T> {
    partitions: Vec<Partition>,
    /// Whether a row may lead to an item that is gone. A live item moves during the read, and has the same position.
    follows: bool,
    /// Returns the key of the record that a row of a keys-only index refers to.
    record: fn(&Key) -> Option<Key>,
    decode: fn(Attributes) -> Result<T, Error>,
}

impl<T> Source<T> {
    fn new(
        index: Option<u8>,
        pks: impl IntoIterator<Item = String>,
        decode: fn(Attributes) -> Result<T, Error>,
    ) -> Self {
        let partitions =
            pks.into_iter().map(|pk| Partition { index, pk, prefix: None, from: None, to: None }).collect();
        Self { partitions, follows: false, record: |key| Some(key.clone()), decode }
    }

    /// Returns the source without partitions, so that it has no rows.
    pub fn emptied(mut self) -> Self {
        self.partitions.clear();
        self
    }

    /// Returns the part of a source in the order of submissions that begins after one.
    fn after(mut self, submission: u64) -> Self {
        for partition in &mut self.partitions {
            partition.from = Some(key::by_submission(submission + 1, 0));
        }
        self
    }

    fn under(mut self, prefix: &str) -> Self {
        for partition in &mut self.partitions {
            partition.prefix = Some(prefix.to_owned());
        }
        self
    }
}

impl Source<Change> {
    /// Returns the change instances of an owner in these states.
    pub fn owned_by(owner: TeamId, states: &[State]) -> Self {
        let queues = states.iter().map(|state| key::owner_queue(owner, *state));
        Self::new(Some(1), queues, record::read::<ChangeRecord>)
    }

    /// Returns all change instances of a consumer.
    pub fn of_consumer(team: TeamId) -> Self {
        Self::new(None, [key::change_partition(team)], record::read::<ChangeRecord>)
    }

    /// Returns the change instances of a consumer from the first one of a submission on, which include all of it.
    pub fn since(submission: &Submission) -> Self {
        let mut source = Self::of_consumer(submission.team.id);
        let first =
            ChangeId::new(submission.team.id, submission.first_change).map(|first| key::change(first).sk);
        for partition in &mut source.partitions {
            partition.from.clone_from(&first);
        }
        source
    }

    /// Returns all change instances of an item.
    pub fn of_item(item: ItemId) -> Self {
        Self::new(Some(3), [key::item_changes(item)], record::read::<ChangeRecord>)
    }
}

impl Source<Item> {
    /// Returns all items of an owner's services, gone ones included.
    pub fn owned_by(owner: TeamId) -> Self {
        Self::of_items(Some(2), [key::owner_items(owner), key::owner_gone(owner)])
    }

    /// Returns all items of a consumer, gone ones included.
    pub fn of_consumer(team: TeamId) -> Self {
        Self::of_items(None, [key::item_partition(team), key::gone_partition(team)])
    }

    /// Returns the source of live and of gone items. An item has the same position in both.
    fn of_items(index: Option<u8>, live_and_gone: [String; 2]) -> Self {
        Self { follows: true, ..Self::new(index, live_and_gone, record::read::<ItemRecord>) }
    }

    /// Returns the source without gone items.
    pub fn live(mut self) -> Self {
        self.partitions.truncate(1);
        self.follows = false;
        self
    }

    /// Returns the source of gone items alone. A list of shares stays the same, because shares do not move.
    pub fn gone(mut self) -> Self {
        if self.partitions.len() > 1 {
            self.partitions.drain(..1);
        }
        self
    }

    /// Returns the gone items of a consumer that were removed after a submission.
    pub fn removed_after(team: TeamId, submission: u64) -> Self {
        Self::new(Some(3), [key::team_removed(team)], record::read::<ItemRecord>).after(submission)
    }

    /// Returns the items in which a team has a share as a dependent team, oldest share first.
    pub fn shared_with(owner: TeamId) -> Self {
        let shares = Self::new(Some(2), [key::owner_shares(owner)], record::read::<ItemRecord>);
        Self { record: key::shared_item, follows: true, ..shares }
    }

    /// Returns all items of an application, gone ones included.
    pub fn of_application(application: &Application) -> Self {
        let mut source = Self::of_application_number(application.id);
        let key_of = |number| ItemId::new(application.id, number).map(|item| key::item(item).sk);
        let first = (application.items_before > 0).then(|| key_of(application.items_before + 1)).flatten();
        // A later application with the same number has the items from `next_item` on.
        let last = application.retired.and_then(|_| key_of(application.next_item.saturating_sub(1)));
        let is_empty = application.retired.is_some() && application.next_item == application.items_before + 1;
        for partition in &mut source.partitions {
            partition.from.clone_from(&first);
            partition.to.clone_from(&last);
        }
        if is_empty { source.emptied() } else { source }
    }

    /// Returns all items of the applications with the number of this one (R45), gone ones included.
    pub fn of_application_number(application: ApplicationId) -> Self {
        Self::of_consumer(application.team()).under(&key::item_prefix(application.number()))
    }
}

impl Source<Deployed> {
    /// Returns all deployed items of an owner's services.
    pub fn owned_by(owner: TeamId) -> Self {
        Self::new(Some(2), [key::owner_deployed(owner)], record::read::<DeployedRecord>)
    }

    /// Returns all deployed items of a consumer.
    pub fn of_consumer(team: TeamId) -> Self {
        Self::new(None, [key::deployed_partition(team)], record::read::<DeployedRecord>)
    }

    /// Returns all deployed items of one service item.
    pub fn of_item(item: ItemId) -> Self {
        Self::new(Some(3), [key::item_deployed(item)], record::read::<DeployedRecord>)
    }
}

impl Source<Charge> {
    /// Returns the charges of an owner's services with these types and these values of `processed`.
    pub fn owned_by(owner: TeamId, types: &[ChargeType], processed: &[bool]) -> Self {
        let queues = types.iter().flat_map(|charge_type| {
            processed.iter().map(|processed| key::owner_charges(owner, *charge_type, *processed))
        });
        Self::new(Some(2), queues, record::read::<ChargeRecord>)
    }

    /// Returns all charges of a consumer.
    pub fn of_consumer(team: TeamId) -> Self {
        Self::new(None, [key::charge_partition(team)], record::read::<ChargeRecord>)
    }
}

impl Source<Submission> {
    /// Returns all submissions of a team.
    pub fn of_team(team: TeamId) -> Self {
        Self::new(None, [key::submission_partition(team)], record::read::<SubmissionRecord>)
    }
}

impl Source<Application> {
    /// Returns all applications of a team.
    pub fn of_team(team: TeamId) -> Self {
        Self::new(None, [key::team_partition(team)], record::read::<ApplicationRecord>).under("APP#")
    }

    /// Returns the retired applications of a team (R45).
    pub fn retired(team: TeamId) -> Self {
        Self::new(None, [key::retired_partition(team)], record::read::<ApplicationRecord>)
    }

    /// Returns the applications of a team that retired after a submission.
    pub fn retired_after(team: TeamId, submission: u64) -> Self {
        Self::new(Some(3), [key::team_retired(team)], record::read::<ApplicationRecord>).after(submission)
    }
}

impl Source<Replaced> {
    /// Returns the former metadata of a team or an application, in the order of their declaration.
    pub fn of(of: Of) -> Self {
        let pk = key::replaced_partition(of.team());
        Self::new(None, [pk], record::read::<ReplacedRecord>).under(&key::replaced_prefix(of))
    }
}

impl Source<Service> {
    /// Returns all services.
    pub fn all() -> Self {
        Self::new(Some(3), [key::ALL_SERVICES.to_owned()], record::read::<ServiceRecord>)
    }

    /// Returns the services of an owner.
    pub fn owned_by(owner: TeamId) -> Self {
        Self::new(Some(2), [key::owner_services(owner)], record::read::<ServiceRecord>)
    }
}

impl Source<Config> {
    /// Returns all config versions of a service, in order.
    pub fn of_service(service: ServiceId) -> Self {
        Self::new(None, [key::config_partition(service)], record::read::<ConfigRecord>)
    }

    /// Returns the configs of an owner's services.
    pub fn owned_by(owner: TeamId) -> Self {
        Self::new(Some(2), [key::owner_configs(owner)], record::read::<ConfigRecord>)
    }
}

/// Returns the position in a list by age after everything that was created up to a time.
pub fn until(at: Timestamp) -> String {
    key::by_age(at, ID_MAX)
}

/// A number above every id, within the 16 digits of an index position.
const ID_MAX: u64 = 9_999_999_999_999_999;

/// One row of a list.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The position of the row in the order; the next page begins after it.
    pub position: String,
    pub value: T,
}

/// The rows of a list in order, read in batches.
pub struct Rows<'a, T> {
    merge: Merge<'a>,
    decode: fn(Attributes) -> Result<T, Error>,
}

impl Table {
    /// Returns the rows of a list after a position.
    pub fn rows<T>(&self, source: &Source<T>, direction: Direction, after: Option<&str>) -> Rows<'_, T> {
        let reader = |partition: &Partition| Reader {
            partition: partition.clone(),
            after: after.map(str::to_owned),
            buffer: VecDeque::new(),
            exhausted: false,
        };
        let merge = Merge {
            table: self,
            direction,
            record: source.record,
            readers: source.partitions.iter().map(reader).collect(),
            follows: source.follows,
            // An index may be late, so the order of its reads guarantees nothing.
            in_order: source.follows && source.partitions.iter().all(|partition| partition.index.is_none()),
            start: after.map(str::to_owned),
            at_once: ROWS_PER_READ,
            last: None,
        };
        Rows { merge, decode: source.decode }
    }

    /// Counts the rows of a list. The count stops at `max`, and reads at most so many rows of each partition.
    pub async fn count<T>(&self, source: &Source<T>, max: u64) -> Result<u64, Error> {
        let counts = source.partitions.iter().map(|partition| self.count_in(partition, max));
        Ok(try_join_all(counts).await?.into_iter().sum::<u64>().min(max))
    }

    async fn count_in(&self, partition: &Partition, max: u64) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let query = self.query(partition, Direction::Ascending, None).select(Select::Count);
            let left = i32::try_from(max.saturating_sub(count)).unwrap_or(i32::MAX);
            let page = query.set_exclusive_start_key(after).limit(left).call().await?;
            count += u64::try_from(page.count).unwrap_or_default();
            after = page.last_evaluated_key;
            if after.is_none() || count >= max {
                return Ok(count);
            }
        }
    }
}

impl<T> Rows<'_, T> {
    /// Sets the rows of one query. Rows that are read but not used cost the same, so small pages set it low.
    pub fn at_once(mut self, rows: usize) -> Self {
        self.merge.at_once = rows.clamp(1, ROWS_PER_READ_MAX);
        self
    }

    /// Returns whether no row is left, as far as the last query showed.
    pub fn is_over(&self) -> bool {
        self.merge.is_over()
    }

    /// Returns the next rows in order, or `None` at the end of the list.
    pub async fn next(&mut self) -> Result<Option<Vec<Listed<T>>>, Error> {
        let Some(rows) = self.merge.next().await? else { return Ok(None) };
        let decode = |(position, row)| Ok(Listed { position, value: (self.decode)(row)? });
        rows.into_iter().map(decode).collect::<Result<_, _>>().map(Some)
    }
}
