//! The search of a configuration: the number of its states, and the first violation.

use crate::ablation::Missing;
use crate::audit;
use crate::config::Config;
use crate::world::World;
use stateright::{Checker, HasDiscoveries, Model};
use std::time::{Duration, Instant};

/// The order of the visited states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Breadth first, with one thread: the path to a violation is as short as possible.
    Breadth,
    /// Depth first, with two threads: the search needs little memory.
    Depth,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// Number of different visited states.
    pub unique: usize,
    /// Number of steps, including steps to known states.
    pub generated: usize,
    /// Maximum depth of the search.
    pub depth: usize,
    /// Whether the search has visited all states.
    pub complete: bool,
    /// Duration of the search.
    pub took: Duration,
    /// A state with a violation, if any.
    pub broken: Option<Broken>,
}

/// A state with a violation.
#[derive(Clone, Debug)]
pub struct Broken {
    pub violations: Vec<String>,
    /// Steps from the first state.
    pub steps: Vec<String>,
}

/// Searches about this number of states of a configuration, without some parts of the protocol.
pub fn search(config: &Config, states: usize, missing: &[Missing], order: Order) -> SearchResult {
    let checker = World::new(config, missing, states).checker().finish_when(HasDiscoveries::AnyFailures);
    let began = Instant::now();
    match order {
        Order::Breadth => search_result(&checker.threads(1).spawn_bfs().join(), began),
        Order::Depth => search_result(&checker.threads(2).spawn_dfs().join(), began),
    }
}

fn search_result(checker: &impl Checker<World>, began: Instant) -> SearchResult {
    let took = began.elapsed();
    let broken = checker.discoveries().into_values().next().map(|path| {
        let violations = audit::violations(checker.model(), path.last_state());
        let steps = path.into_actions().into_iter().map(|action| format!("{action:?}")).collect();
        Broken { violations, steps }
    });
    SearchResult {
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        complete: broken.is_none() && !checker.model().audited.is_over(),
        took,
        broken,
    }
}
