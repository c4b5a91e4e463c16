//! The authorizer: an API key in, the team and role that it stands for out.

use dovetail_http::{AuthorizerEvent, AuthorizerReply, valid_key, verdict};
use dovetail_table::{Error, Table};

/// Answers one request of API Gateway for its caller.
pub async fn handle(table: &Table, event: AuthorizerEvent) -> Result<AuthorizerReply, Error> {
    Ok(verdict(Box::pin(valid_key(table, &event.headers)).await?.as_ref()))
}
