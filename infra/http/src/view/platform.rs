//! Objects for operators: teams, open queues and the state of the system, without content of a team.

use super::team_ref;
use domain::audit::result::AuditResult;
use domain::model::team::Team;
use domain::views::backlog::{Backlog, OpenQueue, Quarantined};
use domain::{State, TeamRef, Timestamp};
use serde_json::{Map, Value, json};

/// Returns a team without its metadata, which are declared content.
pub fn team_for_operators(team: &Team) -> Value {
    json!({"id": team.id.get(), "name": team.name, "confirm_removals": team.confirm_removals})
}

/// Returns an owner with its open change instances by state.
pub fn queues(owner: &TeamRef, queues: &[(State, OpenQueue)]) -> Value {
    let states = queues.iter().map(|(state, queue)| (state.name().to_owned(), open_queue(queue)));
    json!({"team": team_ref(owner), "states": Map::from_iter(states)})
}

fn open_queue(queue: &OpenQueue) -> Value {
    let oldest = queue
        .oldest
        .map(|(change, created)| json!({"change_instance": change.get(), "created": created.to_wire()}));
    json!({"open": queue.open, "is_capped": queue.is_capped, "oldest": oldest})
}

/// Returns the state of the system: pending work, stagings, work in quarantine with its first records, last audit.
pub fn status(
    pending: &Backlog,
    stagings: &Backlog,
    (quarantined, first): (&Backlog, &[(TeamRef, Quarantined)]),
    last_audit: Option<&AuditResult>,
) -> Value {
    let mut quarantined = backlog(quarantined);
    if let Some(quarantined) = quarantined.as_object_mut() {
        quarantined.insert("first".to_owned(), first.iter().map(quarantined_work).collect());
    }
    json!({
        "pending_work": backlog(pending),
        "stagings": backlog(stagings),
        "quarantined_work": quarantined,
        "last_audit": last_audit.map(audit_result),
    })
}

fn backlog(backlog: &Backlog) -> Value {
    json!({
        "records": backlog.records,
        "is_capped": backlog.is_capped,
        "oldest": backlog.oldest.map(Timestamp::to_wire),
    })
}

fn quarantined_work((team, work): &(TeamRef, Quarantined)) -> Value {
    json!({
        "team": team_ref(team),
        "submission": work.submission.get(),
        "created": work.created.map(Timestamp::to_wire),
    })
}

fn audit_result(result: &AuditResult) -> Value {
    json!({
        "started": result.started.to_wire(),
        "finished": result.finished.to_wire(),
        "result": result.outcome().name(),
        "rows": result.rows,
        "violations": result.violations,
        "unsettled": result.unsettled,
    })
}
