//! The steps from an item of one version of a definition to the next: `x-upgrade` (R56).

use super::*;
use crate::base::problem::pointer;
use crate::model::declaration::DEPTH_MAX;
use crate::model::deployed::WHOLE_BYTES_MAX;
use crate::model::storable::{StorableValue, Unstorable};

/// The word with the steps, at the root of a verified definition.
pub(super) const UPGRADE: &str = "x-upgrade";

/// The steps of one version: JSON Patch on the members of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Upgrade(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
struct Step {
    operation: Operation,
    path: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operation {
    Add(Value),
    Replace(Value),
    Remove,
    Move(Vec<String>),
    Copy(Vec<String>),
}

/// The limit that an item exceeds on its way to a later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// A limit of deployed items.
    Item(Unstorable),
    /// The steps of a request.
    Steps,
    /// The versions and the memory of upgrades.
    Versions,
}

impl Exceeded {
    /// Returns the reason why the item cannot be carried over.
    pub fn problem(self) -> Problem {
        let (rule, message) = match self {
            Self::Item(reason) => {
                return reason.problem(WHOLE_BYTES_MAX, &format!("after the steps of `{UPGRADE}`"));
            }
            Self::Steps => ("too_complex", format!("must need less work in the steps of `{UPGRADE}`")),
            Self::Versions => {
                let limits =
                    format!("{UPGRADED_VERSIONS_MAX} versions, with {UPGRADES_BYTES_MAX} bytes of steps");
                ("too_old", format!("must be of one of the last {limits}"))
            }
        };
        problem("", rule, message)
    }
}

/// Maximum number of versions of a definition between a deployed item and its change instance.
pub const UPGRADED_VERSIONS_MAX: usize = 256;
/// Maximum memory of the upgrades of these versions in bytes, by estimate.
pub const UPGRADES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The work for one byte that a step reads, writes or removes. A byte of small values takes up to 60 nanoseconds.
const STEPS_PER_BYTE: u64 = 8;
/// The work for a name of a path.
const STEPS_PER_NAME: u64 = 16;

/// The memory of a step without its values, in bytes.
const STEP_BYTES: usize = 256;

impl Upgrade {
    /// Reads the steps of a stored definition; the list is empty if the definition lacks the word.
    pub fn load(text: &str) -> Result<Self, Vec<Problem>> {
        let definition = json::parse_schema(text.as_bytes(), SCHEMA_DEPTH_MAX)?;
        Ok(Self::of(&definition))
    }

    /// Returns the steps of a definition.
    ///
    /// An older release published steps whose result no item can hold, so these steps are left out.
    pub(super) fn of(definition: &Value) -> Self {
        let steps = stored_steps(definition).filter_map(Step::of);
        Self(steps.filter(|step| step.unstorable().is_none()).collect())
    }

    /// Turns an item of the previous version into one of this version, or returns the limit that it exceeds.
    ///
    /// Each step applies if it can: a step changes nothing if its path or its source does not exist.
    pub fn apply(&self, item: &mut Carried, budget: &mut Budget) -> Result<(), Exceeded> {
        for Step { operation, path } in &self.0 {
            let new = match operation {
                Operation::Add(value) => at(&item.value, path).is_none().then_some(value),
                Operation::Replace(value) => at(&item.value, path).map(|_| value),
                Operation::Copy(from) => at(&item.value, from),
                Operation::Move(from) => {
                    item.relocate(from, path, budget)?;
                    continue;
                }
                Operation::Remove => {
                    item.take(path, budget)?;
                    continue;
                }
            };
            if let Some(new) = new {
                let bytes = charged(new, path, budget)?;
                let new = new.clone();
                item.put(path, new, bytes, budget)?;
            }
        }
        Ok(())
    }

    /// Returns the memory of the steps in bytes; the estimate is never too low.
    pub fn bytes(&self) -> usize {
        let of_step = |step: &Step| {
            let value = match &step.operation {
                Operation::Add(value) | Operation::Replace(value) => json::canonical(value).len(),
                Operation::Remove | Operation::Move(_) | Operation::Copy(_) => 0,
            };
            // A small value takes more memory than text.
            value.saturating_mul(64).saturating_add(STEP_BYTES)
        };
        self.0.iter().map(of_step).fold(0, usize::saturating_add)
    }
}

/// Returns the pointers of the steps whose result no item can hold, each with the reason.
pub(super) fn unstorable(definition: &Value) -> impl Iterator<Item = (String, String)> {
    stored_steps(definition).enumerate().filter_map(|(index, step)| {
        let (member, message) = Step::of(step)?.unstorable()?;
        Some((pointer([UPGRADE, &index.to_string(), member]), message))
    })
}

fn stored_steps(definition: &Value) -> impl Iterator<Item = &Value> {
    definition.get(UPGRADE).and_then(Value::as_array).into_iter().flatten()
}

impl Step {
    /// Returns the member whose value no item can hold, and the reason: the value is too deep, or has a name or a
    /// number that no reader accepts.
    fn unstorable(&self) -> Option<(&'static str, String)> {
        let names = |path: &[String]| path.len() > DEPTH_MAX;
        let message = || format!("must have at most {DEPTH_MAX} names, the nesting of a deployed item");
        if names(&self.path) {
            return Some(("path", message()));
        }
        if self.path.iter().any(|name| json::is_reserved(name)) {
            return Some(("path", format!("must have no name that begins with {}", json::RESERVED)));
        }
        match &self.operation {
            Operation::Move(from) | Operation::Copy(from) => names(from).then(|| ("from", message())),
            Operation::Add(value) | Operation::Replace(value) => {
                let levels = DEPTH_MAX - self.path.len();
                if json::depth(value) > levels {
                    return Some((
                        "value",
                        format!("must be nested at most {levels} levels deep at this path"),
                    ));
                }
                // A definition has larger numbers than an item, in words like `default`.
                let reason = StorableValue::new(value.clone()).err()?;
                Some(("value", reason.message(WHOLE_BYTES_MAX)))
            }
            Operation::Remove => None,
        }
    }

    fn of(step: &Value) -> Option<Self> {
        let pointer = |name: &str| step.get(name).and_then(Value::as_str).map(tokens);
        let value = || step.get("value").cloned();
        let operation = match step.get("op")?.as_str()? {
            "add" => Operation::Add(value()?),
            "replace" => Operation::Replace(value()?),
            "remove" => Operation::Remove,
            "move" => Operation::Move(pointer("from")?),
            "copy" => Operation::Copy(pointer("from")?),
            _ => return None,
        };
        Some(Self { operation, path: pointer("path")? })
    }
}

/// Returns the member at a path of object members.
fn at<'a>(item: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(item, |value, name| value.as_object()?.get(name))
}

/// Takes the work for a value at a path from the budget, and returns the length of the value's canonical form.
fn charged(value: &Value, path: &[String], budget: &mut Budget) -> Result<usize, Exceeded> {
    charged_bytes(json::canonical(value).len(), path, budget)
}

/// Takes the work for this number of bytes at a path from the budget, and returns the number.
fn charged_bytes(bytes: usize, path: &[String], budget: &mut Budget) -> Result<usize, Exceeded> {
    let of_bytes = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(STEPS_PER_BYTE);
    let of_path = u64::try_from(path.len()).unwrap_or(u64::MAX).saturating_mul(STEPS_PER_NAME);
    if budget.takes(of_bytes.saturating_add(of_path)) { Ok(bytes) } else { Err(Exceeded::Steps) }
}

/// Returns the length of a member in an object with this number of other members.
fn member_bytes(name: &str, value_bytes: usize, others: usize) -> usize {
    json::canonical(&json!(name)).len() + ":".len() + value_bytes + usize::from(others > 0)
}

/// An item on its way to a later version, always within the bytes and the depth of deployed items.
#[derive(Debug)]
pub struct Carried {
    value: Value,
    /// The length of the canonical form, kept up to date by each step.
    bytes: usize,
}

impl Carried {
    /// Returns a stored item at the start of its way.
    pub fn new(stored: StorableValue, budget: &mut Budget) -> Result<Self, Exceeded> {
        let bytes = charged_bytes(stored.text().len(), &[], budget)?;
        let item = Self { value: stored.into_value(), bytes };
        item.is_within_bytes().map(|()| item)
    }

    /// Returns the item at the end of its way.
    pub fn into_storable(self) -> Result<StorableValue, Exceeded> {
        StorableValue::new(self.value).map_err(Exceeded::Item)
    }

    const fn is_within_bytes(&self) -> Result<(), Exceeded> {
        if self.bytes > WHOLE_BYTES_MAX { Err(Exceeded::Item(Unstorable::Bytes)) } else { Ok(()) }
    }

    /// Returns the object with the last name of a path, if all objects above it exist.
    fn object_of(&mut self, above: &[String]) -> Option<&mut Map<String, Value>> {
        let object =
            above.iter().try_fold(&mut self.value, |value, name| value.as_object_mut()?.get_mut(name));
        object?.as_object_mut()
    }

    /// Removes the member at a path, and returns its value with the length.
    fn take(&mut self, path: &[String], budget: &mut Budget) -> Result<Option<(Value, usize)>, Exceeded> {
        let Some((name, above)) = path.split_last() else { return Ok(None) };
        let Some(value) = at(&self.value, path) else { return Ok(None) };
        let bytes = charged(value, path, budget)?;
        let Some(object) = self.object_of(above) else { return Ok(None) };
        let Some(value) = object.remove(name) else { return Ok(None) };
        let others = object.len();
        self.bytes = self.bytes.saturating_sub(member_bytes(name, bytes, others));
        Ok(Some((value, bytes)))
    }

    /// Moves a value, unless its new path is not possible.
    fn relocate(&mut self, from: &[String], path: &[String], budget: &mut Budget) -> Result<(), Exceeded> {
        let Some((value, bytes)) = self.take(from, budget)? else { return Ok(()) };
        match self.put(path, value, bytes, budget)? {
            None => Ok(()),
            Some(value) => self.put(from, value, bytes, budget).map(drop),
        }
    }

    /// Sets the member at a path and creates the objects above it, or returns the value if this is not possible.
    fn put(
        &mut self,
        path: &[String],
        value: Value,
        bytes: usize,
        budget: &mut Budget,
    ) -> Result<Option<Value>, Exceeded> {
        // A copy of an object into itself nests.
        if path.len() + json::depth(&value) > DEPTH_MAX {
            return Err(Exceeded::Item(Unstorable::Depth));
        }
        let Some((name, above)) = path.split_last() else { return Ok(Some(value)) };
        let replaced = at(&self.value, path).map(|old| charged(old, path, budget)).transpose()?;
        let (mut object, mut added) = (&mut self.value, 0_usize);
        for name in above {
            let Some(members) = object.as_object_mut() else { return Ok(Some(value)) };
            let others = members.len();
            object = members.entry(name.clone()).or_insert_with(|| {
                added += member_bytes(name, "{}".len(), others);
                json!({})
            });
        }
        let Some(members) = object.as_object_mut() else { return Ok(Some(value)) };
        added += if replaced.is_some() { bytes } else { member_bytes(name, bytes, members.len()) };
        members.insert(name.clone(), value);
        self.bytes = self.bytes.saturating_add(added).saturating_sub(replaced.unwrap_or_default());
        // Each copy may double the item, so the end is too late for this check.
        self.is_within_bytes().map(|()| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an item after the steps, and checks the length that they kept.
    fn carried(upgrade: &Upgrade, item: Value) -> Result<Value, Exceeded> {
        let mut budget = Budget::of_request();
        let mut item = Carried::new(StorableValue::new(item).unwrap(), &mut budget)?;
        upgrade.apply(&mut item, &mut budget)?;
        let bytes = item.bytes;
        let item = item.into_storable()?;
        assert_eq!(bytes, item.text().len(), "{}", item.text());
        Ok(item.into_value())
    }

    fn applied(steps: &Value, item: Value) -> Value {
        carried(&Upgrade::of(&json!({"x-upgrade": steps})), item).unwrap()
    }

    #[test]
    fn each_step_applies_where_its_path_exists() {
        let table = [
            (json!({"op": "add", "path": "/b", "value": 1}), json!({"a": 1, "b": 1})),
            (json!({"op": "add", "path": "/a", "value": 2}), json!({"a": 1})),
            (json!({"op": "add", "path": "/b/c", "value": 1}), json!({"a": 1, "b": {"c": 1}})),
            (json!({"op": "add", "path": "/a/c", "value": 1}), json!({"a": 1})),
            (json!({"op": "replace", "path": "/a", "value": 2}), json!({"a": 2})),
            (json!({"op": "replace", "path": "/b", "value": 2}), json!({"a": 1})),
            (json!({"op": "remove", "path": "/a"}), json!({})),
            (json!({"op": "remove", "path": "/b"}), json!({"a": 1})),
            (json!({"op": "remove", "path": ""}), json!({"a": 1})),
            (json!({"op": "move", "from": "/a", "path": "/b/c"}), json!({"b": {"c": 1}})),
            (json!({"op": "move", "from": "/a", "path": "/a/c"}), json!({"a": {"c": 1}})),
            (json!({"op": "move", "from": "/a", "path": ""}), json!({"a": 1})),
            (json!({"op": "move", "from": "/b", "path": "/c"}), json!({"a": 1})),
            (json!({"op": "copy", "from": "/a", "path": "/b"}), json!({"a": 1, "b": 1})),
            (json!({"op": "copy", "from": "/b", "path": "/a"}), json!({"a": 1})),
        ];
        for (step, expected) in table {
            assert_eq!(applied(&json!([step]), json!({"a": 1})), expected, "{step}");
        }
    }

    #[test]
    fn a_step_changes_no_element_of_an_array() {
        let item = || json!({"a": [{"b": 1}]});
        for step in [
            json!({"op": "add", "path": "/a/0/c", "value": 1}),
            json!({"op": "remove", "path": "/a/0"}),
            json!({"op": "move", "from": "/a/0/b", "path": "/b"}),
        ] {
            assert_eq!(applied(&json!([step]), item()), item(), "{step}");
        }
    }

    #[test]
    fn the_steps_apply_in_their_order() {
        let steps = json!([
            {"op": "move", "from": "/a", "path": "/b"},
            {"op": "move", "from": "/b", "path": "/c"},
            {"op": "add", "path": "/a~1b", "value": true},
        ]);
        assert_eq!(applied(&steps, json!({"a": 1})), json!({"c": 1, "a/b": true}));
        assert_eq!(carried(&Upgrade::default(), json!({"a": 1})), Ok(json!({"a": 1})));
        assert!(Upgrade::of(&json!({"x-upgrade": steps})).bytes() >= 3 * STEP_BYTES);
    }

    #[test]
    fn copies_end_at_the_limit_of_an_item() {
        let copy = |n: u64| json!({"op": "copy", "from": "/a", "path": format!("/a/{n}")});
        let copies: Vec<Value> = (0..32).map(copy).collect();
        let upgrade = Upgrade::of(&json!({"x-upgrade": copies}));
        assert_eq!(carried(&upgrade, json!({"a": {"b": 1}})), Err(Exceeded::Item(Unstorable::Bytes)));
    }

    #[test]
    fn steps_end_at_the_work_of_a_request() {
        let large = json!({"a": "a".repeat(WHOLE_BYTES_MAX / 3)});
        let turn = [json!({"op": "copy", "from": "/a", "path": "/b"}), json!({"op": "remove", "path": "/b"})];
        let upgrade = Upgrade::of(&json!({"x-upgrade": turn}));
        let mut budget = Budget::of_request();
        let mut item = Carried::new(StorableValue::new(large).unwrap(), &mut budget).unwrap();
        let ended =
            (0..).find_map(|turns| upgrade.apply(&mut item, &mut budget).err().map(|error| (turns, error)));
        let (turns, error) = ended.unwrap();
        assert_eq!(error, Exceeded::Steps);
        let per_turn = STEPS_MAX / turns;
        let bytes = u64::try_from(WHOLE_BYTES_MAX / 3).unwrap();
        assert!(
            (2 * bytes * STEPS_PER_BYTE..3 * bytes * STEPS_PER_BYTE).contains(&per_turn),
            "{turns} turns"
        );
        assert!(budget.is_exceeded());
    }

    /// Returns a path of this many equal names.
    fn path(names: usize) -> String {
        "/a".repeat(names)
    }

    #[test]
    fn a_step_whose_result_no_item_can_hold_is_refused_and_left_out() {
        let nested = |levels| (0..levels).fold(json!(1), |value, _| json!({"a": value}));
        let table = [
            (json!({"op": "add", "path": path(DEPTH_MAX), "value": 1}), None),
            (json!({"op": "add", "path": path(DEPTH_MAX + 1), "value": 1}), Some("path")),
            (json!({"op": "add", "path": path(5_000), "value": 1}), Some("path")),
            (json!({"op": "remove", "path": path(DEPTH_MAX + 1)}), Some("path")),
            (json!({"op": "copy", "from": path(DEPTH_MAX + 1), "path": "/b"}), Some("from")),
            (json!({"op": "add", "path": "/b/$serde_json::private::Number", "value": 1}), Some("path")),
            (json!({"op": "copy", "from": "/a", "path": "/$serde_json::private::RawValue"}), Some("path")),
            (json!({"op": "add", "path": "/b/c", "value": nested(DEPTH_MAX - 2)}), None),
            (json!({"op": "add", "path": "/b/c", "value": nested(DEPTH_MAX - 1)}), Some("value")),
            (json!({"op": "add", "path": "/b", "value": {"default": json::NUMBER_MAX}}), None),
            (json!({"op": "add", "path": "/b", "value": {"default": json::NUMBER_MAX + 1}}), Some("value")),
        ];
        for (step, refused) in table {
            let definition = json!({"x-upgrade": [step]});
            let pointers: Vec<String> = unstorable(&definition).map(|(pointer, _)| pointer).collect();
            let expected: Vec<String> =
                refused.map(|member| format!("/x-upgrade/0/{member}")).into_iter().collect();
            assert_eq!(pointers, expected, "{step:.100}");
            let result = carried(&Upgrade::of(&definition), json!({"a": {}})).unwrap();
            assert!(json::depth(&result) <= DEPTH_MAX, "{step:.100}");
            assert!(refused.is_none() || result == json!({"a": {}}), "{step:.100}");
        }
    }

    #[test]
    fn copies_end_at_the_depth_of_an_item() {
        let copies = |count| json!(vec![json!({"op": "copy", "from": "/a", "path": "/a/a"}); count]);
        // Each copy nests the object once more.
        assert_eq!(json::depth(&applied(&copies(DEPTH_MAX - 2), json!({"a": {}}))), DEPTH_MAX);
        let upgrade = Upgrade::of(&json!({"x-upgrade": copies(DEPTH_MAX - 1)}));
        assert_eq!(carried(&upgrade, json!({"a": {}})), Err(Exceeded::Item(Unstorable::Depth)));
    }
}
