//! The authorizer's side: the API key of a request, and what functions are told about it.
//!
//! An HTTP API answers 403 to what its authorizer refuses, but clients know a bad key by 401 (docs/wire.md rule 1).
//! So the authorizer lets every request through and tells who calls only if it knows; a function without a
//! caller answers 401. What is missing is refused, whatever the reason.

use aws_lambda_events::apigw::{
    ApiGatewayRequestAuthorizer, ApiGatewayV2CustomAuthorizerSimpleResponse,
    ApiGatewayV2CustomAuthorizerV2Request,
};
use domain::actor::{Caller, Role, TeamRef};
use domain::id::TeamId;
use http::HeaderMap;
use serde_json::{Map, Value, json};

/// A request as API Gateway sends it to the authorizer.
pub type AuthorizerEvent = ApiGatewayV2CustomAuthorizerV2Request;

/// What the authorizer answers.
pub type AuthorizerReply = ApiGatewayV2CustomAuthorizerSimpleResponse<Map<String, Value>>;

/// The API key of a request: `Authorization: Api-Key <key>`.
pub fn api_key(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get("authorization")?.to_str().ok()?.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("Api-Key") && !key.is_empty()).then_some(key)
}

/// The answer about a caller, if the key is known.
pub fn verdict(caller: Option<&Caller>) -> AuthorizerReply {
    let mut context = Map::new();
    if let Some(caller) = caller {
        context.insert("team".to_owned(), json!(caller.team.id.to_string()));
        context.insert("teamName".to_owned(), json!(caller.team.name));
        context.insert("role".to_owned(), json!(caller.role.name()));
        context.insert("key".to_owned(), json!(caller.key));
    }
    let mut reply = AuthorizerReply::default();
    reply.is_authorized = true;
    reply.context = context;
    reply
}

/// The caller that an authorizer has told.
pub(crate) fn caller(authorizer: &ApiGatewayRequestAuthorizer) -> Option<Caller> {
    let text = |name: &str| authorizer.fields.get(name)?.as_str();
    let id = TeamId::new(text("team")?.parse().ok()?)?;
    Some(Caller {
        team: TeamRef { id, name: text("teamName")?.to_owned() },
        role: Role::parse(text("role")?)?,
        key: text("key")?.to_owned(),
    })
}
