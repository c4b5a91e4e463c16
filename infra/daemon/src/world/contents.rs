//! The contents of a world file, and the receivers of events in it.

use std::sync::Arc;

use domain::account::api_key::default_name;
use domain::base::actor::Role;
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema::Schema;
use domain::catalog::service::{ReferencesSee, UpdateStrategy};
use dovetail_emulator::{pattern::Pattern, webhook::Target};
use hyper::Uri;
use serde_json::{Map, Value, json};

/// The contents of a world file.
#[derive(Clone, Debug)]
pub struct World {
    /// Teams, both consumers and owners.
    pub teams: Vec<WorldTeam>,
    /// Services of these teams.
    pub services: Vec<WorldService>,
    /// Schemas of metadata; if absent, the stored ones remain.
    pub metadata_policy: Option<MetadataPolicy>,
}

/// A team of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldTeam {
    /// Name of the team, as services and declarations use it.
    pub name: String,
    /// Metadata of the team, if the file has any.
    pub metadata: Option<Map<String, Value>>,
    /// API keys of the team.
    pub api_keys: Vec<WorldKey>,
    /// Whether removals of whole applications need a confirmation; a new team without it wants one.
    pub confirm_removals: Option<bool>,
    /// Receiver of the team's events.
    pub notify: Option<WorldNotify>,
}

/// A receiver of events: in the file a URL, or an object with `url` and optionally `pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldNotify {
    /// URL for the requests.
    pub url: String,
    /// Event pattern; by default it selects changes in which the team is a party.
    pub pattern: Option<Value>,
}

/// An API key: in the file a string, or an object with `key` or `name`, or both, and optionally `role`.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
pub struct WorldKey {
    /// Secret; if absent, the load generates one.
    #[debug("[hidden]")]
    pub key: Option<String>,
    /// Name in histories; by default the team's name and the number of the key.
    pub name: Option<String>,
    /// Role; a new key without one is `ADMIN`.
    pub role: Option<Role>,
}

impl WorldKey {
    /// Returns the name of the key; `number` is its position among the team's keys, from 1.
    pub fn effective_name(&self, team: &str, number: u64) -> String {
        self.name.clone().unwrap_or_else(|| default_name(team, number))
    }
}

/// A service of the file. Settings are `None` if the file lacks them.
#[derive(Clone, Debug)]
pub struct WorldService {
    /// Name of the service owner.
    pub owner: String,
    /// Whether the owner must approve each change; the default is true.
    pub approval_required: Option<bool>,
    /// How the owner changes an item; the default is by a MODIFY.
    pub update_strategy: Option<UpdateStrategy>,
    /// Whether a change instance that asks for what is in place starts as COMPLETED; the default is false.
    pub complete_unneeded: Option<bool>,
    /// Whether an API key needs a claim to end the work on a change instance; the default is false.
    pub claim_required: Option<bool>,
    /// What references to the items show; the default is STATE.
    pub references_see: Option<ReferencesSee>,
    /// Whether COMPLETED requires that the change instance is ready; the default is false.
    pub require_ready: Option<bool>,
    /// Names of the dependent teams; by default none.
    pub dependent_teams: Option<Vec<String>>,
    /// Names of the teams that may declare the service; by default every team.
    pub allowed_teams: Option<Vec<String>>,
    /// JSON Schema of its declarations. The `title` is the name of the service.
    pub schema: Arc<Schema>,
}

impl WorldTeam {
    /// Returns a team without a key.
    pub(super) fn keyless(name: &str) -> Self {
        let (name, api_keys) = (name.to_owned(), Vec::new());
        Self { name, metadata: None, api_keys, confirm_removals: None, notify: None }
    }
}

impl WorldNotify {
    /// Returns the URL, or the error text.
    pub(super) fn uri(&self) -> Result<Uri, String> {
        // The client of this process has no TLS, and a password in a URL could reach the log.
        let uri = self.url.parse::<Uri>().ok().filter(|uri| uri.scheme_str() == Some("http"));
        let uri =
            uri.filter(|uri| uri.authority().is_some_and(|authority| !authority.as_str().contains('@')));
        uri.ok_or_else(|| "must be a URL that starts with http:// and has no password".to_owned())
    }

    /// Returns the pattern of the events to post, or its problems, one in each line.
    pub(super) fn read_pattern(&self, team: &str) -> Result<Pattern, String> {
        let party = |field: &str| json!({"detail": {"data": {field: [team]}}});
        let parties = ["owner", "service_owner_team", "consumer_team"].map(party);
        Pattern::parse(self.pattern.as_ref().unwrap_or(&json!({"$or": parties})))
    }
}

impl World {
    /// Returns the receivers of events, and never fails for a parsed world.
    pub fn webhooks(&self) -> Result<Vec<Target>, String> {
        let notified = self.teams.iter().filter_map(|team| Some((&team.name, team.notify.as_ref()?)));
        let target = |(team, notify): (&String, &WorldNotify)| {
            Ok(Target { team: team.clone(), url: notify.uri()?, pattern: notify.read_pattern(team)? })
        };
        notified.map(target).collect()
    }
}
