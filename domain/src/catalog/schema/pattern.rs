//! The cost of matching a pattern: one step per byte if its whole automaton fits the cache, else one per state and
//! byte.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::start;
use regex_automata::{Anchored, util::syntax};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{PATTERN_BYTES_MAX, PATTERN_CACHE_BYTES};

/// Maximum number of exploration steps for all patterns of a definition; an unexplored pattern counts as expensive.
pub(super) const EXPLORED_MAX: u64 = 16_000_000;

/// Memory of the engine's table for backtracking, in bytes.
const BACKTRACKING_BYTES: usize = 256 * 1024;
/// Maximum memory of the engine's one-pass automaton, in bytes.
const ONE_PASS_BYTES_MAX: usize = 1024 * 1024;
/// Memory of a pattern without its states, in bytes.
const PATTERN_BYTES: usize = 8 * 1024;

/// The bytes before a text with different start states: none, a word character, another one, line ends.
const BEFORE: [Option<u8>; 5] = [None, Some(b'a'), Some(b' '), Some(b'\n'), Some(b'\r')];

/// The cost of a pattern.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    /// The steps for each byte of a text.
    pub(super) rate: u64,
    /// The memory in bytes, including the engine's caches.
    pub(super) bytes: usize,
}

/// The patterns that were measured in this process, with the steps that each took.
///
/// The forms and versions of a definition repeat their patterns, and so do definitions of one generator. The
/// exploration of one Unicode class takes a large part of a second.
static MEASURED: Mutex<BTreeMap<String, (Pattern, u64)>> = Mutex::new(BTreeMap::new());
/// Maximum number of measured patterns, and maximum length of each in bytes.
const MEASURED_MAX: usize = 1_000;
const MEASURED_BYTES_MAX: usize = 1_024;

/// Returns whether the engine supports a pattern, if it is small enough.
pub(super) fn is_supported(pattern: &str) -> bool {
    jsonschema_regex::to_rust_regex(pattern).is_ok_and(|translated| syntax::parse(&translated).is_ok())
}

/// Returns the cost of a pattern, and takes the steps of its exploration, as at its first measurement.
pub(super) fn measure(pattern: &str, left: &mut u64) -> Pattern {
    let measured = || MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = measured().get(pattern).copied();
    if let Some((cost, steps)) = known
        && let Some(rest) = left.checked_sub(steps).filter(|rest| *rest > 0)
    {
        *left = rest;
        return cost;
    }
    let before = *left;
    let cost = explored_cost(pattern, left);
    // An exploration without steps left ended early.
    if *left > 0 && pattern.len() <= MEASURED_BYTES_MAX {
        let mut measured = measured();
        if measured.len() >= MEASURED_MAX {
            measured.clear();
        }
        measured.insert(pattern.to_owned(), (cost, before.saturating_sub(*left)));
    }
    cost
}

/// Measures a pattern; an invalid one has no cost, because the check refuses it.
fn explored_cost(pattern: &str, explored: &mut u64) -> Pattern {
    let states = |is_reverse: bool| {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        let captures = if is_reverse { WhichCaptures::None } else { WhichCaptures::All };
        let config = Config::new()
            .nfa_size_limit(Some(PATTERN_BYTES_MAX))
            .which_captures(captures)
            .reverse(is_reverse);
        Compiler::new().syntax(syntax::Config::new()).configure(config).build(&translated).ok()
    };
    let (Some(forward), Some(reverse)) = (states(false), states(true)) else {
        return Pattern { rate: 0, bytes: 0 };
    };
    let count = forward.states().len().max(reverse.states().len());
    let cache_of_forward = explore(&forward, explored);
    let caches = cache_of_forward.and_then(|of_forward| {
        // The engine never runs such a pattern backwards, and the automaton of a Unicode class is largest in reverse.
        let of_reverse = if forward.is_always_start_anchored() { 0 } else { explore(&reverse, explored)? };
        Some(of_forward.saturating_add(of_reverse))
    });
    let (rate, cache_bytes) = match caches {
        Some(bytes) => (1, bytes),
        // Without the whole automaton, the engine may simulate every state at each byte.
        None => (count, PATTERN_CACHE_BYTES.saturating_mul(2).saturating_add(BACKTRACKING_BYTES)),
    };
    let states = forward.memory_usage().saturating_add(reverse.memory_usage());
    let bytes =
        [PATTERN_BYTES, states, one_pass(&forward), cache_bytes].into_iter().fold(0, usize::saturating_add);
    Pattern { rate: u64::try_from(rate).unwrap_or(u64::MAX), bytes }
}

/// Returns the maximum memory of the one-pass automaton: a row of transitions for each state.
fn one_pass(nfa: &NFA) -> usize {
    if !nfa.is_always_start_anchored() {
        return 0;
    }
    let row = nfa.byte_classes().alphabet_len().next_power_of_two().saturating_mul(8);
    nfa.states().len().saturating_mul(row).min(ONE_PASS_BYTES_MAX)
}

/// Returns the memory of the whole automaton of `nfa`; none if it exceeds the cache or the steps left.
fn explore(nfa: &NFA, left: &mut u64) -> Option<usize> {
    let config = DFA::config()
        .cache_capacity(PATTERN_CACHE_BYTES)
        // Ends the exploration at the first state without room; a search would clear the cache and continue.
        .minimum_cache_clear_count(Some(0));
    let dfa = DFA::builder().configure(config).build_from_nfa(nfa.clone()).ok()?;
    let mut cache = dfa.create_cache();
    let row = dfa.byte_classes().alphabet_len().next_power_of_two().saturating_mul(4);
    let mut walk = Walk { cache: &mut cache, row, sizes: BTreeMap::new(), open: Vec::new() };
    for (before, anchored) in
        BEFORE.iter().flat_map(|before| [(before, Anchored::No), (before, Anchored::Yes)])
    {
        let config = start::Config::new().anchored(anchored).look_behind(*before);
        walk.visit(|cache| dfa.start_state(cache, &config).ok())?;
    }
    // A state's size does not include the empty transitions to it, but following them takes time.
    let least =
        u64::try_from(nfa.states().iter().filter(|state| state.is_epsilon()).count() / 4).unwrap_or(u64::MAX);
    while let Some(state) = walk.open.pop() {
        let size = walk.sizes.get(&state).copied().unwrap_or_default();
        for byte in dfa.byte_classes().representatives(..) {
            *left = left.saturating_sub(size.saturating_add(least).saturating_add(1));
            if *left == 0 {
                return None;
            }
            walk.visit(|cache| match byte.as_u8() {
                Some(byte) => dfa.next_state(cache, state, byte).ok(),
                None => dfa.next_eoi_state(cache, state).ok(),
            })?;
        }
    }
    Some(cache.memory_usage())
}

/// A partly explored automaton.
struct Walk<'a> {
    cache: &'a mut Cache,
    /// The memory of a state's transitions, in bytes.
    row: usize,
    /// The approximate number of pattern states in each state.
    sizes: BTreeMap<LazyStateID, u64>,
    open: Vec<LazyStateID>,
}

impl Walk<'_> {
    /// Visits a state; none if the cache has no room for it.
    fn visit(&mut self, next: impl FnOnce(&mut Cache) -> Option<LazyStateID>) -> Option<()> {
        let before = self.cache.memory_usage();
        let state = next(self.cache)?;
        let is_end = state.is_dead() || state.is_quit();
        if !is_end && !self.sizes.contains_key(&state) {
            let size = self.cache.memory_usage().saturating_sub(before).saturating_sub(self.row) / 4;
            self.sizes.insert(state, u64::try_from(size).unwrap_or(u64::MAX));
            self.open.push(state);
        }
        Some(())
    }
}
