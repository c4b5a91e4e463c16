//! The settings of a service, in its record and in the audit log.

use super::conversion::{Bad, Part};
use super::parts::TeamPart;
use domain::catalog::service::Settings;
use serde::{Deserialize, Serialize};

/// The settings of a service.
#[derive(Serialize, Deserialize)]
pub(crate) struct SettingsPart {
    /// Whether change instances start as PENDING. If false, they start as APPROVED.
    #[serde(rename = "ar")]
    approval_required: bool,
    /// Dependent teams.
    #[serde(rename = "dt")]
    dependent_teams: Vec<TeamPart>,
    /// Ids of the teams that may declare new items. Empty for a public service.
    #[serde(rename = "at")]
    allowed_teams: Vec<u64>,
    /// Further settings. Absent in the oldest records, so the defaults apply.
    #[serde(rename = "set", skip_serializing_if = "Option::is_none")]
    further: Option<FurtherSettingsPart>,
}

/// Further settings of a service.
#[derive(Serialize, Deserialize)]
pub(crate) struct FurtherSettingsPart {
    /// State of the service, for example `IN_SERVICE` (R31).
    #[serde(rename = "st")]
    state: String,
    /// Whether a person may approve.
    #[serde(rename = "ma")]
    allow_manual_approval: bool,
    /// Whether a person may complete.
    #[serde(rename = "mc")]
    allow_manual_completion: bool,
    /// Update strategy, `REPLACE`. Absent for `MODIFY`, and known since format 9.
    #[serde(rename = "us", skip_serializing_if = "Option::is_none")]
    update_strategy: Option<String>,
    /// True if unneeded change instances are created as COMPLETED. Absent if not, and known since format 9.
    #[serde(rename = "cu", skip_serializing_if = "Option::is_none")]
    complete_unneeded: Option<bool>,
    /// True if an API key needs a claim to end the work. Absent if not, and known since format 9.
    #[serde(rename = "cq", skip_serializing_if = "Option::is_none")]
    claim_required: Option<bool>,
    /// What references to the items show, `DEPLOYED` or `ALL`. Absent for `STATE`, and known since format 10.
    #[serde(rename = "rs", skip_serializing_if = "Option::is_none")]
    references_see: Option<String>,
    /// True if COMPLETED requires that the change instance is ready. Absent if not, and known since format 10.
    #[serde(rename = "rr", skip_serializing_if = "Option::is_none")]
    require_ready: Option<bool>,
    /// Minimum schema version. Absent if none is set.
    #[serde(rename = "mv", skip_serializing_if = "Option::is_none")]
    minimum_version: Option<u64>,
    /// Tags in the catalogue.
    #[serde(rename = "tg")]
    tags: Vec<String>,
}

impl Part<Settings> for SettingsPart {
    fn of(settings: &Settings) -> Self {
        let further = FurtherSettingsPart {
            state: Part::of(&settings.state),
            allow_manual_approval: settings.allow_manual_approval,
            allow_manual_completion: settings.allow_manual_completion,
            update_strategy: Part::of(&settings.update_strategy),
            complete_unneeded: Part::of(&settings.complete_unneeded),
            claim_required: Part::of(&settings.claim_required),
            references_see: Part::of(&settings.references_see),
            require_ready: Part::of(&settings.require_ready),
            minimum_version: settings.minimum_version,
            tags: settings.tags.clone(),
        };
        Self {
            approval_required: settings.approval_required,
            dependent_teams: Part::of(&settings.dependent_teams),
            allowed_teams: Part::of(&settings.allowed_teams),
            further: Some(further),
        }
    }

    fn value(self) -> Result<Settings, Bad> {
        let settings = Settings {
            approval_required: self.approval_required,
            dependent_teams: self.dependent_teams.value()?,
            allowed_teams: self.allowed_teams.value()?,
            ..Settings::default()
        };
        let Some(further) = self.further else { return Ok(settings) };
        Ok(Settings {
            state: further.state.value()?,
            allow_manual_approval: further.allow_manual_approval,
            allow_manual_completion: further.allow_manual_completion,
            update_strategy: further.update_strategy.value()?,
            complete_unneeded: further.complete_unneeded.value()?,
            claim_required: further.claim_required.value()?,
            references_see: further.references_see.value()?,
            require_ready: further.require_ready.value()?,
            minimum_version: further.minimum_version,
            tags: further.tags,
            ..settings
        })
    }
}
