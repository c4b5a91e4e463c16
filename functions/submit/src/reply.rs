//! The reply to a recorded submission: the same for the first request and for every repetition.

use crate::load::Loaded;
use domain::change::Change;
use domain::plan::{AtOnce, Plan};
use domain::related::Related;
use domain::submission::{Progress, Submission};
use domain::write::Write;
use dovetail_aws::log;
use dovetail_http::view::{self, CHANGES_MAX, Viewpoint};
use dovetail_http::{Call, Failure, Reply};
use dovetail_table::Table;
use serde_json::Value;
use tokio::time::Instant;

/// The reply to a submission that was written at once, made of what was written and what was read beside.
pub(crate) fn born(
    call: &Call,
    loaded: &Loaded,
    plan: &Plan<'_>,
    at_once: &AtOnce,
    beside: Related,
) -> Reply {
    let mut related = beside;
    with_plan(&mut related, loaded, plan);
    reply(call, &at_once.submission, &at_once.born, &related)
}

/// Adds what is known of a plan: the team and its applications as they are once it is carried out, services, declarations.
pub(crate) fn with_plan(related: &mut Related, loaded: &Loaded, plan: &Plan<'_>) {
    let stored = &loaded.stored;
    let consumer = stored.team.id;
    related.teams.insert(consumer, stored.team.clone());
    related.applications.extend(stored.applications.iter().map(|known| (known.id, known.clone())));
    let services = loaded.offers.iter();
    related.services.extend(services.map(|(title, offer)| (title.clone(), offer.service.clone())));
    for write in &plan.others {
        if let Write::Team(after) = write {
            related.teams.insert(after.id, after.clone());
        }
        if let Write::Application { after, .. } = write {
            related.applications.insert(after.id, after.clone());
        }
    }
    let declarations = plan.declarations.iter();
    related.declarations.extend(declarations.map(|(hash, text)| ((consumer, *hash), text.clone())));
}

/// The reply to a submission that is recorded. Of one that is staged, what is shown is carried out before.
pub(crate) async fn accepted(
    table: &Table,
    call: &Call,
    submission: &Submission,
    until: Instant,
) -> Result<Reply, Failure> {
    if submission.progress() == Progress::Committed
        && let Err(error) = generate::carry_out_first(table, submission, CHANGES_MAX, until).await
    {
        // It is accepted all the same: the stream and the sweep go on, and what is there by now is shown.
        log(&format!("submission {}", submission.id), &error.to_string());
    }
    let changes = table.changes_of(submission, CHANGES_MAX).await?;
    let related = table.related_to_changes(&changes).await?;
    Ok(reply(call, submission, &changes, &related))
}

fn reply(call: &Call, submission: &Submission, changes: &[Change], related: &Related) -> Reply {
    let viewpoint = Viewpoint::of(call);
    let changes: Vec<Value> = changes
        .iter()
        .take(CHANGES_MAX)
        .map(|change| view::change_instance_as_born(change, related, &viewpoint))
        .collect();
    let accepted = submission.as_accepted();
    let mut body = view::valid(&[]);
    if let Value::Object(of) = view::submission_with_changes(&accepted, changes, &viewpoint) {
        body.extend(of);
    }
    Reply::new(if submission.changed { 201 } else { 200 }, body.into())
}
