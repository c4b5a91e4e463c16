//! The lists: for each resource where its rows are, what it can be filtered and ordered by (docs/wire.md).

use crate::filter::Filter;
use crate::page::{Field, List, only_knows};
use domain::change::{Change, ChangeType, Kind};
use domain::deployed::Deployed;
use domain::id::{ApplicationId, ItemId, TeamId};
use domain::item::{ChangeState, Item, RuntimeState};
use domain::related::Related;
use domain::service::Service;
use domain::state::State;
use domain::submission::Submission;
use domain::team::Application;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, CursorKey, Failure, FieldError, Pov, Reply};
use dovetail_table::{Direction, Source, Table};
use serde_json::Value;
use std::collections::BTreeSet;

/// Records that are numbered as they are created.
const AGE_AND_ID: &[&str] = &["created", "id"];

/// The order of the places that hold a team's records: an index by age; in the table a consumer's own by id.
const fn stored_order(call: &Call, by_item: bool) -> &'static [&'static str] {
    match (call.pov, by_item) {
        (Pov::ServiceOwner, _) | (Pov::Consumer, true) => &["created"],
        (Pov::Consumer, false) => &["id"],
    }
}

/// Service items.
pub(crate) async fn items(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(
        call,
        &[
            "application_id",
            "application_name",
            "application_name_contains",
            "change_state",
            "consumer_team_id",
            "name",
            "runtime_state",
            "service_id",
            "service_name",
            "service_owner_id",
            "service_owner_team_id",
            "declaration",
            "declaration_contains",
            "declaration_regex",
            "start_date",
            "end_date",
        ],
    )?;
    let (query, team) = (&call.query, call.caller.team.id);
    let application = single(call, "application_id")?.and_then(ApplicationId::parse);
    let source = match (call.pov, application.filter(|id| id.team() == team)) {
        (Pov::Consumer, Some(application)) => Source::<Item>::of_application(application),
        (Pov::Consumer, None) => Source::<Item>::of_consumer(team),
        (Pov::ServiceOwner, _) => Source::<Item>::owned_by(team),
    };
    let mut filter = Filter::new();
    filter.ids(query, "application_id", |item: &Item| item.id.application().get())?;
    filter.ids(query, "consumer_team_id", |item| item.consumer.id.get())?;
    filter.ids(query, "service_id", |item| item.service.id.get())?;
    filter.ids(query, "service_owner_id", |item| item.service_owner.id.get())?;
    filter.ids(query, "service_owner_team_id", |item| item.service_owner.id.get())?;
    filter.texts(query, "name", |item| &item.name);
    filter.texts(query, "application_name", |item| &item.application);
    filter.texts(query, "service_name", |item| &item.service.title);
    filter.contains(query, "application_name_contains", |item| &item.application);
    let runtime_states = RuntimeState::ALL.map(RuntimeState::name);
    filter.words(query, "runtime_state", &runtime_states, |item| item.runtime_state.name())?;
    let change_states = ChangeState::ALL.map(ChangeState::name);
    filter.words(query, "change_state", &change_states, |item| item.change_state().name())?;
    filter.dates(query, |item| item.modified)?;
    filter.declarations(query, |item| Some((item.consumer.id, item.version.hash)))?;
    let fields: &[Field<Item>] = &[
        ("created", |item| item.created.to_wire()),
        ("id", |item| format!("{:016}", item.id.get())),
        ("name", |item| item.name.clone()),
        ("modified", |item| item.modified.to_wire()),
        ("runtime_state", |item| item.runtime_state.name().to_owned()),
        ("change_state", |item| item.change_state().name().to_owned()),
    ];
    let list = List { table, key, call, source, stored: stored_order(call, false), filter, fields };
    let page = list.page().await?;
    let related = table.related_to_items(&page.rows).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> =
        page.rows.iter().map(|item| view::service_item(item, &related, &viewpoint)).collect();
    Ok(page.reply(&results))
}

/// Change instances.
pub(crate) async fn changes(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(
        call,
        &[
            "application_id",
            "change_type",
            "commit_id",
            "consumer_team_id",
            "declaration",
            "declaration_contains",
            "declaration_regex",
            "start_date",
            "end_date",
            "exclude_referenced",
            "service_id",
            "service_item_id",
            "service_name",
            "service_owner_team_id",
            "state",
            "submission_id",
        ],
    )?;
    let states = states(call)?;
    let by_item = single(call, "service_item_id")?.is_some();
    let source = source_of_changes(call, &states)?;
    let query = &call.query;
    let (pov, team) = (call.pov, call.caller.team.id);
    let mut filter = Filter::new();
    // The rows of an item, or of a consumer, are not all the caller's to see, or not in these states.
    if by_item || pov == Pov::Consumer && query.get("state").is_some() {
        filter.test(move |change: &Change| owned_in(pov, change, team) && states.contains(&change.state));
    }
    filter.ids(query, "application_id", |change| change.item.application().get())?;
    filter.ids(query, "consumer_team_id", |change| change.consumer.id.get())?;
    filter.ids(query, "service_id", |change| change.service.id.get())?;
    filter.ids(query, "service_item_id", |change| change.item.get())?;
    filter.ids(query, "service_owner_team_id", |change| change.service_owner.id.get())?;
    filter.ids(query, "submission_id", |change| change.submission.get())?;
    filter.texts(query, "service_name", |change| &change.service.title);
    filter.texts(query, "commit_id", |change| change.commit_id.as_deref().unwrap_or_default());
    let types = ChangeType::ALL.map(ChangeType::name);
    filter.words(query, "change_type", &types, |change| change.change_type.name())?;
    if query.truth("exclude_referenced").map_err(|error| Call::bad_filter(&error))? == Some(true) {
        filter.test(|change| change.kind != Kind::Referenced);
    }
    filter.dates(query, Change::modified)?;
    filter.declarations(query, |change| {
        let version = change.new.or(change.old)?;
        Some((change.consumer.id, version.hash))
    })?;
    let fields: &[Field<Change>] = &[
        ("created", |change| change.created.to_wire()),
        ("id", |change| format!("{:016}", change.id.get())),
        ("modified", |change| change.modified().to_wire()),
        ("state", |change| change.state.name().to_owned()),
        ("change_type", |change| change.change_type.name().to_owned()),
    ];
    let list = List { table, key, call, source, stored: stored_order(call, by_item), filter, fields };
    let page = list.page().await?;
    let related = table.related_to_changes(&page.rows).await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> =
        page.rows.iter().map(|change| view::change_instance(change, &related, &viewpoint)).collect();
    Ok(page.reply(&results))
}

/// The states that are asked for; all when nothing is said.
fn states(call: &Call) -> Result<Vec<State>, Failure> {
    let Some(names) = call.query.list("state") else { return Ok(State::ALL.to_vec()) };
    let states: Option<Vec<State>> = names.iter().map(|name| State::parse(name)).collect();
    let known = State::ALL.map(State::name).join(", ");
    let mut states =
        states.ok_or_else(|| Call::bad_filter(&FieldError::new("state", format!("is none of {known}"))))?;
    states.sort_unstable();
    states.dedup();
    Ok(states)
}

/// The narrowest place that holds the wanted rows.
fn source_of_changes(call: &Call, states: &[State]) -> Result<Source<Change>, Failure> {
    let team = call.caller.team.id;
    Ok(match (single(call, "service_item_id")?.and_then(ItemId::parse), call.pov) {
        (Some(item), _) => Source::<Change>::of_item(item),
        (None, Pov::Consumer) => Source::<Change>::of_consumer(team),
        (None, Pov::ServiceOwner) => Source::<Change>::owned_by(team, states),
    })
}

/// Whether a list in this role shows the change instance: an owner's queue holds its own only.
fn owned_in(pov: Pov, change: &Change, team: TeamId) -> bool {
    match pov {
        Pov::ServiceOwner => change.owner.id == team,
        Pov::Consumer => change.consumer.id == team,
    }
}

/// The value of an id filter that names exactly one.
fn single(call: &Call, name: &str) -> Result<Option<u64>, Failure> {
    let ids = call.query.integers(name).map_err(|error| Call::bad_filter(&error))?;
    Ok(ids.and_then(|ids| if let [id] = ids[..] { Some(id) } else { None }))
}

/// Deployed items.
pub(crate) async fn deployed(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(
        call,
        &[
            "application_id",
            "consumer_team_id",
            "service_id",
            "service_owner_team_id",
            "service_item_id",
            "declaration",
            "declaration_contains",
            "declaration_regex",
        ],
    )?;
    let (query, team, pov) = (&call.query, call.caller.team.id, call.pov);
    let by_item = single(call, "service_item_id")?.is_some();
    let mut filter = Filter::new();
    let source = match (single(call, "service_item_id")?.and_then(ItemId::parse), pov) {
        (Some(item), _) => {
            filter.test(move |deployed: &Deployed| pov.shows_deployed(deployed, team));
            Source::<Deployed>::of_item(item)
        }
        (None, Pov::Consumer) => Source::<Deployed>::of_consumer(team),
        (None, Pov::ServiceOwner) => Source::<Deployed>::owned_by(team),
    };
    filter.ids(query, "application_id", |deployed| deployed.item.application().get())?;
    filter.ids(query, "consumer_team_id", |deployed| deployed.consumer.id.get())?;
    filter.ids(query, "service_owner_team_id", |deployed| deployed.service_owner.id.get())?;
    filter.ids(query, "service_id", |deployed| deployed.service.id.get())?;
    filter.ids(query, "service_item_id", |deployed| deployed.item.get())?;
    filter.texts_of(query, |deployed| &deployed.data)?;
    let fields: &[Field<Deployed>] = &[
        ("created", |deployed| deployed.created.to_wire()),
        ("id", |deployed| format!("{:016}", deployed.id.get())),
        ("version", |deployed| format!("{:020}", deployed.version)),
    ];
    let list = List { table, key, call, source, stored: stored_order(call, by_item), filter, fields };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> =
        page.rows.iter().map(|deployed| view::deployed_item(deployed, &viewpoint)).collect();
    Ok(page.reply(&results))
}

/// Services: the caller's own, or all that it may declare items of.
pub(crate) async fn services(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(call, &["name"])?;
    let (pov, team) = (call.pov, call.caller.team.id);
    let mut filter = Filter::new();
    let source = match pov {
        Pov::ServiceOwner => Source::<Service>::owned_by(team),
        Pov::Consumer => {
            filter.test(move |service: &Service| shows_service(pov, service, team));
            Source::<Service>::all()
        }
    };
    filter.texts(&call.query, "name", |service| &service.title);
    let fields: &[Field<Service>] =
        &[("name", |service| service.title.clone()), ("modified", |service| service.modified.to_wire())];
    let list = List { table, key, call, source, stored: AGE_AND_ID, filter, fields };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let mut results = Vec::new();
    for service in &page.rows {
        let schema = table.schema(service).await?;
        results.push(view::service(service, &schema, &viewpoint));
    }
    Ok(page.reply(&results))
}

/// Whether a team sees a service in this role: its own; as a consumer those that it may use (R21).
pub(crate) fn shows_service(pov: Pov, service: &Service, team: TeamId) -> bool {
    match pov {
        Pov::ServiceOwner => service.owner.id == team,
        Pov::Consumer => service.owner.id == team || service.settings.allows(team),
    }
}

/// Applications: the caller's own, whatever the role.
pub(crate) async fn applications(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(call, &["light", "search", "name", "runtime_state"])?;
    let mut filter = Filter::new();
    if call.query.get("runtime_state").is_some() {
        let wanted = applications_with_items(table, call).await?;
        filter.test(move |application: &Application| wanted.contains(&application.id));
    }
    filter.contains(&call.query, "search", |application: &Application| &application.name);
    filter.texts(&call.query, "name", |application| &application.name);
    let source = Source::<Application>::of_team(call.caller.team.id);
    let fields: &[Field<Application>] = &[
        ("name", |application| application.name.clone()),
        ("modified", |application| application.modified.to_wire()),
    ];
    let list = List { table, key, call, source, stored: AGE_AND_ID, filter, fields };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let team = &call.caller.team;
    let results: Vec<Value> =
        page.rows.iter().map(|application| view::application(application, team, &viewpoint)).collect();
    Ok(page.reply(&results))
}

/// How many items are read to find the applications that have one in a state.
const ITEMS_MAX: usize = 10_000;

/// The applications of the caller that have an item in one of the wanted runtime states.
async fn applications_with_items(table: &Table, call: &Call) -> Result<BTreeSet<ApplicationId>, Failure> {
    let mut filter = Filter::new();
    let states = RuntimeState::ALL.map(RuntimeState::name);
    filter.words(&call.query, "runtime_state", &states, |item: &Item| item.runtime_state.name())?;
    let source = Source::<Item>::of_consumer(call.caller.team.id);
    let mut rows = table.rows(&source, Direction::Ascending, None);
    let (mut wanted, mut read) = (BTreeSet::new(), 0);
    while let Some(batch) = rows.next().await? {
        read += batch.len();
        if read > ITEMS_MAX {
            let message = format!("is known for teams of up to {ITEMS_MAX} items");
            return Err(Call::bad_filter(&FieldError::new("runtime_state", message)));
        }
        let items = batch.into_iter().map(|row| row.value);
        let matching = items.filter(|item| filter.passes(item, &Related::default()));
        wanted.extend(matching.map(|item| item.id.application()));
    }
    Ok(wanted)
}

/// The caller's submissions.
pub(crate) async fn submissions(table: &Table, key: &CursorKey, call: &Call) -> Result<Reply, Failure> {
    only_knows(call, &["light", "commit_id"])?;
    let mut filter = Filter::new();
    filter.texts(&call.query, "commit_id", |submission: &Submission| {
        submission.commit_id.as_deref().unwrap_or_default()
    });
    let source = Source::<Submission>::of_team(call.caller.team.id);
    let list = List { table, key, call, source, stored: AGE_AND_ID, filter, fields: &[] };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let results: Vec<Value> = page
        .rows
        .iter()
        .map(|submission| view::submission(submission, submission.progress(), &viewpoint))
        .collect();
    Ok(page.reply(&results))
}
