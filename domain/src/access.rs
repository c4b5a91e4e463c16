//! API keys: who acts for a team, in which role, for how long.

use crate::actor::{Role, TeamRef};
use crate::id::KeyId;
use crate::land::Stamp;
use crate::timestamp::Timestamp;

/// How many keys a team has at most.
pub const KEYS_MAX: u64 = 100;
/// How long a key that is rotated goes on beside its successor, in microseconds, when nothing is said: a day.
pub const OVERLAP_MICROS: u64 = 86_400_000_000;
/// How long it does at most: thirty days.
pub const OVERLAP_MICROS_MAX: u64 = 30 * OVERLAP_MICROS;

/// An API key, but for the secret itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: KeyId,
    /// The form in which the secret is stored.
    pub hash: String,
    /// Its name, which histories show.
    pub name: String,
    /// The team that it acts for.
    pub team: TeamRef,
    /// What it may do.
    pub role: Role,
    /// When it was made.
    pub created: Timestamp,
    /// Who made it.
    pub created_by: String,
    /// From when on it is good for nothing.
    pub expires: Option<Timestamp>,
    /// The key that takes its place, if one does.
    pub successor: Option<KeyId>,
}

impl std::fmt::Debug for ApiKey {
    // A hash is no secret, and nobody's business.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiKey").field("id", &self.id).field("team", &self.team).finish_non_exhaustive()
    }
}

impl ApiKey {
    /// A key as it is made.
    pub fn new(made: Made, team: TeamRef, stamp: &Stamp) -> Self {
        let Made { hash, name, role, expires } = made;
        let (created, created_by) = (stamp.now, stamp.by.changed_by());
        let id = KeyId::of(team.id, &hash);
        Self { id, hash, name, team, role, created, created_by, expires, successor: None }
    }

    /// Whether it is good for anything.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// The key as it is once another one takes its place, after a while in which both are good, and that other one.
    pub fn rotated(
        &self,
        hash: String,
        expires: Option<Timestamp>,
        overlap: u64,
        stamp: &Stamp,
    ) -> (Self, Self) {
        let made = Made { hash, name: self.name.clone(), role: self.role, expires };
        let successor = Self::new(made, self.team.clone(), stamp);
        let end = Timestamp::from_micros(stamp.now.micros().saturating_add(overlap));
        let expires = self.expires.map_or(end, |expires| expires.min(end));
        (Self { expires: Some(expires), successor: Some(successor.id), ..self.clone() }, successor)
    }
}

/// What a key is made of.
#[derive(Clone, PartialEq, Eq)]
pub struct Made {
    /// The form in which the secret is stored.
    pub hash: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// From when on it is good for nothing.
    pub expires: Option<Timestamp>,
}
