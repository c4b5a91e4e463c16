//! Applications of the caller's team, in either role: the list, and one.

use crate::bound::TALLIED;
use crate::filter::Filter;
use crate::history;
use crate::order::{AGE_AND_ID, Field, Orders};
use crate::page::{List, ListRequest, only_knows};
use domain::base::id::ApplicationId;
use domain::base::state::RuntimeState;
use domain::model::team::Application;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Read, RelatedKey, Source};

const FIELDS: &[Field<Application>] = &[
    ("name", |application| application.name.clone()),
    ("modified", |application| application.modified.to_wire()),
];

/// Number of applications with a count of their items at once.
const AT_ONCE: usize = 10;

/// Lists the team's applications.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let call = request.call;
    only_knows(call, &["light", "search", "name", "retired", "runtime_state"])?;
    let [is_light, is_retired] = [truth(call, "light")?, truth(call, "retired")?];
    let mut filter = Filter::new();
    if let Some(states) = runtime_states(call)? {
        filter.with_items(states, AT_ONCE);
    }
    filter.contains(&call.query, "search", |application: &Application| &application.name);
    filter.texts(&call.query, "name", |application| &application.name);
    let team = call.caller.team.id;
    let source =
        if is_retired { Source::<Application>::retired(team) } else { Source::<Application>::of_team(team) };
    let orders = Orders::By { stored: AGE_AND_ID, fields: FIELDS };
    let list = List { request, source, filter, orders };
    let mut page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let team = &call.caller.team;
    if is_light {
        let light = |application| view::light_application(application, team, &viewpoint);
        return page.reply(page.rows.iter().map(light));
    }
    let (mut read, mut results) = (Read::default(), Vec::new());
    for some in page.rows.chunks(AT_ONCE) {
        let wanted = some.iter().map(|application| RelatedKey::Tally(application.id));
        let related = read.by(request.table.related(wanted)).await?;
        results.extend(
            some.iter().map(|application| view::application(application, team, &related, &viewpoint)),
        );
        // A large application is expensive to count, so the page ends early and `next` continues.
        if read.reaches(&TALLIED) {
            break;
        }
    }
    page.end_after(results.len());
    page.reply(results)
}

/// Returns one application.
pub(crate) async fn one(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    let id = call.id(ApplicationId::parse)?;
    // The id contains the team, so a foreign application needs no read.
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let application = table.application(id).await?.ok_or(Code::NotFound)?;
    if let Some(moment) = history::of_declaration(table, call).await? {
        return history::application(request, application, moment).await;
    }
    let related = table.related([RelatedKey::Tally(id)]).await?;
    Reply::new(200, view::application(&application, &call.caller.team, &related, &Viewpoint::of(call)))
}

/// Returns whether a parameter is true; false without it.
fn truth(call: &Call, parameter: &str) -> Result<bool, Failure> {
    let value = call.query.truth(parameter)?;
    Ok(value == Some(true))
}

/// Returns the runtime states in the query.
fn runtime_states(call: &Call) -> Result<Option<Vec<RuntimeState>>, Failure> {
    let Some(names) = call.query.list("runtime_state") else { return Ok(None) };
    let states: Option<Vec<RuntimeState>> = names.iter().map(|name| RuntimeState::parse(name)).collect();
    let message = || format!("must be one of {}", RuntimeState::ALL.map(RuntimeState::name).join(", "));
    states.map(Some).ok_or_else(|| Call::bad_filter(&FieldError::new("runtime_state", message())))
}
