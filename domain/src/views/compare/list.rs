//! The elements of two arrays that belong together.
//!
//! Two elements form a pair if both arrays have them once: with the same name, or with the same value if they have no
//! name. Of these pairs, the longest sequence in the order of both arrays counts. Between two pairs of the sequence,
//! equal elements at both ends belong together, and then elements without a name, in their order. So the comparison
//! costs as much as sorting, and an inserted or removed element is one difference.

use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::base::json;

/// The identity of an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Name(String),
    /// The canonical form of an element without a name.
    Value(String),
}

impl Key {
    fn of(element: &Value) -> Self {
        let name = element.get("name").and_then(Value::as_str);
        name.map_or_else(|| Self::Value(json::canonical(element)), |name| Self::Name(name.to_owned()))
    }
}

/// Returns the indexes of the elements that belong together, in increasing order in both arrays.
pub(super) fn pairs(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let keys = |elements: &[Value]| elements.iter().map(Key::of).collect::<Vec<_>>();
    let (old, new) = (keys(old), keys(new));
    let mut pairs = Vec::new();
    let (mut old_start, mut new_start) = (0, 0);
    for (of_old, of_new) in longest(&common(&old, &new)).into_iter().chain([(old.len(), new.len())]) {
        between(&old, old_start..of_old, &new, new_start..of_new, &mut pairs);
        if of_old < old.len() {
            pairs.push((of_old, of_new));
        }
        (old_start, new_start) = (of_old + 1, of_new + 1);
    }
    pairs
}

/// Returns the indexes of each key that both arrays have once, in the order of the old one.
fn common(old: &[Key], new: &[Key]) -> Vec<(usize, usize)> {
    let new = once(new);
    let mut common: Vec<_> =
        once(old).into_iter().filter_map(|(key, of_old)| Some((of_old, *new.get(key)?))).collect();
    common.sort_unstable();
    common
}

/// Returns the index of each key that occurs once.
fn once(keys: &[Key]) -> BTreeMap<&Key, usize> {
    let mut indexes: BTreeMap<&Key, Option<usize>> = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        indexes.entry(key).and_modify(|index| *index = None).or_insert(Some(index));
    }
    indexes.into_iter().filter_map(|(key, index)| Some((key, index?))).collect()
}

/// Returns the longest sequence whose second indexes increase as well.
fn longest(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The position of the last pair of the best sequence of each length, and of the pair before each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (_, of_new) in pairs {
        let is_less = |end: &usize| pairs.get(*end).is_some_and(|(_, other)| other < of_new);
        let length = ends.partition_point(is_less);
        before.push(length.checked_sub(1).and_then(|length| ends.get(length)).copied());
        let position = before.len() - 1;
        match ends.get_mut(length) {
            Some(end) => *end = position,
            None => ends.push(position),
        }
    }
    let last = ends.last().copied();
    let backwards = std::iter::successors(last, |position| before.get(*position).copied().flatten());
    let mut sequence: Vec<_> = backwards.filter_map(|position| pairs.get(position).copied()).collect();
    sequence.reverse();
    sequence
}

/// Adds the pairs of two ranges without a common sequence.
fn between(
    old: &[Key],
    mut of_old: Range<usize>,
    new: &[Key],
    mut of_new: Range<usize>,
    pairs: &mut Vec<(usize, usize)>,
) {
    let is_equal = |one: usize, other: usize| old.get(one).is_some_and(|key| new.get(other) == Some(key));
    while !of_old.is_empty() && !of_new.is_empty() && is_equal(of_old.start, of_new.start) {
        pairs.push((of_old.start, of_new.start));
        (of_old.start, of_new.start) = (of_old.start + 1, of_new.start + 1);
    }
    let mut at_end = Vec::new();
    while !of_old.is_empty() && !of_new.is_empty() && is_equal(of_old.end - 1, of_new.end - 1) {
        (of_old.end, of_new.end) = (of_old.end - 1, of_new.end - 1);
        at_end.push((of_old.end, of_new.end));
    }
    let unnamed = |keys: &[Key], range: Range<usize>| {
        range.filter(|index| matches!(keys.get(*index), Some(Key::Value(_)))).collect::<Vec<_>>()
    };
    pairs.extend(unnamed(old, of_old).into_iter().zip(unnamed(new, of_new)));
    pairs.extend(at_end.into_iter().rev());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paired(old: Value, new: Value) -> Vec<(usize, usize)> {
        pairs(old.as_array().unwrap(), new.as_array().unwrap())
    }

    #[test]
    fn names_and_equal_elements_belong_together() {
        let named = |names: &[&str]| -> Value {
            names.iter().map(|name| json!({"name": name, "size": names.len()})).collect()
        };
        for (old, new, expected) in [
            (json!([1, 2, 3]), json!([0, 1, 2, 3]), vec![(0, 1), (1, 2), (2, 3)]),
            (json!([1, 2, 3]), json!([1, 3]), vec![(0, 0), (2, 1)]),
            // The elements without a name are no longer equal.
            (json!([1, 2, 3]), json!([1, 5, 3]), vec![(0, 0), (1, 1), (2, 2)]),
            (json!([1, 2, 3]), json!([4, 5]), vec![(0, 0), (1, 1)]),
            // Repeated ones.
            (json!([1, 1, 1]), json!([1, 1]), vec![(0, 0), (1, 1)]),
            (json!([1, 1, 2, 1]), json!([1, 2, 1, 1]), vec![(0, 0), (2, 1), (3, 2)]),
            // The longest sequence stays.
            (json!([1, 2, 3, 4]), json!([4, 1, 2, 3]), vec![(0, 1), (1, 2), (2, 3)]),
            (named(&["a", "b"]), named(&["x", "a", "b"]), vec![(0, 1), (1, 2)]),
            (named(&["a", "b"]), named(&["b"]), vec![(1, 0)]),
            (named(&["a"]), named(&["b"]), vec![]),
            (json!([]), json!([1]), vec![]),
        ] {
            assert_eq!(paired(old.clone(), new.clone()), expected, "{old} {new}");
        }
    }
}
