//! The deaths of the crash sweep: each has a shape, and the sweep tests chosen ones.

use crate::call_shape::hash_of;
use crate::invocation::{Death, Invocation};
use std::collections::{BTreeMap, BTreeSet};

/// The deaths that a sweep tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// None: the sweep only records the shapes.
    #[default]
    None,
    All,
    /// Those with these numbers, in the order of the sweep.
    Numbers(BTreeSet<usize>),
}

/// The function that dies.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Dying {
    /// A function called over the API.
    Api,
    /// A function woken by the stream.
    Woken,
    /// The sweep.
    Sweep,
}

/// The deaths that a sweep has met, in its order.
#[derive(Clone, Debug, Default)]
pub struct Deaths {
    chosen: Chosen,
    /// Function and shape of each death.
    met: Vec<(Dying, u64)>,
    /// Number of tested deaths.
    pub tested: usize,
    /// Names of the fences in rejected transactions, by the number of the death; `None` for the runs without a death.
    rejected: BTreeMap<Option<usize>, BTreeSet<&'static str>>,
}

impl Deaths {
    /// Creates the record of a sweep that tests these deaths.
    pub fn of(chosen: Chosen) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// Records a death. Returns its number if the sweep tests it.
    pub fn meet(&mut self, dying: Dying, shape: u64) -> Option<usize> {
        let number = self.met.len();
        self.met.push((dying, shape));
        let is_chosen = match &self.chosen {
            Chosen::None => false,
            Chosen::All => true,
            Chosen::Numbers(numbers) => numbers.contains(&number),
        };
        self.tested += usize::from(is_chosen);
        is_chosen.then_some(number)
    }

    /// Records the fences in rejected transactions of a run with this death, or without one.
    pub fn add_rejected(&mut self, death: Option<usize>, fences: BTreeSet<&'static str>) {
        self.rejected.entry(death).or_default().extend(fences);
    }

    /// Returns the numbers of the tested deaths that can have another effect without a fence.
    ///
    /// A fence has an effect only if it rejects a transaction. If it does so without a death, all later states can be
    /// others, so these are all deaths.
    pub fn that_need(&self, fence: &str) -> BTreeSet<usize> {
        if self.rejected.get(&None).is_some_and(|fences| fences.contains(fence)) {
            return (0..self.met.len()).collect();
        }
        let with_fence = self.rejected.iter().filter(|(_, fences)| fences.contains(fence));
        with_fence.filter_map(|(death, _)| *death).collect()
    }

    /// Returns the number of deaths of these functions.
    pub fn count(&self, dying: Dying) -> usize {
        self.met.iter().filter(|(of, _)| *of == dying).count()
    }

    /// Returns the shapes in the order of the sweep.
    pub fn shapes(&self) -> impl Iterator<Item = u64> {
        self.met.iter().map(|(_, shape)| *shape)
    }
}

/// Returns the shape of a death: the name of the invocation, and the shapes of the calls before the death and after it.
///
/// Equal calls in a row count once, because one more item of a submission is one more call of the same shape.
pub fn shape(name: &str, invocation: &Invocation, death: Death) -> u64 {
    let mut shapes = invocation.shapes();
    let passed = match death {
        Death::Before(call) => call,
        Death::After(call) => call + 1,
        Death::Never => invocation.calls(),
    };
    let mut rest = shapes.split_off(usize::try_from(passed).unwrap());
    shapes.dedup();
    rest.dedup();
    hash_of((name, shapes, rest))
}

/// Chooses among the deaths of several sweeps: each shape as often as `times`, if it occurs so often.
///
/// It takes the first death of a shape from each sweep, and further ones only if too few sweeps have the shape.
/// Returns the numbers of the chosen deaths of each sweep.
pub fn choose(sweeps: &[Vec<u64>], times: usize) -> Vec<BTreeSet<usize>> {
    let mut chosen = vec![BTreeSet::new(); sweeps.len()];
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for first_only in [true, false] {
        for (shapes, chosen) in sweeps.iter().zip(&mut chosen) {
            let mut taken = BTreeSet::new();
            for (number, shape) in shapes.iter().enumerate() {
                let count = counts.entry(*shape).or_default();
                let is_first = taken.insert(*shape);
                if *count < times && (is_first || !first_only) && chosen.insert(number) {
                    *count += 1;
                }
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::choose;
    use std::collections::BTreeSet;

    #[test]
    fn a_shape_is_chosen_in_two_sweeps_if_two_have_it_and_twice_if_it_occurs_twice() {
        let sweeps = [vec![1, 1, 2, 3], vec![1, 2, 2], vec![4, 4, 4, 1]];
        let expected = [vec![0, 2, 3], vec![0, 1], vec![0, 1]];
        assert_eq!(choose(&sweeps, 2), expected.map(BTreeSet::from_iter));
    }
}
