//! An issuer of OIDC tokens on a local port. It serves its keys and signs any token for a test.

use crate::local_server::local_server;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dovetail_emulator::gateway::plain;
use dovetail_http::{Event, EventReply};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{hmac, rsa};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;

/// Audience of the tokens.
pub const AUDIENCE: &str = "dovetail";

/// A stored RSA key: its generation would need a library without any other use.
const RSA: &[u8] = include_bytes!("issuer/rsa.pk8");

/// The signing key of a token.
#[derive(Debug)]
pub enum Signer {
    Ec(Box<EcdsaKeyPair>),
    Rsa(Box<RsaKeyPair>),
    /// A shared secret, for HMAC.
    Secret(Vec<u8>),
    /// Leaves the signature empty.
    Unsigned,
}

impl Signer {
    /// Generates a P-256 key.
    pub fn ec() -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random);
        Self::Ec(Box::new(pair.unwrap()))
    }

    /// Returns the stored RSA key.
    pub fn rsa() -> Self {
        Self::Rsa(Box::new(RsaKeyPair::from_pkcs8(RSA).unwrap()))
    }

    /// Returns the public key as a JSON Web Key with this id.
    pub fn published(&self, kid: &str) -> Value {
        match self {
            Self::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "use": "sig", "kid": kid, "x": text(x), "y": text(y)})
            }
            Self::Rsa(pair) => {
                let public = rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({"kty": "RSA", "alg": "RS256", "kid": kid, "n": text(&public.n), "e": text(&public.e)})
            }
            Self::Secret(secret) => json!({"kty": "oct", "alg": "HS256", "kid": kid, "k": text(secret)}),
            Self::Unsigned => Value::Null,
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Secret(secret) => {
                hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
            }
            Self::Unsigned => Vec::new(),
        }
    }

    /// Returns a token with this header and these claims.
    pub fn token(&self, header: &Value, claims: &Value) -> String {
        let message =
            format!("{}.{}", text(header.to_string().as_bytes()), text(claims.to_string().as_bytes()));
        let signature = text(&self.sign(message.as_bytes()));
        format!("{message}.{signature}")
    }
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the current time in seconds since 1970.
pub fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// An issuer that stops when it is dropped.
#[derive(Debug)]
pub struct Issuer {
    /// URL of the issuer, and `iss` of its tokens.
    pub url: String,
    /// P-256 key with the id `ec`.
    pub ec: Signer,
    /// RSA key with the id `rsa`.
    pub rsa: Signer,
    state: Arc<State>,
    _runtime: Runtime,
}

/// State shared by an issuer and its server.
#[derive(Debug, Default)]
struct State {
    url: OnceLock<String>,
    keys: Mutex<Vec<Value>>,
    requests: AtomicUsize,
    is_down: AtomicBool,
}

impl State {
    /// Returns the response to a request.
    fn response(&self, event: &Event) -> EventReply {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let url = self.url.get().unwrap();
        let has_query = event.raw_query_string.as_deref().is_some_and(|query| !query.is_empty());
        match event.raw_path.as_deref().unwrap_or_default() {
            _ if self.is_down.load(Ordering::SeqCst) => plain(503, &json!({})),
            _ if has_query => plain(404, &json!({})),
            "/.well-known/openid-configuration" => {
                plain(200, &json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
            }
            "/keys" => plain(200, &json!({"keys": *self.keys.lock().unwrap()})),
            _ => plain(404, &json!({})),
        }
    }
}

impl Issuer {
    /// Starts an issuer with both keys published.
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let state = Arc::<State>::default();
        let served = Arc::clone(&state);
        let answer = move |event: Event| {
            let response = served.response(&event);
            async { response }
        };
        let (url, serving) = runtime.block_on(local_server(answer));
        state.url.set(url.clone()).unwrap();
        drop(runtime.spawn(serving));
        let issuer = Self { url, ec: Signer::ec(), rsa: Signer::rsa(), state, _runtime: runtime };
        issuer.publish(vec![issuer.ec.published("ec"), issuer.rsa.published("rsa")]);
        issuer
    }

    /// Publishes these keys in place of all others.
    pub fn publish(&self, keys: Vec<Value>) {
        *self.state.keys.lock().unwrap() = keys;
    }

    /// Returns the settings for a system that trusts this issuer.
    pub fn settings(&self) -> dovetail_issuer::Settings {
        dovetail_issuer::Settings::new(&self.url, AUDIENCE).unwrap()
    }

    /// Returns valid claims about a person, for one hour.
    pub fn claims(&self, subject: &str) -> Value {
        json!({"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": seconds(), "exp": seconds() + 3_600})
    }

    /// Returns a valid token of a person.
    pub fn token(&self, subject: &str) -> String {
        self.ec.token(&json!({"alg": "ES256", "typ": "JWT", "kid": "ec"}), &self.claims(subject))
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Starts or stops responses with 503.
    pub fn is_down(&self, is_down: bool) {
        self.state.is_down.store(is_down, Ordering::SeqCst);
    }
}
