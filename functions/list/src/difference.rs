//! The difference between the declarations after two submissions (R36).

mod compare;

use crate::history::require_not_in_flight;
use crate::page::ListRequest;
use crate::walk::{Progress, Walk};
use compare::Compare;
use domain::SubmissionId;
use domain::model::submission::Submission;
use domain::views::history::Moment;
use dovetail_http::view::{self, Differing, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply, fitting};
use dovetail_table::{RelatedKey, Table};
use serde_json::{Value, json};

/// Returns a page of the difference.
pub(crate) async fn between(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    call.only_knows(&["to", "limit", "cursor"])?;
    let id = call.id(SubmissionId::parse)?;
    // The id contains the team, so a foreign submission needs no read.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let limit = call.query.limit()?;
    let progress = progress(request)?;
    let from = table.submission(id).await?.ok_or(Code::NotFound)?;
    let to = other(table, call).await?;
    [&from, &to].into_iter().try_for_each(require_not_in_flight)?;
    let moments = [&from, &to].map(|submission| Moment::of(submission, call.now));
    let compare = Compare { table, moments };
    let mut walk = Walk::new(table, &compare, limit);
    if progress.is_none() {
        let team = table.team(call.caller.team.id).await?.ok_or(Code::Unauthenticated)?;
        walk.by(&Progress::default(), compare.team(&team)).await?;
    }
    let next = walk.from(call.caller.team.id, progress).await?;
    Reply::new(200, body(request, &walk, next, (&from, &to)).await?)
}

/// Returns the end of the page before, from the cursor.
fn progress(request: ListRequest<'_>) -> Result<Option<Progress>, Failure> {
    let ListRequest { key, call, .. } = request;
    let Some(cursor) = call.position(key, &identity(call))? else { return Ok(None) };
    Progress::parse(&cursor.after).map(Some).ok_or_else(|| Code::InvalidCursor.into())
}

/// Returns the identity of the list for its cursors.
fn identity(call: &Call) -> String {
    json!([call.path.trim_end_matches('/'), call.query.get("to")]).to_string()
}

/// Returns the submission in `to`.
async fn other(table: &Table, call: &Call) -> Result<Submission, Failure> {
    let refused = |message: &str| Call::bad_filter(&FieldError::new("to", message));
    let number = call.query.integer("to")?;
    let number = number.ok_or_else(|| refused("must be present: the id of the other submission"))?;
    let id = SubmissionId::parse(number).filter(|id| id.team() == call.caller.team.id);
    let submission = match id {
        Some(id) => table.submission(id).await?,
        None => None,
    };
    submission.ok_or_else(|| refused("must be the id of a submission of the team"))
}

async fn body(
    request: ListRequest<'_>,
    walk: &Walk<'_, Compare<'_>>,
    next: Option<Progress>,
    (from, to): (&Submission, &Submission),
) -> Result<Value, Failure> {
    let ListRequest { table, key, call } = request;
    let team = call.caller.team.id;
    let named = walk.found.iter().flat_map(|(_, differing)| differing.versions());
    let related = table.related(named.map(|version| RelatedKey::Declaration(team, version.hash))).await?;
    let viewpoint = Viewpoint::of(call);
    let views: Vec<Value> =
        walk.found.iter().map(|(_, differing)| view::differing(differing, &related, &viewpoint)).collect();
    let fitting = fitting(&views).min(views.len());
    let cut = walk.found.get(fitting.saturating_sub(1)).filter(|_| fitting < views.len());
    let next = cut.map(|(progress, _)| progress.clone()).or(next);
    let next =
        next.map(|progress| call.page_after(key, &identity(call), &progress.to_position().to_string()));
    let (mut metadata, mut items) = (Vec::new(), Vec::new());
    for (value, (_, differing)) in views.into_iter().zip(&walk.found).take(fitting) {
        match differing {
            Differing::Metadata { .. } => metadata.push(value),
            Differing::Item { .. } => items.push(value),
        }
    }
    let (from, to) = (from.id.get(), to.id.get());
    Ok(json!({"from": from, "to": to, "metadata": metadata, "service_items": items, "next": next}))
}
