//! Bodies of updates: any of `state`, `log`, `deployed_item` (docs/reference/http/README.md, convention 9).

use domain::State;
use domain::base::json;
use domain::rules::decide::Update;
use dovetail_http::FieldError;
use serde_json::{Map, Value};

/// Parses an update.
pub(crate) fn update(body: &Map<String, Value>) -> Result<Update, FieldError> {
    Ok(Update {
        state: state(body.get("state"))?,
        log: log(body.get("log"))?,
        deployed_item: body.get("deployed_item").map(|data| data_text("deployed_item", data)).transpose()?,
        onto: None,
    })
}

fn state(value: Option<&Value>) -> Result<Option<State>, FieldError> {
    // The Terraform provider always sends the field, and leaves it empty without a state.
    let Some(value) = value.filter(|value| !value.is_null() && *value != "") else { return Ok(None) };
    let state = value.as_str().and_then(State::parse);
    let names = State::ALL.map(State::name).join(", ");
    state.map(Some).ok_or_else(|| FieldError::new("state", format!("must be one of {names}")))
}

fn log(value: Option<&Value>) -> Result<Option<String>, FieldError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(log)) => Ok(Some(log.clone())),
        Some(_) => Err(FieldError::new("log", "must be a string")),
    }
}

/// Returns the JSON object in a field as canonical text.
pub(crate) fn data_text(field: &str, value: &Value) -> Result<String, FieldError> {
    if value.is_null() {
        return Err(FieldError::new(field, "This field may not be null."));
    }
    if !value.is_object() {
        return Err(FieldError::new(field, "must be a JSON object"));
    }
    Ok(json::canonical(value))
}
