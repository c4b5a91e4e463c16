//! Bodies of requests about API keys and members.

use domain::Timestamp;
use domain::account::api_key::{OVERLAP_MICROS, OVERLAP_MICROS_MAX};
use domain::account::member::subject_problem;
use domain::base::actor::Role;
use domain::model::declaration::name_problem;
use dovetail_http::FieldError;
use serde_json::{Map, Value};

/// The body for a new API key.
pub(crate) struct Created {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) expires: Option<Timestamp>,
}

/// The body for a rotation.
pub(crate) struct Rotated {
    pub(crate) expires: Option<Timestamp>,
    pub(crate) overlap_micros: u64,
}

/// The body for a new member.
pub(crate) struct Added {
    pub(crate) subject: String,
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// The body for a change of a member; `None` keeps the old value.
pub(crate) struct Changed {
    pub(crate) name: Option<String>,
    pub(crate) role: Option<Role>,
}

pub(crate) fn created(body: &Map<String, Value>, now: Timestamp) -> Result<Created, FieldError> {
    Ok(Created { name: name(body.get("name"))?, role: role(body.get("role"))?, expires: expires(body, now)? })
}

pub(crate) fn rotated(body: &Map<String, Value>, now: Timestamp) -> Result<Rotated, FieldError> {
    let overlap_micros = match body.get("overlap_seconds").filter(|value| !value.is_null()) {
        None => OVERLAP_MICROS,
        Some(value) => {
            let micros = value.as_u64().and_then(|seconds| seconds.checked_mul(1_000_000));
            let micros = micros.filter(|micros| *micros <= OVERLAP_MICROS_MAX);
            let days = OVERLAP_MICROS_MAX / OVERLAP_MICROS;
            micros.ok_or_else(|| {
                FieldError::new(
                    "overlap_seconds",
                    format!("must be an integer number of seconds, at most {days} days"),
                )
            })?
        }
    };
    Ok(Rotated { expires: expires(body, now)?, overlap_micros })
}

pub(crate) fn added(body: &Map<String, Value>) -> Result<Added, FieldError> {
    let subject = body.get("subject").and_then(Value::as_str);
    let subject = subject.ok_or_else(|| FieldError::new("subject", "must be a string"))?;
    if let Some(problem) = subject_problem(subject) {
        return Err(FieldError::new("subject", problem));
    }
    let (name, role) = (person(body.get("name"))?, role(body.get("role"))?);
    Ok(Added { subject: subject.to_owned(), name, role })
}

pub(crate) fn changed(body: &Map<String, Value>) -> Result<Changed, FieldError> {
    let name = body.get("name").map(|value| person(Some(value))).transpose()?;
    Ok(Changed { name, role: body.get("role").map(|value| role(Some(value))).transpose()? })
}

/// Parses a person's name. Histories also show the names of keys and of the system, so it must differ from those.
fn person(value: Option<&Value>) -> Result<String, FieldError> {
    let name = name(value)?;
    let is_anothers = name.ends_with("(Api Key)") || name == "SYSTEM";
    if is_anothers {
        Err(FieldError::new("name", "must not be SYSTEM and must not end with (Api Key)"))
    } else {
        Ok(name)
    }
}

fn name(value: Option<&Value>) -> Result<String, FieldError> {
    let name = value.and_then(Value::as_str).ok_or_else(|| FieldError::new("name", "must be a string"))?;
    match name_problem(name) {
        Some(problem) => Err(FieldError::new("name", problem)),
        None => Ok(name.to_owned()),
    }
}

fn role(value: Option<&Value>) -> Result<Role, FieldError> {
    let role = value.and_then(Value::as_str).and_then(Role::parse);
    let known = Role::ALL.map(Role::name).join(", ");
    role.ok_or_else(|| FieldError::new("role", format!("must be one of {known}")))
}

fn expires(body: &Map<String, Value>, now: Timestamp) -> Result<Option<Timestamp>, FieldError> {
    let Some(value) = body.get("expires").filter(|value| !value.is_null()) else { return Ok(None) };
    let at = value.as_str().and_then(Timestamp::parse);
    let at = at.ok_or_else(|| FieldError::new("expires", "must be a date or a time"))?;
    if at > now { Ok(Some(at)) } else { Err(FieldError::new("expires", "must be in the future")) }
}
