//! User tokens (RFC 7519): the id of the signing key, and the check of signature and claims.

use crate::keys::Key;
use crate::{Person, Settings};
use domain::Timestamp;
use domain::account::member::subject_problem;
use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;

/// The tolerated difference between the clocks of issuer and function, in seconds.
const LEEWAY: u64 = 30;
/// The accepted values of `typ`. Other types, such as logout tokens, are signed with the same keys.
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// The used claims of a token.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: u64,
}

/// Returns the key id of a token, or `None` for a header that no accepted token has.
pub(crate) fn key_id(token: &str) -> Option<String> {
    let header = decode_header(token).ok()?;
    let is_supported = header.typ.is_none_or(|typ| TYPES.contains(&typ.to_ascii_lowercase().as_str()));
    // A `crit` header requires extensions that are not supported (RFC 7515 section 4.1.11). The headers `jku` and
    // `jwk` are never used: with them the sender of a token would choose the key.
    if is_supported && header.crit.is_none() { header.kid } else { None }
}

/// Returns the person of a token, if signature, issuer, audience and times are valid.
pub(crate) fn person(token: &str, key: &Key, settings: &Settings) -> Option<Person> {
    // The algorithm comes from the published key, never from the token, so a token cannot choose a weaker one.
    let mut expected = Validation::new(key.algorithm);
    expected.leeway = LEEWAY;
    expected.validate_nbf = true;
    expected.set_issuer(&[&settings.url]);
    expected.set_audience(&[&settings.audience]);
    expected.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let Claims { sub, exp } = decode::<Claims>(token, &key.public, &expected).ok()?.claims;
    let expires = Timestamp::from_micros(exp.checked_add(LEEWAY)?.checked_mul(1_000_000)?);
    subject_problem(&sub).is_none().then_some(Person { subject: sub, expires })
}
