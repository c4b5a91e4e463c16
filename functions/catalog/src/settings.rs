//! A service's settings as they come in a body; what is absent stays as it is.

use domain::actor::TeamRef;
use domain::declaration::name_problem;
use domain::id::TeamId;
use domain::service::{ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_MAX, Service, Settings};
use dovetail_http::{Failure, FieldError};
use dovetail_table::Table;
use serde_json::{Map, Value};

/// The settings after the update that `body` asks for.
pub(crate) async fn read(
    table: &Table,
    body: &Map<String, Value>,
    service: &Service,
) -> Result<Settings, Failure> {
    let mut settings = service.settings.clone();
    if let Some(value) = body.get("approval_required") {
        let wrong = || FieldError::new("approval_required", "is neither true nor false");
        settings.approval_required = value.as_bool().ok_or_else(wrong)?;
    }
    if let Some(value) = body.get("allowed_teams") {
        let teams = teams(table, "allowed_teams", value, ALLOWED_TEAMS_MAX).await?;
        settings.allowed_teams = teams.into_iter().map(|team| team.id).collect();
    }
    for field in ["dependant_teams", "dependent_teams"] {
        if let Some(value) = body.get(field) {
            settings.dependent_teams = dependents(table, field, value, service).await?;
        }
    }
    Ok(settings)
}

async fn dependents(
    table: &Table,
    field: &str,
    value: &Value,
    service: &Service,
) -> Result<Vec<TeamRef>, Failure> {
    let teams = teams(table, field, value, DEPENDENT_TEAMS_MAX).await?;
    if teams.contains(&service.owner) {
        return Err(FieldError::new(field, "names the owner, who gets every change instance anyway").into());
    }
    Ok(teams)
}

/// Teams by id or by name, each once, in order.
async fn teams(table: &Table, field: &str, value: &Value, most: usize) -> Result<Vec<TeamRef>, Failure> {
    let list = value.as_array().ok_or_else(|| FieldError::new(field, "is no list of teams"))?;
    if list.len() > most {
        return Err(FieldError::new(field, format!("names more than {most} teams")).into());
    }
    let mut teams: Vec<TeamRef> = Vec::new();
    for entry in list {
        let team = match (entry.as_u64().or_else(|| entry.get("id")?.as_u64()), entry.as_str()) {
            (Some(id), _) => match TeamId::new(id) {
                Some(id) => table.team(id).await?,
                None => None,
            },
            (None, Some(name)) if name_problem(name).is_none() => table.team_by_name(name).await?,
            (None, Some(_) | None) => None,
        };
        let team = team.ok_or_else(|| FieldError::new(field, "names a team that does not exist"))?.to_ref();
        if !teams.contains(&team) {
            teams.push(team);
        }
    }
    Ok(teams)
}
