//! What the README draws is what the code does.

use domain::state::{State, TRANSITIONS};
use std::collections::BTreeSet;

const README: &str = include_str!("../README.md");

#[test]
fn the_diagram_of_states_has_every_transition_and_no_other() {
    let arrows = README.lines().filter_map(|line| {
        let (from, to) = line.trim().split_once(" --> ")?;
        let (to, _) = to.split_once(':')?;
        Some((from.to_owned(), to.to_owned()))
    });
    let name = |state: Option<State>| state.map_or("[*]", State::name).to_owned();
    let transitions = TRANSITIONS.iter().map(|t| (name(t.from), name(Some(t.to))));
    assert_eq!(arrows.collect::<BTreeSet<_>>(), transitions.collect::<BTreeSet<_>>());
}
