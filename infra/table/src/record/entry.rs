//! Histories of change instances. An entry omits values that the record contains: the previous state, the current
//! type and the names of the record's teams. Of the links only the last is stored.

use super::invalid::Bad;
use super::parts::{self, at, change_type, state, team_id};
use domain::base::actor::Actor;
use domain::base::state::ChangeType;
use domain::model::change::{Chain, ClosedBy, Entry, Reason};
use domain::{Change, ChangeId, State, TeamId, TeamRef};
use serde::{Deserialize, Serialize};

/// One history entry of a change instance.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryRecord {
    /// State after the entry.
    t: String,
    /// Time of the entry.
    a: u64,
    /// Name of the API key that acted. Absent for a person and for the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    /// Name of the person that acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    ps: Option<String>,
    /// Id of the key's or person's team.
    #[serde(skip_serializing_if = "Option::is_none")]
    tm: Option<u64>,
    /// Name of that team. Absent for the owner, the service owner and the consumer.
    #[serde(skip_serializing_if = "Option::is_none")]
    tn: Option<String>,
    /// Id of the request.
    op: String,
    /// Reason, if a rule closed the change instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    cb: Option<ClosedPart>,
    /// New log text. Absent if it did not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    /// Change type at the entry. Absent if it is the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    ct: Option<String>,
}

/// The rule that closed a change instance.
#[derive(Serialize, Deserialize)]
struct ClosedPart {
    /// Rule: `DISPLACED`, `ANSWERED`, `OVERTAKEN`, `BLOCKED` or `RETRIED`.
    why: String,
    /// Id of the change instance that caused it. Absent for `OVERTAKEN` and `BLOCKED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ci: Option<u64>,
}

impl ClosedPart {
    fn of(closed: ClosedBy) -> Self {
        let (why, ci) = match closed {
            ClosedBy::Displaced(by) => ("DISPLACED", Some(by)),
            ClosedBy::Answered(by) => ("ANSWERED", Some(by)),
            ClosedBy::Overtaken => ("OVERTAKEN", None),
            ClosedBy::Blocked => ("BLOCKED", None),
            ClosedBy::Retried(by) => ("RETRIED", Some(by)),
        };
        Self { why: why.to_owned(), ci: ci.map(ChangeId::get) }
    }

    fn value(self) -> Result<ClosedBy, Bad> {
        let by = self.ci.and_then(ChangeId::parse);
        match (self.why.as_str(), by) {
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
        let (key, person) = match &entry.by {
            Actor::Key { name, .. } => (Some(name.clone()), None),
            Actor::Person { name, .. } => (None, Some(name.clone())),
            Actor::System => (None, None),
        };
        let team = entry.by.team();
        let is_cached = |team: &TeamRef| teams.and_then(|teams| teams.name(team.id)) == Some(&team.name);
        Self {
            t: entry.to.name().to_owned(),
            a: entry.at.micros(),
            by: key,
            ps: person,
            tm: team.map(|team| team.id.get()),
            tn: team.filter(|team| !is_cached(team)).map(|team| team.name.clone()),
            op: entry.request.clone(),
            cb: entry.closed_by.map(ClosedPart::of),
            log: entry.log.clone(),
            ct: (entry.change_type != of_record).then(|| entry.change_type.name().to_owned()),
        }
    }

    fn value(self, from: Option<State>, teams: &Teams<'_>, of_record: ChangeType) -> Result<Entry, Bad> {
        let to = state(&self.t)?;
        Ok(Entry {
            from,
            to,
            at: at(self.a),
            by: parts::actor(self.by, self.ps, team(self.tm, self.tn, teams)?)?,
            request: self.op,
            closed_by: self.cb.map(ClosedPart::value).transpose()?,
            log: self.log,
            reason: if from == Some(to) { Reason::Log } else { Reason::State },
            change_type: self.ct.as_deref().map_or(Ok(of_record), change_type)?,
            chain: Chain::START,
        })
    }
}

fn team(team: Option<u64>, name: Option<String>, teams: &Teams<'_>) -> Result<Option<TeamRef>, Bad> {
    let Some(id) = team.map(team_id).transpose()? else { return Ok(None) };
    let name = name.or_else(|| teams.name(id).map(str::to_owned)).ok_or(Bad("actor"))?;
    Ok(Some(TeamRef { id, name }))
}
