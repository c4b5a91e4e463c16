//! Records of what was done to keys, members, services, webhooks, messages, healthchecks and teams: who did it, when, in
//! which request. Of change instances there is a history of their own.

use crate::access::ApiKey;
use crate::actor::{Role, TeamRef};
use crate::healthcheck::{Healthcheck, crontab::Crontab};
use crate::id::{KeyId, MemberId, MessageId, ServiceId, WebhookId};
use crate::land::Stamp;
use crate::member::Member;
use crate::message::Message;
use crate::service::{Service, ServiceRef, Settings};
use crate::state::State;
use crate::timestamp::Timestamp;
use crate::webhook::Webhook;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An API key was made.
    KeyCreated,
    /// Another API key takes its place.
    KeyRotated,
    /// An API key was withdrawn.
    KeyRevoked,
    /// A person was made a member.
    MemberAdded,
    /// A member has another name or role.
    MemberChanged,
    /// A member is one no more.
    MemberRemoved,
    /// A service was published, or a new version of its schema.
    ServicePublished,
    /// A service's settings were changed.
    ServiceChanged,
    /// A service's documentation was stored.
    ServiceDocumented,
    /// A version of a service's config was stored.
    ServiceConfigured,
    /// A team came into being.
    TeamCreated,
    /// A webhook was made.
    WebhookCreated,
    /// A webhook's settings were changed.
    WebhookChanged,
    /// A webhook signs with another secret.
    WebhookRotated,
    /// A webhook was removed.
    WebhookRemoved,
    /// A message was written.
    MessageCreated,
    /// A message says something else, or to others, or until another time.
    MessageChanged,
    /// A message was removed.
    MessageRemoved,
    /// A healthcheck was made.
    HealthcheckCreated,
    /// A healthcheck's settings were changed.
    HealthcheckChanged,
    /// A healthcheck was removed.
    HealthcheckRemoved,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 21] = [
        Self::KeyCreated,
        Self::KeyRotated,
        Self::KeyRevoked,
        Self::MemberAdded,
        Self::MemberChanged,
        Self::MemberRemoved,
        Self::ServicePublished,
        Self::ServiceChanged,
        Self::ServiceDocumented,
        Self::ServiceConfigured,
        Self::TeamCreated,
        Self::WebhookCreated,
        Self::WebhookChanged,
        Self::WebhookRotated,
        Self::WebhookRemoved,
        Self::MessageCreated,
        Self::MessageChanged,
        Self::MessageRemoved,
        Self::HealthcheckCreated,
        Self::HealthcheckChanged,
        Self::HealthcheckRemoved,
    ];

    /// The one name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeyCreated => "API_KEY_CREATED",
            Self::KeyRotated => "API_KEY_ROTATED",
            Self::KeyRevoked => "API_KEY_REVOKED",
            Self::MemberAdded => "MEMBER_ADDED",
            Self::MemberChanged => "MEMBER_CHANGED",
            Self::MemberRemoved => "MEMBER_REMOVED",
            Self::ServicePublished => "SERVICE_PUBLISHED",
            Self::ServiceChanged => "SERVICE_CHANGED",
            Self::ServiceDocumented => "SERVICE_DOCUMENTED",
            Self::ServiceConfigured => "SERVICE_CONFIGURED",
            Self::TeamCreated => "TEAM_CREATED",
            Self::WebhookCreated => "WEBHOOK_CREATED",
            Self::WebhookChanged => "WEBHOOK_CHANGED",
            Self::WebhookRotated => "WEBHOOK_SECRET_ROTATED",
            Self::WebhookRemoved => "WEBHOOK_REMOVED",
            Self::MessageCreated => "MESSAGE_CREATED",
            Self::MessageChanged => "MESSAGE_CHANGED",
            Self::MessageRemoved => "MESSAGE_REMOVED",
            Self::HealthcheckCreated => "HEALTHCHECK_CREATED",
            Self::HealthcheckChanged => "HEALTHCHECK_CHANGED",
            Self::HealthcheckRemoved => "HEALTHCHECK_REMOVED",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// What it happened to, as it was from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An API key.
    Key {
        /// Its id.
        id: KeyId,
        /// Its name.
        name: String,
        /// What it may do.
        role: Role,
        /// Until when.
        expires: Option<Timestamp>,
    },
    /// A member.
    Member {
        /// The id.
        id: MemberId,
        /// The name.
        name: String,
        /// What they may do.
        role: Role,
    },
    /// A service.
    Service {
        /// Its id.
        id: ServiceId,
        /// Its title.
        title: String,
        /// How often it was changed.
        revision: u64,
        /// The newest version of its schema.
        schema_version: u64,
        /// Its settings.
        settings: Settings,
    },
    /// A webhook, without its credentials: no URL either, for some have them in there.
    Webhook {
        /// The id.
        id: WebhookId,
        /// What it is called.
        name: String,
        /// The service that it is of.
        service: ServiceRef,
        /// The state that it tells of; none tells of births.
        state: Option<State>,
        /// Whether it tells at all.
        active: bool,
        /// How often it was changed.
        revision: u64,
    },
    /// A message, without its text.
    Message {
        /// The id.
        id: MessageId,
        /// The services whose consumers it is for; none are all of the owner's.
        services: Vec<ServiceRef>,
        /// When it expires.
        expires: Option<Timestamp>,
    },
    /// A healthcheck, without its credentials and its URL.
    Healthcheck {
        /// The service that it is of.
        service: ServiceRef,
        /// When it is asked by itself, if it is.
        schedule: Option<Crontab>,
        /// How often it was changed.
        revision: u64,
    },
    /// The team itself.
    Team,
}

/// That something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The team whose it is.
    pub team: TeamRef,
    /// What happened.
    pub event: Event,
    /// To what.
    pub subject: Subject,
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub by: String,
    /// The team that did it, if one did.
    pub by_team: Option<TeamRef>,
    /// The request's id.
    pub request: String,
}

impl Recorded {
    /// What happens to a key.
    pub fn of_key(event: Event, key: &ApiKey, stamp: &Stamp) -> Self {
        let ApiKey { id, name, role, expires, .. } = key.clone();
        Self::of(event, &key.team, Subject::Key { id, name, role, expires }, stamp)
    }

    /// What happens to a member.
    pub fn of_member(event: Event, member: &Member, stamp: &Stamp) -> Self {
        let Member { id, name, role, .. } = member.clone();
        Self::of(event, &member.team, Subject::Member { id, name, role }, stamp)
    }

    /// What happens to a service.
    pub fn of_service(event: Event, service: &Service, stamp: &Stamp) -> Self {
        let Service { id, title, revision, schema_version, settings, .. } = service.clone();
        let subject = Subject::Service { id, title, revision, schema_version, settings };
        Self::of(event, &service.owner, subject, stamp)
    }

    /// What happens to a webhook.
    pub fn of_webhook(event: Event, webhook: &Webhook, stamp: &Stamp) -> Self {
        let Webhook { id, service, revision, settings, .. } = webhook.clone();
        let (name, state, active) = (settings.name, settings.state, settings.active);
        let subject = Subject::Webhook { id, name, service, state, active, revision };
        Self::of(event, &webhook.team, subject, stamp)
    }

    /// What happens to a message of a team.
    pub fn of_message(event: Event, team: &TeamRef, message: &Message, stamp: &Stamp) -> Self {
        let Message { id, content, .. } = message.clone();
        let subject = Subject::Message { id, services: content.services, expires: content.expires };
        Self::of(event, team, subject, stamp)
    }

    /// What happens to a healthcheck.
    pub fn of_healthcheck(event: Event, healthcheck: &Healthcheck, stamp: &Stamp) -> Self {
        let schedule = healthcheck.settings.schedule().cloned();
        let (service, revision) = (healthcheck.service.clone(), healthcheck.revision);
        let subject = Subject::Healthcheck { service, schedule, revision };
        Self::of(event, &healthcheck.team, subject, stamp)
    }

    /// That a team comes into being.
    pub fn of_team(team: &TeamRef, stamp: &Stamp) -> Self {
        Self::of(Event::TeamCreated, team, Subject::Team, stamp)
    }

    fn of(event: Event, team: &TeamRef, subject: Subject, stamp: &Stamp) -> Self {
        Self {
            team: team.clone(),
            event,
            subject,
            at: stamp.now,
            by: stamp.by.changed_by(),
            by_team: stamp.by.team().cloned(),
            request: stamp.request.clone(),
        }
    }
}
