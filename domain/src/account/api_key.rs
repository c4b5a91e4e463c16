//! API keys: the credential of a client, with its team, role and expiry.

use crate::base::actor::Role;
use crate::base::context::RequestContext;
use crate::base::id::KeyId;
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;

/// Maximum number of API keys of a team.
pub const KEYS_MAX: u64 = 100;
/// Default time for which a rotated key stays valid next to its successor, in microseconds: one day.
pub const OVERLAP_MICROS: u64 = 86_400_000_000;
/// Maximum time for which a rotated key stays valid, in microseconds: thirty days.
pub const OVERLAP_MICROS_MAX: u64 = 30 * OVERLAP_MICROS;

/// Returns the default name of a key, made of its number among the keys of its team.
pub fn default_name(team: &str, number: u64) -> String {
    format!("{team}-{number}")
}

/// An API key without its secret.
///
/// The hash is not a secret, but log readers do not need it.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("ApiKey {{ id: {id:?}, team: {team:?}, .. }}")]
pub struct ApiKey {
    pub id: KeyId,
    /// The stored form of the secret: its SHA-256.
    pub hash: String,
    /// The name in histories; not secret.
    pub name: String,
    pub team: TeamRef,
    pub role: Role,
    /// Creation time.
    pub created: Timestamp,
    /// The name of the creator, as in a history.
    pub created_by: String,
    /// The first moment at which the key is invalid; none for a key without expiry.
    pub expires: Option<Timestamp>,
    /// The key that replaces this one after a rotation.
    pub successor: Option<KeyId>,
}

impl ApiKey {
    /// Creates a key with an id from its team and hash.
    pub fn new(made: Made, team: TeamRef, ctx: &RequestContext) -> Self {
        let Made { hash, name, role, expires } = made;
        let (created, created_by) = (ctx.now, ctx.by.changed_by());
        let id = KeyId::of(team.id, &hash);
        Self { id, hash, name, team, role, created, created_by, expires, successor: None }
    }

    /// Returns whether the key is valid.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// Returns the key with an expiry and its successor, after a rotation.
    ///
    /// The key and its successor are both valid for `overlap` microseconds, so clients can change over without an
    /// interruption.
    pub fn rotated(
        &self,
        hash: String,
        expires: Option<Timestamp>,
        overlap: u64,
        ctx: &RequestContext,
    ) -> (Self, Self) {
        let made = Made { hash, name: self.name.clone(), role: self.role, expires };
        let successor = Self::new(made, self.team.clone(), ctx);
        let end = Timestamp::from_micros(ctx.now.micros().saturating_add(overlap));
        // A rotation must not extend the life of a key, so the earlier end counts.
        let expires = self.expires.map_or(end, |expires| expires.min(end));
        (Self { expires: Some(expires), successor: Some(successor.id), ..self.clone() }, successor)
    }
}

/// The input for a new key.
#[derive(Clone, PartialEq, Eq)]
pub struct Made {
    /// The stored form of the secret: its SHA-256.
    pub hash: String,
    pub name: String,
    pub role: Role,
    /// The first moment at which the key is invalid; none for a key without expiry.
    pub expires: Option<Timestamp>,
}
