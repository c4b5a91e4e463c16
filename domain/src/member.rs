//! Members: the people of a team, in which role. Who somebody is the issuer of their tokens says; what they may do is
//! said here alone.

use crate::actor::{Role, TeamRef};
use crate::id::MemberId;
use crate::land::Stamp;
use crate::timestamp::Timestamp;

/// How many members a team has at most.
pub const MEMBERS_MAX: u64 = 500;
/// How many teams a person is a member of at most.
pub const TEAMS_MAX: u64 = 20;
/// How long the name can be that an issuer calls a person by, in bytes (`OpenID` Connect Core 1.0, section 2).
pub const SUBJECT_BYTES_MAX: usize = 255;

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id.
    pub id: MemberId,
    /// What the issuer of tokens calls the person, for ever and nobody else: the claim `sub`.
    pub subject: String,
    /// The name that histories show.
    pub name: String,
    /// The team.
    pub team: TeamRef,
    /// What the person may do in it.
    pub role: Role,
    /// When they became a member.
    pub created: Timestamp,
    /// Who made them one.
    pub created_by: String,
    /// How often the record was changed.
    pub revision: u64,
}

impl Member {
    /// A member as one is added.
    pub fn new(subject: String, name: String, role: Role, team: TeamRef, stamp: &Stamp) -> Self {
        let id = MemberId::of(team.id, &subject);
        let (created, created_by) = (stamp.now, stamp.by.changed_by());
        Self { id, subject, name, team, role, created, created_by, revision: 1 }
    }

    /// The member with another name or role; none if it is as it was.
    pub fn changed(&self, name: Option<String>, role: Option<Role>) -> Option<Self> {
        let name = name.unwrap_or_else(|| self.name.clone());
        let role = role.unwrap_or(self.role);
        let is_other = (&name, role) != (&self.name, self.role);
        is_other.then(|| Self { name, role, revision: self.revision.saturating_add(1), ..self.clone() })
    }
}

/// What is wrong with what an issuer is said to call somebody; none if nothing is.
pub fn subject_problem(subject: &str) -> Option<String> {
    let is_plain = subject.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    match subject.len() {
        0 => Some("is empty".to_owned()),
        length if length > SUBJECT_BYTES_MAX => Some(format!("has more than {SUBJECT_BYTES_MAX} characters")),
        _ if !is_plain => Some("has other characters than ASCII's".to_owned()),
        _ => None,
    }
}
