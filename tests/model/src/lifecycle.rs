//! The rules of an item's life alone: replacement, nothing to do, and claims.

mod claims;
mod configs;
mod display;
mod rules;
mod state;
mod steps;
mod symmetry;
mod truth;

pub use configs::{CONFIGS, Config, Life, Missing};
pub use state::State;

use crate::search::{Broken, Order, SearchResult};
use stateright::{Checker, HasDiscoveries, Model};
use std::time::Instant;

/// The average number of steps from a state, for the limit of a search.
const STEPS_PER_STATE: usize = 8;

impl Life {
    /// Returns the rules in a configuration, perhaps without a part.
    pub const fn new(config: Config, missing: Option<Missing>) -> Self {
        Self { config, missing, is_symmetric: false }
    }

    /// Searches the states of a configuration breadth first, up to about a number of states.
    ///
    /// The order of breadth gives the shortest path to a violation, with the names of its steps. The other order
    /// needs two threads, and counts states that differ in names alone as one.
    pub fn search(self, states: usize, order: Order) -> SearchResult {
        let (is_symmetric, steps) = (order == Order::Depth, states.saturating_mul(STEPS_PER_STATE));
        let checker = Self { is_symmetric, ..self }.checker().finish_when(HasDiscoveries::AnyFailures);
        let began = Instant::now();
        let threads = if is_symmetric { 2 } else { 1 };
        let checker = checker.target_state_count(steps).threads(threads).spawn_bfs().join();
        let took = began.elapsed();
        let broken = checker.discoveries().into_values().next().map(|path| {
            let violations = path.last_state().broken.iter().map(|&rule| rule.to_owned()).collect();
            Broken { violations, steps: path.into_actions().iter().map(ToString::to_string).collect() }
        });
        SearchResult {
            unique: checker.unique_state_count(),
            generated: checker.state_count(),
            depth: checker.max_depth(),
            complete: broken.is_none() && checker.state_count() < steps,
            took,
            broken,
        }
    }

    /// Takes these steps from the beginning, and returns the last state.
    ///
    /// # Errors
    /// Returns the first step that is not possible, or is possible in spite of `refused`, or violates a rule.
    pub fn replay(&self, steps: &str) -> Result<State, String> {
        let mut states = self.init_states();
        let mut item = states.pop().ok_or("no state")?;
        for text in steps.split(", ") {
            let mut possible = Vec::new();
            self.actions(&item, &mut possible);
            let (is_refused, name) =
                text.strip_prefix("refused: ").map_or((false, text), |name| (true, name));
            let step = possible.into_iter().find(|step| step.to_string() == name);
            if step.is_some() == is_refused {
                return Err(format!("{text}, after: {item}"));
            }
            item = step.and_then(|step| self.next_state(&item, step)).unwrap_or(item);
            item.broken.map_or(Ok(()), |rule| Err(format!("{text}: {rule}")))?;
        }
        Ok(item)
    }
}
