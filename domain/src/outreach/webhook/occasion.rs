//! The facts of an event that select its webhooks.

use crate::base::id::{ChangeId, ServiceId, TeamId};
use crate::base::state::State;
use crate::catalog::service::Service;
use serde_json::Value;

/// The parties of a change instance, and its transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occasion {
    pub owner: TeamId,
    pub consumer: TeamId,
    pub service: ServiceId,
    /// The state before; none for a creation.
    pub from: Option<State>,
    pub to: State,
}

impl Occasion {
    /// Reads the content of an event; none if the event is not about a change instance, or lacks the ids as in earlier
    /// releases.
    pub fn parse(detail: &Value) -> Option<Self> {
        let data = detail.get("data")?;
        let number = |name: &str| data.get(name).and_then(Value::as_u64);
        let (owner, service) = (TeamId::new(number("owner_id")?)?, ServiceId::new(number("service_id")?)?);
        Self::between(data, owner, service)
    }

    /// Reads the content of an event of an earlier release, which names its service and teams without their ids.
    ///
    /// Returns `None` if the owner is neither the owner of the service nor one of its dependent teams.
    pub fn of_earlier(detail: &Value, service: &Service) -> Option<Self> {
        let data = detail.get("data")?;
        let owner = data.get("owner").and_then(Value::as_str)?;
        let mut teams = service.settings.dependent_teams.iter().chain([&service.owner]);
        let owner = teams.find(|team| team.name == owner)?;
        Self::between(data, owner.id, service.id)
    }

    fn between(data: &Value, owner: TeamId, service: ServiceId) -> Option<Self> {
        let change = data.get("id").and_then(Value::as_u64).and_then(ChangeId::parse)?;
        let state = |name: &str| data.get(name).and_then(Value::as_str).map(State::parse);
        let (from, to) = (state("from"), state("to")??);
        // An unknown state is not a creation.
        let from = from.map_or(Some(None), |from| from.map(Some))?;
        Some(Self { owner, consumer: change.team(), service, from, to })
    }

    /// Returns the teams whose webhooks may deliver the event, each once.
    pub fn teams(&self) -> impl Iterator<Item = TeamId> {
        [Some(self.owner), Some(self.consumer).filter(|team| *team != self.owner)].into_iter().flatten()
    }
}
