//! A service's configs: what its owner keeps for its own automation, in versions that never change.

use crate::actor::TeamRef;
use crate::id::ConfigId;
use crate::land::Stamp;
use crate::service::{Service, ServiceRef};
use crate::timestamp::Timestamp;
use std::fmt;

/// How many versions of a service's config are kept; the oldest leaves when another one comes.
pub const CONFIGS_KEPT: u64 = 100;

/// The largest config, canonical JSON, in bytes.
pub const CONFIG_BYTES_MAX: usize = 128 * 1024;

/// A version of a service's config.
#[derive(Clone, PartialEq, Eq)]
pub struct Config {
    /// Its id: the service, and the version.
    pub id: ConfigId,
    /// The service.
    pub service: ServiceRef,
    /// The service's owner, whose alone it is.
    pub owner: TeamRef,
    /// What is kept, canonical JSON.
    pub text: String,
    /// The request that brought it: the own mark.
    pub request: String,
    /// When it came.
    pub created: Timestamp,
}

impl fmt::Debug for Config {
    // Holds what the owner keeps, credentials perhaps: never in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A version that comes, and the one that leaves for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The version that comes.
    pub config: Config,
    /// The oldest one, if as many are kept as may be.
    pub leaves: Option<ConfigId>,
}

/// The version after the newest one; none when the numbers have run out.
pub fn next(service: &Service, newest: Option<u64>, text: String, stamp: &Stamp) -> Option<Next> {
    let version = newest.unwrap_or_default() + 1;
    let config = Config {
        id: ConfigId::new(service.id, version)?,
        service: service.to_ref(),
        owner: service.owner.clone(),
        text,
        request: stamp.request.clone(),
        created: stamp.now,
    };
    let leaves = version.checked_sub(CONFIGS_KEPT).and_then(|oldest| ConfigId::new(service.id, oldest));
    Some(Next { config, leaves })
}
