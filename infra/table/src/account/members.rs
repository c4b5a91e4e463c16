//! Members of teams, in the table of API keys: by person for the authorizer, by number for their team.

use super::two_rows;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{Attributes, MemberRecord};
use crate::write::{Stored, statement};
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::TeamId;
use domain::account::audit_log::AuditEntry;
use domain::account::member::{MEMBERS_MAX, Member, TEAMS_MAX};
use domain::base::id::MemberId;

impl Table {
    /// Returns the memberships of a person, in the order of the team ids.
    pub async fn memberships(&self, subject: &str) -> Result<Vec<Member>, Error> {
        let partition = key::person_partition(subject);
        let mut of: Vec<Member> = self.keys_rows::<MemberRecord>(&partition, key::MEMBERSHIPS).await?;
        of.sort_by_key(|member| member.team.id);
        Ok(of)
    }

    /// Returns all members of a team, in the order of their creation.
    pub async fn members(&self, team: TeamId) -> Result<Vec<Member>, Error> {
        let mut of = self.keys_rows::<MemberRecord>(&key::account_partition(team), key::MEMBERS).await?;
        of.sort_by_key(|member| (member.created, member.id));
        Ok(of)
    }

    /// Returns the member with this id.
    pub async fn member(&self, id: MemberId) -> Result<Option<Member>, Error> {
        self.keys_get::<MemberRecord>(key::member_of(id)).await
    }

    /// Adds a member, unless the person is one already, or the team or the person has reached the limit.
    pub async fn add_member(&self, added: &Member, audit_entry: &AuditEntry) -> Result<Stored, Error> {
        let actions = || {
            // The counts are records of their own, so two additions at once cannot exceed a limit together.
            let of_team = statement::one_more(&self.keys, key::member_count(added.team.id), MEMBERS_MAX)?;
            let of_person =
                statement::one_more(&self.keys, key::membership_count(&added.subject), TEAMS_MAX)?;
            let mut actions = vec![of_team, of_person];
            for row in rows(added)? {
                actions.push(statement::put_new(&self.keys, row)?);
            }
            Ok(actions)
        };
        self.changed(added, audit_entry, actions).await
    }

    /// Updates a member, unless it has changed since the read.
    pub async fn change_member(
        &self,
        before: &Member,
        after: &Member,
        audit_entry: &AuditEntry,
    ) -> Result<Stored, Error> {
        let replace = |row| statement::replace_member(&self.keys, before.revision, row);
        self.changed(after, audit_entry, || rows(after)?.into_iter().map(replace).collect()).await
    }

    /// Removes a member and writes the audit log entry in the same transaction.
    pub async fn remove_member(&self, removed: &Member, audit_entry: &AuditEntry) -> Result<Stored, Error> {
        let (subject, team) = (&removed.subject, removed.team.id);
        let actions = || {
            Ok(vec![
                statement::remove(&self.keys, key::membership(subject, team))?,
                statement::remove(&self.keys, key::member_of(removed.id))?,
                statement::one_less(&self.keys, key::member_count(team))?,
                statement::one_less(&self.keys, key::membership_count(subject))?,
            ])
        };
        // An absent record is the requested result, even if another request removed it.
        let is_gone = async { Ok(self.member(removed.id).await?.is_none()) };
        self.store(audit_entry, actions, is_gone).await?.certain()
    }

    async fn changed(
        &self,
        after: &Member,
        audit_entry: &AuditEntry,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Stored, Error> {
        let is_stored = async { Ok(self.member(after.id).await?.as_ref() == Some(after)) };
        self.store(audit_entry, actions, is_stored).await?.certain()
    }
}

/// Returns the two rows of a member: by person for the authorizer, by number for the team.
fn rows(member: &Member) -> Result<[Attributes; 2], Error> {
    two_rows::<MemberRecord>(member, key::member_of(member.id))
}
