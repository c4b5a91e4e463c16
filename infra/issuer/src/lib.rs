//! The one issuer of people's tokens (`OpenID` Connect): a token in, the person that it speaks of out.
//!
//! The issuer says who somebody is and nothing more: of which team they are, and in which role, stands in our own
//! records. Its keys are found by discovery and kept; while it can't be reached, the kept ones go on.

mod fetch;
mod keys;
mod token;
mod verifier;

use aws_smithy_runtime_api::client::http::SharedHttpConnector;
use domain::timestamp::Timestamp;
use dovetail_aws::{Trust, connector, log, now};
use keys::{Kept, Key};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Whose tokens are believed, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The issuer, as its tokens name it in `iss`.
    url: String,
    /// Whom a token is meant for: one of its `aud`.
    audience: String,
}

impl Settings {
    /// The issuer at a URL, and what its tokens for us are addressed to.
    pub fn new(url: &str, audience: &str) -> Result<Self, String> {
        if !fetch::is_safe(url) {
            return Err(format!("an issuer is an https URL, or http on this machine, not {url}"));
        }
        if audience.is_empty() {
            return Err(format!("tokens of {url} need an audience: without it, those for others would do"));
        }
        Ok(Self { url: url.to_owned(), audience: audience.to_owned() })
    }

    /// Those of a function: `DOVETAIL_ISSUER` and `DOVETAIL_AUDIENCE`; none where neither says anything.
    pub fn from_env() -> Result<Option<Self>, String> {
        let told = |name| std::env::var(name).unwrap_or_default();
        let (url, audience) = (told("DOVETAIL_ISSUER"), told("DOVETAIL_AUDIENCE"));
        if url.is_empty() && audience.is_empty() { Ok(None) } else { Self::new(&url, &audience).map(Some) }
    }
}

/// The person that a token speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// What the issuer calls the person.
    pub subject: String,
    /// When the token ends.
    pub expires: Timestamp,
}

/// That no key of the issuer is known, because it can't be reached.
#[derive(Debug)]
pub struct Unreachable;

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the issuer of tokens can't be reached, and no key of it is known")
    }
}

impl std::error::Error for Unreachable {}

/// The issuer.
#[derive(Debug)]
pub struct Issuer {
    settings: Settings,
    kept: Mutex<Kept>,
    /// Held while the issuer is asked for its keys: one request at a time.
    asking: tokio::sync::Mutex<()>,
    connector: OnceLock<SharedHttpConnector>,
}

impl Issuer {
    /// The issuer of these settings; it is asked for its keys with the first token.
    pub fn new(settings: Settings) -> Self {
        verifier::install();
        Self {
            settings,
            kept: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            connector: OnceLock::new(),
        }
    }

    /// The person that a token speaks of; none where there is anything wrong with it.
    pub async fn person(&self, token: &str) -> Result<Option<Person>, Unreachable> {
        let Some(kid) = token::key_id(token) else { return Ok(None) };
        let key = self.key(&kid).await?;
        Ok(key.and_then(|key| token::person(token, &key, &self.settings)))
    }

    /// Finds the key with this id.
    async fn key(&self, kid: &str) -> Result<Option<Key>, Unreachable> {
        if self.kept().is_due(kid, now()) {
            self.refresh(kid).await;
        }
        let kept = self.kept();
        if kept.is_empty() { Err(Unreachable) } else { Ok(kept.get(kid)) }
    }

    /// Asks the issuer for its keys. While it is slow, a token with a known key goes on with that key.
    async fn refresh(&self, kid: &str) {
        let _asking = match self.asking.try_lock() {
            Ok(asking) => asking,
            Err(_) if self.kept().get(kid).is_some() => return,
            Err(_) => self.asking.lock().await,
        };
        let now = now();
        // Another request has asked meanwhile.
        if !self.kept().is_due(kid, now) {
            return;
        }
        match self.published().await {
            Ok(keys) => self.kept().replace(keys, now),
            Err(error) => {
                log(&format!("the issuer {}", self.settings.url), &error);
                self.kept().failed(now);
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys that the issuer publishes now.
    async fn published(&self) -> Result<Vec<Key>, String> {
        // Only who shows a token pays for reading whom this machine trusts.
        let connector = self.connector.get_or_init(|| connector(&Trust::Machine.unless_told()));
        let url = &self.settings.url;
        let discovery = format!("{}/.well-known/openid-configuration", url.trim_end_matches('/'));
        let configuration = fetch::json(connector, &discovery).await?;
        if configuration.get("issuer").and_then(|issuer| issuer.as_str()) != Some(url) {
            return Err(format!("{discovery} speaks of another issuer"));
        }
        let place = configuration.get("jwks_uri").and_then(|place| place.as_str());
        let place = place.ok_or_else(|| format!("{discovery} names no jwks_uri"))?;
        let keys = keys::usable(&fetch::json(connector, place).await?);
        if keys.is_empty() {
            Err(format!("{place} has no key of RSA or P-256 to verify with"))
        } else {
            Ok(keys)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::net::TcpListener;

    /// An issuer that accepts connections and never answers, with a key that was read long ago.
    fn slow() -> (TcpListener, Issuer) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Issuer::new(Settings::new(&url, "dovetail").unwrap());
        let set = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "a", "x": "AA", "y": "AA"}]});
        issuer.kept().replace(keys::usable(&set), Timestamp::from_micros(1));
        (listener, issuer)
    }

    #[tokio::test]
    async fn finding_07_a_slow_issuer_holds_up_no_token_with_a_known_key() {
        let (_listener, issuer) = slow();
        let asking = issuer.key("a");
        tokio::pin!(asking);
        // The first token asks, and waits; the second has its key at once.
        let second = tokio::select! {
            biased;
            _ = asking.as_mut() => panic!("the issuer never answers"),
            key = issuer.key("a") => key,
        };
        assert!(second.unwrap().is_some());
    }
}
