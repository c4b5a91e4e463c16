//! The objects of the API, from domain values and related records (examples in tests/golden/http).

mod account;
mod change;
mod charge;
mod healthcheck;
mod history;
mod item;
mod message;
mod planned;
mod service;
mod team;
mod webhook;

pub use account::{api_key, audit_entry, member};
pub use change::{
    Blocker, change_instance, change_instance_as_created, history, history_entry, light_change_instance,
};
pub use charge::{accumulated, charge};
pub use healthcheck::{check_requested, health, healthcheck};
pub use history::{Differing, application_then, differing, item_then};
pub use item::{deployed_item, item_with_problems, service_item};
pub use message::message;
pub use planned::{Planned, valid};
pub use service::{service, service_config, service_docs};
pub use team::{CHANGES_MAX, application, light_application, submission, submission_with_changes, team};
pub use webhook::{MASK, given_up, replied, webhook};

use crate::call::Call;
use domain::rules::visibility::Pov;
use domain::views::related::Related;
use domain::{Hash, SubmissionId, TeamId, TeamRef};
use serde_json::{Value, json};

/// Host, role and team of a caller: the links of an object depend on them.
#[derive(Clone, Debug)]
pub struct Viewpoint {
    base: String,
    pov: Pov,
    team: TeamId,
}

impl Viewpoint {
    /// Returns the viewpoint of a call.
    pub fn of(call: &Call) -> Self {
        Self { base: call.base.clone(), pov: call.pov, team: call.caller.team.id }
    }

    /// Returns the absolute URL of the change instances of a submission, as a list.
    pub fn changes_of(&self, submission: SubmissionId) -> String {
        format!("{}/v1/orcabase/consumer/change_instances/?submission_id={submission}", self.base)
    }

    /// Returns the absolute URL of a webhook or a healthcheck.
    pub(crate) fn external(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/external/{}/{collection}/{id}/", self.base, self.pov.name())
    }

    /// Returns the absolute URL of a message.
    pub(crate) fn message(&self, id: u64) -> String {
        format!("{}/v1/orcaexternal/{}/messages/{id}/", self.base, self.pov.name())
    }

    /// Returns the absolute URL of a charge.
    pub(crate) fn marketplace(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/marketplace/{}/{collection}/{id}/", self.base, self.pov.name())
    }

    /// Returns the absolute URL of an object.
    pub fn url(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/orcabase/{}/{collection}/{id}/", self.base, self.pov.name())
    }
}

/// Parses stored JSON text. It is canonical, so it parses.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

fn team_ref(team: &TeamRef) -> Value {
    json!({"id": team.id.get(), "name": team.name})
}

fn team_with_metadata(team: &TeamRef, related: &Related) -> Value {
    json!({"id": team.id.get(), "name": team.name, "metadata": team_metadata(team.id, related)})
}

fn team_metadata(team: TeamId, related: &Related) -> Value {
    related.teams.get(&team).map_or_else(|| json!({}), |team| parsed(&team.metadata))
}

fn declaration(team: TeamId, hash: Hash, related: &Related) -> Value {
    related.declarations.get(&(team, hash)).map_or_else(|| json!({}), |text| parsed(text))
}
