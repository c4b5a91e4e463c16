//! A token (RFC 7519): which key it says it is signed with, and whether all of it is right.

use crate::keys::Key;
use crate::{Person, Settings};
use domain::member::subject_problem;
use domain::timestamp::Timestamp;
use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;

/// By how much the clocks of issuer and function may differ, in seconds.
const LEEWAY: u64 = 30;
/// The types of a token that says who somebody is; others, as those for signing out, are signed with the same keys.
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// What a token claims, of what matters here.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: u64,
}

/// The id of the key that a token says it is signed with; none of what can't be good whatever it is signed with.
pub(crate) fn key_id(token: &str) -> Option<String> {
    let header = decode_header(token).ok()?;
    let is_known = header.typ.is_none_or(|typ| TYPES.contains(&typ.to_ascii_lowercase().as_str()));
    // What must be understood is not (RFC 7515 section 4.1.11). What a token says of keys, `jku` and `jwk`, is never read.
    if is_known && header.crit.is_none() { header.kid } else { None }
}

/// The person that a token speaks of, if it is the issuer's, for us, and of this time.
pub(crate) fn person(token: &str, key: &Key, settings: &Settings) -> Option<Person> {
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
