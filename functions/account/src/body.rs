//! Bodies of requests about the team, its API keys and members.

use domain::Timestamp;
use domain::account::api_key::{OVERLAP_MICROS, OVERLAP_MICROS_MAX, default_name};
use domain::account::member::subject_problem;
use domain::base::actor::{Role, imitates};
use domain::model::declaration::name_problem;
use dovetail_http::{Failure, Field, Fields};

/// The names that have another meaning in a declaration or in a path.
const RESERVED: [&str; 4] = ["metadata", "services", ".", ".."];
const IMITATES: &str = "must not be SYSTEM and must not end with (Api Key)";

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

pub(crate) fn created(mut fields: Fields, now: Timestamp) -> Result<Created, Failure> {
    let name = fields.string("name").check(name_problem).required();
    let role = role(&mut fields).required();
    let expires = expires(&mut fields, now);
    fields.finish(|| Some(Created { name: name?, role: role?, expires }))
}

pub(crate) fn rotated(mut fields: Fields, now: Timestamp) -> Result<Rotated, Failure> {
    let days = OVERLAP_MICROS_MAX / OVERLAP_MICROS;
    let overlap_micros = fields
        .integer("overlap_seconds", 0..=OVERLAP_MICROS_MAX / 1_000_000, "an integer number of seconds")
        .message(format!("must be an integer number of seconds, at most {days} days"))
        .nullable()
        .map_or(OVERLAP_MICROS, |seconds| seconds.saturating_mul(1_000_000));
    let expires = expires(&mut fields, now);
    fields.finish(|| Some(Rotated { expires, overlap_micros }))
}

pub(crate) fn added(mut fields: Fields) -> Result<Added, Failure> {
    let subject = fields.string("subject").check(subject_problem).required();
    let name = person(&mut fields).required();
    let role = role(&mut fields).required();
    fields.finish(|| Some(Added { subject: subject?, name: name?, role: role? }))
}

pub(crate) fn changed(mut fields: Fields) -> Result<Changed, Failure> {
    let name = person(&mut fields).optional();
    let role = role(&mut fields).optional();
    fields.finish(|| Some(Changed { name, role }))
}

/// Returns the setting of a team; `None` keeps the old value.
pub(crate) fn confirm_removals(mut fields: Fields) -> Result<Option<bool>, Failure> {
    let confirm_removals = fields.boolean("confirm_removals").optional();
    fields.finish(|| Some(confirm_removals))
}

/// The body for a new team.
pub(crate) struct NewTeam {
    pub(crate) name: String,
    pub(crate) confirm_removals: bool,
    pub(crate) key_name: String,
}

pub(crate) fn new_team(mut fields: Fields) -> Result<NewTeam, Failure> {
    let name = fields.string("name").check(name_problem).ensure(|name| !imitates(name), IMITATES);
    let reserved = |name: &String| !RESERVED.contains(&name.to_lowercase().as_str());
    let name = name.ensure(reserved, "must not be `metadata`, `services`, `.` or `..`").required();
    // A new team has no pipeline yet that a confirmation could break.
    let confirm_removals = fields.boolean("confirm_removals").or(true);
    let key_name = fields.string("key_name").check(name_problem).optional();
    fields.finish(|| {
        let name = name?;
        let key_name = key_name.unwrap_or_else(|| default_name(&name, 1));
        Some(NewTeam { name, confirm_removals, key_name })
    })
}

/// Reads a person's name. Histories also show the names of keys and of the system, so a person's name must differ from
/// those.
fn person(fields: &mut Fields) -> Field<'_, String> {
    fields.string("name").check(name_problem).ensure(|name| !imitates(name), IMITATES)
}

fn role(fields: &mut Fields) -> Field<'_, Role> {
    fields.one_of("role", Role::OF_TEAMS.map(Role::name), Role::parse_of_teams)
}

fn expires(fields: &mut Fields, now: Timestamp) -> Option<Timestamp> {
    fields.timestamp("expires").ensure(|at| *at > now, "must be in the future").nullable()
}
