//! Applications: the caller's own, whatever the role, and one of them.

use crate::filter::Filter;
use crate::page::{AGE_AND_ID, Asked, Field, List, Orders, only_knows};
use domain::id::ApplicationId;
use domain::item::{Item, RuntimeState};
use domain::related::Related;
use domain::team::Application;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Direction, Source, Table};
use serde_json::Value;
use std::collections::BTreeSet;

const FIELDS: &[Field<Application>] = &[
    ("name", |application| application.name.clone()),
    ("modified", |application| application.modified.to_wire()),
];

/// How many items are read to find the applications that have one in a state.
const ITEMS_MAX: usize = 10_000;

/// All of them.
pub(crate) async fn all(asked: Asked<'_>) -> Result<Reply, Failure> {
    let call = asked.call;
    only_knows(call, &["light", "search", "name", "runtime_state"])?;
    let mut filter = Filter::new();
    if call.query.get("runtime_state").is_some() {
        let wanted = with_items(asked.table, call).await?;
        filter.test(move |application: &Application| wanted.contains(&application.id));
    }
    filter.contains(&call.query, "search", |application: &Application| &application.name);
    filter.texts(&call.query, "name", |application| &application.name);
    let source = Source::<Application>::of_team(call.caller.team.id);
    let orders = Orders::By { stored: AGE_AND_ID, fields: FIELDS };
    let list = List { asked, source, filter, orders };
    let page = list.page().await?;
    let viewpoint = Viewpoint::of(call);
    let team = &call.caller.team;
    let results: Vec<Value> =
        page.rows.iter().map(|application| view::application(application, team, &viewpoint)).collect();
    Ok(page.reply(&results))
}

/// One application.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ApplicationId::parse)?;
    if id.team() != call.caller.team.id {
        return Err(Code::NotFound.into());
    }
    let application = table.application(id).await?.ok_or(Code::NotFound)?;
    let body = view::application(&application, &call.caller.team, &Viewpoint::of(call));
    Ok(Reply::new(200, body))
}

/// The applications of the caller that have an item in one of the wanted runtime states.
async fn with_items(table: &Table, call: &Call) -> Result<BTreeSet<ApplicationId>, Failure> {
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
