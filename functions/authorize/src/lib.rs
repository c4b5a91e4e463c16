//! The authorizer: from an API key or a person's token to the caller.

use dovetail_http::{AuthorizerEvent, AuthorizerReply, Identity, authorizer_response, token, valid_key};
use dovetail_issuer::{Issuer, Person};
use dovetail_table::{Error, Table};

/// Answers one request of API Gateway. The function accepts tokens only if an issuer is configured.
pub async fn handle(
    table: &Table,
    issuer: Option<&Issuer>,
    event: AuthorizerEvent,
) -> Result<AuthorizerReply, Error> {
    Ok(authorizer_response(Box::pin(authenticate(table, issuer, &event)).await?.as_ref()))
}

async fn authenticate(
    table: &Table,
    issuer: Option<&Issuer>,
    event: &AuthorizerEvent,
) -> Result<Option<Identity>, Error> {
    // A key needs no issuer, so keys work while the issuer is down (ADR 17).
    if let Some(key) = valid_key(table, &event.headers).await? {
        return Ok(Some(Identity::Key(key)));
    }
    let (Some(issuer), Some(token)) = (issuer, token(&event.headers)) else { return Ok(None) };
    // An unreachable issuer says nothing about the token. API Gateway would cache a missing caller.
    let person = issuer.person(token).await.map_err(|error| Error::Unavailable(error.to_string()))?;
    let Some(Person { subject, expires }) = person else { return Ok(None) };
    let memberships = table.memberships(&subject).await?;
    Ok(Some(Identity::Person { subject, expires, memberships }))
}
