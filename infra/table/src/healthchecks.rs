//! Healthchecks, beside the API keys since credentials are in them; and in the table itself where they stand and what they
//! have told.

use crate::access::outcome;
use crate::call::Call as _;
use crate::commit::Commit;
use crate::record::{self, AskedRecord, CourseRecord, HealthRecord, HealthcheckRecord};
use crate::{Error, Keyed, Table, key, statement};
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use domain::healthcheck::run::Course;
use domain::healthcheck::{Asked, Health, Healthcheck};
use domain::id::{ServiceId, TeamId};
use domain::recorded::Recorded;
use domain::timestamp::Timestamp;
use futures_util::future::try_join_all;

/// How many items' health is written beside each other.
const AT_ONCE: usize = 10;

/// A healthcheck, and where it stands.
type Set = (Healthcheck, Course);

impl Table {
    /// The healthchecks of a team by their services: so many, of those behind `after` if it is given.
    pub async fn healthchecks(
        &self,
        team: TeamId,
        after: Option<ServiceId>,
        limit: usize,
    ) -> Result<Vec<Healthcheck>, Error> {
        let query = self.client.query().table_name(&self.keys).consistent_read(true);
        let partition = AttributeValue::S(key::healthcheck_partition(team));
        let query = query.key_condition_expression("pk = :pk").expression_attribute_values(":pk", partition);
        let after = after.map(|after| key::healthcheck(team, after).into());
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let page = query.set_exclusive_start_key(after).limit(limit).call().await?;
        page.items.unwrap_or_default().into_iter().map(record::read::<HealthcheckRecord>).collect()
    }

    /// The healthcheck of a service of a team.
    pub async fn healthcheck(&self, team: TeamId, service: ServiceId) -> Result<Option<Healthcheck>, Error> {
        let row = self.keys_row(key::healthcheck(team, service)).await?;
        row.map(record::read::<HealthcheckRecord>).transpose()
    }

    /// Where the healthcheck of a service of a team stands.
    pub async fn course(&self, team: TeamId, service: ServiceId) -> Result<Option<Course>, Error> {
        self.get::<CourseRecord>(key::course(team, service)).await
    }

    /// Where healthchecks of a team stand.
    pub async fn courses(&self, team: TeamId, services: &[ServiceId]) -> Result<Vec<Course>, Error> {
        let rows = self.batch(services.iter().map(|service| key::course(team, *service)).collect()).await?;
        rows.into_iter().map(record::read::<CourseRecord>).collect()
    }

    /// Stores a healthcheck, in the place of `before` if there is one, and unless that has changed since it was read.
    pub async fn put_healthcheck(
        &self,
        before: Option<&Set>,
        (after, course): &Set,
        recorded: &Recorded,
    ) -> Result<Keyed, Error> {
        let actions = || {
            let [kept, stands] = match before {
                None => [
                    statement::create::<HealthcheckRecord>(&self.keys, after)?,
                    statement::create::<CourseRecord>(&self.name, course)?,
                ],
                Some((before, stood)) => [
                    statement::replace::<HealthcheckRecord>(&self.keys, before.revision, after)?,
                    statement::replace::<CourseRecord>(&self.name, stood.revision, course)?,
                ],
            };
            Ok(vec![kept, stands, self.told(recorded)?])
        };
        let commit = self.transact(actions).await?;
        self.forget_check(after.service.id);
        let is_stored = commit == Commit::Done
            || self.healthcheck(after.team.id, after.service.id).await?.as_ref() == Some(after);
        outcome(commit, is_stored)
    }

    /// Removes a healthcheck. What it has told of items stays, and is shown no more.
    pub async fn remove_healthcheck(
        &self,
        removed: &Healthcheck,
        recorded: &Recorded,
    ) -> Result<Keyed, Error> {
        let (team, service) = (removed.team.id, removed.service.id);
        let actions = || {
            Ok(vec![
                statement::remove(&self.keys, key::healthcheck(team, service))?,
                statement::remove(&self.name, key::course(team, service))?,
                self.told(recorded)?,
            ])
        };
        let commit = self.transact(actions).await?;
        self.forget_check(service);
        // Once it is gone it is gone, whoever did it.
        let is_gone = commit == Commit::Done || self.healthcheck(team, service).await?.is_none();
        outcome(commit, is_gone)
    }

    /// Stores where a healthcheck stands from now on, unless that has changed since it was read.
    pub async fn put_course(&self, before: &Course, after: &Course) -> Result<Keyed, Error> {
        let action = || statement::replace::<CourseRecord>(&self.name, before.revision, after);
        match self.transact(|| Ok(vec![action()?])).await? {
            Commit::Done => Ok(Keyed::Stored),
            // If it was written after all, somebody finds it so.
            Commit::Stale | Commit::Busy | Commit::Unknown | Commit::TooLarge => Ok(Keyed::Stale),
        }
    }

    /// The healthchecks that are due at a time, the longest due first, at most `limit`.
    pub async fn due(&self, now: Timestamp, limit: i32) -> Result<Vec<Course>, Error> {
        let behind = Timestamp::from_micros(now.micros().saturating_add(1));
        let rows = self.in_place(key::ALL_DUE, behind, limit).await?;
        let rows = self.batch(rows.iter().filter_map(record::key).collect()).await?;
        let courses = rows.into_iter().map(record::read::<CourseRecord>);
        let mut due = courses.collect::<Result<Vec<_>, _>>()?;
        due.retain(|course| course.due.is_some_and(|due| due <= now));
        due.sort_by_key(|course| (course.due, course.service.id));
        Ok(due)
    }

    /// Notes that somebody asks about an item, unless somebody did a moment ago.
    pub async fn ask(&self, asked: Asked) -> Result<Keyed, Error> {
        let action = || statement::not_since::<AskedRecord>(&self.name, asked.not_since(), &asked);
        match self.transact(|| Ok(vec![action()?])).await? {
            Commit::Done => Ok(Keyed::Stored),
            // If it was written after all, nobody is asked: rather too seldom than too often.
            Commit::Stale | Commit::Busy | Commit::Unknown | Commit::TooLarge => Ok(Keyed::Stale),
        }
    }

    /// Stores how items are, but for those of which something is known that was asked for later.
    pub async fn put_health(&self, all: &[Health]) -> Result<(), Error> {
        for some in all.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|health| self.put_health_of(health))).await?;
        }
        Ok(())
    }

    async fn put_health_of(&self, health: &Health) -> Result<(), Error> {
        let actions = || -> Result<Vec<TransactWriteItem>, Error> {
            Ok(vec![statement::newest::<HealthRecord>(&self.name, health.at, health)?])
        };
        match self.transact(actions).await? {
            Commit::Done | Commit::Stale => Ok(()),
            Commit::Busy | Commit::Unknown | Commit::TooLarge => {
                Err(Error::Unavailable("how an item is could not be stored".to_owned()))
            }
        }
    }
}
