//! The tools that read.

use super::input::{CHANGE, id, picked, text};
use crate::{
    api::{
        client::{Api, ORCABASE},
        filter,
        kinds::SIDES,
        object,
    },
    base::{failure::Failure, json::At as _},
    commands::diff::difference,
};
use domain::State;
use serde_json::{Value, json};

/// Maximum number of results without `limit`.
const LIMIT: u64 = 50;

const ENTRY: &[(&str, &str)] = &[
    ("time", "/modified"),
    ("state", "/state"),
    ("by", "/changed_by"),
    ("team", "/changed_by_team"),
    ("log", "/log"),
    ("message", "/message"),
];

pub(super) fn catalogue(api: &Api, _: &Value) -> Result<Value, Failure> {
    let services = api.list(&format!("{ORCABASE}/consumer/services/"), usize::MAX)?;
    let service = |service: &Value| {
        picked(
            service,
            &[
                ("service", "/name"),
                ("owner", "/owner/name"),
                ("state", "/state"),
                ("description", "/schema/schema/description"),
                ("needs_approval", "/approval_required"),
            ],
        )
    };
    Ok(json!({"services": services.iter().map(service).collect::<Vec<_>>()}))
}

pub(super) fn definition(api: &Api, input: &Value) -> Result<Value, Failure> {
    Ok(json!({"definition": object::definition(api, text(input, "service")?)?}))
}

pub(super) fn changes(api: &Api, input: &Value) -> Result<Value, Failure> {
    let mut filters = vec![("ordering".to_owned(), "-id".to_owned())];
    filters.extend(input.get("state").map(|_| ("state".to_owned(), input.text_at("/state"))));
    filters
        .extend(input.get("submission").map(|_| ("submission_id".to_owned(), input.text_at("/submission"))));
    listed(api, "consumer", &filters, input)
}

pub(super) fn queue(api: &Api, input: &Value) -> Result<Value, Failure> {
    let mut filters = vec![("state".to_owned(), "PENDING,APPROVED".to_owned())];
    filters.extend(input.get("service").map(|_| ("service_name".to_owned(), input.text_at("/service"))));
    listed(api, "serviceowner", &filters, input)
}

fn listed(api: &Api, side: &str, filters: &[(String, String)], input: &Value) -> Result<Value, Failure> {
    let path = format!("{ORCABASE}/{side}/change_instances/{}", filter::query(filters));
    let found = api.list(&path, limit(input)?)?;
    Ok(json!({"changes": found.iter().map(|change| picked(change, CHANGE)).collect::<Vec<_>>()}))
}

fn limit(input: &Value) -> Result<usize, Failure> {
    input.get("limit").and_then(Value::as_u64).unwrap_or(LIMIT).try_into().map_err(Failure::failed)
}

pub(super) fn explain(api: &Api, input: &Value) -> Result<Value, Failure> {
    let id = id(input, "change")?;
    let change = object::either_side(api, &SIDES, &format!("change_instances/{id}/"))?.value;
    let history = object::either_side(api, &SIDES, &format!("change_instances/{id}/history/"))?.value;
    let entries = history.list_at("/results").iter().map(|entry| picked(entry, ENTRY));
    Ok(json!({
        "change": picked(&change, CHANGE),
        "differences": change.at("/differences"),
        "declaration": change.at("/new_declaration/declaration"),
        "history": entries.collect::<Vec<_>>(),
        "next": next(&change),
    }))
}

/// Says who must act, and how.
fn next(change: &Value) -> String {
    let [owner, consumer] = ["/owner/name", "/consumer_team/name"].map(|pointer| change.text_at(pointer));
    match change.text_at("/state").parse() {
        Ok(State::Pending) => format!("{owner} approves or rejects the change"),
        Ok(State::Approved) => format!("{owner} does the work, and completes or fails the change"),
        Ok(State::Rejected | State::Errored) => {
            format!(
                "{consumer} declares another value or removes the item, or {owner} retries or closes the change"
            )
        }
        Ok(State::Completed | State::Closed) | Err(_) => "the state is final".to_owned(),
    }
}

pub(super) fn history(api: &Api, input: &Value) -> Result<Value, Failure> {
    let found = api.list(&format!("{ORCABASE}/consumer/submissions/?ordering=-id"), limit(input)?)?;
    let submission = |submission: &Value| {
        picked(
            submission,
            &[
                ("id", "/id"),
                ("state", "/state"),
                ("by", "/submitted_by"),
                ("commit", "/commit_id"),
                ("message", "/message"),
                ("created", "/created"),
            ],
        )
    };
    Ok(json!({"submissions": found.iter().map(submission).collect::<Vec<_>>()}))
}

pub(super) fn diff(api: &Api, input: &Value) -> Result<Value, Failure> {
    difference(api, id(input, "from")?, id(input, "to")?)
}
