//! The search of a configuration: the number of its states, and the first violation.

use crate::ablation::Missing;
use crate::audit;
use crate::config::Config;
use crate::world::World;
use stateright::{Checker, HasDiscoveries, Model};
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// The average number of steps from a state, for the limit of a search of rules.
const STEPS_PER_STATE: usize = 8;

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

/// A state of a model of rules alone.
pub trait RuleState: Clone + PartialEq + Hash + Debug + Display + Send + Sync + 'static {
    /// Returns the rule that the last step has violated, if any.
    fn broken(&self) -> Option<&'static str>;
}

/// A model of rules alone, without the requests to the table.
pub trait RuleModel:
    Model<State: RuleState, Action: Clone + PartialEq + Display> + Copy + Send + Sync + 'static
{
    /// Returns the model. With symmetry, one state represents all states that differ in names alone.
    fn with_symmetry(self, is_symmetric: bool) -> Self;
}

/// Searches the states of a model of rules breadth first, up to about a number of states.
///
/// The order of breadth gives the shortest path to a violation, with the names of its steps. The other order needs
/// two threads, and counts states that differ in names alone as one.
pub fn search_rules<M: RuleModel>(model: M, states: usize, order: Order) -> SearchResult {
    let (is_symmetric, steps) = (order == Order::Depth, states.saturating_mul(STEPS_PER_STATE));
    let checker = model.with_symmetry(is_symmetric).checker().finish_when(HasDiscoveries::AnyFailures);
    let began = Instant::now();
    let threads = if is_symmetric { 2 } else { 1 };
    let checker = checker.target_state_count(steps).threads(threads).spawn_bfs().join();
    let took = began.elapsed();
    let broken = checker.discoveries().into_values().next().map(|path| {
        let violations = path.last_state().broken().map(ToOwned::to_owned).into_iter().collect();
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

/// Takes these steps of a model of rules from the beginning, and returns the last state.
///
/// # Errors
/// Returns the first step that is not possible, or is possible in spite of `refused`, or violates a rule.
pub fn replay<M: RuleModel>(model: &M, steps: &str) -> Result<M::State, String> {
    let mut state = model.init_states().pop().ok_or("no state")?;
    for text in steps.split(", ") {
        let mut possible = Vec::new();
        model.actions(&state, &mut possible);
        let (is_refused, name) = text.strip_prefix("refused: ").map_or((false, text), |name| (true, name));
        let step = possible.into_iter().find(|step| step.to_string() == name);
        if step.is_some() == is_refused {
            return Err(format!("{text}, after: {state}"));
        }
        state = step.and_then(|step| model.next_state(&state, step)).unwrap_or(state);
        state.broken().map_or(Ok(()), |rule| Err(format!("{text}: {rule}")))?;
    }
    Ok(state)
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
