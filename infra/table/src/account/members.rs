//! Members of teams, in the table of API keys: by person for the authorizer, by number for their team.

use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, Attributes, MemberRecord};
use crate::write::{Commit, Keyed, outcome, statement};
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
        self.keys_row(key::member_of(id)).await?.map(record::read::<MemberRecord>).transpose()
    }

    /// Adds a member, unless the person is one already, or the team or the person has reached the limit.
    pub async fn add_member(&self, added: &Member, audit_entry: &AuditEntry) -> Result<Keyed, Error> {
        let actions = || {
            // The counts are records of their own, so two additions at once cannot exceed a limit together.
            let of_team = statement::one_more(&self.keys, key::member_count(added.team.id), MEMBERS_MAX)?;
            let of_person =
                statement::one_more(&self.keys, key::membership_count(&added.subject), TEAMS_MAX)?;
            let mut actions = vec![of_team, of_person, self.audit_entry_action(audit_entry)?];
            for row in rows(added)? {
                actions.push(statement::put_new(&self.keys, row)?);
            }
            Ok(actions)
        };
        self.changed(added, actions).await
    }

    /// Updates a member, unless it has changed since the read.
    pub async fn change_member(
        &self,
        before: &Member,
        after: &Member,
        audit_entry: &AuditEntry,
    ) -> Result<Keyed, Error> {
        let actions = || {
            let mut actions = vec![self.audit_entry_action(audit_entry)?];
            for row in rows(after)? {
                actions.push(statement::replace_member(&self.keys, before.revision, row)?);
            }
            Ok(actions)
        };
        self.changed(after, actions).await
    }

    /// Removes a member and writes the audit log entry in the same transaction.
    pub async fn remove_member(&self, removed: &Member, audit_entry: &AuditEntry) -> Result<Keyed, Error> {
        let (subject, team) = (&removed.subject, removed.team.id);
        let actions = || {
            Ok(vec![
                statement::remove(&self.keys, key::membership(subject, team))?,
                statement::remove(&self.keys, key::member_of(removed.id))?,
                statement::one_less(&self.keys, key::member_count(team))?,
                statement::one_less(&self.keys, key::membership_count(subject))?,
                self.audit_entry_action(audit_entry)?,
            ])
        };
        let commit = self.transact(actions).await?;
        // An absent record is the requested result, even if another request removed it.
        let is_gone = commit == Commit::Done || self.member(removed.id).await?.is_none();
        outcome(commit, is_gone)
    }

    /// Runs a change of a member. The answer may be lost, so the stored member decides on the outcome.
    async fn changed(
        &self,
        after: &Member,
        actions: impl Fn() -> Result<Vec<TransactWriteItem>, Error>,
    ) -> Result<Keyed, Error> {
        let commit = self.transact(actions).await?;
        let is_stored = commit == Commit::Done || self.member(after.id).await?.as_ref() == Some(after);
        outcome(commit, is_stored)
    }
}

/// Returns the two rows of a member: by person for the authorizer, by number for the team.
fn rows(member: &Member) -> Result<[Attributes; 2], Error> {
    let by_person = record::write::<MemberRecord>(member)?;
    let mut by_number = by_person.clone();
    by_number.extend(Attributes::from(key::member_of(member.id)));
    Ok([by_person, by_number])
}
