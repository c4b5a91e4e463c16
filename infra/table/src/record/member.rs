//! Members of teams.

use super::Record;
use super::parts::{Bad, TeamPart, at};
use crate::key::{self, Key};
use domain::actor::Role;
use domain::id::MemberId;
use domain::member::Member;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct MemberRecord {
    id: u64,
    /// The subject.
    su: String,
    nm: String,
    tm: TeamPart,
    role: String,
    cr: u64,
    cb: String,
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
