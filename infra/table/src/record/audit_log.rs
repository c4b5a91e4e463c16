//! The audit log of keys, members, services, webhooks, messages, healthchecks and teams.

use super::codec::{FORMAT_SECRETS, Record, of_confirmed, of_settings, of_side};
use super::conversion::{Bad, Part};
use super::parts::{self, TeamPart};
use super::settings::SettingsPart;
use crate::key::{self, Key};
use domain::account::audit_log::{AuditEntry, Subject};
use serde::{Deserialize, Serialize};

/// One entry of the audit log, in the table of keys. The record never changes after its creation. At most one of the
/// subject attributes is present; if there is none, the subject is the team.
#[derive(Serialize, Deserialize)]
pub(crate) struct AuditEntryRecord {
    /// Team of the subject.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Event, for example `API_KEY_CREATED`.
    #[serde(rename = "ev")]
    event: String,
    /// Subject: an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<KeyPart>,
    /// Subject: a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<MemberPart>,
    /// Subject: a service.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<ServicePart>,
    /// Subject: a webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<WebhookPart>,
    /// Subject: a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessagePart>,
    /// Subject: a healthcheck.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<HealthcheckPart>,
    /// Subject: a change instance whose secrets were read. The attribute is known since format 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangePart>,
    /// Setting `confirm_removals` of the team as the subject. Absent if the setting is false, and known since format 7.
    #[serde(rename = "cf", skip_serializing_if = "Option::is_none")]
    confirm_removals: Option<bool>,
    /// Time of the event.
    at: u64,
    /// Author, as histories show it.
    by: String,
    /// Team of the author. Absent if the author is the system.
    #[serde(rename = "bt", skip_serializing_if = "Option::is_none")]
    by_team: Option<TeamPart>,
    /// Id of the request.
    #[serde(rename = "op")]
    request: String,
}

/// An API key in the audit log.
#[derive(Serialize, Deserialize)]
struct KeyPart {
    /// Id of the key.
    id: u64,
    /// Name of the key.
    #[serde(rename = "nm")]
    name: String,
    /// Role of the key.
    role: String,
    /// Time of expiry. Absent if it does not expire.
    #[serde(rename = "ex", skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
}

/// A member in the audit log.
#[derive(Serialize, Deserialize)]
struct MemberPart {
    /// Id of the member.
    id: u64,
    /// Name of the member.
    #[serde(rename = "nm")]
    name: String,
    /// Role of the member.
    role: String,
}

/// A service in the audit log.
#[derive(Serialize, Deserialize)]
struct ServicePart {
    /// Id of the service.
    id: u64,
    /// Title of the service.
    #[serde(rename = "ti")]
    title: String,
    /// Revision of the service.
    #[serde(rename = "rv")]
    revision: u64,
    /// Newest schema version.
    #[serde(rename = "sv")]
    schema_version: u64,
    #[serde(flatten)]
    settings: SettingsPart,
}

/// A webhook in the audit log, without credentials and URL.
#[derive(Serialize, Deserialize)]
struct WebhookPart {
    /// Id of the webhook.
    id: u64,
    /// Name of the webhook.
    #[serde(rename = "nm")]
    name: String,
    /// Role of the team. Absent for a service owner, and known since format 7.
    #[serde(rename = "pov", skip_serializing_if = "Option::is_none")]
    side: Option<String>,
    /// Service of the webhook. Absent if it covers all services of a consumer, and known since format 7.
    #[serde(rename = "sv", skip_serializing_if = "Option::is_none")]
    service: Option<parts::ServicePart>,
    /// State that triggers a delivery. Absent if creations trigger the deliveries.
    #[serde(rename = "st", skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Whether the webhook is active.
    #[serde(rename = "ac")]
    active: bool,
    /// Revision of the webhook.
    #[serde(rename = "rv")]
    revision: u64,
}

/// A message in the audit log, without its text.
#[derive(Serialize, Deserialize)]
struct MessagePart {
    /// Id of the message.
    id: u64,
    /// Services whose consumers see the message.
    #[serde(rename = "sv")]
    services: Vec<parts::ServicePart>,
    /// Time of expiry. Absent if it does not expire.
    #[serde(rename = "ex", skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
}

/// A healthcheck in the audit log, without credentials and URL.
#[derive(Serialize, Deserialize)]
struct HealthcheckPart {
    /// Service of the healthcheck.
    #[serde(rename = "sv")]
    service: parts::ServicePart,
    /// Schedule in crontab form. Absent if none is enabled.
    #[serde(rename = "ct", skip_serializing_if = "Option::is_none")]
    schedule: Option<String>,
    /// Revision of the healthcheck.
    #[serde(rename = "rv")]
    revision: u64,
}

/// A change instance in the audit log.
#[derive(Serialize, Deserialize)]
struct ChangePart {
    /// Id of the change instance.
    id: u64,
    /// Name of the item.
    #[serde(rename = "nm")]
    name: String,
}

/// Implements the conversion of a variant of `Subject` whose fields have the names of the stored struct.
macro_rules! subjects {
    ($($part:ident = $variant:ident { $($field:ident),* }),+ $(,)?) => {
        $(impl $part {
            /// Returns the stored part of a subject of this kind.
            fn of(subject: &Subject) -> Option<Self> {
                let Subject::$variant { $($field),* } = subject else { return None };
                Some(Self { $($field: Part::of($field)),* })
            }

            fn value(self) -> Result<Subject, Bad> {
                Ok(Subject::$variant { $($field: self.$field.value()?),* })
            }
        })+
    };
}

subjects! {
    KeyPart = Key { id, name, role, expires },
    MemberPart = Member { id, name, role },
    ServicePart = Service { id, title, revision, schema_version, settings },
    WebhookPart = Webhook { id, name, side, service, state, active, revision },
    MessagePart = Message { id, services, expires },
    HealthcheckPart = Healthcheck { service, schedule, revision },
    ChangePart = Change { id, name },
}

impl Part<AuditEntry> for AuditEntryRecord {
    fn of(entry: &AuditEntry) -> Self {
        let subject = &entry.subject;
        Self {
            team: Part::of(&entry.team),
            event: Part::of(&entry.event),
            key: KeyPart::of(subject),
            member: MemberPart::of(subject),
            service: ServicePart::of(subject),
            webhook: WebhookPart::of(subject),
            message: MessagePart::of(subject),
            check: HealthcheckPart::of(subject),
            change: ChangePart::of(subject),
            confirm_removals: Part::of(&matches!(subject, Subject::Team { confirm_removals: true })),
            at: Part::of(&entry.at),
            by: entry.by.clone(),
            by_team: Part::of(&entry.by_team),
            request: entry.request.clone(),
        }
    }

    fn value(self) -> Result<AuditEntry, Bad> {
        let subjects = [
            self.key.map(KeyPart::value),
            self.member.map(MemberPart::value),
            self.service.map(ServicePart::value),
            self.webhook.map(WebhookPart::value),
            self.message.map(MessagePart::value),
            self.check.map(HealthcheckPart::value),
            self.change.map(ChangePart::value),
        ];
        let mut subjects = subjects.into_iter().flatten();
        let subject = match (subjects.next(), subjects.next()) {
            (None, _) => Subject::Team { confirm_removals: self.confirm_removals.value()? },
            (Some(subject), None) => subject?,
            (Some(_), Some(_)) => return Err(Bad("subject")),
        };
        Ok(AuditEntry {
            team: self.team.value()?,
            event: self.event.value()?,
            subject,
            at: self.at.value()?,
            by: self.by,
            by_team: self.by_team.value()?,
            request: self.request,
        })
    }
}

impl Record for AuditEntryRecord {
    const TYPE: &'static str = "RECORDED";
    type Value = AuditEntry;

    fn key(entry: &AuditEntry) -> Key {
        let of = match &entry.subject {
            Subject::Key { id, .. } => format!("KEY#{id}"),
            Subject::Member { id, .. } => format!("MEMBER#{id}"),
            Subject::Service { id, revision, .. } => format!("SERVICE#{id}#{revision}"),
            Subject::Webhook { id, revision, .. } => format!("WEBHOOK#{id}#{revision}"),
            Subject::Message { id, .. } => format!("MESSAGE#{id}"),
            Subject::Healthcheck { service, revision, .. } => {
                format!("HEALTHCHECK#{}#{revision}", service.id)
            }
            Subject::Change { id, .. } => format!("CHANGE#{id}"),
            Subject::Team { .. } => "TEAM".to_owned(),
        };
        let sort_key = format!("{:016}#{}#{of}", entry.at.micros(), entry.request);
        key::audit_entry_at(entry.team.id, &sort_key)
    }

    fn format(entry: &AuditEntry) -> u64 {
        if let Subject::Change { .. } = &entry.subject {
            return FORMAT_SECRETS;
        }
        if let Subject::Service { settings, .. } = &entry.subject {
            of_settings(settings)
        } else if let Subject::Webhook { side, .. } = &entry.subject {
            of_side(*side)
        } else {
            of_confirmed(matches!(entry.subject, Subject::Team { confirm_removals: true }))
        }
    }
}
