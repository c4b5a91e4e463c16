//! Members: the people of a team and their roles. The token's issuer identifies a person; the permissions are only
//! here (ADR 17).

use crate::base::actor::Role;
use crate::base::context::RequestContext;
use crate::base::id::MemberId;
use crate::base::refs::TeamRef;
use crate::base::timestamp::Timestamp;

/// Maximum number of members of a team.
pub const MEMBERS_MAX: u64 = 500;
/// Maximum number of teams of a person.
pub const TEAMS_MAX: u64 = 20;
/// Maximum length of an issuer's subject, in bytes (`OpenID` Connect Core 1.0, section 2).
pub const SUBJECT_BYTES_MAX: usize = 255;

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub id: MemberId,
    /// The claim `sub` of the person's tokens; an issuer never gives it to another person.
    pub subject: String,
    /// The name in histories.
    pub name: String,
    pub team: TeamRef,
    pub role: Role,
    pub created: Timestamp,
    /// The name of the actor who added the member, as in a history.
    pub created_by: String,
    /// The number of writes; the fence of a change.
    pub revision: u64,
}

impl Member {
    /// Creates a member with an id from its team and subject.
    pub fn new(subject: String, name: String, role: Role, team: TeamRef, ctx: &RequestContext) -> Self {
        let id = MemberId::of(team.id, &subject);
        let (created, created_by) = (ctx.now, ctx.by.changed_by());
        Self { id, subject, name, team, role, created, created_by, revision: 1 }
    }

    /// Returns the member with another name or role; none if they are the same.
    pub fn changed(&self, name: Option<String>, role: Option<Role>) -> Option<Self> {
        let name = name.unwrap_or_else(|| self.name.clone());
        let role = role.unwrap_or(self.role);
        let is_other = (&name, role) != (&self.name, self.role);
        is_other.then(|| Self { name, role, revision: self.revision.saturating_add(1), ..self.clone() })
    }
}

/// Returns the problem of a subject; none if it is valid.
pub fn subject_problem(subject: &str) -> Option<String> {
    let is_plain = subject.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    match subject.len() {
        0 => Some("must not be empty".to_owned()),
        length if length > SUBJECT_BYTES_MAX => {
            Some(format!("must be at most {SUBJECT_BYTES_MAX} characters"))
        }
        _ if !is_plain => Some("must contain only printable ASCII characters".to_owned()),
        _ => None,
    }
}
