//! The objects of the API, from domain values and related records (examples in tests/golden/http).

/// Declares objects of the API, each with the function that creates it. Fields are in the order of their names.
macro_rules! wire {
    ($($(#[$doc:meta])* $vis:vis fn $create:ident($($of:ident: $is:ty),* $(,)?) -> $seen:vis $object:ident<$a:lifetime> {
        $($(#[$attribute:meta])* $field:ident: $type:ty = $value:expr,)*
    })*) => {$(
        $(#[$doc])*
        $vis fn $create<$a>($($of: $is),*) -> $object<$a> {
            $object { $($field: $value),* }
        }

        #[derive(Serialize)]
        $seen struct $object<$a> {
            $($(#[$attribute])* pub(crate) $field: $type,)*
        }
    )*};
}

mod account;
mod change;
mod charge;
mod difference;
mod graph;
mod healthcheck;
mod history;
mod item;
mod message;
mod planned;
mod platform;
mod reference;
mod service;
mod stored;
mod team;
mod webhook;

pub use account::{api_key, audit_entry, member};
pub use change::{
    Blocker, ChangeView, change_instance, change_instance_as_created, change_instance_with_proposal,
    change_tag, claim_view, history, light_change_instance, wait_view,
};
pub use charge::{accumulated, charge, charge_sum};
pub use graph::{graph_application, graph_dependants, graph_item, graph_reference};
pub use healthcheck::{check_requested, health, healthcheck};
pub use history::{Differing, application_then, differing, item_then};
pub use item::{deployed_item, granted_item, item_with_problems, service_item, service_item_with_document};
pub use message::message;
pub use planned::{Planned, valid};
pub use platform::{queues, status, team_for_operators};
pub use service::{service, service_config, service_docs};
pub use team::{
    CHANGES_MAX, application, counts, light_application, submission, submission_with_changes, team,
};
pub use webhook::{MASK, given_up, replied, webhook};

use self::stored::Stored;
use crate::call::Call;
use domain::base::id::ApplicationId;
use domain::rules::visibility::Side;
use domain::views::related::Related;
use domain::{Hash, SubmissionId, TeamId, TeamRef};
use serde::Serialize;
use serde_json::Value;

/// Adds a member to an object.
pub(crate) fn add_member(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}

/// Returns whether a count is 0, so that an object omits it.
pub(crate) fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}

/// Host, role and team of a caller, on which the links of an object depend.
#[derive(Clone, Debug)]
pub struct Viewpoint {
    base: String,
    side: Side,
    team: TeamId,
}

impl Viewpoint {
    /// Returns the viewpoint of a call.
    pub fn of(call: &Call) -> Self {
        Self { base: call.base.clone(), side: call.side, team: call.caller.team.id }
    }

    /// Returns the absolute URL of the change instances of a submission, as a list.
    pub fn changes_of(&self, submission: SubmissionId) -> String {
        format!("{}/v1/orcabase/consumer/change_instances/?submission_id={submission}", self.base)
    }

    /// Returns the absolute URL of a webhook or a healthcheck.
    pub(crate) fn external(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/external/{}/{collection}/{id}/", self.base, self.side.name())
    }

    /// Returns the absolute URL of a message.
    pub(crate) fn message(&self, id: u64) -> String {
        format!("{}/v1/orcaexternal/{}/messages/{id}/", self.base, self.side.name())
    }

    /// Returns the absolute URL of a charge.
    pub(crate) fn marketplace(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/marketplace/{}/{collection}/{id}/", self.base, self.side.name())
    }

    /// Returns the absolute URL of an object.
    pub fn url(&self, collection: &str, id: u64) -> String {
        format!("{}/v1/orcabase/{}/{collection}/{id}/", self.base, self.side.name())
    }
}

wire! {
    /// A team in an object, or by itself.
    fn team_view(id: TeamId, metadata: Option<Stored<'a>>, name: &'a str) -> pub TeamView<'a> {
        #[serde(skip_serializing_if = "Option::is_none")] confirm_removals: Option<bool> = None,
        id: u64 = id.get(),
        #[serde(skip_serializing_if = "Option::is_none")] metadata: Option<Stored<'a>> = metadata,
        name: &'a str = name,
        #[serde(skip_serializing_if = "Option::is_none")] role: Option<&'static str> = None,
    }

    /// An application in an object.
    fn application_view(
        id: ApplicationId, related: Option<&'a Related>, name: &'a str, owner: Option<TeamId>,
    ) -> pub(crate) ApplicationView<'a> {
        id: Option<u64> = Some(id.get()),
        #[serde(skip_serializing_if = "Option::is_none")] metadata: Option<Stored<'a>> =
            related.map(|related| application_metadata(id, related)),
        name: &'a str = name,
        #[serde(skip_serializing_if = "Option::is_none")] owner: Option<u64> = owner.map(TeamId::get),
    }
}

fn team_ref(team: &TeamRef) -> TeamView<'_> {
    team_view(team.id, None, &team.name)
}

fn team_with_metadata<'a>(team: &'a TeamRef, related: &'a Related) -> TeamView<'a> {
    let metadata = related.teams.get(&team.id).map_or(Stored::NONE, |team| Stored(&team.metadata));
    team_view(team.id, Some(metadata), &team.name)
}

fn application_metadata(id: ApplicationId, related: &Related) -> Stored<'_> {
    let application = related.applications.get(&id);
    application.map_or(Stored::NONE, |application| Stored(&application.metadata))
}

fn declaration(team: TeamId, hash: Hash, related: &Related) -> Stored<'_> {
    related.declarations.get(&(team, hash)).map_or(Stored::NONE, |text| Stored(text))
}
