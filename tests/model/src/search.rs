//! A search through a world: how many states it has, and the first one that breaks a rule.

use crate::ablation::Missing;
use crate::audit;
use crate::config::Config;
use crate::world::World;
use stateright::{Checker, HasDiscoveries, Model};
use std::time::{Duration, Instant};

/// In which order states are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that are fewest steps away first, by one thread: what is found is found by a shortest way.
    Breadth,
    /// Those that were found last first, by two threads: takes little memory.
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

/// Searches about so many states of a configuration, without some parts of the protocol.
pub fn search(config: &Config, states: usize, missing: &[Missing], order: Order) -> Found {
    let checker = World::new(config, missing, states).checker().finish_when(HasDiscoveries::AnyFailures);
    let began = Instant::now();
    match order {
        Order::Breadth => found(&checker.threads(1).spawn_bfs().join(), began),
        Order::Depth => found(&checker.threads(2).spawn_dfs().join(), began),
    }
}

fn found(checker: &impl Checker<World>, began: Instant) -> Found {
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
        complete: broken.is_none() && !checker.model().audited.is_over(),
        took,
        broken,
    }
}
