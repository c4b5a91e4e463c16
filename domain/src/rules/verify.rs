//! The values of an item along the paths of its definition: the merge of declaration and deployed item, and the
//! comparisons of both.
//!
//! An *owner path* has `readOnly` or `x-computed`, or is below `readOnly`. Any other path is a *consumer path*.
//!
//! - An object whose schema names members is compared member by member. So is an array whose schema has `items`.
//! - Any other value counts as one value, in canonical form.
//! - A member without a schema and without a declared value is a note of the owner, which no function compares.

pub mod cases;
mod pairs;
#[cfg(test)]
mod tests;

use self::pairs::Pairs;
use crate::base::json;
use crate::base::json::Problems;
use crate::base::problem::{Problem, below, tokens};
use crate::catalog::schema::Part;
use crate::model::storable::{StorableValue, Unstorable};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Lays a declaration over the newest deployed item: the state that the owner is asked for.
///
/// Terraform calls this the proposed new state. Owner paths without a declared value keep the value of `prior`.
pub fn proposed(root: &Part, prior: Option<&Value>, declared: &Value) -> Result<StorableValue, Unstorable> {
    StorableValue::new(merged(root, prior, declared, false))
}

/// Returns the proposed value at one path, if there is one.
fn proposed_at(
    part: &Part,
    prior: Option<&Value>,
    declared: Option<&Value>,
    is_below: bool,
) -> Option<Value> {
    if part.is_secret() || part.is_derived() {
        return None;
    }
    match (declared, prior) {
        (Some(declared), prior) => Some(merged(part, prior, declared, is_below)),
        (None, Some(prior)) if is_below || part.is_read_only() => Some(without_notes(part, prior)),
        // A value that only the consumer can have declared is not carried over, nor is the value around it.
        (None, Some(prior)) if part.is_computed() && !has_consumer_member(part, prior) => {
            Some(without_notes(part, prior))
        }
        (None, _) => None,
    }
}

fn merged(part: &Part, prior: Option<&Value>, declared: &Value, is_below: bool) -> Value {
    let is_below = is_below || part.is_read_only();
    match declared {
        Value::Object(declared) if part.names_members() => {
            let prior = prior.and_then(Value::as_object);
            let names: BTreeSet<&String> =
                declared.keys().chain(prior.into_iter().flat_map(Map::keys)).collect();
            let value = |name: &String| {
                let (prior, declared) = (prior.and_then(|prior| prior.get(name)), declared.get(name));
                match part.member(name) {
                    Some(part) => proposed_at(part, prior, declared, is_below),
                    None => declared.cloned(),
                }
            };
            names.into_iter().filter_map(|name| Some((name.clone(), value(name)?))).collect()
        }
        Value::Array(elements) => {
            let Some(pairs) = Pairs::of(part) else { return Value::Array(elements.clone()) };
            let prior = prior.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let priors = pairs.prior_of(elements, prior);
            let both = elements.iter().zip(priors);
            both.filter_map(|(declared, prior)| proposed_at(pairs.part, prior, Some(declared), is_below))
                .collect()
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            declared.clone()
        }
    }
}

/// Returns a carried value without the members that its schema does not name.
fn without_notes(part: &Part, value: &Value) -> Value {
    match value {
        Value::Object(members) if part.names_members() => {
            let stays = |(name, value): (&String, &Value)| {
                let part = part.member(name).filter(|part| !part.is_secret() && !part.is_derived())?;
                Some((name.clone(), without_notes(part, value)))
            };
            members.iter().filter_map(stays).collect()
        }
        Value::Array(elements) => match part.elements() {
            Some(part) => elements.iter().map(|element| without_notes(part, element)).collect(),
            None => value.clone(),
        },
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            value.clone()
        }
    }
}

/// Returns whether a value has a member at a consumer path with a name in the definition.
fn has_consumer_member(part: &Part, value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| match part.named(name) {
            Some(part) if part.is_read_only() => false,
            Some(part) => !part.is_computed() || has_consumer_member(part, value),
            None => part.member(name).is_some_and(|part| has_consumer_member(part, value)),
        }),
        Value::Array(elements) => {
            part.elements().is_some_and(|part| elements.iter().any(|value| has_consumer_member(part, value)))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns the problems of an item that has to hold a declaration, with pointers into the item.
///
/// A single value may also be the value of `prior`, because some systems normalise values. Terraform calls this a valid
/// plan.
pub fn holds(root: &Part, prior: Option<&Value>, declared: &Value, item: &Value) -> Vec<Problem> {
    compare(&DECLARED, root, prior, declared, item).problems.into_vec()
}

/// A value of an item that differs from the wanted one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// JSON pointer into the item.
    pub pointer: String,
    /// The wanted value; none if the item has to lack it.
    pub old: Option<Value>,
    /// The value of the item; none if it lacks it.
    pub new: Option<Value>,
}

/// Returns the differences of an item that does not [hold](holds) a declaration.
pub fn differences(root: &Part, prior: Option<&Value>, declared: &Value, item: &Value) -> Vec<Difference> {
    compare(&DECLARED, root, prior, declared, item).differences
}

/// Returns the problems of a later plan, or of an item, that has to agree with a plan.
///
/// The order of elements counts unless it has no meaning (R67), because names may be unknown in the plan. Terraform
/// calls two such values compatible.
pub fn agrees(root: &Part, planned: &Value, later: &Value) -> Vec<Problem> {
    compare(&PLANNED, root, None, planned, later).problems.into_vec()
}

/// The texts of a comparison.
struct Texts {
    /// The rule of a missing or different value.
    rule: &'static str,
    /// The rule of a value at a consumer path without a wanted value.
    surplus: &'static str,
    /// The source of the wanted value.
    source: &'static str,
    /// Whether elements of arrays are compared by name.
    is_by_name: bool,
}

const DECLARED: Texts =
    Texts { rule: "declared", surplus: "not_declared", source: "declared", is_by_name: true };
const PLANNED: Texts = Texts { rule: "planned", surplus: "planned", source: "planned", is_by_name: false };

fn compare(
    texts: &'static Texts,
    root: &Part,
    prior: Option<&Value>,
    wanted: &Value,
    item: &Value,
) -> Comparison {
    let mut comparison = Comparison { texts, problems: Problems::default(), differences: Vec::new() };
    comparison.both(root, Position { pointer: "", is_below: false }, prior, wanted, item);
    comparison
}

/// A position in an item.
#[derive(Clone, Copy)]
struct Position<'a> {
    pointer: &'a str,
    /// Whether it is below `readOnly`.
    is_below: bool,
}

struct Comparison {
    texts: &'static Texts,
    problems: Problems,
    /// The values of the problems, in the same order.
    differences: Vec<Difference>,
}

/// The wanted value and the value of the item.
type Values<'a> = (Option<&'a Value>, Option<&'a Value>);

impl Comparison {
    fn report(
        &mut self,
        pointer: &str,
        rule: &'static str,
        (old, new): Values<'_>,
        message: impl FnOnce() -> String,
    ) {
        if !self.problems.is_full() {
            let (old, new) = (old.cloned(), new.cloned());
            self.differences.push(Difference { pointer: pointer.to_owned(), old, new });
        }
        self.problems.push(|| Problem {
            pointer: pointer.to_owned(),
            path: tokens(pointer),
            rule,
            message: message(),
            change: None,
        });
    }

    /// Compares the values at one path, of which each may be absent.
    fn at(
        &mut self,
        part: &Part,
        at: Position<'_>,
        prior: Option<&Value>,
        wanted: Option<&Value>,
        item: Option<&Value>,
    ) {
        if part.is_secret() {
            if item.is_some() {
                self.report(at.pointer, "write_only", (None, item), || SECRET.to_owned());
            }
            return;
        }
        // A stored value may be older than the word. `derived` reports a sent one.
        if part.is_derived() {
            return;
        }
        let source = self.texts.source;
        match (wanted, item) {
            (None, None) => {}
            (Some(wanted), Some(item)) => self.both(part, at, prior, wanted, item),
            (Some(wanted), None) => {
                self.report(at.pointer, self.texts.rule, (Some(wanted), None), || {
                    format!("must be {} as {source}", json::excerpt(wanted))
                });
            }
            (None, Some(item)) if at.is_below || part.is_owner() => self.secrets(part, at.pointer, item),
            (None, Some(_)) => {
                self.report(at.pointer, self.texts.surplus, (None, item), || {
                    format!("must be absent: it is not {source}")
                });
            }
        }
    }

    fn both(&mut self, part: &Part, at: Position<'_>, prior: Option<&Value>, wanted: &Value, item: &Value) {
        let is_below = at.is_below || part.is_read_only();
        match (wanted, item) {
            (Value::Object(wanted), Value::Object(item)) if part.names_members() => {
                let names: BTreeSet<&String> = wanted.keys().chain(item.keys()).collect();
                for name in names {
                    let pointer = below(at.pointer, name);
                    let prior = prior.and_then(|prior| prior.get(name));
                    let (wanted, item) = (wanted.get(name), item.get(name));
                    match part.member(name) {
                        Some(part) => {
                            self.at(part, Position { pointer: &pointer, is_below }, prior, wanted, item);
                        }
                        None if wanted.is_some() => {
                            let at = Position { pointer: &pointer, is_below };
                            self.at(Part::ANY, at, prior, wanted, item);
                        }
                        None => {}
                    }
                }
            }
            (Value::Array(elements), Value::Array(of_item)) if part.elements().is_some() => {
                if elements.len() != of_item.len() {
                    let source = self.texts.source;
                    return self.report(at.pointer, "count", (Some(wanted), Some(item)), || {
                        format!("must have {} elements as {source}, not {}", elements.len(), of_item.len())
                    });
                }
                let at = Position { is_below, ..at };
                if let Some(pairs) = Pairs::of(part) {
                    self.elements(pairs, at, prior, elements, of_item);
                }
            }
            (wanted, item) => {
                let is_single = !part.names_members() && part.elements().is_none();
                let is_excused = is_single && prior.is_some_and(|prior| is_alike(part, prior, item));
                if !is_alike(part, wanted, item) && !is_excused {
                    let source = self.texts.source;
                    self.report(at.pointer, self.texts.rule, (Some(wanted), Some(item)), || {
                        format!("must be {} as {source}, not {}", json::excerpt(wanted), json::excerpt(item))
                    });
                }
            }
        }
    }

    /// Compares the elements of two arrays of the same length.
    fn elements(
        &mut self,
        pairs: Pairs<'_>,
        at: Position<'_>,
        prior: Option<&Value>,
        wanted: &[Value],
        item: &[Value],
    ) {
        let prior = prior.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (found, surplus) = if self.texts.is_by_name || pairs.is_unordered {
            pairs.counterparts(wanted, item)
        } else {
            ((0..wanted.len()).map(Some).collect(), Vec::new())
        };
        for ((wanted, prior), index) in wanted.iter().zip(pairs.excusing(wanted, prior)).zip(found) {
            let Some(index) = index else {
                let source = self.texts.source;
                self.report(at.pointer, self.texts.rule, (Some(wanted), None), || {
                    format!("must contain {} as {source}", json::excerpt(wanted))
                });
                continue;
            };
            let pointer = below(at.pointer, &index.to_string());
            self.at(pairs.part, Position { pointer: &pointer, ..at }, prior, Some(wanted), item.get(index));
        }
        for index in surplus {
            let pointer = below(at.pointer, &index.to_string());
            self.at(pairs.part, Position { pointer: &pointer, ..at }, None, None, item.get(index));
        }
    }

    /// Reports the values at `writeOnly` paths below an owner path.
    fn secrets(&mut self, part: &Part, pointer: &str, value: &Value) {
        let mut secrets = Vec::new();
        collect_secrets(part, pointer, value, &mut secrets);
        for pointer in secrets {
            self.report(&pointer, "write_only", (None, None), || SECRET.to_owned());
        }
    }
}

const SECRET: &str = "must be absent: the property is `writeOnly`";

/// Returns the problems of the values at `writeOnly` paths: an owner sends none.
pub fn secrets(root: &Part, sent: &Value) -> Vec<Problem> {
    let mut secrets = Vec::new();
    collect_secrets(root, "", sent, &mut secrets);
    let mut problems = Problems::default();
    for pointer in secrets {
        let path = tokens(&pointer);
        problems.push(|| Problem {
            pointer,
            path,
            rule: "write_only",
            message: SECRET.to_owned(),
            change: None,
        });
    }
    problems.into_vec()
}

/// Returns the problems of the values at derived paths: an owner sends none, but may remove an older one with `null`
/// (R70).
pub fn derived(root: &Part, sent: &Value) -> Vec<Problem> {
    let is_sent = |(name, part): &(&str, &Part)| {
        part.is_derived() && sent.get(name).is_some_and(|value| !value.is_null())
    };
    let problem = |(name, _): (&str, &Part)| Problem {
        pointer: below("", name),
        path: vec![name.to_owned()],
        rule: "derived",
        message: "must be absent: Dovetail computes the value at each read".to_owned(),
        change: None,
    };
    root.named_members().filter(is_sent).map(problem).collect()
}

/// Collects the pointers of the values at `writeOnly` paths.
fn collect_secrets(part: &Part, pointer: &str, value: &Value, secrets: &mut Vec<String>) {
    if part.is_secret() {
        return secrets.push(pointer.to_owned());
    }
    for (token, part, value) in children(part, value) {
        collect_secrets(part, &below(pointer, &token), value, secrets);
    }
}

/// Returns the pointers of the owner paths without a value.
pub fn unknown(root: &Part, item: &Value) -> Vec<String> {
    let mut unknown = Vec::new();
    collect_unknown(root, "", item, false, &mut unknown);
    unknown
}

fn collect_unknown(part: &Part, pointer: &str, value: &Value, is_below: bool, unknown: &mut Vec<String>) {
    let is_below = is_below || part.is_read_only();
    if let Value::Object(members) = value {
        let absent = part.named_members().filter(|(name, _)| !members.contains_key(*name));
        let sendable = absent.filter(|(_, part)| !part.is_secret() && !part.is_derived());
        let owners = sendable.filter(|(_, part)| is_below || part.is_owner());
        unknown.extend(owners.map(|(name, _)| below(pointer, name)));
    }
    for (token, part, value) in children(part, value) {
        collect_unknown(part, &below(pointer, &token), value, is_below, unknown);
    }
}

/// Returns the values directly below a value that have a part of their own.
fn children<'a>(part: &'a Part, value: &'a Value) -> Vec<(String, &'a Part, &'a Value)> {
    match value {
        Value::Object(members) => {
            let child = |(name, value): (&String, &'a Value)| Some((name.clone(), part.member(name)?, value));
            members.iter().filter_map(child).collect()
        }
        Value::Array(elements) => {
            let part = part.elements();
            let child = |(index, value): (usize, &'a Value)| Some((index.to_string(), part?, value));
            elements.iter().enumerate().filter_map(child).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Lays the members that an owner sent over a base; absent members stay as they are.
///
/// `null` removes a member, unless its type contains `null`. A sent array replaces the whole array; its paired
/// elements keep the members that were not sent, in the order of the base.
pub fn filled(root: &Part, sent: &Value, base: &Value) -> Result<StorableValue, Unstorable> {
    // An older version of the definition may have allowed a value that is `writeOnly` or derived now.
    let base = without_secrets(root, base);
    StorableValue::new(filled_at(root, sent, Some(&base)))
}

/// Returns an item with the declared `writeOnly` values, so that the definition can check it as a whole.
pub fn with_secrets(root: &Part, item: &Value, declared: &Value) -> Value {
    match (item, declared) {
        (Value::Object(item), Value::Object(declared)) => {
            let names: BTreeSet<&String> = item.keys().chain(declared.keys()).collect();
            let value = |name: &String| {
                let (item, declared) = (item.get(name), declared.get(name));
                match root.member(name) {
                    Some(part) if part.is_secret() => declared.cloned(),
                    Some(part) => {
                        let both =
                            item.zip(declared).map(|(item, declared)| with_secrets(part, item, declared));
                        both.or_else(|| item.cloned())
                    }
                    None => item.cloned(),
                }
            };
            names.into_iter().filter_map(|name| Some((name.clone(), value(name)?))).collect()
        }
        (Value::Array(elements), Value::Array(declared)) => {
            let Some(pairs) = Pairs::of(root) else { return item.clone() };
            let (found, _) = pairs.counterparts(elements, declared);
            let both = elements.iter().zip(found.into_iter().map(|index| declared.get(index?)));
            both.map(|(item, declared)| {
                declared.map_or_else(|| item.clone(), |declared| with_secrets(pairs.part, item, declared))
            })
            .collect()
        }
        (item, _) => item.clone(),
    }
}

/// Returns a value without its `writeOnly` and derived values.
fn without_secrets(part: &Part, value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let stays = |(name, value): (&String, &Value)| match part.member(name) {
                Some(part) if part.is_secret() || part.is_derived() => None,
                Some(part) => Some((name.clone(), without_secrets(part, value))),
                None => Some((name.clone(), value.clone())),
            };
            members.iter().filter_map(stays).collect()
        }
        Value::Array(elements) => match part.elements() {
            Some(part) => elements.iter().map(|element| without_secrets(part, element)).collect(),
            None => value.clone(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn filled_at(part: &Part, sent: &Value, base: Option<&Value>) -> Value {
    match sent {
        Value::Object(sent) if part.names_members() => {
            let mut filled = base.and_then(Value::as_object).cloned().unwrap_or_default();
            for (name, value) in sent {
                let part = part.member(name).unwrap_or(Part::ANY);
                if value.is_null() && !part.is_nullable() {
                    filled.remove(name);
                } else {
                    let value = filled_at(part, value, filled.get(name));
                    filled.insert(name.clone(), value);
                }
            }
            Value::Object(filled)
        }
        Value::Array(elements) => {
            let Some(pairs) = Pairs::of(part) else {
                return base.filter(|base| is_alike(part, base, sent)).unwrap_or(sent).clone();
            };
            let base = base.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let both = pairs.in_order_of(base, elements);
            both.into_iter().map(|(sent, base)| filled_at(pairs.part, sent, base)).collect()
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => sent.clone(),
    }
}

/// Returns whether two values are the same, apart from the order of an array whose order has no meaning (R67).
fn is_alike(part: &Part, one: &Value, other: &Value) -> bool {
    is_same(one, other) || part.is_unordered() && is_same(&part.sorted(one), &part.sorted(other))
}

/// Returns whether two values have the same canonical form.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || json::canonical(one) == json::canonical(other)
}
