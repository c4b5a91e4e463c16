//! The objects of the API, from domain values and related records (examples in tests/golden/http).
//!
//! The members of an object are in the order of their names. The fields of a structure have the same order.

mod account;
mod change;
mod charge;
mod healthcheck;
mod history;
mod item;
mod message;
mod planned;
mod service;
mod stored;
mod team;
mod webhook;

pub use account::{api_key, member, recorded};
pub use change::{Blocker, change_instance, change_instance_as_created, history, light_change_instance};
pub use charge::{accumulated, charge};
pub use healthcheck::{health, healthcheck, healthcheck_asked};
pub use history::{Differing, application_then, differing, item_then};
pub use item::{deployed_item, item_with_problems, service_item};
pub use message::message;
pub use planned::{Planned, valid};
pub use service::{service, service_config, service_docs};
pub use team::{CHANGES_MAX, application, light_application, submission, submission_with_changes, team};
pub use webhook::{MASK, given_up, replied, webhook};

use self::stored::Stored;
use crate::call::Call;
use domain::base::id::ApplicationId;
use domain::rules::visibility::Pov;
use domain::views::related::Related;
use domain::{Hash, SubmissionId, TeamId, TeamRef};
use serde::Serialize;

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

/// A team in an object, or by itself.
#[derive(Serialize)]
pub struct TeamView<'a> {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Stored<'a>>,
    name: &'a str,
}

fn team_ref(team: &TeamRef) -> TeamView<'_> {
    TeamView { id: team.id.get(), metadata: None, name: &team.name }
}

fn team_with_metadata<'a>(team: &'a TeamRef, related: &'a Related) -> TeamView<'a> {
    let metadata = related.teams.get(&team.id).map_or(Stored::NONE, |team| Stored(&team.metadata));
    TeamView { metadata: Some(metadata), ..team_ref(team) }
}

/// An application in an object.
#[derive(Serialize)]
struct ApplicationView<'a> {
    /// None for a planned application.
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Stored<'a>>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<u64>,
}

fn application_metadata(id: ApplicationId, related: &Related) -> Stored<'_> {
    related.applications.get(&id).map_or(Stored::NONE, |application| Stored(&application.metadata))
}

fn declaration(team: TeamId, hash: Hash, related: &Related) -> Stored<'_> {
    related.declarations.get(&(team, hash)).map_or(Stored::NONE, |text| Stored(text))
}
