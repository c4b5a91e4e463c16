//! The cost of checking an item against a definition, computed before the check (ADR 8).
//!
//! A step is about the time for one byte in one state of a pattern: some nanoseconds. The model follows the
//! library's algorithm and never counts less than the library may do.

mod build;
mod largest;
mod meter;

use self::meter::Meter;
use super::*;

/// Maximum number of steps for all items of a request.
pub const STEPS_MAX: u64 = 32 * 1024 * 1024;
/// Maximum number of steps for the largest item at publication.
///
/// An item of a sixteenth of the largest size can then always be checked. A larger item can be checked unless it
/// contains expensive parts.
pub const PUBLISHED_STEPS_MAX: u64 = 16 * STEPS_MAX;
/// Maximum memory of an item's errors, in bytes.
pub(super) const ERRORS_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Steps for applying a subschema to a value.
const APPLIED: u64 = 8;
/// Memory of an error of the library without its pointers, in bytes.
const ERROR_BYTES: u64 = 400;
/// Maximum depth of the walk through a definition and an item.
const WALK_DEPTH_MAX: u32 = 160;

/// The rules of a definition's subschemas, each once for any number of references to it.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// The rules of each subschema; the first is the definition.
    nodes: Vec<Vec<Rule>>,
    /// The memory of the patterns, in bytes.
    pub(super) patterns_bytes: usize,
}

/// The effect of a keyword on a value.
#[derive(Debug)]
enum Rule {
    /// Applies another subschema.
    Apply(Target, usize, Errors),
    /// Applies subschemas to the properties with these names.
    Properties(BTreeMap<String, usize>),
    /// Scans a string: `rate` steps per byte, and `once` at the start.
    Text { rate: u64, once: u64 },
    /// Scans all property names.
    Keys { rate: u64, once: u64 },
    /// Compares with the given values, or elements with each other.
    Compare { once: u64 },
    /// Visits the whole value.
    Whole,
    /// Finds unevaluated parts: evaluates all subschemas of the same value once more.
    Unevaluated,
    /// Fails for a value of another type.
    Type(Vec<String>),
    /// Fails for each missing name.
    Required(Vec<String>),
    /// Fails at most once for each value of this kind.
    Other(Kind),
}

/// The values that a keyword examines.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Any,
    Array,
    Number,
    Object,
    /// Objects, with an error that lists all property names.
    Names,
    Text,
}

/// The values to which another subschema applies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Here,
    Element(usize),
    Elements,
    Members,
    Names,
}

/// The use of a subschema's errors.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Errors {
    /// The errors belong to the value.
    Reported,
    /// All errors are inside one error: no branch of a choice was valid.
    Nested,
    /// The library never builds the errors.
    Hidden,
}

/// The cost of checking a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The steps for the answer valid or not.
    pub(super) valid: u64,
    /// The steps for all errors; the library decides each choice before it collects its errors.
    pub(super) full: u64,
    /// The memory of all errors, in bytes.
    pub(super) bytes: u64,
    /// The memory of the first error, in bytes.
    pub(super) first: u64,
}

impl Cost {
    fn add(&mut self, other: Self, errors: Errors) {
        self.valid = self.valid.saturating_add(other.valid);
        self.full = self.full.saturating_add(other.full);
        match errors {
            Errors::Reported => {
                self.bytes = self.bytes.saturating_add(other.bytes);
                self.first = self.first.max(other.first);
            }
            Errors::Nested => {
                self.bytes = self.bytes.saturating_add(other.bytes);
                self.first = self.first.saturating_add(other.bytes);
            }
            Errors::Hidden => {}
        }
    }
}

impl Model {
    /// Builds the model of a definition with valid references.
    pub(super) fn of(definition: &Value) -> Self {
        Self::with_pointers(definition).0
    }

    /// Returns the number of subschemas.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the cost of checking `body`; none if it exceeds `steps_max` steps.
    pub(super) fn cost(&self, body: &Value, steps_max: u64) -> Option<Cost> {
        Meter { model: self, left: steps_max, depth: 0 }.node(0, body, 0)
    }
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
