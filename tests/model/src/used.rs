//! The protocol of uses alone: targets of a team T, and users of T, U and V that refer to them (R71).
//!
//! Omitted: grants, states of change instances, rows that list users, and crashes.

mod configs;
mod display;
mod rules;
mod state;
mod steps;
mod symmetry;

pub use configs::{CONFIGS, Config, Missing, Used};
pub use state::State;

use crate::search::{Order, RuleModel, RuleState, SearchResult, replay, search_rules};

impl RuleState for State {
    fn broken(&self) -> Option<&'static str> {
        self.broken
    }
}

impl RuleModel for Used {
    fn with_symmetry(self, is_symmetric: bool) -> Self {
        Self { is_symmetric, ..self }
    }
}

impl Used {
    /// Returns the protocol in a configuration, perhaps without some parts.
    pub const fn new(config: Config, missing: &'static [Missing]) -> Self {
        Self { config, missing, is_symmetric: false }
    }

    /// Searches the states of a configuration breadth first, up to about a number of states.
    pub fn search(self, states: usize, order: Order) -> SearchResult {
        search_rules(self, states, order)
    }

    /// Takes these steps from the beginning, and returns the last state.
    ///
    /// # Errors
    /// Returns the first step that is not possible, or is possible in spite of `refused`, or violates a rule.
    pub fn replay(&self, steps: &str) -> Result<State, String> {
        replay(self, steps)
    }
}
