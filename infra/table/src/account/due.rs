//! Due records: the healthchecks and the reminders that the next sweep starts.

use crate::client::{Error, Table};
use crate::key::{self, Key};
use crate::read::Consistency;
use crate::record::{self, CheckScheduleRecord, ReminderRecord};
use domain::Timestamp;
use domain::outreach::healthcheck::run::CheckSchedule;
use domain::outreach::webhook::reminder::Reminder;

/// The records that are due, the most overdue first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    pub checks: Vec<CheckSchedule>,
    pub reminders: Vec<Reminder>,
}

impl Table {
    /// Returns the records that are due at a time, at most `limit`, the most overdue first.
    pub async fn due(&self, now: Timestamp, limit: i32) -> Result<Due, Error> {
        let behind = Timestamp::from_micros(now.micros().saturating_add(1));
        let rows = self.rows_before(key::ALL_DUE, behind, limit).await?;
        let keys = rows.iter().filter_map(record::key);
        let (reminders, checks): (Vec<Key>, Vec<Key>) = keys.partition(key::is_reminder);
        let mut checks = self.batch_get::<CheckScheduleRecord>(checks, Consistency::Strong).await?;
        let mut reminders = self.batch_get::<ReminderRecord>(reminders, Consistency::Strong).await?;
        // The index is eventually consistent. Another sweep may have been faster, so the record itself decides.
        checks.retain(|schedule| schedule.due.is_some_and(|due| due <= now));
        checks.sort_by_key(|schedule| (schedule.due, schedule.service.id));
        reminders.retain(|reminder| reminder.due <= now);
        reminders.sort_by_key(|reminder| (reminder.due, reminder.webhook));
        Ok(Due { checks, reminders })
    }
}
