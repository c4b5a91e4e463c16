//! The settings of a service, in its record and in the audit log.

use super::invalid::Bad;
use super::parts::{TeamPart, team_id};
use domain::TeamId;
use domain::catalog::service::{ServiceState, Settings};
use serde::{Deserialize, Serialize};

/// Further settings of a service.
#[derive(Serialize, Deserialize)]
pub(crate) struct SettingsPart {
    /// State of the service, for example `IN_SERVICE` (R31).
    st: String,
    /// Whether a person may approve.
    ma: bool,
    /// Whether a person may complete.
    mc: bool,
    /// Minimum schema version. Absent if none is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    mv: Option<u64>,
    /// Tags in the catalogue.
    tg: Vec<String>,
}

impl SettingsPart {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            st: settings.state.name().to_owned(),
            ma: settings.allow_manual_approval,
            mc: settings.allow_manual_completion,
            mv: settings.minimum_version,
            tg: settings.tags.clone(),
        }
    }

    /// Returns all settings: this part and the attributes outside of it.
    pub(crate) fn settings(
        part: Option<Self>,
        approval_required: bool,
        dependents: Vec<TeamPart>,
        allowed: Vec<u64>,
    ) -> Result<Settings, Bad> {
        let dependent_teams = dependents.into_iter().map(TeamPart::value).collect::<Result<_, _>>()?;
        let allowed_teams = allowed.into_iter().map(team_id).collect::<Result<Vec<TeamId>, _>>()?;
        let settings = Settings { approval_required, dependent_teams, allowed_teams, ..Settings::default() };
        let Some(part) = part else { return Ok(settings) };
        Ok(Settings {
            state: ServiceState::parse(&part.st).ok_or(Bad("service state"))?,
            allow_manual_approval: part.ma,
            allow_manual_completion: part.mc,
            minimum_version: part.mv,
            tags: part.tg,
            ..settings
        })
    }
}
