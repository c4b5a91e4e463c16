//! Bodies about webhooks. Absent fields keep their values, or get their defaults.

use domain::State;
use domain::base::id::ServiceId;
use domain::base::refs::ServiceRef;
use domain::model::declaration::name_problem;
use domain::outreach::webhook::{
    AUTHORIZATION_BYTES_MAX, DESCRIPTION_BYTES_MAX, HELD_SECONDS_MAX, Settings, TIMEOUT_SECONDS,
    TIMEOUT_SECONDS_MAX, URL_BYTES_MAX,
};
use dovetail_http::{Call, Failure, FieldError, view};
use dovetail_outbound::{Target, Targets, is_same_origin};
use dovetail_table::Table;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

pub(crate) const AUTHORIZATION: &str = "authorization";

pub(crate) type Body = Map<String, Value>;
pub(crate) type Field<T> = Result<Option<T>, FieldError>;

/// The subject of a body.
pub(crate) enum Asked<'a> {
    /// A new webhook.
    New {
        /// Title of the service, the default for the name.
        title: String,
    },
    /// A webhook with these settings.
    Changed(&'a Settings),
}

/// Returns the settings in a body, or all errors.
pub(crate) fn settings(body: &Body, asked: Asked<'_>, targets: Targets) -> Result<Settings, Vec<FieldError>> {
    let is_new = matches!(asked, Asked::New { .. });
    let before = match &asked {
        Asked::New { title } => usual(title.clone()),
        Asked::Changed(before) => (*before).clone(),
    };
    let mut errors = Vec::new();
    let mut all = Told { errors: &mut errors };
    let told = Settings {
        name: all.or(name(body), before.name),
        description: all.or(description(body), before.description),
        target_url: all.or(target_url(body, targets, is_new), before.target_url),
        authorization: all.or(authorization(body, is_new), before.authorization),
        state: all.or(state(body), before.state),
        active: all.or(truth(body, "active"), before.active),
        timeout_seconds: all.or(seconds(body, "timeout", 1..=TIMEOUT_SECONDS_MAX), before.timeout_seconds),
        wait_seconds: all.or(seconds(body, "trigger_wait_time", 0..=HELD_SECONDS_MAX), before.wait_seconds),
        cooling_seconds: all
            .or(seconds(body, "trigger_cooling_time", 0..=HELD_SECONDS_MAX), before.cooling_seconds),
    };
    if let Asked::Changed(before) = asked {
        let is_kept = before.authorization.is_some() && !replaces_authorization(body);
        all.or(credentials(is_kept, &before.target_url, &told.target_url), ());
    }
    all.or(
        // Without verification, the credentials would go to any server that answers (ADR 20).
        only(body, "verify", true, "must be true: Dovetail always verifies the certificate of the receiver"),
        (),
    );
    all.or(only(body, "trust_env", false, "must be false: Dovetail uses no proxy"), ());
    if errors.is_empty() { Ok(told) } else { Err(errors) }
}

/// Returns the default settings.
fn usual(title: String) -> Settings {
    Settings {
        name: title,
        description: String::new(),
        target_url: String::new(),
        authorization: None,
        state: None,
        active: true,
        timeout_seconds: TIMEOUT_SECONDS,
        wait_seconds: 0,
        cooling_seconds: 0,
    }
}

/// The errors so far.
pub(crate) struct Told<'a> {
    pub(crate) errors: &'a mut Vec<FieldError>,
}

impl Told<'_> {
    /// Returns the value of a field, or else its old value.
    pub(crate) fn or<T>(&mut self, field: Field<T>, before: T) -> T {
        match field {
            Ok(value) => value.unwrap_or(before),
            Err(error) => {
                self.errors.push(error);
                before
            }
        }
    }
}

fn name(body: &Body) -> Field<String> {
    let Some(name) = text(body, "name")? else { return Ok(None) };
    match name_problem(&name) {
        Some(problem) => Err(FieldError::new("name", problem)),
        None => Ok(Some(name)),
    }
}

fn description(body: &Body) -> Field<String> {
    bounded(text(body, "description")?, "description", DESCRIPTION_BYTES_MAX)
}

pub(crate) fn target_url(body: &Body, targets: Targets, is_needed: bool) -> Field<String> {
    let url = bounded(text(body, "target_url")?, "target_url", URL_BYTES_MAX)?;
    match url.as_deref().map(|url| Target::parse(url, targets)) {
        None if is_needed => Err(FieldError::new("target_url", "must be present")),
        Some(Err(problem)) => Err(FieldError::new("target_url", problem.message())),
        None | Some(Ok(_)) => Ok(url),
    }
}

pub(crate) fn authorization(body: &Body, is_new: bool) -> Field<Option<String>> {
    let field = AUTHORIZATION;
    if body.get(field).is_some_and(Value::is_null) {
        return Ok(Some(None));
    }
    match bounded(text(body, field)?, field, AUTHORIZATION_BYTES_MAX)? {
        None => Ok(None),
        Some(text) if text.is_empty() => Ok(Some(None)),
        // Replies show the stored value as the mask, so the stored value stays.
        Some(text) if text == view::MASK && !is_new => Ok(None),
        Some(text) if text == view::MASK => {
            Err(FieldError::new(field, "must be a value, not the mask of a stored one"))
        }
        // A line break in the value could start another header.
        Some(text) if !text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) => {
            Err(FieldError::new(field, "must contain only printable ASCII characters"))
        }
        Some(text) => Ok(Some(Some(text))),
    }
}

/// Returns whether a body has new credentials, or removes the stored ones.
pub(crate) fn replaces_authorization(body: &Body) -> bool {
    body.get(AUTHORIZATION).is_some_and(|value| value.as_str() != Some(view::MASK))
}

/// Rejects a new origin for stored credentials; the body must contain them again.
///
/// Otherwise each caller with access to the URL could read them.
pub(crate) fn credentials(is_kept: bool, before: &str, after: &str) -> Field<()> {
    if is_kept && !is_same_origin(before, after) {
        let message = "must be sent again: target_url has another scheme, host or port";
        return Err(FieldError::new(AUTHORIZATION, message));
    }
    Ok(None)
}

fn state(body: &Body) -> Field<Option<State>> {
    let field = "change_instance_state";
    match body.get(field) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(None)),
        Some(value) => {
            let known = State::ALL.map(State::name).join(", ");
            let state = value.as_str().and_then(State::parse);
            let state =
                state.ok_or_else(|| FieldError::new(field, format!("must be null or one of {known}")));
            state.map(|state| Some(Some(state)))
        }
    }
}

fn seconds(body: &Body, field: &str, range: RangeInclusive<u64>) -> Field<u64> {
    let Some(value) = body.get(field) else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| range.contains(seconds));
    let wrong = || {
        FieldError::new(
            field,
            format!("must be an integer number of seconds from {} to {}", range.start(), range.end()),
        )
    };
    seconds.map(Some).ok_or_else(wrong)
}

pub(crate) fn truth(body: &Body, field: &str) -> Field<bool> {
    let Some(value) = body.get(field) else { return Ok(None) };
    value.as_bool().map(Some).ok_or_else(|| FieldError::new(field, "must be true or false"))
}

/// Parses a field with one possible value. Existing clients send it.
fn only(body: &Body, field: &str, value: bool, why: &str) -> Field<()> {
    match truth(body, field)? {
        Some(other) if other != value => Err(FieldError::new(field, why)),
        Some(_) | None => Ok(None),
    }
}

pub(crate) fn text(body: &Body, field: &str) -> Field<String> {
    let Some(value) = body.get(field) else { return Ok(None) };
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| FieldError::new(field, "must be a string"))
}

fn bounded(text: Option<String>, field: &str, bytes_max: usize) -> Field<String> {
    match text {
        Some(text) if text.len() > bytes_max => {
            Err(FieldError::new(field, format!("must be at most {bytes_max} bytes")))
        }
        text => Ok(text),
    }
}

/// Returns the service in the body, if it belongs to the caller's team.
pub(crate) async fn service(
    table: &Table,
    call: &Call,
    body: &Body,
) -> Result<Result<ServiceRef, FieldError>, Failure> {
    let Some(id) = service_id(call, body) else {
        return Ok(Err(FieldError::new("service", "must be the id or the URL of a service")));
    };
    let service = table.service_by_id(id).await?.filter(|service| service.owner.id == call.caller.team.id);
    let service = service.map(|service| ServiceRef { id: service.id, title: service.title });
    Ok(service.ok_or_else(|| FieldError::new("service", "must be a service of the team")))
}

/// Rejects a body with another service than that of the webhook.
pub(crate) fn same_service(call: &Call, body: &Body, service: ServiceId) -> Result<(), FieldError> {
    if !body.contains_key("service") || service_id(call, body) == Some(service) {
        return Ok(());
    }
    Err(FieldError::new("service", "must be unchanged: the service of a webhook is fixed"))
}

pub(crate) fn service_id(call: &Call, body: &Body) -> Option<ServiceId> {
    let value = body.get("service")?;
    let id = call.id_in(value, "services").or_else(|| value.get("id")?.as_u64());
    id.and_then(ServiceId::new)
}
