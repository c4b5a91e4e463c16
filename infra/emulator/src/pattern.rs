//! Event patterns of EventBridge, the language of bus rules and of the filters of event source mappings.
//!
//! The parser multiplies out each `$or`. The result is a list of alternatives, each a set of leaf paths with their
//! tests. A path ignores arrays: each element of an array in the event is tried. Paths through the same array must
//! match within the same element.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::IpAddr;
use std::ops::{Bound, RangeBounds};
use std::slice;

/// The most combinations of `$or` branches, a limit of EventBridge.
const MAX_ALTERNATIVES: usize = 1000;

/// The names that a field inside `$or` must not have: current operators and reserved ones.
const RESERVED: &str = "exactly equals-ignore-case prefix suffix anything-but exists wildcard numeric cidr \
    = < <= > >= regex not-wildcard not-equals-ignore-case date-after date-on-or-after date-before \
    date-on-or-before in-date-range ip-address-in-range ip-address-not-in-range";

/// A valid event pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    alternatives: Vec<Alternative>,
}

/// The tests of each path; a leaf must pass one of them. The order matters, see [`holds`].
type Alternative = BTreeMap<Path, Vec<Test>>;

/// The field names from the root to a leaf.
type Path = Vec<String>;

/// One test of a leaf.
#[derive(Clone, Debug, PartialEq)]
enum Test {
    Equals(Value),
    Text(Text),
    /// Literal parts between the wildcards.
    Wildcard(Vec<String>),
    Numeric(Bound<f64>, Bound<f64>),
    /// Network address and the number of its significant bits.
    Cidr(IpAddr, u32),
    NoneOf(Vec<Self>),
    Present,
    Absent,
}

/// A comparison with a text, which is stored case-folded if the comparison ignores case.
#[derive(Clone, Debug, PartialEq)]
struct Text {
    part: Part,
    ignore_case: bool,
    text: String,
}

/// The part of a leaf that a text is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Whole,
    Start,
    End,
}

impl Pattern {
    /// Parses a pattern. The error has all problems, one in each line with its JSON pointer.
    pub fn parse(pattern: &Value) -> Result<Self, String> {
        let mut reader = Reader::default();
        let alternatives = reader.object("", pattern, &[], false);
        if reader.problems.is_empty() { Ok(Self { alternatives }) } else { Err(reader.problems.join("\n")) }
    }

    /// Returns whether an event matches, which only an object can.
    pub fn matches(&self, event: &Value) -> bool {
        event.is_object() && self.alternatives.iter().any(|alternative| holds(alternative, event))
    }
}

/// The array elements on the way to a leaf: the depth of each array in fields, and the index of its element.
type Elements = Vec<(usize, usize)>;

/// Returns whether the event has a leaf for every path, within the same elements of shared arrays.
///
/// The function takes the paths in order, as EventBridge does. A field that must be absent is tested within the
/// elements that the earlier paths chose, or within every element if they chose none.
fn holds(alternative: &Alternative, event: &Value) -> bool {
    let mut choices = BTreeSet::from([Elements::new()]);
    let mut previous: &[String] = &[];
    for (path, tests) in alternative {
        let mut leaves = Vec::new();
        find_leaves(event, path, (0, &[]), &mut leaves);
        let shared = previous.iter().zip(path).take_while(|(one, other)| one == other).count();
        let mut next = BTreeSet::new();
        for chosen in choices.iter().map(|chosen| within(chosen, shared)).collect::<BTreeSet<_>>() {
            let agrees = |elements: &Elements| chosen.iter().zip(elements).all(|(one, other)| one == other);
            let here: Vec<_> = leaves.iter().filter(|(elements, _)| agrees(elements)).collect();
            if here.is_empty() && tests.contains(&Test::Absent) {
                next.insert(chosen.to_vec());
            }
            let passing = here.iter().filter(|(_, leaf)| tests.iter().any(|test| test.passes(leaf)));
            next.extend(passing.map(|(elements, _)| elements.clone()));
        }
        choices = next;
        previous = path;
    }
    !choices.is_empty()
}

/// Returns the choices in arrays up to a depth. Later paths do not share the deeper ones.
fn within(chosen: &[(usize, usize)], depth: usize) -> &[(usize, usize)] {
    let deeper = chosen.iter().position(|(at, _)| *at > depth);
    chosen.split_at(deeper.unwrap_or(chosen.len())).0
}

/// Finds the leaves at a path, each with its array elements.
///
/// A leaf that is itself an element counts as part of the array, not of the element. Objects are not leaves, and an
/// empty array has none.
fn find_leaves<'e>(
    value: &'e Value,
    path: &[String],
    (depth, elements): (usize, &[(usize, usize)]),
    leaves: &mut Vec<(Elements, &'e Value)>,
) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if item.is_array() || item.is_object() {
                    let elements = [elements, &[(depth, index)]].concat();
                    find_leaves(item, path, (depth, &elements), leaves);
                } else {
                    find_leaves(item, path, (depth, elements), leaves);
                }
            }
        }
        Value::Object(fields) => {
            if let Some((field, rest)) = path.split_first()
                && let Some(value) = fields.get(field)
            {
                find_leaves(value, rest, (depth + 1, elements), leaves);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            if path.is_empty() {
                leaves.push((elements.to_vec(), value));
            }
        }
    }
}

impl Test {
    fn passes(&self, leaf: &Value) -> bool {
        match self {
            Self::Equals(value) => equal(value, leaf),
            Self::Text(text) => leaf.as_str().is_some_and(|leaf| text.passes(leaf)),
            Self::Wildcard(parts) => leaf.as_str().is_some_and(|leaf| wildcard_matches(parts, leaf)),
            Self::Numeric(low, high) => leaf.as_f64().is_some_and(|leaf| (*low, *high).contains(&leaf)),
            Self::Cidr(network, bits) => {
                let address = leaf.as_str().and_then(|leaf| leaf.parse().ok());
                address.is_some_and(|address| in_network(address, *network, *bits))
            }
            Self::NoneOf(tests) => !tests.iter().any(|test| test.passes(leaf)),
            Self::Present => true,
            Self::Absent => false,
        }
    }
}

impl Text {
    fn new(part: Part, ignore_case: bool, text: &str) -> Self {
        let text = if ignore_case { folded(text) } else { text.to_owned() };
        Self { part, ignore_case, text }
    }

    fn passes(&self, leaf: &str) -> bool {
        let folded = self.ignore_case.then(|| folded(leaf));
        let leaf = folded.as_deref().unwrap_or(leaf);
        match self.part {
            Part::Whole => leaf == self.text,
            Part::Start => leaf.starts_with(&self.text),
            Part::End => leaf.ends_with(&self.text),
        }
    }
}

/// Folds the case of each letter by itself. Folding a whole text changes its last sigma, and no prefix would match
/// it.
fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Compares values; 1 equals 1.0. Two integers are not compared as floats, which cannot separate large ones.
fn equal(one: &Value, other: &Value) -> bool {
    one == other
        || (one.is_f64() || other.is_f64()) && one.as_f64().is_some_and(|one| other.as_f64() == Some(one))
}

/// Matches each middle part at its first occurrence, which is correct because the last part is bound to the end.
fn wildcard_matches(parts: &[String], text: &str) -> bool {
    let (first, middle, last) = match parts {
        [] => return false,
        [whole] => return whole == text,
        [first, middle @ .., last] => (first, middle, last),
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str()))
    else {
        return false;
    };
    middle.iter().all(|part| {
        let match_at = rest.split_once(part.as_str());
        rest = match_at.map_or("", |(_, after)| after);
        match_at.is_some()
    })
}

fn in_network(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let ((address, width), (network, network_width)) = (address_bits(address), address_bits(network));
    let differing = (address ^ network).checked_shr(width.saturating_sub(bits)).unwrap_or(0);
    width == network_width && differing == 0
}

/// Returns an address as a number, and its width in bits.
fn address_bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), u32::BITS),
        IpAddr::V6(address) => (address.to_bits(), u128::BITS),
    }
}

/// A parser that collects all problems. Every `at` is a JSON pointer.
#[derive(Default)]
struct Reader {
    problems: Vec<String>,
}

impl Reader {
    fn refuse<T>(&mut self, at: &str, problem: impl Display) -> Option<T> {
        self.problems.push(format!("{}: {problem}", if at.is_empty() { "(root)" } else { at }));
        None
    }

    /// Returns the alternatives of an object for the fields below a path.
    fn object(&mut self, at: &str, object: &Value, path: &[String], inside_or: bool) -> Vec<Alternative> {
        let mut alternatives = vec![Alternative::new()];
        let Some(fields) = object.as_object().filter(|fields| !fields.is_empty()) else {
            self.refuse::<()>(at, "must be an object with at least one field");
            return alternatives;
        };
        for (field, value) in fields {
            let at = below(at, field);
            if inside_or && RESERVED.split(' ').any(|reserved| reserved == field) {
                self.refuse::<()>(&at, "must not have a field with an operator's name inside '$or'");
                continue;
            }
            let deeper = [path, slice::from_ref(field)].concat();
            let allowed = match value {
                branches if field == "$or" => self.or(&at, branches, path),
                Value::Object(_) => self.object(&at, value, &deeper, inside_or),
                Value::Array(tests) => vec![Alternative::from([(deeper, self.leaf(&at, tests))])],
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                    self.refuse::<()>(&at, "must be an object, or an array of allowed values");
                    continue;
                }
            };
            alternatives = self.combine(&at, &alternatives, &allowed);
        }
        alternatives
    }

    fn or(&mut self, at: &str, branches: &Value, path: &[String]) -> Vec<Alternative> {
        let Some(branches) = branches.as_array().filter(|branches| branches.len() >= 2) else {
            self.refuse::<()>(at, "must be an array of at least two objects");
            return vec![Alternative::new()];
        };
        let branches = branches.iter().enumerate();
        branches.flat_map(|(index, branch)| self.object(&below(at, index), branch, path, true)).collect()
    }

    /// Combines every alternative of one list with every one of the other.
    fn combine(&mut self, at: &str, one: &[Alternative], other: &[Alternative]) -> Vec<Alternative> {
        if one.len().saturating_mul(other.len()) > MAX_ALTERNATIVES {
            self.refuse::<()>(
                at,
                format!("must have at most {MAX_ALTERNATIVES} combinations of the branches of '$or'"),
            );
            return one.to_vec();
        }
        let paths: BTreeSet<_> = one.iter().flat_map(BTreeMap::keys).collect();
        let others: BTreeSet<_> = other.iter().flat_map(BTreeMap::keys).collect();
        for path in paths.intersection(&others) {
            // EventBridge keeps the last test that it reads for a path. A JSON object has no order, so this parser
            // rejects both tests.
            self.refuse::<()>(
                at,
                format!("'{}' must not be both inside and outside of '$or'", path.join(".")),
            );
        }
        let pairs = one.iter().flat_map(|one| other.iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| one.clone().into_iter().chain(other.clone()).collect()).collect()
    }

    fn leaf(&mut self, at: &str, tests: &[Value]) -> Vec<Test> {
        if tests.is_empty() {
            self.refuse::<()>(at, "must not be empty");
        }
        tests.iter().enumerate().filter_map(|(index, test)| self.test(&below(at, index), test)).collect()
    }

    fn test(&mut self, at: &str, test: &Value) -> Option<Test> {
        match test {
            Value::Object(test) => {
                let (operator, operand) = self.single(at, test)?;
                self.operator(&below(at, operator), operator, operand)
            }
            Value::Array(_) => self.refuse(at, "must not be an array inside an array"),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Some(Test::Equals(test.clone()))
            }
        }
    }

    fn single<'p>(&mut self, at: &str, object: &'p Map<String, Value>) -> Option<(&'p str, &'p Value)> {
        let mut fields = object.iter();
        match (fields.next(), fields.next()) {
            (Some((operator, operand)), None) => Some((operator, operand)),
            (None | Some(_), _) => self.refuse(at, "must have exactly one operator"),
        }
    }

    fn operator(&mut self, at: &str, operator: &str, operand: &Value) -> Option<Test> {
        match operator {
            "prefix" => self.affix(at, Part::Start, operand),
            "suffix" => self.affix(at, Part::End, operand),
            "equals-ignore-case" => self.text(at, Part::Whole, true, operand),
            "wildcard" => self.wildcard(at, operand),
            "numeric" => self.numeric(at, operand),
            "cidr" => self.cidr(at, operand),
            "anything-but" => self.anything_but(at, operand),
            "exists" => match operand.as_bool() {
                Some(true) => Some(Test::Present),
                Some(false) => Some(Test::Absent),
                None => self.refuse(at, "must be true or false"),
            },
            _ => self.refuse(at, format!("'{operator}' is not an operator")),
        }
    }

    fn string<'p>(&mut self, at: &str, operand: &'p Value) -> Option<&'p str> {
        operand.as_str().or_else(|| self.refuse(at, "must be a string"))
    }

    fn text(&mut self, at: &str, part: Part, ignore_case: bool, operand: &Value) -> Option<Test> {
        self.string(at, operand).map(|text| Test::Text(Text::new(part, ignore_case, text)))
    }

    fn affix(&mut self, at: &str, part: Part, operand: &Value) -> Option<Test> {
        let Value::Object(operand) = operand else { return self.text(at, part, false, operand) };
        match self.single(at, operand)? {
            (operator @ "equals-ignore-case", operand) => {
                self.text(&below(at, operator), part, true, operand)
            }
            (operator, _) => self.refuse(at, format!("'{operator}' cannot be used here")),
        }
    }

    fn wildcard(&mut self, at: &str, operand: &Value) -> Option<Test> {
        let mut chars = self.string(at, operand)?.chars().peekable();
        let (mut parts, mut part) = (Vec::new(), String::new());
        while let Some(next) = chars.next() {
            match (next, chars.peek()) {
                ('*', Some('*')) => return self.refuse(at, "must not have two '*' in a row"),
                ('*', _) => parts.push(std::mem::take(&mut part)),
                ('\\', Some('*' | '\\')) => part.extend(chars.next()),
                ('\\', _) => return self.refuse(at, r"must have '*' or '\' after every '\'"),
                (literal, _) => part.push(literal),
            }
        }
        parts.push(part);
        Some(Test::Wildcard(parts))
    }

    fn numeric(&mut self, at: &str, operand: &Value) -> Option<Test> {
        let terms = operand.as_array().map(|terms| terms.chunks(2).map(comparison));
        let comparisons = terms.and_then(Iterator::collect::<Option<Vec<_>>>);
        let range = match comparisons.as_deref() {
            Some([("=", number)]) => Some((Bound::Included(*number), Bound::Included(*number))),
            Some([limit]) => low(*limit)
                .map(|low| (low, Bound::Unbounded))
                .or_else(|| high(*limit).map(|high| (Bound::Unbounded, high))),
            Some([lower, upper]) => low(*lower).zip(high(*upper)),
            Some(_) | None => None,
        };
        if let Some([(_, lower), (_, upper)]) = comparisons.as_deref()
            && range.is_some()
            && lower >= upper
        {
            return self.refuse(at, "must have its lower limit below its upper limit");
        }
        match range {
            Some((low, high)) => Some(Test::Numeric(low, high)),
            None => self.refuse(
                at,
                "must be an operator ('=', '<', '<=', '>', '>=') and a number, or a lower and an upper limit",
            ),
        }
    }

    fn cidr(&mut self, at: &str, operand: &Value) -> Option<Test> {
        let range = operand.as_str().and_then(|range| range.split_once('/'));
        let range = range.and_then(|(ip, bits)| Some((ip.parse::<IpAddr>().ok()?, bits.parse().ok()?)));
        match range {
            Some((address, bits)) if bits < address_bits(address).1 => Some(Test::Cidr(address, bits)),
            Some((address, _)) => {
                let most = address_bits(address).1.saturating_sub(1);
                self.refuse(at, format!("must have 0 to {most} bits; write a single address without bits"))
            }
            None => self.refuse(at, "must be an address, '/' and a number of bits"),
        }
    }

    fn anything_but(&mut self, at: &str, operand: &Value) -> Option<Test> {
        if let Value::Object(operand) = operand {
            let (operator, operand) = self.single(at, operand)?;
            return self.nothing_like(&below(at, operator), operator, operand);
        }
        let values = self.one_or_more(at, operand)?;
        for (at, value) in &values {
            if !value.is_string() && !value.is_number() {
                self.refuse::<()>(at, "must be a string or a number");
            }
        }
        if values.iter().any(|(_, value)| value.is_string())
            && values.iter().any(|(_, value)| value.is_number())
        {
            return self.refuse(at, "must not mix strings and numbers");
        }
        Some(Test::NoneOf(values.into_iter().map(|(_, value)| Test::Equals(value.clone())).collect()))
    }

    fn nothing_like(&mut self, at: &str, operator: &str, operand: &Value) -> Option<Test> {
        if !["prefix", "suffix", "equals-ignore-case", "wildcard"].contains(&operator) {
            return self.refuse(at, format!("'{operator}' cannot be used here"));
        }
        let mut tests = Vec::new();
        for (at, value) in self.one_or_more(at, operand)? {
            match self.string(&at, value) {
                // Every text begins and ends with the empty text.
                Some("") if ["prefix", "suffix"].contains(&operator) => self.refuse(&at, "must not be empty"),
                Some(_) => self.operator(&at, operator, value).map(|test| tests.push(test)),
                None => None,
            };
        }
        Some(Test::NoneOf(tests))
    }

    /// Returns the elements of an array, or a single value, each with its pointer.
    fn one_or_more<'p>(&mut self, at: &str, operand: &'p Value) -> Option<Vec<(String, &'p Value)>> {
        match operand.as_array() {
            None => Some(vec![(at.to_owned(), operand)]),
            Some(members) if members.is_empty() => self.refuse(at, "must not be empty"),
            Some(members) => {
                Some(members.iter().enumerate().map(|(index, member)| (below(at, index), member)).collect())
            }
        }
    }
}

/// Returns the operator and the number of a comparison.
fn comparison(pair: &[Value]) -> Option<(&str, f64)> {
    match pair {
        [Value::String(operator), Value::Number(number)] => Some((operator, number.as_f64()?)),
        _ => None,
    }
}

/// Returns the lower limit of a comparison.
fn low((operator, number): (&str, f64)) -> Option<Bound<f64>> {
    match operator {
        ">" => Some(Bound::Excluded(number)),
        ">=" => Some(Bound::Included(number)),
        _ => None,
    }
}

/// Returns the upper limit of a comparison.
fn high((operator, number): (&str, f64)) -> Option<Bound<f64>> {
    match operator {
        "<" => Some(Bound::Excluded(number)),
        "<=" => Some(Bound::Included(number)),
        _ => None,
    }
}

fn below(at: &str, token: impl Display) -> String {
    format!("{at}/{}", token.to_string().replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
