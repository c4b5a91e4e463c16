//! The cost of one item, counted in a walk through the definition and the item.

use super::*;

impl Kind {
    fn has(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Array => value.is_array(),
            Self::Number => value.is_number(),
            Self::Object | Self::Names => value.is_object(),
            Self::Text => value.is_string(),
        }
    }
}

/// Returns the steps for visiting a whole value.
fn whole(value: &Value) -> u64 {
    let below: u64 = match value {
        Value::Array(elements) => elements.iter().map(whole).fold(0, u64::saturating_add),
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| whole(value).saturating_add(length(name.len()) / 8);
            members.iter().map(member).fold(0, u64::saturating_add)
        }
        Value::String(text) => length(text.len()) / 8,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    below.saturating_add(APPLIED)
}

/// Walks through a definition and an item, and counts.
pub(super) struct Meter<'a> {
    pub(super) model: &'a Model,
    pub(super) left: u64,
    pub(super) depth: u32,
}

impl Meter<'_> {
    /// Uses steps; none if too few are left.
    fn take(&mut self, steps: u64) -> Option<u64> {
        self.left = self.left.checked_sub(steps)?;
        Some(steps)
    }

    /// Returns the cost of applying a subschema to a value whose pointer has length `pointer_bytes`.
    pub(super) fn node(&mut self, at: usize, value: &Value, pointer_bytes: u64) -> Option<Cost> {
        let model = self.model;
        let rules = model.nodes.get(at).map_or(&[][..], Vec::as_slice);
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= WALK_DEPTH_MAX)?;
        let mut own = self.take(APPLIED)?;
        let (mut below, mut here) = (Cost::default(), 0_u64);
        for rule in rules {
            own = own.saturating_add(self.own(rule, value)?);
            let before = below.full;
            self.below(rule, value, pointer_bytes, &mut below)?;
            if let Rule::Apply(Target::Here, ..) = rule {
                here = here.saturating_add(below.full.saturating_sub(before));
            }
        }
        if rules.iter().any(|rule| matches!(rule, Rule::Unevaluated)) {
            own = own.saturating_add(self.take(here)?);
        }
        self.depth = self.depth.saturating_sub(1);
        let valid = own.saturating_add(below.valid);
        let own = rules.iter().map(|rule| errors(rule, value, pointer_bytes)).fold(0, u64::saturating_add);
        let (bytes, first) = (below.bytes.saturating_add(own), below.first.saturating_add(own));
        Some(Cost { valid, full: valid.saturating_add(below.full), bytes, first })
    }

    /// Returns the steps of a rule itself.
    fn own(&mut self, rule: &Rule, value: &Value) -> Option<u64> {
        let steps = match (rule, value) {
            (Rule::Text { rate, once }, Value::String(text)) => {
                rate.saturating_mul(length(text.len())).saturating_add(*once)
            }
            (Rule::Keys { rate, once }, Value::Object(members)) => {
                let bytes = members.keys().map(|name| length(name.len())).fold(0, u64::saturating_add);
                let names = once.saturating_add(1).saturating_mul(length(members.len()));
                rate.saturating_mul(bytes).saturating_add(names)
            }
            (Rule::Compare { once }, _) => *once,
            (Rule::Whole, Value::Array(_) | Value::Object(_)) => whole(value),
            (Rule::Unevaluated, Value::Object(members)) => length(members.len()).saturating_mul(APPLIED),
            (Rule::Unevaluated, Value::Array(elements)) => length(elements.len()).saturating_mul(APPLIED),
            (Rule::Properties(_), Value::Object(members)) => length(members.len()),
            (Rule::Required(names), Value::Object(_)) => length(names.len()),
            _ => 0,
        };
        self.take(steps)
    }

    /// Adds the cost of a rule's subschemas.
    fn below(&mut self, rule: &Rule, value: &Value, pointer_bytes: u64, cost: &mut Cost) -> Option<()> {
        // A slash and five digits: an item of 128 KiB has fewer than 100,000 elements.
        let index = pointer_bytes.saturating_add(6);
        match (rule, value) {
            (Rule::Apply(Target::Here, node, errors), _) => {
                cost.add(self.node(*node, value, pointer_bytes)?, *errors);
            }
            (Rule::Apply(Target::Element(at), node, errors), Value::Array(elements)) => {
                if let Some(element) = elements.get(*at) {
                    cost.add(self.node(*node, element, index)?, *errors);
                }
            }
            (Rule::Apply(Target::Elements, node, errors), Value::Array(elements)) => {
                for element in elements {
                    cost.add(self.node(*node, element, index)?, *errors);
                }
            }
            (Rule::Apply(Target::Members, node, errors), Value::Object(members)) => {
                for (name, member) in members {
                    cost.add(self.node(*node, member, under(pointer_bytes, name))?, *errors);
                }
            }
            (Rule::Apply(Target::Names, node, errors), Value::Object(members)) => {
                for name in members.keys() {
                    // An error contains a copy of the name.
                    let pointer_bytes = pointer_bytes.saturating_add(length(name.len()));
                    cost.add(self.node(*node, &Value::String(name.clone()), pointer_bytes)?, *errors);
                }
            }
            (Rule::Properties(properties), Value::Object(members)) => {
                for (name, member) in members {
                    if let Some(node) = properties.get(name) {
                        cost.add(self.node(*node, member, under(pointer_bytes, name))?, Errors::Reported);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the length of a pointer below another.
fn under(pointer_bytes: u64, name: &str) -> u64 {
    pointer_bytes.saturating_add(length(name.len())).saturating_add(1)
}

/// Returns the maximum memory of a rule's own errors.
fn errors(rule: &Rule, value: &Value, pointer_bytes: u64) -> u64 {
    let one = ERROR_BYTES.saturating_add(pointer_bytes.saturating_mul(2));
    match rule {
        Rule::Type(types) if is_of(types, value) => 0,
        Rule::Type(_) => one,
        Rule::Other(Kind::Names) => one.saturating_add(names(value)),
        Rule::Other(kind) => {
            if kind.has(value) {
                one
            } else {
                0
            }
        }
        Rule::Required(required) => {
            let Some(members) = value.as_object() else { return 0 };
            let missing = required.iter().filter(|name| !members.contains_key(*name));
            let error = |name: &String| one.saturating_add(length(name.len()).saturating_mul(2));
            missing.map(error).fold(0, u64::saturating_add)
        }
        Rule::Apply(..)
        | Rule::Properties(_)
        | Rule::Text { .. }
        | Rule::Keys { .. }
        | Rule::Compare { .. }
        | Rule::Whole
        | Rule::Unevaluated => 0,
    }
}

/// Returns the memory of all property names, which an error about surplus properties repeats.
fn names(value: &Value) -> u64 {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, _)| length(name.len()).saturating_add(32)).fold(0, u64::saturating_add)
}

/// Returns whether a value certainly has one of these types.
fn is_of(types: &[String], value: &Value) -> bool {
    types.iter().any(|name| match (name.as_str(), value) {
        ("string", Value::String(_))
        | ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    })
}
