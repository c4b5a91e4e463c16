//! Members of teams.

use super::codec::Record;
use super::invalid::Bad;
use super::parts::{TeamPart, at};
use crate::key::{self, Key};
use domain::account::member::Member;
use domain::base::actor::Role;
use domain::base::id::MemberId;
use serde::{Deserialize, Serialize};

/// A person as a member of a team, in the table of keys. Two rows with the same content exist: the authorizer reads
/// the one under the person, the lists of the team read the one under the number.
#[derive(Serialize, Deserialize)]
pub(crate) struct MemberRecord {
    /// Id of the member.
    id: u64,
    /// Subject of the person: the claim `sub` of the tokens.
    su: String,
    /// Name, as histories show it.
    nm: String,
    /// Team of the member.
    tm: TeamPart,
    /// Role in the team.
    role: String,
    /// Time of creation.
    cr: u64,
    /// Creator, as histories show it.
    cb: String,
    /// Revision: counts the writes. Fence of every change.
    rv: u64,
}

impl Record for MemberRecord {
    const TYPE: &'static str = "MEMBER";
    type Value = Member;

    fn of(member: &Member) -> Self {
        Self {
            id: member.id.get(),
            su: member.subject.clone(),
            nm: member.name.clone(),
            tm: TeamPart::of(&member.team),
            role: member.role.name().to_owned(),
            cr: member.created.micros(),
            cb: member.created_by.clone(),
            rv: member.revision,
        }
    }

    fn value(self) -> Result<Member, Bad> {
        Ok(Member {
            id: MemberId::parse(self.id).ok_or(Bad("id"))?,
            subject: self.su,
            name: self.nm,
            team: self.tm.value()?,
            role: Role::parse(&self.role).ok_or(Bad("role"))?,
            created: at(self.cr),
            created_by: self.cb,
            revision: self.rv,
        })
    }

    fn key(member: &Member) -> Key {
        key::membership(&member.subject, member.team.id)
    }
}
