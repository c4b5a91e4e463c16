//! Keys of the records of `account`: API keys, members, webhooks, healthchecks and the audit log.

use super::{Key, item};
use domain::base::id::{KeyId, MemberId, ServiceId, WebhookId};
use domain::{ItemId, TeamId};

/// Returns the partition of a team's API keys and members, in the table of keys.
pub(crate) fn account_partition(team: TeamId) -> String {
    format!("TEAM#{team}")
}

/// Prefix of the sort keys of a team's API keys.
pub(crate) const API_KEYS: &str = "KEY#";

/// Returns the key of an API key for the authorizer: `KEY#{hash}` / `KEY`.
pub(crate) fn api_key(hash: &str) -> Key {
    Key::new(format!("KEY#{hash}"), "KEY")
}

/// Returns the key of an API key in the lists of its team: `TEAM#{team}` / `KEY#{number}`.
///
/// Attributes: those of the API key.
pub(crate) fn api_key_of(id: KeyId) -> Key {
    Key::new(account_partition(id.team()), format!("{API_KEYS}{:011}", id.number()))
}

/// Returns the key of a used name of an API key: `TEAM#{team}` / `NAME#{name}`. The record keeps names unique, also
/// after a key's end.
///
/// Attributes: none.
pub(crate) fn api_key_name(team: TeamId, name: &str) -> Key {
    Key::new(account_partition(team), format!("NAME#{name}"))
}

/// Returns the key of the number of a team's API keys: `TEAM#{team}` / `COUNT`.
///
/// Attributes: `c` (N), the number.
pub(crate) fn api_key_count(team: TeamId) -> Key {
    Key::new(account_partition(team), "COUNT")
}

/// Returns the partition of a person's memberships.
pub(crate) fn person_partition(subject: &str) -> String {
    format!("PERSON#{subject}")
}

/// Prefix of the sort keys of a person's memberships.
pub(crate) const MEMBERSHIPS: &str = "TEAM#";

/// Returns the key of a member for the authorizer: `PERSON#{subject}` / `TEAM#{team}`.
pub(crate) fn membership(subject: &str, team: TeamId) -> Key {
    Key::new(person_partition(subject), format!("{MEMBERSHIPS}{team}"))
}

/// Prefix of the sort keys of a team's members.
pub(crate) const MEMBERS: &str = "MEMBER#";

/// Returns the key of a member in the lists of the team: `TEAM#{team}` / `MEMBER#{number}`.
///
/// Attributes: those of the member.
pub(crate) fn member_of(id: MemberId) -> Key {
    Key::new(account_partition(id.team()), format!("{MEMBERS}{:011}", id.number()))
}

/// Returns the key of the number of a person's teams: `PERSON#{subject}` / `COUNT`.
///
/// Attributes: `c` (N), the number.
pub(crate) fn membership_count(subject: &str) -> Key {
    Key::new(person_partition(subject), "COUNT")
}

/// Returns the key of the number of a team's members: `TEAM#{team}` / `MEMBERS`.
///
/// Attributes: `c` (N), the number.
pub(crate) fn member_count(team: TeamId) -> Key {
    Key::new(account_partition(team), "MEMBERS")
}

/// Returns the partition of a team's webhooks, in the table of keys.
pub(crate) fn webhook_partition(team: TeamId) -> String {
    format!("WEBHOOK#{team}")
}

/// Returns the key of a webhook: `WEBHOOK#{team}` / `{number}`.
pub(crate) fn webhook(id: WebhookId) -> Key {
    Key::new(webhook_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the key of the number of a team's webhooks: `TEAM#{team}` / `WEBHOOKS`.
///
/// Attributes: `c` (N), the number.
pub(crate) fn webhook_count(team: TeamId) -> Key {
    Key::new(account_partition(team), "WEBHOOKS")
}

/// Returns the partition of the last answers to a team's webhooks.
pub(crate) fn replied_partition(team: TeamId) -> String {
    format!("REPLIED#{team}")
}

/// Returns the key of the last answer to a webhook: `REPLIED#{team}` / `{number}`.
pub(crate) fn replied(id: WebhookId) -> Key {
    Key::new(replied_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the key of a webhook's cooling time: `COOLING#{team}` / `{number}`.
pub(crate) fn cooling(id: WebhookId) -> Key {
    Key::new(format!("COOLING#{}", id.team()), format!("{:011}", id.number()))
}

/// Prefix of the partitions of reminders.
const REMINDERS: &str = "REMINDER#";

/// Returns the key of the next reminder of a webhook: `REMINDER#{team}` / `{number}`.
pub(crate) fn reminder(id: WebhookId) -> Key {
    Key::new(format!("{REMINDERS}{}", id.team()), format!("{:011}", id.number()))
}

/// Returns whether a key belongs to the next reminder of a webhook.
pub(crate) fn is_reminder(key: &Key) -> bool {
    key.pk.starts_with(REMINDERS)
}

/// Returns the partition of the abandoned deliveries of a webhook.
pub(crate) fn given_up_partition(id: WebhookId) -> String {
    format!("GIVEN_UP#{id}")
}

/// Returns the key of an abandoned delivery: `GIVEN_UP#{webhook}` / `{time}#{event}`.
pub(crate) fn given_up_at(id: WebhookId, sort_key: &str) -> Key {
    Key::new(given_up_partition(id), sort_key)
}

/// Returns the partition of a team's healthchecks, in the table of keys.
pub(crate) fn healthcheck_partition(team: TeamId) -> String {
    format!("HEALTHCHECK#{team}")
}

/// Returns the key of a healthcheck: `HEALTHCHECK#{team}` / `{service}`.
pub(crate) fn healthcheck(team: TeamId, service: ServiceId) -> Key {
    Key::new(healthcheck_partition(team), format!("{:016}", service.get()))
}

/// Returns the partition of the schedules of a team's healthchecks.
pub(crate) fn check_schedule_partition(team: TeamId) -> String {
    format!("COURSE#{team}")
}

/// Returns the key of a healthcheck's schedule: `COURSE#{team}` / `{service}`.
pub(crate) fn check_schedule(team: TeamId, service: ServiceId) -> Key {
    Key::new(check_schedule_partition(team), format!("{:016}", service.get()))
}

/// Returns the key of an item's health: `HEALTH#{team}` / `{application}#{item}`.
pub(crate) fn health(id: ItemId) -> Key {
    Key { pk: format!("HEALTH#{}", id.team()), ..item(id) }
}

/// Returns the key of the last health question about an item: `ASKED#{team}` / `{application}#{item}`.
pub(crate) fn check_throttle(id: ItemId) -> Key {
    Key { pk: format!("ASKED#{}", id.team()), ..item(id) }
}

/// Returns the partition of a team's audit log, in the table of keys.
pub(crate) fn audit_log_partition(team: TeamId) -> String {
    format!("RECORDED#{team}")
}

/// Returns the key of an audit log entry: `RECORDED#{team}` / `{time}#{request}#{subject}`.
pub(crate) fn audit_entry_at(team: TeamId, sort_key: &str) -> Key {
    Key::new(audit_log_partition(team), sort_key)
}
