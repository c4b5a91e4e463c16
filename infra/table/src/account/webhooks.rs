//! Webhooks, and the results of their deliveries (decision record 20).
//!
//! Webhooks hold credentials, so they are in the table of API keys. Results of deliveries are in the main table.

use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, CoolingRecord, GivenUpRecord, ReminderRecord, RepliedRecord, WebhookRecord};
use crate::write::{Stored, statement};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::audit_log::AuditEntry;
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::{GivenUp, Replied};
use domain::outreach::webhook::reminder::Reminder;
use domain::outreach::webhook::start::Cooling;
use domain::outreach::webhook::{WEBHOOKS_MAX, Webhook};

impl Table {
    /// Returns all webhooks of a team, in the order of their creation.
    pub async fn webhooks(&self, team: TeamId) -> Result<Vec<Webhook>, Error> {
        let mut webhooks = self.keys_rows::<WebhookRecord>(&key::webhook_partition(team), "").await?;
        webhooks.sort_by_key(|webhook| (webhook.created, webhook.id));
        Ok(webhooks)
    }

    /// Returns the webhook with this id.
    pub async fn webhook(&self, id: WebhookId) -> Result<Option<Webhook>, Error> {
        self.keys_get::<WebhookRecord>(key::webhook(id)).await
    }

    /// Stores a new webhook with its next reminder, unless its team has reached the limit.
    pub async fn create_webhook(
        &self,
        made: &Webhook,
        reminder: Option<&Reminder>,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let actions = || {
            let mut actions = vec![
                statement::one_more(&self.keys, key::webhook_count(made.team.id), WEBHOOKS_MAX)?,
                statement::create::<WebhookRecord>(&self.keys, made)?,
            ];
            actions.extend(self.reminder_action((None, reminder))?);
            Ok(actions)
        };
        self.hooked(made, audit_entry, actions).await
    }

    /// Updates a webhook with its next reminder, unless one of them has changed since the read.
    pub async fn change_webhook(
        &self,
        before: u64,
        after: &Webhook,
        reminders: (Option<&Reminder>, Option<&Reminder>),
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let actions = || {
            let mut actions = vec![statement::replace::<WebhookRecord>(&self.keys, before, after)?];
            actions.extend(self.reminder_action(reminders)?);
            Ok(actions)
        };
        self.hooked(after, audit_entry, actions).await
    }

    /// Removes a webhook with its next reminder, unless it has changed since the read.
    pub async fn remove_webhook(&self, removed: &Webhook, audit_entry: &AuditEntry) -> Result<Stored, Error> {
        let actions = || {
            let mut actions = vec![
                // The revision decides whether the webhook has a reminder. No other write removes an orphaned one.
                statement::remove_at(&self.keys, key::webhook(removed.id), removed.revision)?,
                statement::one_less(&self.keys, key::webhook_count(removed.team.id))?,
            ];
            if removed.reminders().is_some() {
                actions.push(statement::remove(&self.name, key::reminder(removed.id))?);
            }
            Ok(actions)
        };
        // An absent record is the requested result, even if another request removed it.
        let is_gone = async { Ok(self.webhook(removed.id).await?.is_none()) };
        self.store(audit_entry, actions, is_gone).await?.certain()
    }

    async fn hooked(
        &self,
        after: &Webhook,
        audit_entry: &AuditEntry,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Stored, Error> {
        let is_stored = async { Ok(self.webhook(after.id).await?.as_ref() == Some(after)) };
        self.store(audit_entry, actions, is_stored).await?.certain()
    }

    /// Returns the action that changes the next reminder of a webhook from the first to the second, if any.
    fn reminder_action(
        &self,
        reminders: (Option<&Reminder>, Option<&Reminder>),
    ) -> Result<Option<TransactWriteItem>, Error> {
        let revision = reminders.0.map(|before| before.revision);
        match reminders {
            (before, after) if before == after => Ok(None),
            (_, Some(after)) => {
                statement::create_or_replace::<ReminderRecord>(&self.name, revision, after).map(Some)
            }
            (Some(before), None) => statement::remove(&self.name, key::reminder(before.webhook)).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns the next reminder of a webhook.
    pub async fn reminder(&self, id: WebhookId) -> Result<Option<Reminder>, Error> {
        self.get::<ReminderRecord>(key::reminder(id)).await
    }

    /// Updates the next reminder of a webhook, unless it has changed since the read.
    pub async fn put_reminder(&self, before: &Reminder, after: &Reminder) -> Result<Stored, Error> {
        let actions = || Ok(vec![statement::replace::<ReminderRecord>(&self.name, before.revision, after)?]);
        // A lost answer counts as stale. If the write succeeded, this reminder is lost, and the next one follows.
        Ok(self.transact(actions).await?.or_stale())
    }

    /// Returns the last response of a receiver.
    pub async fn replied(&self, id: WebhookId) -> Result<Option<Replied>, Error> {
        self.get::<RepliedRecord>(key::replied(id)).await
    }

    /// Returns the last responses of all receivers of a team.
    pub async fn all_replied(&self, team: TeamId) -> Result<Vec<Replied>, Error> {
        let rows = self.partition(&key::replied_partition(team), "").await?;
        rows.into_iter().map(record::read::<RepliedRecord>).collect()
    }

    /// Stores the response of a receiver, unless the same or a later one is stored.
    pub async fn put_replied(&self, replied: &Replied) -> Result<(), Error> {
        let actions = || Ok(vec![statement::newest::<RepliedRecord>(&self.name, replied.at, replied)?]);
        self.transact(actions).await?.certain().map(drop)
    }

    /// Returns the cooling time or the slots of a webhook.
    pub async fn cooling(&self, id: WebhookId) -> Result<Option<Cooling>, Error> {
        self.get::<CoolingRecord>(key::cooling(id)).await
    }

    /// Updates the cooling time or the slots of a webhook, unless they have changed since the read.
    pub async fn put_cooling(&self, before: Option<u64>, after: &Cooling) -> Result<Stored, Error> {
        let actions = || Ok(vec![statement::create_or_replace::<CoolingRecord>(&self.name, before, after)?]);
        // A lost answer counts as stale. If the write succeeded, the delivery waits for a turn that was already its
        // own, or reserves a second slot: late, but never too early.
        Ok(self.transact(actions).await?.or_stale())
    }

    /// Stores a delivery that failed for good, unless it is stored already.
    pub async fn give_up(&self, given_up: &GivenUp) -> Result<(), Error> {
        let actions = || Ok(vec![statement::create::<GivenUpRecord>(&self.name, given_up)?]);
        self.transact(actions).await?.certain().map(drop)
    }

    /// Returns at most `limit` failed deliveries of a webhook, newest first, each with its position; only those
    /// before `before` if it is set.
    pub async fn given_up(
        &self,
        id: WebhookId,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, GivenUp)>, Error> {
        let before = before.map(|before| key::given_up_at(id, before));
        let partition = (&*self.name, &*key::given_up_partition(id));
        self.newest_first::<GivenUpRecord>(partition, before, limit).await
    }
}
