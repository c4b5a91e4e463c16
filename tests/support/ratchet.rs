//! A committed table of counts that may fall, but must not grow.

use std::collections::BTreeMap;

/// The largest growth without a changed line, in thousandths.
pub const GROWTH_MAX: u64 = 20;

/// Name of an operation, with its function: `submit: the first response`.
pub type Counts = BTreeMap<String, u64>;

/// Reads a table: a count and a name in each line. Lines with `#` are comments. Fails if a line has no count.
pub fn read(text: &str) -> Counts {
    let row = |line: &str| {
        let (count, name) = line.trim_start().split_once(' ').unwrap();
        (name.trim().to_owned(), count.parse::<u64>().unwrap())
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Returns the lines of a table.
pub fn lines(counts: &Counts) -> String {
    counts.iter().map(|(name, count)| format!("{count:>10} {name}\n")).collect()
}

/// Returns the largest count that a committed count allows.
pub const fn limit(committed: u64) -> u64 {
    committed + committed * GROWTH_MAX / 1_000
}

/// Returns the names of counts above their limits.
pub fn grown(committed: &Counts, counted: &Counts) -> Vec<String> {
    let limit_of = |name: &String| committed.get(name).map(|count| limit(*count));
    let grown = counted.iter().filter(|(name, count)| limit_of(name).is_some_and(|limit| **count > limit));
    grown.map(|(name, _)| name.clone()).collect()
}

/// Returns the next committed table: new names, and counts below the committed ones.
///
/// Differences within the tolerance change no line, so growth can't add up. `accept` also takes over growth.
pub fn renewed(committed: &Counts, counted: &Counts, accept: bool) -> Counts {
    let count = |(name, counted): (&String, &u64)| {
        let is_stable = |old: &&u64| {
            let has_fallen = limit(*counted) < **old;
            let has_grown = *counted > limit(**old);
            !(has_fallen || has_grown && accept)
        };
        (name.clone(), *committed.get(name).filter(is_stable).unwrap_or(counted))
    };
    counted.iter().map(count).collect()
}
