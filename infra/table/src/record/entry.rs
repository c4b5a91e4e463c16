//! Histories of change instances. An entry omits values that the record contains: the previous state, the current
//! type and the names of the record's teams. Of the links only the last is stored.

use super::bytes::HashPart;
use super::conversion::{Bad, Part};
use super::parts::{actor, names_of};
use domain::base::state::ChangeType;
use domain::model::change::{Chain, ClosedBy, Entry, Reason};
use domain::{Change, State, TeamId, TeamRef};
use serde::{Deserialize, Serialize};

/// One history entry of a change instance.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryRecord {
    /// State after the entry.
    #[serde(rename = "t")]
    to: String,
    /// Time of the entry.
    #[serde(rename = "a")]
    at: u64,
    /// Name of the API key that acted. Absent for a person and for the system.
    #[serde(rename = "by", skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Name of the person that acted.
    #[serde(rename = "ps", skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    /// Id of the key's or person's team.
    #[serde(rename = "tm", skip_serializing_if = "Option::is_none")]
    team: Option<u64>,
    /// Name of the key's or person's team. Absent for the owner, the service owner and the consumer.
    #[serde(rename = "tn", skip_serializing_if = "Option::is_none")]
    team_name: Option<String>,
    /// Id of the request.
    #[serde(rename = "op")]
    request: String,
    /// Reason, if a rule closed the change instance.
    #[serde(rename = "cb", skip_serializing_if = "Option::is_none")]
    closed_by: Option<ClosedPart>,
    /// New log text. Absent if it did not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    /// Hash of the owner's new plan. Absent if the plan did not change, and known since format 6.
    #[serde(rename = "pl", skip_serializing_if = "Option::is_none")]
    planned: Option<HashPart>,
    /// Change type at the entry. Absent if it is the current one.
    #[serde(rename = "ct", skip_serializing_if = "Option::is_none")]
    change_type: Option<String>,
}

/// The rule that closed a change instance.
#[derive(Serialize, Deserialize)]
struct ClosedPart {
    /// Rule: `DISPLACED`, `ANSWERED`, `OVERTAKEN`, `BLOCKED` or `RETRIED`.
    #[serde(rename = "why")]
    rule: String,
    /// Id of the change instance that caused it. Absent for `OVERTAKEN` and `BLOCKED`.
    #[serde(rename = "ci", skip_serializing_if = "Option::is_none")]
    change: Option<u64>,
}

impl Part<ClosedBy> for ClosedPart {
    fn of(closed: &ClosedBy) -> Self {
        let (rule, change) = match *closed {
            ClosedBy::Displaced(by) => ("DISPLACED", Some(by)),
            ClosedBy::Answered(by) => ("ANSWERED", Some(by)),
            ClosedBy::Overtaken => ("OVERTAKEN", None),
            ClosedBy::Blocked => ("BLOCKED", None),
            ClosedBy::Retried(by) => ("RETRIED", Some(by)),
        };
        Self { rule: rule.to_owned(), change: Part::of(&change) }
    }

    fn value(self) -> Result<ClosedBy, Bad> {
        match (self.rule.as_str(), self.change.value()?) {
            ("DISPLACED", Some(by)) => Ok(ClosedBy::Displaced(by)),
            ("ANSWERED", Some(by)) => Ok(ClosedBy::Answered(by)),
            ("OVERTAKEN", None) => Ok(ClosedBy::Overtaken),
            ("BLOCKED", None) => Ok(ClosedBy::Blocked),
            ("RETRIED", Some(by)) => Ok(ClosedBy::Retried(by)),
            _ => Err(Bad("closed by")),
        }
    }
}

/// The owner, the service owner and the consumer of a change instance.
pub(crate) struct Teams<'a>(pub(crate) [&'a TeamRef; 3]);

impl Teams<'_> {
    fn name(&self, id: TeamId) -> Option<&str> {
        self.0.iter().find(|team| team.id == id).map(|team| team.name.as_str())
    }
}

/// Returns the stored form of a history.
pub(crate) fn records(change: &Change) -> Vec<EntryRecord> {
    let teams = Teams([&change.owner, &change.service_owner, &change.consumer]);
    change.history.iter().map(|entry| EntryRecord::of(entry, Some(&teams), change.change_type)).collect()
}

/// Returns the history of stored entries. Its last link is the stored one, so the audit can compare it with the
/// computed links.
pub(crate) fn history(
    records: Vec<EntryRecord>,
    teams: &Teams<'_>,
    change_type: ChangeType,
    end: Chain,
) -> Result<Vec<Entry>, Bad> {
    let mut history: Vec<Entry> = Vec::new();
    for record in records {
        let before = history.last();
        let (from, link) = (before.map(|entry| entry.to), before.map_or(Chain::START, |entry| entry.chain));
        history.push(record.value(from, teams, change_type)?.chained(link));
    }
    if let Some(last) = history.last_mut() {
        last.chain = end;
    }
    Ok(history)
}

impl EntryRecord {
    /// Returns the stored form of an entry in a record with these teams and this type.
    pub(crate) fn of(entry: &Entry, teams: Option<&Teams<'_>>, of_record: ChangeType) -> Self {
        let [key, person] = names_of(&entry.by);
        let team = entry.by.team();
        let is_cached = |team: &TeamRef| teams.and_then(|teams| teams.name(team.id)) == Some(&team.name);
        Self {
            to: Part::of(&entry.to),
            at: Part::of(&entry.at),
            key,
            person,
            team: team.map(|team| Part::of(&team.id)),
            team_name: team.filter(|team| !is_cached(team)).map(|team| team.name.clone()),
            request: entry.request.clone(),
            closed_by: Part::of(&entry.closed_by),
            log: entry.log.clone(),
            planned: Part::of(&entry.planned),
            change_type: (entry.change_type != of_record).then(|| Part::of(&entry.change_type)),
        }
    }

    fn value(self, from: Option<State>, teams: &Teams<'_>, of_record: ChangeType) -> Result<Entry, Bad> {
        let to = self.to.value()?;
        Ok(Entry {
            from,
            to,
            at: self.at.value()?,
            by: actor(self.key, self.person, team(self.team.value()?, self.team_name, teams)?)?,
            request: self.request,
            closed_by: self.closed_by.value()?,
            log: self.log,
            planned: self.planned.value()?,
            reason: if from == Some(to) { Reason::Log } else { Reason::State },
            change_type: self.change_type.map_or(Ok(of_record), Part::value)?,
            chain: Chain::START,
        })
    }
}

fn team(team: Option<TeamId>, name: Option<String>, teams: &Teams<'_>) -> Result<Option<TeamRef>, Bad> {
    let Some(id) = team else { return Ok(None) };
    let name = name.or_else(|| teams.name(id).map(str::to_owned)).ok_or(Bad("actor"))?;
    Ok(Some(TeamRef { id, name }))
}
