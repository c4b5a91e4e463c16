//! The authorizer: an API key in, the team and role that it stands for out.
//!
//! Keys are stored as hashes: who reads the table learns no key. A key is long and random, so its hash can be
//! looked up as it is.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::actor::Caller;
use dovetail_http::{AuthorizerEvent, AuthorizerReply, api_key, verdict};
use dovetail_table::{Error, Table};
use sha2::{Digest, Sha256};

/// Answers one request of API Gateway for its caller.
pub async fn handle(table: &Table, event: AuthorizerEvent) -> Result<AuthorizerReply, Error> {
    let Some(key) = api_key(&event.headers) else { return Ok(verdict(None)) };
    let found = table.api_key(&hash(key)).await?;
    let caller = found.map(|key| Caller { team: key.team, role: key.role, key: key.name });
    Ok(verdict(caller.as_ref()))
}

/// The form in which a key is stored.
pub fn hash(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(key))
}
