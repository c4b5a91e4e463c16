//! The cost of the largest item of a definition, which decides about its publication.

use super::*;

/// The cost for the largest item: steps for each value and for each byte.
#[derive(Clone, Copy, Default)]
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
    /// Returns the subschema at which the largest item becomes too expensive.
    pub(in crate::catalog::schema) fn too_complex(&self, bytes: u64, steps_max: u64) -> Option<usize> {
        let mut costs = BTreeMap::new();
        let mut values = 1;
        let all = self.most(0, &mut costs, 0).of(values, bytes);
        let mut at = (all > steps_max).then_some(0)?;
        loop {
            let rules = self.nodes.get(at)?;
            let below = rules.iter().flat_map(|rule| applied(rule, values, bytes));
            let steps = |&(node, values): &(usize, u64)| {
                costs.get(&node).copied().unwrap_or_default().of(values, bytes)
            };
            match below.max_by_key(steps).filter(|below| steps(below) > steps_max) {
                Some((node, count)) => (at, values) = (node, count),
                None => return Some(at),
            }
        }
    }

    fn most(&self, at: usize, costs: &mut BTreeMap<usize, Most>, depth: u32) -> Most {
        if let Some(most) = costs.get(&at) {
            return *most;
        }
        let mut most = Most { value: APPLIED, byte: 0 };
        // The library recurses, so a deep definition must not pass as cheap.
        if depth > DEPTH_MAX {
            return Most { value: u64::MAX, byte: u64::MAX };
        }
        let (mut named, mut here) = (Most::default(), Most::default());
        for rule in self.nodes.get(at).map_or(&[][..], Vec::as_slice) {
            match rule {
                Rule::Apply(Target::Here, node, _) => here.add(self.most(*node, costs, depth + 1)),
                Rule::Apply(Target::Element(_), node, _) => {
                    named = either(named, self.most(*node, costs, depth + 1));
                }
                Rule::Apply(Target::Elements | Target::Members | Target::Names, node, _) => {
                    most.add(self.most(*node, costs, depth + 1).everywhere());
                }
                Rule::Properties(properties) => {
                    let properties = properties.values().map(|node| self.most(*node, costs, depth + 1));
                    named = properties.fold(named, either);
                }
                Rule::Text { rate, once } | Rule::Keys { rate, once } => {
                    most.add(Most { value: *once, byte: *rate });
                }
                Rule::Compare { once } => most.add(Most { value: *once, byte: 0 }),
                Rule::Whole => most.add(Most { value: 0, byte: APPLIED }),
                // The repeated evaluation depends on the item, so only the check of an item counts it.
                Rule::Unevaluated | Rule::Type(_) | Rule::Required(_) | Rule::Other(_) => {}
            }
        }
        most.add(here);
        most.add(named);
        costs.insert(at, most);
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
