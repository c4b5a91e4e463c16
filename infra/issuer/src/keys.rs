//! The cached keys of the issuer, and the rule for new requests.

use domain::Timestamp;
use jsonwebtoken::jwk::{
    AlgorithmParameters, CommonParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// The time for which cached keys are used without a request, in microseconds: one hour.
///
/// A key that the issuer withdraws stays valid for at most this time while the issuer is reachable.
const FRESH_MICROS: u64 = 3_600_000_000;
/// The shortest time between two requests, in microseconds: one minute.
///
/// Tokens with invented key ids therefore cause at most one request a minute.
const REFRESH_MICROS: u64 = 60_000_000;
/// The shortest time between two requests while no key is cached, in microseconds.
const REFRESH_EMPTY_MICROS: u64 = 5_000_000;

/// A public key of the issuer.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    /// The only algorithm for this key, derived from its kind and never from a token.
    pub(crate) algorithm: Algorithm,
    pub(crate) public: DecodingKey,
}

#[derive(Debug, Default)]
pub(crate) struct CachedKeys {
    keys: Vec<Key>,
    /// Time of the last successful request.
    read: Option<Timestamp>,
    /// Time of the last request, successful or not.
    requested: Option<Timestamp>,
}

impl CachedKeys {
    /// Returns whether a token with this key id calls for a new request.
    pub(crate) fn is_due(&self, kid: &str, now: Timestamp) -> bool {
        let since = |then: Option<Timestamp>| then.map(|then| now.micros().saturating_sub(then.micros()));
        let interval = if self.is_empty() { REFRESH_EMPTY_MICROS } else { REFRESH_MICROS };
        let has_rested = since(self.requested).is_none_or(|since| since >= interval);
        let is_old = since(self.read).is_none_or(|since| since >= FRESH_MICROS);
        has_rested && (is_old || self.get(kid).is_none())
    }

    /// Replaces all cached keys, so that withdrawn ones disappear.
    pub(crate) fn replace(&mut self, keys: Vec<Key>, now: Timestamp) {
        *self = Self { keys, read: Some(now), requested: Some(now) };
    }

    /// Notes a failed request; the cached keys remain in use.
    pub(crate) const fn failed(&mut self, now: Timestamp) {
        self.requested = Some(now);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn get(&self, kid: &str) -> Option<Key> {
        self.keys.iter().find(|key| key.id == kid).cloned()
    }
}

/// Returns the keys of a set that can verify tokens. Other kinds, such as shared secrets, are left out.
pub(crate) fn usable(set: &Value) -> Vec<Key> {
    let keys = set.get("keys").and_then(Value::as_array);
    keys.into_iter().flatten().filter_map(key).collect()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library adds kinds of keys, and no other kind is accepted"
)]
fn key(published: &Value) -> Option<Key> {
    let jwk = Jwk::deserialize(published).ok()?;
    let (algorithm, name) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
            (Algorithm::ES256, KeyAlgorithm::ES256)
        }
        _ => return None,
    };
    let public = DecodingKey::from_jwk(&jwk).ok()?;
    let CommonParameters { public_key_use, key_algorithm, key_id, .. } = jwk.common;
    let is_for_signatures = public_key_use.is_none_or(|purpose| purpose == PublicKeyUse::Signature)
        && key_algorithm.is_none_or(|algorithm| algorithm == name);
    is_for_signatures.then_some(Key { id: key_id?, algorithm, public })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn one(kid: &str) -> Vec<Key> {
        usable(&json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": kid, "x": "AA", "y": "AA"}]}))
    }

    #[test]
    fn keys_are_requested_when_old_or_missing_and_seldom() {
        let mut cached = CachedKeys::default();
        assert!(cached.is_due("a", at(100)));
        cached.failed(at(100));
        assert!(
            !cached.is_due("a", at(104)) && cached.is_due("a", at(105)),
            "without any key it is asked soon"
        );
        cached.replace(one("a"), at(105));
        assert!(!cached.is_due("a", at(3_704)) && cached.is_due("a", at(3_705)), "an hour");
        assert!(!cached.is_due("b", at(164)) && cached.is_due("b", at(165)), "a minute, for an unknown key");
        // An unreachable issuer must not invalidate the cached keys.
        cached.failed(at(3_705));
        assert!(cached.get("a").is_some() && !cached.is_due("a", at(3_764)) && cached.is_due("a", at(3_765)));
        cached.replace(one("b"), at(3_765));
        assert!(cached.get("a").is_none() && cached.get("b").is_some(), "what is withdrawn is gone");
        // A clock that goes back must not cause more requests.
        assert!(!cached.is_due("a", at(0)));
    }

    #[test]
    fn only_public_keys_for_signatures_are_usable() {
        let rsa = |more: Value| {
            let mut key = json!({"kty": "RSA", "kid": "k", "n": "AQAB", "e": "AQAB"});
            key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            usable(&json!({"keys": [key]})).len()
        };
        for good in [json!({}), json!({"use": "sig"}), json!({"alg": "RS256", "x5c": ["x"]})] {
            assert_eq!(rsa(good.clone()), 1, "{good}");
        }
        for bad in [
            json!({"use": "enc"}),
            json!({"alg": "RS512"}),
            json!({"kty": "oct", "k": "AQAB"}),
            json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"}),
            json!({"kid": null}),
            json!({"n": null}),
            json!({"n": "not base64!"}),
        ] {
            assert_eq!(rsa(bad.clone()), 0, "{bad}");
        }
        for none in [json!({}), json!([]), json!({"keys": {}}), json!({"keys": [5, null, "k"]})] {
            assert!(usable(&none).is_empty(), "{none}");
        }
    }
}
