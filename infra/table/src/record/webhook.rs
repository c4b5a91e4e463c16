//! Webhooks and the results of their deliveries. Only the webhook's record has credentials. It is in the table of keys.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{ServicePart, TeamPart, at, state};
use crate::key::{self, Key};
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::{Cooling, Ended, GIVEN_UP_SECONDS, GivenUp, Replied};
use domain::outreach::webhook::{Settings, Webhook};
use domain::{ChangeId, Timestamp};
use serde::{Deserialize, Serialize};

/// A webhook, in the table of keys. Only this record contains its credentials.
#[derive(Serialize, Deserialize)]
pub(crate) struct WebhookRecord {
    /// Id of the webhook.
    id: u64,
    /// Service owner.
    tm: TeamPart,
    /// Service.
    sv: ServicePart,
    /// Secret that signs deliveries.
    sec: String,
    /// Name.
    nm: String,
    /// Description.
    ds: String,
    /// Target URL.
    url: String,
    /// Value of the `Authorization` header. Absent if none is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    au: Option<String>,
    /// State that triggers a delivery. Absent if creations do.
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<String>,
    /// Whether the webhook is active.
    ac: bool,
    /// Timeout of a delivery, in seconds.
    to: u64,
    /// Delay between change and delivery, in seconds.
    wt: u64,
    /// Minimum time between two deliveries, in seconds.
    co: u64,
    /// Time of creation.
    cr: u64,
    /// Time of the last change.
    mo: u64,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
}

impl Record for WebhookRecord {
    const TYPE: &'static str = "WEBHOOK";
    type Value = Webhook;

    fn of(webhook: &Webhook) -> Self {
        let settings = webhook.settings.clone();
        Self {
            id: webhook.id.get(),
            tm: TeamPart::of(&webhook.team),
            sv: ServicePart::of(&webhook.service),
            sec: webhook.secret.clone(),
            nm: settings.name,
            ds: settings.description,
            url: settings.target_url,
            au: settings.authorization,
            st: settings.state.map(|state| state.name().to_owned()),
            ac: settings.active,
            to: settings.timeout_seconds,
            wt: settings.wait_seconds,
            co: settings.cooling_seconds,
            cr: webhook.created.micros(),
            mo: webhook.modified.micros(),
            rv: webhook.revision,
        }
    }

    fn value(self) -> Result<Webhook, Bad> {
        Ok(Webhook {
            id: webhook_id(self.id)?,
            team: self.tm.value()?,
            service: self.sv.value()?,
            secret: self.sec,
            settings: Settings {
                name: self.nm,
                description: self.ds,
                target_url: self.url,
                authorization: self.au,
                state: self.st.as_deref().map(state).transpose()?,
                active: self.ac,
                timeout_seconds: self.to,
                wait_seconds: self.wt,
                cooling_seconds: self.co,
            },
            created: at(self.cr),
            modified: at(self.mo),
            revision: self.rv,
        })
    }

    fn key(webhook: &Webhook) -> Key {
        key::webhook(webhook.id)
    }
}

fn webhook_id(id: u64) -> Result<WebhookId, Bad> {
    WebhookId::parse(id).ok_or(Bad("webhook"))
}

/// Returns the expiry of a record with this time, in seconds since 1970.
const fn forgotten(at: Timestamp) -> u64 {
    (at.micros() / 1_000_000).saturating_add(GIVEN_UP_SECONDS)
}

/// The result of a delivery attempt.
#[derive(Serialize, Deserialize)]
struct EndedPart {
    /// HTTP status of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<u16>,
    /// Error name.
    #[serde(skip_serializing_if = "Option::is_none")]
    er: Option<String>,
}

impl EndedPart {
    fn of(ended: Ended) -> Self {
        Self { st: ended.status(), er: ended.error().map(str::to_owned) }
    }

    fn value(self) -> Result<Ended, Bad> {
        Ended::parse(self.st, self.er.as_deref()).ok_or(Bad("end of an attempt"))
    }
}

/// The last answer of a webhook's target.
#[derive(Serialize, Deserialize)]
pub(crate) struct RepliedRecord {
    /// Id of the webhook.
    id: u64,
    /// Id of the event.
    ev: String,
    /// Attempt, counted from 1.
    no: u64,
    /// Time of the answer.
    at: u64,
    /// Result of the attempt.
    en: EndedPart,
    /// Number of consecutive failures.
    fa: u64,
    /// Expiry, in seconds since 1970: two weeks after `at`.
    xp: u64,
}

impl Record for RepliedRecord {
    const TYPE: &'static str = "REPLIED";
    type Value = Replied;

    fn of(replied: &Replied) -> Self {
        Self {
            id: replied.webhook.get(),
            ev: replied.event.clone(),
            no: replied.attempt,
            at: replied.at.micros(),
            en: EndedPart::of(replied.ended),
            fa: replied.failures,
            xp: forgotten(replied.at),
        }
    }

    fn value(self) -> Result<Replied, Bad> {
        Ok(Replied {
            webhook: webhook_id(self.id)?,
            event: self.ev,
            attempt: self.no,
            at: at(self.at),
            ended: self.en.value()?,
            failures: self.fa,
        })
    }

    fn key(replied: &Replied) -> Key {
        key::replied(replied.webhook)
    }
}

/// The cooling time of a webhook.
#[derive(Serialize, Deserialize)]
pub(crate) struct CoolingRecord {
    /// Id of the webhook.
    id: u64,
    /// End of the cooling time.
    un: u64,
    /// Id of the waiting event. Absent if none waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    wa: Option<String>,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
    /// Expiry, in seconds since 1970: two weeks after `un`.
    xp: u64,
}

impl Record for CoolingRecord {
    const TYPE: &'static str = "COOLING";
    type Value = Cooling;

    fn of(cooling: &Cooling) -> Self {
        Self {
            id: cooling.webhook.get(),
            un: cooling.until.micros(),
            wa: cooling.waiting.clone(),
            rv: cooling.revision,
            xp: forgotten(cooling.until),
        }
    }

    fn value(self) -> Result<Cooling, Bad> {
        let webhook = webhook_id(self.id)?;
        Ok(Cooling { webhook, until: at(self.un), waiting: self.wa, revision: self.rv })
    }

    fn key(cooling: &Cooling) -> Key {
        key::cooling(cooling.webhook)
    }
}

/// An abandoned delivery.
#[derive(Serialize, Deserialize)]
pub(crate) struct GivenUpRecord {
    /// Id of the webhook.
    id: u64,
    /// Id of the event.
    ev: String,
    /// Id of the change instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    ch: Option<u64>,
    /// State in the event.
    st: String,
    /// Number of attempts.
    no: u64,
    /// Time of the decision.
    at: u64,
    /// Result of the last attempt.
    en: EndedPart,
    /// Expiry, in seconds since 1970: two weeks after `at`.
    xp: u64,
}

impl Record for GivenUpRecord {
    const TYPE: &'static str = "GIVEN_UP";
    type Value = GivenUp;

    fn of(given_up: &GivenUp) -> Self {
        Self {
            id: given_up.webhook.get(),
            ev: given_up.event.clone(),
            ch: given_up.change.map(ChangeId::get),
            st: given_up.state.clone(),
            no: given_up.attempts,
            at: given_up.at.micros(),
            en: EndedPart::of(given_up.ended),
            xp: forgotten(given_up.at),
        }
    }

    fn value(self) -> Result<GivenUp, Bad> {
        Ok(GivenUp {
            webhook: webhook_id(self.id)?,
            event: self.ev,
            change: self.ch.map(|id| ChangeId::parse(id).ok_or(Bad("change instance"))).transpose()?,
            state: self.st,
            attempts: self.no,
            at: at(self.at),
            ended: self.en.value()?,
        })
    }

    fn key(given_up: &GivenUp) -> Key {
        let sort_key = format!("{:016}#{}", given_up.at.micros(), given_up.event);
        key::given_up_at(given_up.webhook, &sort_key)
    }
}
