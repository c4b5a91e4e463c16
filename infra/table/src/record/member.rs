//! Members of teams.

use super::codec::Record;
use super::conversion::mirrors;
use super::parts::TeamPart;
use crate::key::{self, Key};
use domain::account::member::Member;
use serde::{Deserialize, Serialize};

/// A person as a member of a team, in the table of keys. Two rows with the same content exist: the authorizer reads
/// the one under the person, the lists of the team read the one under the number.
#[derive(Serialize, Deserialize)]
pub(crate) struct MemberRecord {
    /// Id of the member.
    id: u64,
    /// Subject of the person: the claim `sub` of the tokens.
    #[serde(rename = "su")]
    subject: String,
    /// Name, as histories show it.
    #[serde(rename = "nm")]
    name: String,
    /// Team of the member.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Role in the team.
    role: String,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
    /// Creator, as histories show it.
    #[serde(rename = "cb")]
    created_by: String,
    /// Revision: counts the writes, and is the fence of every change.
    #[serde(rename = "rv")]
    revision: u64,
}

mirrors! { MemberRecord = Member { id, subject, name, team, role, created, created_by, revision } }

impl Record for MemberRecord {
    const TYPE: &'static str = "MEMBER";
    type Value = Member;

    fn key(member: &Member) -> Key {
        key::membership(&member.subject, member.team.id)
    }
}
