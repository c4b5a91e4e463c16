//! The cost of the largest item of a definition, which decides about its publication.

use super::*;
use crate::model::declaration::DEPTH_MAX;

/// The cost for the largest item: steps for each value and for each byte.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Most {
    value: u64,
    byte: u64,
}

impl Most {
    fn add(&mut self, other: Self) {
        self.value = self.value.saturating_add(other.value);
        self.byte = self.byte.saturating_add(other.byte);
    }

    /// Applies the cost to each possible value: at most one for every two bytes.
    fn everywhere(self) -> Self {
        Self { value: 0, byte: self.byte.saturating_add(self.value.div_ceil(2)) }
    }

    fn of(self, values: u64, bytes: u64) -> u64 {
        self.value.saturating_mul(values).saturating_add(self.byte.saturating_mul(bytes))
    }
}

impl Model {
    /// Returns the subschemas of a circle of references whose check of one value would never end.
    pub(in crate::catalog::schema) fn circle(&self) -> Option<Vec<usize>> {
        let mut ended = BTreeSet::new();
        (0..self.nodes.len()).find_map(|at| self.circle_from(at, &mut Vec::new(), &mut ended))
    }

    fn circle_from(
        &self,
        at: usize,
        path: &mut Vec<usize>,
        ended: &mut BTreeSet<usize>,
    ) -> Option<Vec<usize>> {
        if let Some(start) = path.iter().position(|node| *node == at) {
            return Some(path.split_off(start));
        }
        if ended.contains(&at) {
            return None;
        }
        path.push(at);
        let mut here = self.rules(at).iter().filter_map(|rule| {
            if let Rule::Apply(Target::Here, node, _) = rule { Some(*node) } else { None }
        });
        let circle = here.find_map(|node| self.circle_from(node, path, ended));
        path.pop();
        ended.insert(at);
        circle
    }

    /// Returns the subschema at which the largest item becomes too expensive.
    ///
    /// The model must have no circle for one value.
    pub(in crate::catalog::schema) fn too_complex(&self, bytes: u64, steps_max: u64) -> Option<usize> {
        let costs = self.most();
        let steps =
            |&(node, values): &(usize, u64)| costs.get(node).copied().unwrap_or_default().of(values, bytes);
        let mut seen = BTreeSet::new();
        let mut most = Some((0, 1)).filter(|root| steps(root) > steps_max)?;
        while seen.insert(most.0) {
            let below = self.rules(most.0).iter().flat_map(|rule| applied(rule, most.1, bytes));
            match below.max_by_key(steps).filter(|below| steps(below) > steps_max) {
                Some(below) => most = below,
                None => break,
            }
        }
        Some(most.0)
    }

    fn rules(&self, at: usize) -> &[Rule] {
        self.nodes.get(at).map_or(&[], Vec::as_slice)
    }

    /// Returns the cost of each subschema, for items of any nesting.
    fn most(&self) -> Vec<Most> {
        let recursive = self.recursive();
        let mut costs = vec![Most::default(); self.nodes.len()];
        // A value of one more level applies its rules to values of the levels so far.
        for _ in 0..=DEPTH_MAX {
            let mut level =
                Level { model: self, recursive: &recursive, below: &costs, here: BTreeMap::new() };
            let next: Vec<Most> = (0..self.nodes.len()).map(|at| level.most(at)).collect();
            if next == costs {
                break;
            }
            costs = next;
        }
        costs
    }

    /// Returns for each subschema whether it, or one that it applies, applies itself again.
    fn recursive(&self) -> Vec<bool> {
        let mut recursive = vec![true; self.nodes.len()];
        loop {
            let mut is_done = true;
            for at in 0..self.nodes.len() {
                let mut below = self.rules(at).iter().flat_map(|rule| applied(rule, 1, 1));
                let ends = below.all(|(node, _)| recursive.get(node) == Some(&false));
                if let Some(recursive) = recursive.get_mut(at).filter(|recursive| ends && **recursive) {
                    (*recursive, is_done) = (false, false);
                }
            }
            if is_done {
                return recursive;
            }
        }
    }
}

/// The costs for values of a nesting, from those for values of one level less.
struct Level<'a> {
    model: &'a Model,
    recursive: &'a [bool],
    below: &'a [Most],
    /// The costs so far, by subschema.
    here: BTreeMap<usize, Most>,
}

impl Level<'_> {
    fn most(&mut self, at: usize) -> Most {
        if let Some(most) = self.here.get(&at) {
            return *most;
        }
        let is_recursive = self.recursive.get(at) == Some(&true);
        let below = |node: &usize| self.below.get(*node).copied().unwrap_or_default();
        // Each level of a recursive schema would multiply the values of the one below it.
        let one = |node: &usize| if is_recursive { below(node).everywhere() } else { below(node) };
        let mut most = Most { value: APPLIED, byte: 0 };
        let mut named = Most::default();
        let mut here = Vec::new();
        for rule in self.model.rules(at) {
            match rule {
                Rule::Apply(Target::Here, node, _) => here.push(*node),
                Rule::Apply(Target::Element(_), node, _) => named = either(named, one(node)),
                Rule::Apply(Target::Elements | Target::Members | Target::Names, node, _) => {
                    most.add(below(node).everywhere());
                }
                Rule::Properties(properties) => named = properties.values().map(one).fold(named, either),
                Rule::Text { rate, once } | Rule::Keys { rate, once } => {
                    most.add(Most { value: *once, byte: *rate });
                }
                Rule::Compare { once } => most.add(Most { value: *once, byte: 0 }),
                Rule::Whole => most.add(Most { value: 0, byte: APPLIED }),
                // The repeated evaluation depends on the item, so only the check of an item counts it.
                Rule::Unevaluated | Rule::Type(_) | Rule::Required(_) | Rule::Other(_) => {}
            }
        }
        most.add(named);
        for node in here {
            most.add(self.most(node));
        }
        self.here.insert(at, most);
        most
    }
}

/// Combines alternatives: each byte belongs to one of them, but each value may occur in both.
fn either(one: Most, other: Most) -> Most {
    Most { value: one.value.saturating_add(other.value), byte: one.byte.max(other.byte) }
}

/// Returns the subschemas of a rule, each with its number of values.
fn applied(rule: &Rule, values: u64, bytes: u64) -> Vec<(usize, u64)> {
    match rule {
        Rule::Apply(Target::Here | Target::Element(_), node, _) => vec![(*node, values)],
        Rule::Apply(Target::Elements | Target::Members | Target::Names, node, _) => vec![(*node, bytes / 2)],
        Rule::Properties(properties) => properties.values().map(|node| (*node, values)).collect(),
        Rule::Text { .. }
        | Rule::Keys { .. }
        | Rule::Compare { .. }
        | Rule::Whole
        | Rule::Unevaluated
        | Rule::Type(_)
        | Rule::Required(_)
        | Rule::Other(_) => Vec::new(),
    }
}
