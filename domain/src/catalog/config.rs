//! Configs of a service: data of its owner for its own automation, in immutable versions.

use crate::base::context::RequestContext;
use crate::base::id::ConfigId;
use crate::base::refs::{ServiceRef, TeamRef};
use crate::base::timestamp::Timestamp;
use crate::catalog::service::Service;

/// Maximum number of stored versions of a service's config; each new one then removes the oldest.
pub const CONFIGS_MAX: u64 = 100;

/// Maximum size of a config in canonical JSON, in bytes.
pub const CONFIG_BYTES_MAX: usize = 128 * 1024;

/// A version of a service's config.
///
/// The content may hold the owner's credentials, so it never reaches a log.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Config {{ id: {id:?}, .. }}")]
pub struct Config {
    /// The id: service and version.
    pub id: ConfigId,
    pub service: ServiceRef,
    /// The service owner; no other team reads it.
    pub owner: TeamRef,
    /// The content as canonical JSON.
    pub text: String,
    /// The id of the request; a retry finds its own write by it.
    pub request: String,
    pub created: Timestamp,
}

/// A new version, and the one to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    pub config: Config,
    /// The oldest version, if the maximum number is stored.
    pub leaves: Option<ConfigId>,
}

/// Returns the version after the newest one; none if the service has no numbers left.
pub fn next(service: &Service, newest: Option<u64>, text: String, ctx: &RequestContext) -> Option<Next> {
    let version = newest.unwrap_or_default() + 1;
    let config = Config {
        id: ConfigId::new(service.id, version)?,
        service: service.to_ref(),
        owner: service.owner.clone(),
        text,
        request: ctx.request.clone(),
        created: ctx.now,
    };
    // The newest version always stays, so the next number follows from it, without a counter (ADR 19).
    let leaves = version.checked_sub(CONFIGS_MAX).and_then(|oldest| ConfigId::new(service.id, oldest));
    Some(Next { config, leaves })
}
