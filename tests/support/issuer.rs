//! An issuer of OIDC tokens on a local port. It serves its keys and signs any token for a test.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};
use ring::{hmac, rsa};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// An issuer. The drop stops it.
#[derive(Debug)]
pub struct Issuer {
    /// URL of the issuer, and `iss` of its tokens.
    pub url: String,
    /// P-256 key with the id `ec`.
    pub ec: Signer,
    /// RSA key with the id `rsa`.
    pub rsa: Signer,
    state: Arc<State>,
    serving: Option<JoinHandle<()>>,
}

/// State shared by an issuer and its server thread.
#[derive(Debug, Default)]
struct State {
    keys: Mutex<Vec<Value>>,
    requests: AtomicUsize,
    is_down: AtomicBool,
    is_over: AtomicBool,
}

impl Issuer {
    /// Starts an issuer with both keys published.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (ec, rsa, state) = (Signer::ec(), Signer::rsa(), Arc::<State>::default());
        let (served, its_url) = (Arc::clone(&state), url.clone());
        let serving = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if served.is_over.load(Ordering::SeqCst) {
                    return;
                }
                serve(stream.unwrap(), &its_url, &served);
            }
        });
        let issuer = Self { url, ec, rsa, state, serving: Some(serving) };
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

impl Drop for Issuer {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::SeqCst);
        // The thread waits in `accept`. This connection ends the wait.
        drop(TcpStream::connect(self.url.strip_prefix("http://").unwrap()));
        if let Some(serving) = self.serving.take() {
            assert!(serving.join().is_ok() || std::thread::panicking(), "the issuer failed");
        }
    }
}

fn serve(mut stream: TcpStream, url: &str, state: &State) {
    state.requests.fetch_add(1, Ordering::SeqCst);
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        request.extend(byte);
    }
    let path = String::from_utf8(request).unwrap().split(' ').nth(1).unwrap().to_owned();
    let (status, body) = match path.as_str() {
        _ if state.is_down.load(Ordering::SeqCst) => ("503 Service Unavailable", json!({})),
        "/.well-known/openid-configuration" => {
            ("200 OK", json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
        }
        "/keys" => ("200 OK", json!({"keys": *state.keys.lock().unwrap()})),
        _ => ("404 Not Found", json!({})),
    };
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    // The client can already be gone, and then the write fails.
    drop(stream.write_all(format!("{head}{body}").as_bytes()));
}
