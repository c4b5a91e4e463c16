//! The rules of an item's life alone: replacement, nothing to do, and claims.

mod claims;
mod configs;
mod display;
pub(crate) mod rules;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod symmetry;
mod truth;

pub use configs::{CONFIGS, Config, Life, Missing};
pub use state::State;

use crate::search::{Order, RuleModel, RuleState, SearchResult, replay, search_rules};

impl RuleState for State {
    fn broken(&self) -> Option<&'static str> {
        self.broken
    }
}

impl RuleModel for Life {
    fn with_symmetry(self, is_symmetric: bool) -> Self {
        Self { is_symmetric, ..self }
    }
}

impl Life {
    /// Returns the rules in a configuration, perhaps without a part.
    pub const fn new(config: Config, missing: Option<Missing>) -> Self {
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
