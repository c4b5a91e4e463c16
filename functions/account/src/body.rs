//! The bodies of requests about API keys.

use domain::access::{OVERLAP_MICROS, OVERLAP_MICROS_MAX};
use domain::actor::Role;
use domain::declaration::name_problem;
use domain::timestamp::Timestamp;
use dovetail_http::FieldError;
use serde_json::{Map, Value};

/// A key that is asked for.
pub(crate) struct Created {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) expires: Option<Timestamp>,
}

/// A rotation that is asked for.
pub(crate) struct Rotated {
    pub(crate) expires: Option<Timestamp>,
    pub(crate) overlap_micros: u64,
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
                FieldError::new("overlap_seconds", format!("is no number of seconds up to {days} days"))
            })?
        }
    };
    Ok(Rotated { expires: expires(body, now)?, overlap_micros })
}

fn name(value: Option<&Value>) -> Result<String, FieldError> {
    let name = value.and_then(Value::as_str).ok_or_else(|| FieldError::new("name", "is no text"))?;
    match name_problem(name) {
        Some(problem) => Err(FieldError::new("name", problem)),
        None => Ok(name.to_owned()),
    }
}

fn role(value: Option<&Value>) -> Result<Role, FieldError> {
    let role = value.and_then(Value::as_str).and_then(Role::parse);
    let known = Role::ALL.map(Role::name).join(", ");
    role.ok_or_else(|| FieldError::new("role", format!("is none of {known}")))
}

fn expires(body: &Map<String, Value>, now: Timestamp) -> Result<Option<Timestamp>, FieldError> {
    let Some(value) = body.get("expires").filter(|value| !value.is_null()) else { return Ok(None) };
    let at = value.as_str().and_then(Timestamp::parse);
    let at = at.ok_or_else(|| FieldError::new("expires", "is no date or time"))?;
    if at > now { Ok(Some(at)) } else { Err(FieldError::new("expires", "is past")) }
}
