//! The reply to a stored submission, equal for the first request and every repetition.

use crate::context::Context;
use crate::load::Loaded;
use domain::Change;
use domain::base::id::ApplicationId;
use domain::model::submission::{Progress, Submission};
use domain::model::write::Write;
use domain::rules::plan::{AtOnce, Plan};
use domain::views::related::Related;
use dovetail_aws::log;
use dovetail_http::view::{self, CHANGES_MAX, Viewpoint};
use dovetail_http::{Call, Failure, Reply, objects};
use std::collections::BTreeSet;

/// Returns the reply to a submission in one transaction, from the written records and the concurrent reads.
pub(crate) fn created(call: &Call, at_once: &AtOnce, related: &Related) -> Result<Reply, Failure> {
    reply(call, &at_once.submission, &at_once.created, related)
}

/// Adds the content of a plan for created change instances: team and applications after the submission, services,
/// declarations.
pub(crate) fn with_plan(related: &mut Related, loaded: &Loaded, plan: &Plan<'_>, created: &[Change]) {
    let stored = &loaded.team.stored;
    let consumer = stored.team.id;
    related.teams.insert(consumer, stored.team.clone());
    let shown: BTreeSet<ApplicationId> = created.iter().map(|change| change.application_id()).collect();
    let shown = stored.applications.iter().filter(|application| shown.contains(&application.id));
    related.applications.extend(shown.map(|application| (application.id, application.clone())));
    let services = loaded.offers.iter();
    related.services.extend(services.map(|(title, offer)| (title.clone(), offer.service.clone())));
    for write in &plan.others {
        if let Write::ReplaceTeam(after) = write {
            related.teams.insert(after.id, after.clone());
        }
        if let Write::PutApplication { after, .. } = write {
            related.applications.insert(after.id, after.clone());
        }
    }
    let declarations = plan.declarations.iter();
    related.declarations.extend(declarations.map(|(hash, text)| ((consumer, *hash), text.clone())));
}

/// Returns the reply to a stored submission. For a staged one, it first applies the items of the reply.
pub(crate) async fn accepted(context: &Context<'_>, submission: &Submission) -> Result<Reply, Failure> {
    let Context { table, call, until, .. } = *context;
    if submission.progress() == Progress::Committed
        && let Err(error) = dovetail_worker::carry_out_first(table, submission, CHANGES_MAX, until).await
    {
        // The submission is accepted in any case: the stream and `sweep` continue. The reply shows the existing
        // change instances.
        log(&format!("submission {}", submission.id), &error.to_string());
    }
    let changes = table.changes_of(submission, CHANGES_MAX).await?;
    let related = table.related_to_changes(&changes).await?;
    reply(call, submission, &changes, &related)
}

fn reply(call: &Call, stored: &Submission, changes: &[Change], related: &Related) -> Result<Reply, Failure> {
    let viewpoint = Viewpoint::of(call);
    let changes: Vec<Change> = changes.iter().take(CHANGES_MAX).map(Change::as_created).collect();
    let as_created = |created| view::change_instance_as_created(created, related, &viewpoint);
    let changes = objects(changes.iter().map(as_created))?;
    // Later progress would make a repetition of the request get another reply.
    let accepted = stored.as_accepted();
    let mut body = view::submission_with_changes(&accepted, changes, &viewpoint);
    body.others = view::valid(body.others, &[]);
    Reply::new(if stored.changed { 201 } else { 200 }, body)
}
