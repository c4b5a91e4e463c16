//! The audit log of keys, members, services, webhooks, messages, healthchecks and teams.

use super::codec::Record;
use super::healthcheck;
use super::invalid::Bad;
use super::parts::{self, TeamPart, at};
use super::settings::SettingsPart;
use crate::key::{self, Key};
use domain::account::audit_log::{AuditEntry, Event, Subject};
use domain::base::actor::Role;
use domain::base::id::{KeyId, MemberId, MessageId, ServiceId, WebhookId};
use domain::{TeamId, Timestamp};
use serde::{Deserialize, Serialize};

/// One entry of the audit log, in the table of keys. It never changes. At most one of the subject attributes is
/// present.
#[derive(Serialize, Deserialize)]
pub(crate) struct AuditEntryRecord {
    /// Team of the subject.
    tm: TeamPart,
    /// Event, for example `API_KEY_CREATED`.
    ev: String,
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
    /// Time of the event.
    at: u64,
    /// Author, as histories show it.
    by: String,
    /// Team of the author. Absent for the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    bt: Option<TeamPart>,
    /// Id of the request.
    op: String,
}

/// An API key in the audit log.
#[derive(Serialize, Deserialize)]
struct KeyPart {
    /// Id of the key.
    id: u64,
    /// Name of the key.
    nm: String,
    /// Role of the key.
    role: String,
    /// Time of expiry. Absent if it does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    ex: Option<u64>,
}

/// A member in the audit log.
#[derive(Serialize, Deserialize)]
struct MemberPart {
    /// Id of the member.
    id: u64,
    /// Name of the member.
    nm: String,
    /// Role of the member.
    role: String,
}

/// A service in the audit log.
#[derive(Serialize, Deserialize)]
struct ServicePart {
    /// Id of the service.
    id: u64,
    /// Title of the service.
    ti: String,
    /// Revision of the service.
    rv: u64,
    /// Newest schema version.
    sv: u64,
    /// Whether change instances start as PENDING.
    ar: bool,
    /// Dependent teams.
    dt: Vec<TeamPart>,
    /// Ids of the teams that may declare new items.
    at: Vec<u64>,
    /// Further settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<SettingsPart>,
}

/// A webhook in the audit log, without credentials and URL.
#[derive(Serialize, Deserialize)]
struct WebhookPart {
    /// Id of the webhook.
    id: u64,
    /// Name of the webhook.
    nm: String,
    /// Service of the webhook.
    sv: parts::ServicePart,
    /// State that triggers a delivery. Absent if creations do.
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<String>,
    /// Whether the webhook is active.
    ac: bool,
    /// Revision of the webhook.
    rv: u64,
}

/// A message in the audit log, without its text.
#[derive(Serialize, Deserialize)]
struct MessagePart {
    /// Id of the message.
    id: u64,
    /// Services whose consumers see it.
    sv: Vec<parts::ServicePart>,
    /// Time of expiry. Absent if it does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    ex: Option<u64>,
}

/// A healthcheck in the audit log, without credentials and URL.
#[derive(Serialize, Deserialize)]
struct HealthcheckPart {
    /// Service of the healthcheck.
    sv: parts::ServicePart,
    /// Schedule in crontab form. Absent if none is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
    /// Revision of the healthcheck.
    rv: u64,
}

impl HealthcheckPart {
    fn value(self) -> Result<Subject, Bad> {
        let schedule = self.ct.as_deref().map(healthcheck::crontab).transpose()?;
        Ok(Subject::Healthcheck { service: self.sv.value()?, schedule, revision: self.rv })
    }
}

impl KeyPart {
    fn value(self) -> Result<Subject, Bad> {
        Ok(Subject::Key {
            id: KeyId::parse(self.id).ok_or(Bad("key"))?,
            name: self.nm,
            role: Role::parse(&self.role).ok_or(Bad("role"))?,
            expires: self.ex.map(at),
        })
    }
}

impl MemberPart {
    fn value(self) -> Result<Subject, Bad> {
        Ok(Subject::Member {
            id: MemberId::parse(self.id).ok_or(Bad("member"))?,
            name: self.nm,
            role: Role::parse(&self.role).ok_or(Bad("role"))?,
        })
    }
}

impl ServicePart {
    fn value(self) -> Result<Subject, Bad> {
        Ok(Subject::Service {
            id: ServiceId::new(self.id).ok_or(Bad("service"))?,
            title: self.ti,
            revision: self.rv,
            schema_version: self.sv,
            settings: SettingsPart::settings(self.set, self.ar, self.dt, self.at)?,
        })
    }
}

impl WebhookPart {
    fn value(self) -> Result<Subject, Bad> {
        Ok(Subject::Webhook {
            id: WebhookId::parse(self.id).ok_or(Bad("webhook"))?,
            name: self.nm,
            service: self.sv.value()?,
            state: self.st.as_deref().map(parts::state).transpose()?,
            active: self.ac,
            revision: self.rv,
        })
    }
}

impl MessagePart {
    fn value(self) -> Result<Subject, Bad> {
        Ok(Subject::Message {
            id: MessageId::parse(self.id).ok_or(Bad("message"))?,
            services: self.sv.into_iter().map(parts::ServicePart::value).collect::<Result<_, _>>()?,
            expires: self.ex.map(at),
        })
    }
}

/// The possible parts of a subject. At most one is present.
#[derive(Default)]
struct Parts {
    key: Option<KeyPart>,
    member: Option<MemberPart>,
    service: Option<ServicePart>,
    webhook: Option<WebhookPart>,
    message: Option<MessagePart>,
    check: Option<HealthcheckPart>,
}

/// Returns the stored form of a subject.
fn parts(subject: &Subject) -> Parts {
    match subject {
        Subject::Key { id, name, role, expires } => {
            let (role, ex) = (role.name().to_owned(), expires.map(Timestamp::micros));
            let key = Some(KeyPart { id: id.get(), nm: name.clone(), role, ex });
            Parts { key, ..Parts::default() }
        }
        Subject::Member { id, name, role } => {
            let part = MemberPart { id: id.get(), nm: name.clone(), role: role.name().to_owned() };
            Parts { member: Some(part), ..Parts::default() }
        }
        Subject::Service { id, title, revision, schema_version, settings } => {
            let part = ServicePart {
                id: id.get(),
                ti: title.clone(),
                rv: *revision,
                sv: *schema_version,
                ar: settings.approval_required,
                dt: settings.dependent_teams.iter().map(TeamPart::of).collect(),
                at: settings.allowed_teams.iter().copied().map(TeamId::get).collect(),
                set: Some(SettingsPart::of(settings)),
            };
            Parts { service: Some(part), ..Parts::default() }
        }
        Subject::Webhook { id, name, service, state, active, revision } => {
            let part = WebhookPart {
                id: id.get(),
                nm: name.clone(),
                sv: parts::ServicePart::of(service),
                st: state.map(|state| state.name().to_owned()),
                ac: *active,
                rv: *revision,
            };
            Parts { webhook: Some(part), ..Parts::default() }
        }
        Subject::Message { id, services, expires } => {
            let sv = services.iter().map(parts::ServicePart::of).collect();
            let part = MessagePart { id: id.get(), sv, ex: expires.map(Timestamp::micros) };
            Parts { message: Some(part), ..Parts::default() }
        }
        Subject::Healthcheck { service, schedule, revision } => {
            let part = HealthcheckPart {
                sv: parts::ServicePart::of(service),
                ct: schedule.as_ref().map(|crontab| crontab.text().to_owned()),
                rv: *revision,
            };
            Parts { check: Some(part), ..Parts::default() }
        }
        Subject::Team => Parts::default(),
    }
}

impl Record for AuditEntryRecord {
    const TYPE: &'static str = "RECORDED";
    type Value = AuditEntry;

    fn of(entry: &AuditEntry) -> Self {
        let Parts { key, member, service, webhook, message, check } = parts(&entry.subject);
        Self {
            tm: TeamPart::of(&entry.team),
            ev: entry.event.name().to_owned(),
            key,
            member,
            service,
            webhook,
            message,
            check,
            at: entry.at.micros(),
            by: entry.by.clone(),
            bt: entry.by_team.as_ref().map(TeamPart::of),
            op: entry.request.clone(),
        }
    }

    fn value(self) -> Result<AuditEntry, Bad> {
        let subject = match (self.key, self.member, self.service, self.webhook, self.message, self.check) {
            (Some(key), None, None, None, None, None) => key.value()?,
            (None, Some(member), None, None, None, None) => member.value()?,
            (None, None, Some(service), None, None, None) => service.value()?,
            (None, None, None, Some(webhook), None, None) => webhook.value()?,
            (None, None, None, None, Some(message), None) => message.value()?,
            (None, None, None, None, None, Some(check)) => check.value()?,
            (None, None, None, None, None, None) => Subject::Team,
            _ => return Err(Bad("subject")),
        };
        Ok(AuditEntry {
            team: self.tm.value()?,
            event: Event::parse(&self.ev).ok_or(Bad("event"))?,
            subject,
            at: at(self.at),
            by: self.by,
            by_team: self.bt.map(TeamPart::value).transpose()?,
            request: self.op,
        })
    }

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
            Subject::Team => "TEAM".to_owned(),
        };
        let sort_key = format!("{:016}#{}#{of}", entry.at.micros(), entry.request);
        key::audit_entry_at(entry.team.id, &sort_key)
    }
}
