//! Healthchecks, their schedules and their results (decision record 25).
//!
//! A healthcheck holds credentials, so it is in the table of API keys. Schedule and results are in the main table.

use crate::client::call::Call as _;
use crate::client::{Error, Table};
use crate::key;
use crate::read::Consistency;
use crate::record::{self, CheckScheduleRecord, CheckThrottleRecord, HealthRecord, HealthcheckRecord};
use crate::write::{Stored, statement};
use domain::TeamId;
use domain::account::audit_log::AuditEntry;
use domain::base::id::ServiceId;
use domain::outreach::healthcheck::run::CheckSchedule;
use domain::outreach::healthcheck::{CheckThrottle, Health, Healthcheck};
use futures_util::future::try_join_all;

/// The most health records that are written at once.
const AT_ONCE: usize = 10;

/// A healthcheck and its schedule.
type Set = (Healthcheck, CheckSchedule);

impl Table {
    /// Returns at most `limit` healthchecks of a team in the order of their services, only those after `after` if it
    /// is set.
    pub async fn healthchecks(
        &self,
        team: TeamId,
        after: Option<ServiceId>,
        limit: usize,
    ) -> Result<Vec<Healthcheck>, Error> {
        let query = self.partition_query(&self.keys, &key::healthcheck_partition(team), "");
        let after = after.map(|after| key::healthcheck(team, after).into());
        let limit = i32::try_from(limit).unwrap_or(i32::MAX);
        let page = query.set_exclusive_start_key(after).limit(limit).call().await?;
        page.items.unwrap_or_default().into_iter().map(record::read::<HealthcheckRecord>).collect()
    }

    /// Returns the healthcheck of a team's service.
    pub async fn healthcheck(&self, team: TeamId, service: ServiceId) -> Result<Option<Healthcheck>, Error> {
        self.keys_get::<HealthcheckRecord>(key::healthcheck(team, service)).await
    }

    /// Returns the schedule of the healthcheck of a team's service.
    pub async fn check_schedule(
        &self,
        team: TeamId,
        service: ServiceId,
    ) -> Result<Option<CheckSchedule>, Error> {
        self.get::<CheckScheduleRecord>(key::check_schedule(team, service)).await
    }

    /// Returns the schedules of a team's healthchecks for these services.
    pub async fn check_schedules(
        &self,
        team: TeamId,
        services: &[ServiceId],
    ) -> Result<Vec<CheckSchedule>, Error> {
        let keys = services.iter().map(|service| key::check_schedule(team, *service));
        self.batch_get::<CheckScheduleRecord>(keys, Consistency::Strong).await
    }

    /// Stores a healthcheck with its schedule, in place of `before` if there is one and it has not changed.
    pub async fn put_healthcheck(
        &self,
        before: Option<&Set>,
        (after, schedule): &Set,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let (team, service) = (after.team.id, after.service.id);
        let (revision, scheduled) =
            before.map(|(check, schedule)| (check.revision, schedule.revision)).unzip();
        let actions = || {
            Ok(vec![
                statement::create_or_replace::<HealthcheckRecord>(&self.keys, revision, after)?,
                statement::create_or_replace::<CheckScheduleRecord>(&self.name, scheduled, schedule)?,
            ])
        };
        let is_stored = async { Ok(self.healthcheck(team, service).await?.as_ref() == Some(after)) };
        let commit = self.store(audit_entry, actions, is_stored).await;
        self.caches.healthchecks.remove(&service);
        commit?.certain()
    }

    /// Removes a healthcheck with its schedule. The results remain stored, but responses leave them out.
    pub async fn remove_healthcheck(
        &self,
        removed: &Healthcheck,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let (team, service) = (removed.team.id, removed.service.id);
        let actions = || {
            Ok(vec![
                statement::remove(&self.keys, key::healthcheck(team, service))?,
                statement::remove(&self.name, key::check_schedule(team, service))?,
            ])
        };
        // An absent record is the requested result, even if another request removed it.
        let is_gone = async { Ok(self.healthcheck(team, service).await?.is_none()) };
        let commit = self.store(audit_entry, actions, is_gone).await;
        self.caches.healthchecks.remove(&service);
        commit?.certain()
    }

    /// Updates the schedule of a healthcheck, unless it has changed since the read.
    pub async fn put_check_schedule(
        &self,
        before: &CheckSchedule,
        after: &CheckSchedule,
    ) -> Result<Stored, Error> {
        let actions =
            || Ok(vec![statement::replace::<CheckScheduleRecord>(&self.name, before.revision, after)?]);
        // A lost answer counts as stale. If the write succeeded, a later reader finds the new schedule.
        Ok(self.transact(actions).await?.or_stale())
    }

    /// Stores the time of a check that a caller requested, unless the last one is too recent.
    pub async fn throttle_check(&self, throttle: CheckThrottle) -> Result<Stored, Error> {
        let actions = || {
            Ok(vec![statement::not_since::<CheckThrottleRecord>(
                &self.name,
                throttle.not_since(),
                &throttle,
            )?])
        };
        // A lost answer counts as stale, so the check does not run. Too few checks are better than too many.
        Ok(self.transact(actions).await?.or_stale())
    }

    /// Stores the health of items, except where the result of a later check is stored.
    pub async fn put_health(&self, all: &[Health]) -> Result<(), Error> {
        for some in all.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|health| self.put_health_of(health))).await?;
        }
        Ok(())
    }

    async fn put_health_of(&self, health: &Health) -> Result<(), Error> {
        let actions = || Ok(vec![statement::newest::<HealthRecord>(&self.name, health.at, health)?]);
        self.transact(actions).await?.certain().map(drop)
    }
}
