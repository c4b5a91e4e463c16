//! Submissions of the caller's team: the list, and one with its change instances.

use crate::filter::Filter;
use crate::order::{AGE_AND_ID, Orders};
use crate::page::{List, ListRequest, only_knows};
use domain::SubmissionId;
use domain::model::submission::Submission;
use dovetail_http::view::{self, CHANGES_MAX, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply, objects};
use dovetail_table::{Source, Table};

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
    let list = List { request, source, filter, orders };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    page.reply(page.rows.iter().map(|submission| view::submission(submission, &viewpoint)))
}

/// Returns one submission.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(SubmissionId::parse)?;
    // The id contains the team, so a foreign submission needs no read.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let submission = table.submission(id).await?.ok_or(Code::NotFound)?;
    let viewpoint = Viewpoint::of(call);
    let changes = table.changes_of(&submission, CHANGES_MAX).await?;
    let related = table.related_to_changes(&changes).await?;
    let changes = objects(changes.iter().map(|change| view::change_instance(change, &related, &viewpoint)))?;
    Reply::new(200, view::submission_with_changes(&submission, changes, &viewpoint))
}
