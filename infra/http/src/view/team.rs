//! Teams, applications and submissions on the wire.

use super::{Viewpoint, parsed, team_ref};
use crate::reply::fitting;
use domain::actor::TeamRef;
use domain::submission::{Progress, Submission};
use domain::team::{Application, Team};
use serde_json::{Value, json};

/// A team.
pub fn team(team: &Team) -> Value {
    json!({"id": team.id.get(), "name": team.name, "metadata": parsed(&team.metadata)})
}

/// An application of a team.
pub fn application(application: &Application, owner: &TeamRef, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": application.id.get(),
        "url": viewpoint.url("applications", application.id.get()),
        "name": application.name,
        "metadata": parsed(&application.metadata),
        "owner": team_ref(owner),
        "created": application.created.to_wire(),
        "modified": application.modified.to_wire(),
    })
}

/// A submission with its change instances: as many as fit a reply, and where all of them are listed.
pub fn submission_with_changes(
    submission: &Submission,
    progress: Progress,
    mut changes: Vec<Value>,
    viewpoint: &Viewpoint,
) -> Value {
    let fitting = fitting(&changes);
    let is_cut = fitting < changes.len();
    changes.truncate(fitting);
    let mut body = self::submission(submission, progress, viewpoint);
    if let Some(body) = body.as_object_mut() {
        body.insert("change_instances".to_owned(), Value::Array(changes));
        let next = is_cut.then(|| viewpoint.changes_of(submission.id));
        body.insert("change_instances_next".to_owned(), json!(next));
    }
    body
}

/// A submission, without its change instances; `progress` is how far it has come, or had come when it was accepted.
pub fn submission(submission: &Submission, progress: Progress, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": submission.id.get(),
        "url": viewpoint.url("submissions", submission.id.get()),
        "state": progress.name(),
        "created": submission.created.to_wire(),
        "commit_id": submission.commit_id,
        "partial": submission.scope == domain::submission::Scope::Partial,
        "changed": submission.changed,
        "planned": {"direct": submission.direct, "generated": submission.derived},
        "team": team_ref(&submission.team),
        "submitted_by": submission.by.changed_by(),
    })
}
