//! Settings of a service in a body. Absent fields keep their values, and the reply lists all errors.

use domain::catalog::service::{
    ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_EVER_MAX, DEPENDENT_TEAMS_MAX, ReferencesSee, Service, ServiceState,
    Settings, TAGS_MAX, UpdateStrategy, tag_problem,
};
use domain::model::declaration::name_problem;
use domain::{TeamId, TeamRef};
use dovetail_http::{Failure, Fields};
use dovetail_table::{Error, Table};
use serde_json::Value;

/// Returns the settings after the update in a body.
pub(crate) async fn read(table: &Table, mut fields: Fields, service: &Service) -> Result<Settings, Failure> {
    let before = service.settings.clone();
    let mut settings = Settings {
        state: fields
            .one_of("state", ServiceState::ALL.map(ServiceState::name), ServiceState::parse)
            .or(before.state),
        approval_required: fields.boolean("approval_required").or(before.approval_required),
        allow_manual_approval: fields.boolean("allow_manual_approval").or(before.allow_manual_approval),
        allow_manual_completion: fields.boolean("allow_manual_completion").or(before.allow_manual_completion),
        update_strategy: fields
            .one_of("update_strategy", UpdateStrategy::ALL.map(UpdateStrategy::name), UpdateStrategy::parse)
            .or(before.update_strategy),
        complete_unneeded: fields.boolean("complete_unneeded").or(before.complete_unneeded),
        claim_required: fields.boolean("claim_required").or(before.claim_required),
        references_see: fields
            .one_of("references_see", ReferencesSee::ALL.map(ReferencesSee::name), ReferencesSee::parse)
            .or(before.references_see),
        require_ready: fields.boolean("require_ready").or(before.require_ready),
        minimum_version: fields
            .integer("minimum_version", 1..=service.schema_version, "a schema version")
            .or_null()
            .or(before.minimum_version),
        tags: fields.array("tags", "strings").max(TAGS_MAX, "tags").parse(tags).or(before.tags),
        ..before
    };
    if let Some(teams) = teams(table, &mut fields, "allowed_teams", ALLOWED_TEAMS_MAX).await? {
        settings.allowed_teams = teams.into_iter().map(|team| team.id).collect();
    }
    // Existing clients write `dependant`. Both spellings set the same field.
    for field in ["dependant_teams", "dependent_teams"] {
        let Some(teams) = teams(table, &mut fields, field, DEPENDENT_TEAMS_MAX).await? else { continue };
        if teams.contains(&service.owner) {
            let message = "must not contain the owner, because it gets every change instance already";
            fields.refuse(field, message);
        } else if !service.may_depend_on(&teams) {
            let most = DEPENDENT_TEAMS_EVER_MAX;
            let message = format!("must have at most {most} different teams over the life of the service");
            fields.refuse(field, message);
        }
        settings.dependent_teams = teams;
    }
    if !settings.approval_required && service.settings.approval_required {
        check_approval(table, &mut fields, service).await?;
    }
    fields.finish(|| Some(settings))
}

/// Refuses the end of approvals if the service owner could then not fill a property in time (R50).
async fn check_approval(table: &Table, fields: &mut Fields, service: &Service) -> Result<(), Error> {
    if service.has_words()
        && let Some(pointer) = &table.schema(service).await?.owner_path_at_approval
    {
        let message = format!("must be true: {pointer} names a property that the service owner fills");
        fields.refuse("approval_required", message);
    }
    Ok(())
}

/// Returns the teams of a field by id or name, each once, in order; none if the field is absent or invalid.
async fn teams(
    table: &Table,
    fields: &mut Fields,
    field: &'static str,
    most: usize,
) -> Result<Option<Vec<TeamRef>>, Error> {
    // Each entry costs a read, so the limit comes first.
    let list = fields.array(field, "teams").max(most, "teams").optional();
    let Some(list) = list else { return Ok(None) };
    let mut teams: Vec<TeamRef> = Vec::new();
    for entry in &list {
        match team(table, entry).await? {
            Some(team) if teams.contains(&team) => {}
            Some(team) => teams.push(team),
            None => {
                fields.refuse(field, "must contain only teams that exist");
                return Ok(None);
            }
        }
    }
    Ok(Some(teams))
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

/// Parses tags: each once, in order.
fn tags(list: Vec<Value>) -> Result<Vec<String>, String> {
    let mut tags = Vec::new();
    for entry in list {
        let Value::String(tag) = entry else { return Err("must be an array of strings".to_owned()) };
        if let Some(problem) = tag_problem(&tag) {
            return Err(format!("every tag must be valid: {problem}"));
        }
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}
