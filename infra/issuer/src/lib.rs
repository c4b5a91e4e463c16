//! The `OpenID` Connect issuer of user tokens: verifies a token and returns its person (decision record 17).
//!
//! The issuer only identifies a person. Teams and roles are in the member records of Dovetail. The keys of the issuer
//! are discovered and cached; while it is unreachable, the cached ones remain in use.

mod fetch;
mod keys;
mod token;
mod verifier;

use aws_smithy_runtime_api::client::http::SharedHttpConnector;
use domain::Timestamp;
use dovetail_aws::{Trust, connector, log, now};
use keys::{CachedKeys, Key};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The issuer and the audience of accepted tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// URL of the issuer, equal to the claim `iss` of its tokens.
    url: String,
    /// Required value among the claim `aud` of a token.
    audience: String,
}

impl Settings {
    /// Checks the URL and the audience of an issuer.
    pub fn new(url: &str, audience: &str) -> Result<Self, String> {
        if !fetch::is_safe(url) {
            return Err(format!(
                "the issuer must be an https URL, or an http URL of this machine, not {url}"
            ));
        }
        if audience.is_empty() {
            return Err(format!(
                "the audience of tokens of {url} must be set: otherwise tokens for other systems would be valid"
            ));
        }
        Ok(Self { url: url.to_owned(), audience: audience.to_owned() })
    }

    /// Returns the URL of the issuer.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the required audience.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// Reads the settings from `DOVETAIL_ISSUER` and `DOVETAIL_AUDIENCE`; `None` if both are unset or empty.
    pub fn from_env() -> Result<Option<Self>, String> {
        let variable = |name| std::env::var(name).unwrap_or_default();
        let (url, audience) = (variable("DOVETAIL_ISSUER"), variable("DOVETAIL_AUDIENCE"));
        if url.is_empty() && audience.is_empty() { Ok(None) } else { Self::new(&url, &audience).map(Some) }
    }
}

/// The person of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Claim `sub` of the token: the permanent id of the person at the issuer.
    pub subject: String,
    /// Expiry of the token, including the leeway for clocks.
    pub expires: Timestamp,
}

/// The error when the cache is empty and the issuer is unreachable.
#[derive(Debug)]
pub struct Unreachable;

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the token issuer is unreachable, and none of its keys is cached")
    }
}

impl std::error::Error for Unreachable {}

/// An issuer with its cached keys.
#[derive(Debug)]
pub struct Issuer {
    settings: Settings,
    cached: Mutex<CachedKeys>,
    /// The lock during a request for keys, so that only one request runs at a time.
    asking: tokio::sync::Mutex<()>,
    connector: OnceLock<SharedHttpConnector>,
}

impl Issuer {
    /// Returns the issuer, which requests keys at the first token.
    pub fn new(settings: Settings) -> Self {
        verifier::install();
        Self {
            settings,
            cached: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            connector: OnceLock::new(),
        }
    }

    /// Verifies a token and returns its person, or `None` if any part of the token is invalid.
    pub async fn person(&self, token: &str) -> Result<Option<Person>, Unreachable> {
        let Some(kid) = token::key_id(token) else { return Ok(None) };
        let key = self.key(&kid).await?;
        Ok(key.and_then(|key| token::person(token, &key, &self.settings)))
    }

    /// Returns the key with this id.
    async fn key(&self, kid: &str) -> Result<Option<Key>, Unreachable> {
        if self.cached().is_due(kid, now()) {
            self.refresh(kid).await;
        }
        let cached = self.cached();
        if cached.is_empty() { Err(Unreachable) } else { Ok(cached.get(kid)) }
    }

    /// Requests the keys of the issuer.
    async fn refresh(&self, kid: &str) {
        // A slow issuer must not delay tokens whose key is cached, so they continue with that key. Only tokens with an
        // unknown key wait for the request that is already running.
        let _asking = match self.asking.try_lock() {
            Ok(asking) => asking,
            Err(_) if self.cached().get(kid).is_some() => return,
            Err(_) => self.asking.lock().await,
        };
        let now = now();
        // Another task may have finished the same request while this one waited for the lock.
        if !self.cached().is_due(kid, now) {
            return;
        }
        match self.published().await {
            Ok(keys) => self.cached().replace(keys, now),
            Err(error) => {
                log(&format!("the issuer {}", self.settings.url), &error);
                self.cached().failed(now);
            }
        }
    }

    fn cached(&self) -> MutexGuard<'_, CachedKeys> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the published keys of the issuer.
    async fn published(&self) -> Result<Vec<Key>, String> {
        // The connector is created at the first token, because reading the authorities of the machine would slow down
        // every start.
        let connector = self.connector.get_or_init(|| connector(&Trust::Machine.with_env_override()));
        let url = &self.settings.url;
        let discovery = format!("{}/.well-known/openid-configuration", url.trim_end_matches('/'));
        let configuration = fetch::json(connector, &discovery).await?;
        // The discovery document must name the same issuer, as OpenID Connect Discovery requires (section 4.3).
        if configuration.get("issuer").and_then(|issuer| issuer.as_str()) != Some(url) {
            return Err(format!("{discovery} has another issuer"));
        }
        let jwks_uri = configuration.get("jwks_uri").and_then(|jwks_uri| jwks_uri.as_str());
        let jwks_uri = jwks_uri.ok_or_else(|| format!("{discovery} has no jwks_uri"))?;
        let keys = keys::usable(&fetch::json(connector, jwks_uri).await?);
        if keys.is_empty() {
            Err(format!("{jwks_uri} has no RSA or P-256 key for signatures"))
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

    /// Returns an issuer that accepts connections but never answers, with an old cached key.
    fn slow() -> (TcpListener, Issuer) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Issuer::new(Settings::new(&url, "dovetail").unwrap());
        let set = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "a", "x": "AA", "y": "AA"}]});
        issuer.cached().replace(keys::usable(&set), Timestamp::from_micros(1));
        (listener, issuer)
    }

    #[tokio::test]
    async fn a_slow_issuer_holds_up_no_token_with_a_cached_key() {
        let (_listener, issuer) = slow();
        let asking = issuer.key("a");
        tokio::pin!(asking);
        // The first token waits for the issuer. The second one must get its cached key at once.
        let second = tokio::select! {
            biased;
            _ = asking.as_mut() => panic!("the issuer never answers"),
            key = issuer.key("a") => key,
        };
        assert!(second.unwrap().is_some());
    }
}
