//! The authorizer: from the API key or token of a request to the context for the functions.
//!
//! An HTTP API returns 403 for a rejected request, but existing clients expect 401 for a bad key
//! (docs/reference/http/README.md, convention 1). The authorizer therefore lets every request through, and adds only
//! valid callers. A function without a caller in the context returns 401 (ADR 4).
//!
//! The table has hashes of keys, so its readers learn no key. A key is long and random, so its plain hash is the key
//! of the lookup (ADR 16).

use crate::secret::key_hash;
use aws_lambda_events::apigw::{
    ApiGatewayV2CustomAuthorizerSimpleResponse, ApiGatewayV2CustomAuthorizerV2Request,
};
use domain::Timestamp;
use domain::account::api_key::ApiKey;
use domain::account::member::Member;
use dovetail_table::{Error, Table};
use http::HeaderMap;
use serde_json::{Map, Value, json};

/// A request from API Gateway to the authorizer.
pub type AuthorizerEvent = ApiGatewayV2CustomAuthorizerV2Request;

/// The response of the authorizer.
pub type AuthorizerReply = ApiGatewayV2CustomAuthorizerSimpleResponse<Map<String, Value>>;

/// A valid caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    Key(ApiKey),
    /// A person with a valid token.
    Person {
        /// Claim `sub` of the token.
        subject: String,
        /// End of the token's validity.
        expires: Timestamp,
        memberships: Vec<Member>,
    },
}

/// Returns the valid API key in the headers, if there is one.
pub async fn valid_key(table: &Table, headers: &HeaderMap) -> Result<Option<ApiKey>, Error> {
    let Some(key) = api_key(headers) else { return Ok(None) };
    let stored = table.api_key(&key_hash(key)).await?;
    Ok(stored.filter(|key| key.is_valid(dovetail_aws::now())))
}

/// Returns the API key in `Authorization: Api-Key <key>`.
fn api_key(headers: &HeaderMap) -> Option<&str> {
    credentials(headers, "Api-Key")
}

/// Returns the token in `Authorization: Bearer <token>` (RFC 6750).
pub fn token(headers: &HeaderMap) -> Option<&str> {
    credentials(headers, "Bearer")
}

fn credentials<'a>(headers: &'a HeaderMap, expected: &str) -> Option<&'a str> {
    let (scheme, sent) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
    let sent = sent.trim();
    // Schemes ignore case (RFC 9110).
    (scheme.eq_ignore_ascii_case(expected) && !sent.is_empty()).then_some(sent)
}

/// Returns the response for a caller, if there is one. All values are texts, because gateways convert other types
/// differently.
pub fn authorizer_response(identity: Option<&Identity>) -> AuthorizerReply {
    let mut context = Map::new();
    let mut insert = |name: &str, text: String| context.insert(name.to_owned(), Value::String(text));
    match identity {
        None => {}
        Some(Identity::Key(key)) => {
            insert("team", key.team.id.to_string());
            insert("teamName", key.team.name.clone());
            insert("role", key.role.name().to_owned());
            insert("key", key.name.clone());
            key.expires.map(|expires| insert("expires", expires.micros().to_string()));
        }
        Some(Identity::Person { subject, expires, memberships }) => {
            let of = |member: &Member| {
                let Member { team, role, name, .. } = member;
                json!({"team": team.id.to_string(), "teamName": team.name, "role": role.name(), "person": name})
            };
            insert("subject", subject.clone());
            insert("expires", expires.micros().to_string());
            insert("memberships", Value::from_iter(memberships.iter().map(of)).to_string());
        }
    }
    let mut reply = AuthorizerReply::default();
    // Every request is authorized, because API Gateway would turn a denial into 403 (ADR 4).
    reply.is_authorized = true;
    reply.context = context;
    reply
}
