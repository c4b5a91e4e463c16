//! A search through a world: how many states it has, and the first one that breaks a rule.

use crate::ablation::Missing;
use crate::audit;
use crate::config::Config;
use crate::world::World;
use stateright::{Checker, HasDiscoveries, Model};
use std::time::{Duration, Instant};

/// How many threads search.
const THREADS: usize = 2;

/// In which order states are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that are fewest steps away first: what is found is found by a shortest way.
    Breadth,
    /// Those that were found last first: takes little memory.
    Depth,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many different states were visited.
    pub unique: usize,
    /// How many steps were made.
    pub generated: usize,
    /// The longest way.
    pub depth: usize,
    /// Whether there are no further states.
    pub complete: bool,
    /// How long it took.
    pub took: Duration,
    /// The state that breaks a rule, if there is one.
    pub broken: Option<Broken>,
}

/// A state that breaks a rule.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What does not hold.
    pub violations: Vec<String>,
    /// What happened.
    pub steps: Vec<String>,
}

/// Searches a configuration, up to about as many steps, without some parts of the protocol.
pub fn search(config: &Config, states: Option<usize>, missing: &[Missing], order: Order) -> Found {
    let world = World::new(config, missing);
    let began = Instant::now();
    let mut checker = world.checker().threads(THREADS).finish_when(HasDiscoveries::AnyFailures);
    if let Some(states) = states {
        checker = checker.target_state_count(states);
    }
    match order {
        Order::Breadth => found(&checker.spawn_bfs().join(), states, began),
        Order::Depth => found(&checker.spawn_dfs().join(), states, began),
    }
}

fn found(checker: &impl Checker<World>, states: Option<usize>, began: Instant) -> Found {
    let took = began.elapsed();
    let broken = checker.discoveries().into_values().next().map(|path| {
        let violations = audit::violations(checker.model(), path.last_state());
        let steps = path.into_actions().into_iter().map(|action| format!("{action:?}")).collect();
        Broken { violations, steps }
    });
    Found {
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        complete: broken.is_none() && states.is_none_or(|states| checker.state_count() < states),
        took,
        broken,
    }
}
