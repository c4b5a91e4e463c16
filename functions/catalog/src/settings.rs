//! Settings of a service in a body. Absent fields keep their values, and the reply lists all errors.

use domain::catalog::service::{
    ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_EVER_MAX, DEPENDENT_TEAMS_MAX, Service, ServiceState, Settings,
    TAGS_MAX, tag_problem,
};
use domain::model::declaration::name_problem;
use domain::{TeamId, TeamRef};
use dovetail_http::{Failure, FieldError};
use dovetail_table::{Error, Table};
use serde_json::{Map, Value};

/// Returns the settings after the update in `body`.
pub(crate) async fn read(
    table: &Table,
    body: &Map<String, Value>,
    service: &Service,
) -> Result<Settings, Failure> {
    let mut asked = Asked { body, settings: service.settings.clone(), wrong: Vec::new() };
    asked.set("state", state, |settings| &mut settings.state);
    asked.set("approval_required", truth, |settings| &mut settings.approval_required);
    asked.set("allow_manual_approval", truth, |settings| &mut settings.allow_manual_approval);
    asked.set("allow_manual_completion", truth, |settings| &mut settings.allow_manual_completion);
    let version = |value: &Value| minimum_version(value, service.schema_version);
    asked.set("minimum_version", version, |settings| &mut settings.minimum_version);
    asked.set("tags", tags, |settings| &mut settings.tags);
    let allowed = asked.teams(table, "allowed_teams", ALLOWED_TEAMS_MAX).await?;
    if let Some(teams) = allowed {
        asked.settings.allowed_teams = teams.into_iter().map(|team| team.id).collect();
    }
    // Existing clients write `dependant`. Both spellings set the same field.
    for field in ["dependant_teams", "dependent_teams"] {
        match asked.teams(table, field, DEPENDENT_TEAMS_MAX).await? {
            Some(teams) if teams.contains(&service.owner) => {
                asked.refuse(
                    field,
                    "must not contain the owner, because it gets every change instance already",
                );
            }
            Some(teams) if !service.may_depend_on(&teams) => {
                let most = DEPENDENT_TEAMS_EVER_MAX;
                asked.refuse(
                    field,
                    format!("must have at most {most} different teams over the life of the service"),
                );
            }
            Some(teams) => asked.settings.dependent_teams = teams,
            None => {}
        }
    }
    if asked.wrong.is_empty() { Ok(asked.settings) } else { Err(asked.wrong.into()) }
}

/// The settings and the errors so far.
struct Asked<'a> {
    body: &'a Map<String, Value>,
    settings: Settings,
    wrong: Vec<FieldError>,
}

impl Asked<'_> {
    fn refuse(&mut self, field: &str, message: impl Into<String>) {
        self.wrong.push(FieldError::new(field, message));
    }

    /// Applies a field of the body, if present.
    fn set<T>(
        &mut self,
        field: &str,
        read: impl Fn(&Value) -> Result<T, String>,
        place: fn(&mut Settings) -> &mut T,
    ) {
        match self.body.get(field).map(read) {
            None => {}
            Some(Ok(value)) => *place(&mut self.settings) = value,
            Some(Err(message)) => self.refuse(field, message),
        }
    }

    /// Returns the teams of a field by id or name, each once, in order; none if the field is absent or invalid.
    async fn teams(
        &mut self,
        table: &Table,
        field: &str,
        most: usize,
    ) -> Result<Option<Vec<TeamRef>>, Error> {
        let Some(value) = self.body.get(field) else { return Ok(None) };
        let Some(list) = value.as_array() else {
            self.refuse(field, "must be an array of teams");
            return Ok(None);
        };
        // Each entry costs a read, so the limit comes first.
        if list.len() > most {
            self.refuse(field, format!("must have at most {most} teams"));
            return Ok(None);
        }
        let mut teams: Vec<TeamRef> = Vec::new();
        for entry in list {
            match team(table, entry).await? {
                Some(team) if teams.contains(&team) => {}
                Some(team) => teams.push(team),
                None => {
                    self.refuse(field, "must contain only teams that exist");
                    return Ok(None);
                }
            }
        }
        Ok(Some(teams))
    }
}

async fn team(table: &Table, entry: &Value) -> Result<Option<TeamRef>, Error> {
    let team = match (entry.as_u64().or_else(|| entry.get("id")?.as_u64()), entry.as_str()) {
        (Some(id), _) => match TeamId::new(id) {
            Some(id) => table.team(id).await?,
            None => None,
        },
        (None, Some(name)) if name_problem(name).is_none() => table.team_by_name(name).await?,
        (None, Some(_) | None) => None,
    };
    Ok(team.map(|team| team.to_ref()))
}

fn truth(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| "must be true or false".to_owned())
}

fn state(value: &Value) -> Result<ServiceState, String> {
    let state = value.as_str().and_then(ServiceState::parse);
    state.ok_or_else(|| format!("must be one of {}", ServiceState::ALL.map(ServiceState::name).join(", ")))
}

/// Parses null or an existing version.
fn minimum_version(value: &Value, newest: u64) -> Result<Option<u64>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let version = value.as_u64().filter(|version| (1..=newest).contains(version));
    version.map(Some).ok_or_else(|| format!("must be null or a schema version from 1 to {newest}"))
}

/// Parses tags: each once, in order.
fn tags(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or("must be an array of strings")?;
    if list.len() > TAGS_MAX {
        return Err(format!("must have at most {TAGS_MAX} tags"));
    }
    let mut tags: Vec<String> = Vec::new();
    for entry in list {
        let tag = entry.as_str().ok_or("must be an array of strings")?;
        if let Some(problem) = tag_problem(tag) {
            return Err(format!("every tag must be valid: {problem}"));
        }
        if !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    Ok(tags)
}
