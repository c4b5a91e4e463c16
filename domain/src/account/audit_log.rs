//! The audit log: changes of keys, members, services, webhooks, messages, healthchecks and teams, and reads of secrets,
//! with actor, time and request.
//!
//! Change instances have their own histories.

use crate::account::api_key::ApiKey;
use crate::account::member::Member;
use crate::base::actor::Role;
use crate::base::context::RequestContext;
use crate::base::id::{ChangeId, KeyId, MemberId, MessageId, ServiceId, WebhookId};
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::side::Side;
use crate::base::state::State;
use crate::base::timestamp::Timestamp;
use crate::catalog::service::{Service, Settings};
use crate::model::change::Change;
use crate::model::team::Team;
use crate::outreach::healthcheck::Healthcheck;
use crate::outreach::healthcheck::crontab::Crontab;
use crate::outreach::message::Message;
use crate::outreach::webhook::Webhook;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The kind of an audit log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Event {
    #[strum(serialize = "API_KEY_CREATED")]
    KeyCreated,
    /// A key has a successor.
    #[strum(serialize = "API_KEY_ROTATED")]
    KeyRotated,
    #[strum(serialize = "API_KEY_REVOKED")]
    KeyRevoked,
    MemberAdded,
    /// A member has another name or role.
    MemberChanged,
    MemberRemoved,
    /// A team published a service or a new version of its schema.
    ServicePublished,
    ServiceChanged,
    ServiceDocumented,
    ServiceConfigured,
    TeamCreated,
    /// A team has other settings.
    TeamChanged,
    WebhookCreated,
    WebhookChanged,
    /// A webhook has another signing secret.
    #[strum(serialize = "WEBHOOK_SECRET_ROTATED")]
    WebhookRotated,
    WebhookRemoved,
    MessageCreated,
    /// A message has another text, audience or expiry.
    MessageChanged,
    MessageRemoved,
    HealthcheckCreated,
    HealthcheckChanged,
    HealthcheckRemoved,
    /// The service owner has read the secrets of a change instance.
    SecretsRead,
}

crate::named!(Event);

/// The changed record, in its state after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Key {
        id: KeyId,
        name: String,
        role: Role,
        /// The first moment at which the key is invalid.
        expires: Option<Timestamp>,
    },
    Member {
        id: MemberId,
        /// The name in histories.
        name: String,
        role: Role,
    },
    Service {
        id: ServiceId,
        title: String,
        /// The number of writes of the service.
        revision: u64,
        /// The newest schema version.
        schema_version: u64,
        settings: Settings,
    },
    /// A webhook without its credentials, and without its URL, which may contain some.
    Webhook {
        id: WebhookId,
        name: String,
        /// The role of its team.
        side: Side,
        /// The service; none for all services of a consumer.
        service: Option<ServiceRef>,
        /// The state that triggers a delivery; none if the creation of a change instance does.
        state: Option<State>,
        /// Whether deliveries are enabled.
        active: bool,
        /// The number of writes of the webhook.
        revision: u64,
    },
    /// A message without its text.
    Message {
        id: MessageId,
        /// The services of the audience; empty for all services of the owner.
        services: Vec<ServiceRef>,
        expires: Option<Timestamp>,
    },
    /// A healthcheck without its credentials and its URL.
    Healthcheck {
        service: ServiceRef,
        /// The crontab, if the schedule is enabled.
        schedule: Option<Crontab>,
        /// The number of writes of the healthcheck.
        revision: u64,
    },
    /// A change instance whose secrets were read.
    Change {
        id: ChangeId,
        /// The item.
        name: String,
    },
    Team {
        /// Whether removals of whole applications need a confirmation.
        confirm_removals: bool,
    },
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The team of the changed record.
    pub team: TeamRef,
    pub event: Event,
    pub subject: Subject,
    pub at: Timestamp,
    /// The name of the actor, as in a history.
    pub by: String,
    /// The team of the actor; none for the system.
    pub by_team: Option<TeamRef>,
    pub request: String,
}

impl AuditEntry {
    /// Creates the entry for a change of a key.
    pub fn of_key(event: Event, key: &ApiKey, ctx: &RequestContext) -> Self {
        let ApiKey { id, name, role, expires, .. } = key.clone();
        Self::of(event, &key.team, Subject::Key { id, name, role, expires }, ctx)
    }

    /// Creates the entry for a change of a member.
    pub fn of_member(event: Event, member: &Member, ctx: &RequestContext) -> Self {
        let Member { id, name, role, .. } = member.clone();
        Self::of(event, &member.team, Subject::Member { id, name, role }, ctx)
    }

    /// Creates the entry for a change of a service.
    pub fn of_service(event: Event, service: &Service, ctx: &RequestContext) -> Self {
        let Service { id, title, revision, schema_version, settings, .. } = service.clone();
        let subject = Subject::Service { id, title, revision, schema_version, settings };
        Self::of(event, &service.owner, subject, ctx)
    }

    /// Creates the entry for a change of a webhook.
    pub fn of_webhook(event: Event, webhook: &Webhook, ctx: &RequestContext) -> Self {
        let Webhook { id, scope, revision, settings, .. } = webhook.clone();
        let (side, service) = (scope.side, scope.service);
        let (name, state, active) = (settings.name, settings.state, settings.active);
        let subject = Subject::Webhook { id, name, side, service, state, active, revision };
        Self::of(event, &webhook.team, subject, ctx)
    }

    /// Creates the entry for a change of a team's message.
    pub fn of_message(event: Event, team: &TeamRef, message: &Message, ctx: &RequestContext) -> Self {
        let Message { id, content, .. } = message.clone();
        let subject = Subject::Message { id, services: content.services, expires: content.expires };
        Self::of(event, team, subject, ctx)
    }

    /// Creates the entry for a change of a healthcheck.
    pub fn of_healthcheck(event: Event, healthcheck: &Healthcheck, ctx: &RequestContext) -> Self {
        let schedule = healthcheck.settings.schedule().cloned();
        let (service, revision) = (healthcheck.service.clone(), healthcheck.revision);
        let subject = Subject::Healthcheck { service, schedule, revision };
        Self::of(event, &healthcheck.team, subject, ctx)
    }

    /// Creates the entry for a new team or a change of its settings.
    pub fn of_team(event: Event, team: &Team, ctx: &RequestContext) -> Self {
        let subject = Subject::Team { confirm_removals: team.confirm_removals };
        Self::of(event, &team.to_ref(), subject, ctx)
    }

    /// Creates the entry for a read of the secrets of a change instance.
    pub fn of_secrets(change: &Change, ctx: &RequestContext) -> Self {
        let subject = Subject::Change { id: change.id, name: change.item_name.clone() };
        Self::of(Event::SecretsRead, &change.service_owner, subject, ctx)
    }

    fn of(event: Event, team: &TeamRef, subject: Subject, ctx: &RequestContext) -> Self {
        Self {
            team: team.clone(),
            event,
            subject,
            at: ctx.now,
            by: ctx.by.changed_by(),
            by_team: ctx.by.team().cloned(),
            request: ctx.request.clone(),
        }
    }
}
