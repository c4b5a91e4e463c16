//! Teams, applications and submissions on the wire.

use super::{Stored, TeamView, Viewpoint, team_ref, team_view};
use domain::TeamRef;
use domain::base::actor::Role;
use domain::model::submission::Submission;
use domain::model::team::{Application, Team};
use domain::views::outcome::Counts;
use domain::views::related::Related;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns a team with its settings and the caller's role in it.
pub fn team(team: &Team, role: Role) -> TeamView<'_> {
    let view = team_view(team.id, Some(Stored(&team.metadata)), &team.name);
    TeamView { confirm_removals: Some(team.confirm_removals), role: Some(role.name()), ..view }
}

/// Returns an application of a team, with its state and the counts of its items by state.
pub fn application(
    application: &Application,
    owner: &TeamRef,
    related: &Related,
    viewpoint: &Viewpoint,
) -> Value {
    let mut body = light_application(application, owner, viewpoint);
    let tally = related.tallies.get(&application.id);
    let runtime = tally.map(|tally| tally.runtime_states().map(|(state, items)| (state.name(), items)));
    let change = tally.map(|tally| tally.change_states().map(|(state, items)| (state.name(), items)));
    if let Some(body) = body.as_object_mut() {
        body.insert("runtime_states".to_owned(), json!(runtime.map(BTreeMap::from_iter)));
        body.insert("change_states".to_owned(), json!(change.map(BTreeMap::from_iter)));
        body.insert("state".to_owned(), json!(tally.map(|tally| tally.state().name())));
    }
    body
}

/// Returns an application from its own record only.
pub fn light_application(application: &Application, owner: &TeamRef, viewpoint: &Viewpoint) -> Value {
    let mut body = json!({
        "id": application.id.get(),
        "url": viewpoint.url("applications", application.id.get()),
        "name": application.name,
        "metadata": Stored(&application.metadata).parsed(),
        "owner": team_ref(owner),
        "created": application.created.to_wire(),
        "modified": application.modified.to_wire(),
    });
    // The member is added only in this case, so that the objects of usual applications stay as they are for existing
    // clients.
    if let (true, Some(body)) = (application.retired.is_some(), body.as_object_mut()) {
        body.insert("retired".to_owned(), json!(true));
    }
    body
}

/// Maximum number of change instances in the reply to a submission; a list has the others.
pub const CHANGES_MAX: usize = 100;

/// An object with change instances.
#[derive(Serialize)]
pub struct WithChanges {
    pub change_instances: Vec<Box<RawValue>>,
    pub change_instances_next: Option<String>,
    /// The other members. By name, all of them come after the change instances.
    #[serde(flatten)]
    pub others: Value,
}

/// Returns a submission with its first change instances, as many as are given, and the URL of the list of all.
pub fn submission_with_changes(
    submission: &Submission,
    change_instances: Vec<Box<RawValue>>,
    viewpoint: &Viewpoint,
) -> WithChanges {
    let is_cut = count(change_instances.len()) < submission.direct;
    let change_instances_next = is_cut.then(|| viewpoint.changes_of(submission.id));
    WithChanges { change_instances, change_instances_next, others: self::submission(submission, viewpoint) }
}

/// Returns the counts of a submission's change instances. `are_all` is false if more of them exist.
pub fn counts(counts: Counts, are_all: bool) -> Value {
    let Counts { open, completed, closed, failed } = counts;
    json!({"open": open, "completed": completed, "closed": closed, "failed": failed, "exact": are_all})
}

/// Returns a submission without its change instances.
pub fn submission(submission: &Submission, viewpoint: &Viewpoint) -> Value {
    json!({
        "id": submission.id.get(),
        "url": viewpoint.url("submissions", submission.id.get()),
        "state": submission.progress().name(),
        "created": submission.created.to_wire(),
        "commit_id": submission.commit_id,
        "message": submission.message,
        "partial": submission.scope == domain::model::submission::Scope::Partial,
        "changed": submission.changed,
        "planned": {"direct": submission.direct, "generated": submission.derived},
        "landed": submission.opened,
        "remaining": submission.planned().saturating_sub(submission.opened),
        "team": team_ref(&submission.team),
        "submitted_by": submission.by.changed_by(),
    })
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
