//! Webhooks, and what became of their deliveries. Credentials are in a webhook's own record alone, beside the API keys.

use super::Record;
use super::parts::{Bad, ServicePart, TeamPart, at, state};
use crate::key::{self, Key};
use domain::id::{ChangeId, WebhookId};
use domain::timestamp::Timestamp;
use domain::webhook::delivery::{Cooling, Ended, GIVEN_UP_SECONDS, GivenUp, Replied};
use domain::webhook::{Settings, Webhook};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct WebhookRecord {
    id: u64,
    tm: TeamPart,
    sv: ServicePart,
    /// The secret.
    sec: String,
    nm: String,
    ds: String,
    url: String,
    /// What is sent as `Authorization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    au: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<String>,
    ac: bool,
    /// Timeout, wait and cooling time, in seconds.
    to: u64,
    wt: u64,
    co: u64,
    cr: u64,
    mo: u64,
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

/// When a record is forgotten that is of a time, in seconds since 1970.
const fn forgotten(at: Timestamp) -> u64 {
    (at.micros() / 1_000_000).saturating_add(GIVEN_UP_SECONDS)
}

/// How a try has ended: a status, or what went wrong.
#[derive(Serialize, Deserialize)]
struct EndedPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    st: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    er: Option<String>,
}

impl EndedPart {
    fn of(ended: Ended) -> Self {
        Self { st: ended.status(), er: ended.error().map(str::to_owned) }
    }

    fn value(self) -> Result<Ended, Bad> {
        Ended::parse(self.st, self.er.as_deref()).ok_or(Bad("end of a try"))
    }
}

/// What a receiver answered last.
#[derive(Serialize, Deserialize)]
pub(crate) struct RepliedRecord {
    id: u64,
    ev: String,
    no: u64,
    at: u64,
    en: EndedPart,
    fa: u64,
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

/// Until when a webhook cools.
#[derive(Serialize, Deserialize)]
pub(crate) struct CoolingRecord {
    id: u64,
    un: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wa: Option<String>,
    rv: u64,
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

/// A delivery that was given up.
#[derive(Serialize, Deserialize)]
pub(crate) struct GivenUpRecord {
    id: u64,
    ev: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ch: Option<u64>,
    st: String,
    no: u64,
    at: u64,
    en: EndedPart,
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
        let place = format!("{:016}#{}", given_up.at.micros(), given_up.event);
        key::given_up_at(given_up.webhook, &place)
    }
}
