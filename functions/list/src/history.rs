//! Objects at an earlier time: `as_of`, a time or a submission (R35, R36).

use crate::bound::FILTERED;
use crate::filter::{Filter, date};
use crate::order::Orders;
use crate::page::{List, ListRequest};
use domain::model::deployed::Deployed;
use domain::model::submission::{Progress, Submission};
use domain::model::team::{Application, Team};
use domain::views::history;
use domain::views::history::{DeclaredThen, Moment};
use domain::{Item, SubmissionId, TeamId};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Direction, HistoricalState, Read, RelatedKey, Source, Table, until};
use futures_util::future::try_join_all;
use serde_json::Value;

/// Parameter with the moment.
const AS_OF: &str = "as_of";

/// Number of items with a read of their history at once.
const AT_ONCE: usize = 10;

/// Returns the moment in the query for an object of a consumer, with its submission if it names one.
async fn requested_moment(
    table: &Table,
    call: &Call,
    consumer: TeamId,
) -> Result<Option<(Moment, Option<Submission>)>, Failure> {
    let Some(text) = call.query.get(AS_OF) else { return Ok(None) };
    let Ok(number) = text.parse::<u64>() else {
        return Ok(date(&call.query, AS_OF)?.map(|at| (Moment::at(at), None)));
    };
    let id = SubmissionId::parse(number).filter(|id| id.team() == consumer);
    let submission = match id {
        Some(id) => table.submission(id).await?,
        None => None,
    };
    let submission = submission.ok_or_else(|| refused("must be the id of a submission of the consumer"))?;
    Ok(Some((Moment::of(&submission, call.now), Some(submission))))
}

/// Returns the moment in the query for an item. A dependent team sees only the present.
pub(crate) async fn of_item(table: &Table, call: &Call, item: &Item) -> Result<Option<Moment>, Failure> {
    let team = call.caller.team.id;
    let may_see = item.consumer.id == team || item.service_owner.id == team;
    if call.query.get(AS_OF).is_some() && !may_see {
        return Err(refused("must be absent: only the item's consumer and the service owner may set it"));
    }
    Ok(requested_moment(table, call, item.consumer.id).await?.map(|(moment, _)| moment))
}

/// Returns the moment in the query for the declarations of the caller's team.
pub(crate) async fn of_declaration(table: &Table, call: &Call) -> Result<Option<Moment>, Failure> {
    let Some((moment, submission)) = requested_moment(table, call, call.caller.team.id).await? else {
        return Ok(None);
    };
    submission.iter().try_for_each(require_not_in_flight)?;
    Ok(Some(moment))
}

/// Rejects a submission in flight, because the declarations after it are not complete yet.
pub(crate) fn require_not_in_flight(submission: &Submission) -> Result<(), Failure> {
    let is_in_flight = submission.progress() == Progress::Committed;
    if is_in_flight { Err(Code::SubmissionInFlight.into()) } else { Ok(()) }
}

/// Returns the item at a moment.
pub(crate) async fn item(table: &Table, now: &Item, moment: Moment) -> Result<Item, Failure> {
    let changes = table.changes_until(now.id, Some(moment.at)).await?.ok_or_else(|| too_much(AS_OF))?;
    let last = until(moment.at);
    let mut versions =
        table.rows(&Source::<Deployed>::of_item(now.id), Direction::Descending, Some(&last)).at_once(1);
    let newest = versions.next().await?.into_iter().flatten().map(|row| row.value);
    let deployed: Vec<_> = newest.collect();
    history::item(now, &changes, &deployed, moment).ok_or_else(|| Code::NotFound.into())
}

/// Returns the team at a moment.
pub(crate) async fn team(table: &Table, now: Team, moment: Moment) -> Result<Team, Failure> {
    let metadata = historical(table.metadata_at(now.replaced(), moment).await?, AS_OF)?;
    Ok(Team { metadata: metadata.ok_or(Code::NotFound)?, ..now })
}

/// Returns the application at a moment, with a page of the items in its declaration.
pub(crate) async fn application(
    request: ListRequest<'_>,
    now: Application,
    moment: Moment,
) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    let metadata = historical(table.metadata_at(now.replaced(), moment).await?, AS_OF)?;
    // Metadata without an earlier version count since the creation of the application, and not before it.
    let metadata = metadata.filter(|_| moment.submission.is_some() || now.created <= moment.at);
    let then = Application { metadata: metadata.ok_or(Code::NotFound)?, ..now };
    let source = Source::<Item>::of_application(&then);
    let list = List { request, source, filter: Filter::new(), orders: Orders::Ignored };
    let mut page = list.uncounted_page().await?;
    let (mut read, mut declared) = (Read::default(), Vec::new());
    for some in page.rows.chunks(AT_ONCE) {
        let states = some.iter().map(|item| table.declared_at(item, moment));
        for then in read.by(try_join_all(states)).await? {
            declared.push(historical(then, AS_OF)?);
        }
        if read.reaches(&FILTERED) {
            break;
        }
    }
    page.end_after(declared.len());
    let team = &call.caller.team;
    let named = declared.iter().flatten().map(|then| RelatedKey::Declaration(team.id, then.version.hash));
    let related = table.related(named).await?;
    let viewpoint = Viewpoint::of(call);
    let views = |(item, then): (&Item, &Option<DeclaredThen>)| {
        let view = |then: &DeclaredThen| view::item_then(item, then, &related, &viewpoint);
        then.as_ref().map_or(Value::Null, view)
    };
    let items: Vec<Value> = page.rows.iter().zip(&declared).map(views).collect();
    let (fitting, next) = page.fitting(&items);
    let items = items.into_iter().take(fitting).filter(|item| !item.is_null()).collect();
    Reply::new(200, view::application_then(&then, team, items, next, &viewpoint))
}

/// Returns the past state, if there was one, or an error after too many changes.
pub(crate) fn historical<T>(state: HistoricalState<T>, parameter: &str) -> Result<Option<T>, Failure> {
    match state {
        HistoricalState::Was(then) => Ok(Some(then)),
        HistoricalState::WasNot => Ok(None),
        HistoricalState::TooMuch => Err(too_much(parameter)),
    }
}

/// Returns the error of a request that would read too much.
pub(crate) fn too_much(parameter: &str) -> Failure {
    let message = "must not require more than 1000 changes of one object";
    Call::bad_filter(&FieldError::new(parameter, message))
}

fn refused(message: &str) -> Failure {
    Call::bad_filter(&FieldError::new(AS_OF, message))
}
