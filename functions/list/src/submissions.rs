//! Submissions of the caller's team: the list, and one with its change instances.

use crate::filter::Filter;
use crate::order::{AGE_AND_ID, Orders};
use crate::page::{List, ListRequest, only_knows};
use domain::model::submission::Submission;
use domain::views::outcome::Counts;
use domain::{Change, SubmissionId};
use dovetail_http::view::{self, CHANGES_MAX, Viewpoint};
use dovetail_http::{Code, Failure, Reply, objects};
use dovetail_table::Source;

/// Lists the team's submissions.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    only_knows(call, &["light", "commit_id"])?;
    let mut filter = Filter::new();
    filter.texts(&call.query, "commit_id", |submission: &Submission| {
        submission.commit_id.as_deref().unwrap_or_default()
    });
    let source = Source::<Submission>::of_team(call.caller.team.id);
    let orders = Orders::By { stored: AGE_AND_ID, fields: &[] };
    List { request, source, filter, orders }.reply(view::submission).await
}

/// Returns one submission; with `counts=true`, also the outcome of its change instances.
pub(crate) async fn one(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    let id = call.id(SubmissionId::parse)?;
    let is_counted = call.query.truth("counts")?;
    // The id contains the team, so a foreign submission needs no read.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let submission = table.submission(id).await?.ok_or(Code::NotFound)?;
    let viewpoint = Viewpoint::of(call);
    let changes = table.changes_of(&submission, CHANGES_MAX).await?;
    let related = table.related_to_changes(&changes).await?;
    let changes = objects(changes.iter().map(|change| view::change_instance(change, &related, &viewpoint)))?;
    let mut reply = Reply::new(200, view::submission_with_changes(&submission, changes, &viewpoint))?;
    if is_counted == Some(true) {
        let (counts, are_all) = counts(request, &submission).await?;
        reply.insert("counts", view::counts(counts, are_all))?;
        reply.insert("outcome", counts.outcome(&submission, are_all).name().into())?;
    }
    Ok(reply)
}

/// Counts the change instances of a submission as far as the bounds of a page allow, and returns whether these are all.
async fn counts(request: ListRequest<'_>, submission: &Submission) -> Result<(Counts, bool), Failure> {
    let id = submission.id;
    let mut filter = Filter::new();
    filter.test(move |change: &Change| change.submission == id);
    let source = Source::<Change>::since(submission);
    let orders = Orders::By { stored: AGE_AND_ID, fields: &[] };
    let list = List { request, source, filter, orders };
    let page = list.bounded_page().await?;
    Ok((Counts::of(&page.rows), page.next_url().is_none()))
}
