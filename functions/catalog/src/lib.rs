//! The catalogue: definitions, settings, documentation and configs of services, and messages of their owners.

mod configs;
mod docs;
mod messages;
mod schema_impact;
mod settings;

use domain::base::context::RequestContext;
use domain::base::id::ServiceId;
use domain::base::problem::{Problem, pointer};
use domain::catalog::schema::{BLOCK_DEFINITIONS_MAX, Definitions, ReferenceField, Schema};
use domain::catalog::service::{Publish, Service};
use domain::catalog::{schema, service};
use domain::rules::visibility::Side;
use domain::{TeamId, TeamRef};
use dovetail_aws::{off_worker, retry};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{
    Answering, Call, Code, CursorKey, Failure, Function, Operation, Reply, Request, answer, invalid_schema,
};
use dovetail_table::{Error, NewService, Publication, Stored, Table};
use serde_json::json;
use std::collections::BTreeSet;

/// Maximum number of referenced services that a check looks up.
const REFERENCES_LOOKED_UP_MAX: usize = 20;

/// Answers one request; `key` signs cursors.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle<'a>(table: &'a Table, key: &'a CursorKey, request: Request) -> Answering<'a> {
    answer(request, Function::Catalog, async move |call| match call.operation {
        Operation::PublishService => publish_service(table, &call).await,
        Operation::ValidateService => validate(table, key, &call).await,
        Operation::UploadServiceDocs => docs::upload(table, &call).await,
        Operation::CreateServiceConfig => configs::create(table, &call).await,
        Operation::UpdateService => update(table, &call).await,
        Operation::CreateMessage => messages::create(table, &call).await,
        Operation::UpdateMessage => messages::update(table, &call).await,
        Operation::RemoveMessage => messages::remove(table, &call).await,
        _ => Err(Code::NoSuchRoute.into()),
    })
}

async fn validate(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    call.only_knows(&["dry_run", "limit", "cursor"])?;
    let is_dry_run = call.query.truth("dry_run")? == Some(true);
    let schema = checked(table, call).await?;
    let dry_run = if is_dry_run { Some(schema_impact::of(table, key, call, &schema).await?) } else { None };
    let body = dry_run.map_or_else(|| json!({}), |dry_run| json!({"dry_run": dry_run}));
    Reply::new(200, view::valid(body, &warnings(table, &schema, call).await?))
}

/// Checks the sent definition, with the definitions that its blocks name (R68).
///
/// A definition that the caller's team does not see gets the same answer as a missing one.
async fn checked(table: &Table, call: &Call) -> Result<Schema, Failure> {
    let named = off_worker(|| schema::named_definitions(&call.body));
    // Above the limit, the check refuses the definition whatever the others contain.
    let is_limited = !named.is_empty() && named.len() <= BLOCK_DEFINITIONS_MAX;
    let definitions = if is_limited {
        let titles = named.iter().map(|version| version.title.as_str()).collect();
        let services = table.services(&titles).await?;
        let visible: BTreeSet<String> = services
            .into_iter()
            .filter(|service| has_visible_parts(service, call.caller.team.id))
            .map(|service| service.title)
            .collect();
        table.definition_texts(named.into_iter().filter(|version| visible.contains(&version.title))).await?
    } else {
        Definitions::new()
    };
    // The check of a definition may take a good part of a second of CPU time.
    let checked = off_worker(|| schema::publish_with(&call.body, &definitions));
    checked.map_err(|problems| invalid_schema(&problems).into())
}

/// Returns whether a team may copy parts of a service's definitions, whatever the state of the service.
fn has_visible_parts(service: &Service, team: TeamId) -> bool {
    Side::ServiceOwner.shows_service(service, team) || service.settings.allows(team)
}

/// Returns the warnings about a definition: also one for each referenced service that the caller's team does not see.
async fn warnings(table: &Table, schema: &Schema, call: &Call) -> Result<Vec<String>, Error> {
    let team = call.caller.team.id;
    let mut warnings = schema::warnings(schema);
    let fields = schema.references.fields();
    let others = fields.into_iter().filter(|reference| reference.service != schema.title);
    for ReferenceField { pointer, service, .. } in others.take(REFERENCES_LOOKED_UP_MAX) {
        let found = table.service(service).await?;
        if !found.is_some_and(|service| Side::ALL.iter().any(|side| side.shows_service(&service, team))) {
            warnings.push(format!(
                "{pointer}/service_reference names a service that your team does not see: `{service}`"
            ));
        }
    }
    Ok(warnings)
}

async fn publish_service(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let schema = checked(table, call).await?;
    let (status, service) = match publish(table, &schema, &call.caller.team, &call.ctx()).await? {
        Outcome::New(service) => (201, service),
        Outcome::NewVersion(service) | Outcome::Unchanged(service) => (200, service),
        Outcome::Foreign => return Err(Code::ForeignService.into()),
        Outcome::LooksAlike(title) => return Err(invalid_schema(&[looks_alike(&title)]).into()),
        Outcome::NeedsApproval(problem) => return Err(invalid_schema(&[problem]).into()),
    };
    let mut reply = Reply::new(status, view::service(&service, &schema.text, &Viewpoint::of(call)))?;
    reply.warn(warnings(table, &schema, call).await?)?;
    Ok(reply)
}

/// The outcome of a publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    New(Service),
    /// A new schema version of the service.
    NewVersion(Service),
    /// The schema equals the published one.
    Unchanged(Service),
    /// The service with this title belongs to another team.
    Foreign,
    /// The title looks like that of another service.
    LooksAlike(String),
    /// The service owner could not fill a required property, because the service requires no approval (R50).
    NeedsApproval(Problem),
}

/// Publishes a schema under its title.
pub async fn publish(
    table: &Table,
    schema: &Schema,
    owner: &TeamRef,
    ctx: &RequestContext,
) -> Result<Outcome, Error> {
    let published = retry::until_stored(retry::WRITE, |_| async {
        let service = table.service(&schema.title).await?;
        let current = match &service {
            Some(service) => Some(table.schema(service).await?),
            None => None,
        };
        let before = service.as_ref().zip(current.as_deref());
        Ok::<_, Error>(match (service::publish(before, schema, owner, ctx.now), &service) {
            (Publish::Foreign, _) => Some(Outcome::Foreign),
            (Publish::NeedsApproval(pointer), _) => Some(Outcome::NeedsApproval(needs_approval(pointer))),
            (Publish::Unchanged, Some(service)) => Some(Outcome::Unchanged(service.clone())),
            (Publish::NewVersion(after), Some(before)) => {
                let publication = Publication { service: after, schema: Some(schema.text.clone()) };
                match table.update_service(before.revision, publication, ctx).await? {
                    Stored::Done(service) => Some(Outcome::NewVersion(service)),
                    Stored::Stale => None,
                }
            }
            (Publish::New(settings), _) => match table.create_service(owner, schema, settings, ctx).await? {
                NewService::Done(service) => Some(Outcome::New(*service)),
                NewService::LooksLike(title) => Some(Outcome::LooksAlike(title)),
                NewService::Stale => None,
            },
            // Both outcomes need a service, so this cannot occur; a new attempt is harmless.
            (Publish::Unchanged | Publish::NewVersion(_), None) => None,
        })
    });
    published.await?.ok_or_else(|| Error::Unavailable("the service changed at every attempt".to_owned()))
}

/// Returns the problem of a new title that looks like this one.
fn looks_alike(title: &str) -> Problem {
    Problem {
        path: vec!["schema".to_owned()],
        pointer: pointer(["title"]),
        rule: "similar_title",
        message: format!("must not look like '{title}', the title of another service"),
        change: None,
    }
}

fn needs_approval(pointer: String) -> Problem {
    Problem {
        path: vec!["schema".to_owned()],
        pointer,
        rule: "invalid_keyword",
        message:
            "must name no property that the service owner fills, because the service requires no approval"
                .to_owned(),
        change: None,
    }
}

/// Returns the service in the path, if the caller's team owns it.
async fn own_service(table: &Table, call: &Call) -> Result<Service, Failure> {
    let id = call.id(ServiceId::new)?;
    let service = table.service_by_id(id).await?.ok_or(Code::NotFound)?;
    let team = call.caller.team.id;
    if service.owner.id == team {
        return Ok(service);
    }
    // An invisible service must look like a missing one, so only teams with access learn about the owner.
    let seen = Side::ALL.iter().any(|side| side.shows_service(&service, team));
    Err(if seen { Code::ForeignService } else { Code::NotFound }.into())
}

async fn update(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let updated = retry::until_stored(retry::WRITE, |_| async {
        let service = own_service(table, call).await?;
        let settings = settings::read(table, call.fields()?, &service).await?;
        let Some(after) = service::set(&service, settings, call.now) else { return Ok(Some(service)) };
        let publication = Publication { service: after, schema: None };
        Ok::<_, Failure>(match table.update_service(service.revision, publication, &call.ctx()).await? {
            Stored::Done(stored) => Some(stored),
            Stored::Stale => None,
        })
    });
    let after = updated.await?.ok_or(Code::Contended)?;
    let texts = table.schema_texts(std::slice::from_ref(&after)).await?;
    let text = texts.first().map_or("", AsRef::as_ref);
    Reply::new(200, view::service(&after, text, &Viewpoint::of(call)))
}
