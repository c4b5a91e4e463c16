//! Services: the lists of a role and of services with dependent teams, and one service.

use crate::filter::Filter;
use crate::order::{AGE_AND_ID, Field, Orders};
use crate::page::{List, ListRequest, only_knows};
use domain::base::id::ServiceId;
use domain::catalog::service::{Service, ServiceState};
use domain::rules::visibility::Side;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Direction, Source, Table};
use std::collections::BTreeSet;

/// Number of services from which a list of tags is made.
const SERVICES_MAX: u64 = 10_000;

const FIELDS: &[Field<Service>] =
    &[("name", |service| service.title.clone()), ("modified", |service| service.modified.to_wire())];

/// Lists the caller's own services, or all services open to it.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let (side, team) = (request.call.side, request.call.caller.team.id);
    let mut filter = filter(request.call)?;
    let source = match side {
        Side::ServiceOwner => Source::<Service>::owned_by(team),
        Side::Consumer => {
            filter.test(move |service| side.shows_service(service, team));
            Source::<Service>::all()
        }
    };
    let orders = Orders::By { stored: AGE_AND_ID, fields: FIELDS };
    reply(&List { request, source, filter, orders }).await
}

/// Lists the services with the caller as a dependent team, or the open ones with any dependent team.
pub(crate) async fn dependent(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let (side, team) = (request.call.side, request.call.caller.team.id);
    let mut filter = filter(request.call)?;
    filter.test(move |service| match side {
        Side::ServiceOwner => service.settings.has_dependent(team),
        Side::Consumer => side.shows_service(service, team) && !service.settings.dependent_teams.is_empty(),
    });
    let source = Source::<Service>::all();
    reply(&List { request, source, filter, orders: Orders::Ignored }).await
}

/// Lists the tags of a role's services, each once and in order, from at most [`SERVICES_MAX`] services.
pub(crate) async fn tags(table: &Table, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["limit", "offset", "ordering", "count"])?;
    call.query.integer("limit").and(call.query.integer("offset"))?;
    let (side, team) = (call.side, call.caller.team.id);
    let source = match side {
        Side::ServiceOwner => Source::<Service>::owned_by(team),
        Side::Consumer => Source::<Service>::all(),
    };
    let (mut tags, mut read) = (BTreeSet::new(), 0);
    let mut rows = table.rows(&source, Direction::Ascending, None);
    while read < SERVICES_MAX
        && let Some(batch) = rows.next().await?
    {
        read += u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let seen = batch.into_iter().map(|row| row.value).filter(|service| side.shows_service(service, team));
        tags.extend(seen.flat_map(|service| service.settings.tags));
    }
    Reply::list(tags.len(), None, tags)
}

/// Returns one service, with its newest schema or that of `version`.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let version = call.query.integer("version")?;
    let service = table.service_by_id(call.id(ServiceId::new)?).await?;
    let service = service.filter(|service| call.side.shows_service(service, call.caller.team.id));
    let mut service = service.ok_or(Code::NotFound)?;
    if let Some(version) = version {
        let versions = 1..=service.schema_version;
        service.schema_version =
            Some(version).filter(|version| versions.contains(version)).ok_or(Code::NotFound)?;
    }
    let texts = table.schema_texts(std::slice::from_ref(&service)).await?;
    let text = texts.first().map_or("", AsRef::as_ref);
    Reply::new(200, view::service(&service, text, &Viewpoint::of(call)))
}

/// Returns the documentation of a service, for every team with access to the service.
pub(crate) async fn docs(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let service = table.service_by_id(call.id(ServiceId::new)?).await?;
    let service =
        service.filter(|service| service.has_docs && call.side.shows_service(service, call.caller.team.id));
    let docs = table.docs(&service.ok_or(Code::NotFound)?.title).await?;
    Reply::new(200, view::service_docs(&docs.ok_or(Code::NotFound)?))
}

fn filter(call: &Call) -> Result<Filter<Service>, Failure> {
    only_knows(call, &["name", "tags", "state"])?;
    let mut filter = Filter::new();
    let states = ServiceState::ALL.map(ServiceState::name);
    filter.words(&call.query, "state", &states, |service: &Service| service.settings.state.name())?;
    if let Some(tags) = call.query.list("tags") {
        filter.test(move |service| service.settings.tags.iter().any(|tag| tags.contains(tag)));
    }
    filter.texts(&call.query, "name", |service: &Service| &service.title);
    Ok(filter)
}

async fn reply(list: &List<'_, Service>) -> Result<Reply, Failure> {
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(list.request.call);
    let schemas = list.request.table.schema_texts(&page.rows).await?;
    let rows = page.rows.iter().zip(&schemas);
    page.reply(rows.map(|(service, schema)| view::service(service, schema, &viewpoint)))
}
