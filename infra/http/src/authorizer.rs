//! The authorizer's side: the API key or the token of a request, and what functions are told about who sent it.
//!
//! An HTTP API answers 403 to what its authorizer refuses, but clients know a bad key by 401 (docs/reference/http.md rule 1).
//! So the authorizer lets every request through and tells who calls only if it knows; a function without a
//! caller answers 401. What is missing is refused, whatever the reason.
//!
//! Keys are stored as hashes: who reads the table learns no key. A key is long and random, so its hash can be
//! looked up as it is.

use crate::event::Event;
use crate::secret::key_hash;
use aws_lambda_events::apigw::{
    ApiGatewayRequestAuthorizer, ApiGatewayV2CustomAuthorizerSimpleResponse,
    ApiGatewayV2CustomAuthorizerV2Request,
};
use domain::access::ApiKey;
use domain::member::Member;
use domain::timestamp::Timestamp;
use dovetail_table::{Error, Table};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use std::ffi::OsStr;

/// A request as API Gateway sends it to the authorizer.
pub type AuthorizerEvent = ApiGatewayV2CustomAuthorizerV2Request;

/// What the authorizer answers.
pub type AuthorizerReply = ApiGatewayV2CustomAuthorizerSimpleResponse<Map<String, Value>>;

/// Who calls, as the authorizer knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// A team's API key.
    Key(ApiKey),
    /// A person with a token.
    Person {
        /// What the issuer calls the person.
        subject: String,
        /// When the token ends.
        expires: Timestamp,
        /// What the person is a member of.
        memberships: Vec<Member>,
    },
}

/// The API key in the headers that the caller is known by; none if there is no key, or none that is valid.
pub async fn valid_key(table: &Table, headers: &HeaderMap) -> Result<Option<ApiKey>, Error> {
    let Some(key) = api_key(headers) else { return Ok(None) };
    let found = table.api_key(&key_hash(key)).await?;
    Ok(found.filter(|key| key.is_valid(dovetail_aws::now())))
}

/// The API key of a request: `Authorization: Api-Key <key>`.
fn api_key(headers: &HeaderMap) -> Option<&str> {
    credentials(headers, "Api-Key")
}

/// The token of a request: `Authorization: Bearer <token>` (RFC 6750).
pub fn token(headers: &HeaderMap) -> Option<&str> {
    credentials(headers, "Bearer")
}

fn credentials<'a>(headers: &'a HeaderMap, expected: &str) -> Option<&'a str> {
    let (scheme, sent) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
    let sent = sent.trim();
    (scheme.eq_ignore_ascii_case(expected) && !sent.is_empty()).then_some(sent)
}

/// The answer about a caller, if they are known: texts alone, since what else a gateway passes on differs.
pub fn verdict(known: Option<&Known>) -> AuthorizerReply {
    let mut context = Map::new();
    let mut tell = |name: &str, text: String| context.insert(name.to_owned(), Value::String(text));
    match known {
        None => {}
        Some(Known::Key(key)) => {
            tell("team", key.team.id.to_string());
            tell("teamName", key.team.name.clone());
            tell("role", key.role.name().to_owned());
            tell("key", key.name.clone());
            key.expires.map(|expires| tell("expires", expires.micros().to_string()));
        }
        Some(Known::Person { subject, expires, memberships }) => {
            let of = |member: &Member| {
                let Member { team, role, name, .. } = member;
                json!({"team": team.id.to_string(), "teamName": team.name, "role": role.name(), "person": name})
            };
            tell("subject", subject.clone());
            tell("expires", expires.micros().to_string());
            tell("memberships", Value::from_iter(memberships.iter().map(of)).to_string());
        }
    }
    let mut reply = AuthorizerReply::default();
    reply.is_authorized = true;
    reply.context = context;
    reply
}

/// What stands in front of a function: whom it believes who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// API Gateway, which has asked the authorizer.
    Gateway,
    /// Nothing that knows a caller, as under `cargo lambda watch`: the function does what API Gateway would do.
    Nothing,
}

impl Front {
    /// The setting of a function: API Gateway, unless `DOVETAIL_FRONT=none` says otherwise.
    pub fn from_env() -> Result<Self, String> {
        Self::parse(std::env::var_os("DOVETAIL_FRONT").as_deref())
    }

    /// Anything but the one known value is an error, so that a misspelt one starts nothing.
    fn parse(setting: Option<&OsStr>) -> Result<Self, String> {
        match setting {
            None => Ok(Self::Gateway),
            Some(setting) if setting == "none" => Ok(Self::Nothing),
            Some(setting) => Err(format!("DOVETAIL_FRONT is `none` or not set, not {}", setting.display())),
        }
    }

    /// The event of an invocation as API Gateway would have sent it.
    ///
    /// With nothing in front, whatever the event says about its caller and its id is replaced: both could be the
    /// client's own words.
    pub async fn event(self, table: &Table, invocation: String, mut event: Event) -> Result<Event, Error> {
        match self {
            Self::Gateway => {}
            Self::Nothing => {
                let key = valid_key(table, &event.headers).await?.map(Known::Key);
                let mut authorizer = ApiGatewayRequestAuthorizer::default();
                authorizer.fields = verdict(key.as_ref()).context.into_iter().collect();
                event.request_context.authorizer = Some(authorizer);
                event.request_context.request_id = Some(invocation);
                let scheme = event.headers.entry(HeaderName::from_static("x-forwarded-proto"));
                scheme.or_insert(HeaderValue::from_static("http"));
            }
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_none_takes_the_gateway_away() {
        assert_eq!(Front::parse(None), Ok(Front::Gateway));
        assert_eq!(Front::parse(Some(OsStr::new("none"))), Ok(Front::Nothing));
        for setting in ["", "None", "none ", "nothing", "0", "gateway"] {
            assert!(Front::parse(Some(OsStr::new(setting))).is_err(), "{setting:?}");
        }
    }
}
