//! The steps from an item of one version of a definition to the next: `x-upgrade` (R56).

use super::words::UPGRADE;
use super::*;
use crate::base::problem::pointer;
use crate::model::declaration::DEPTH_MAX;
use crate::model::deployed::WHOLE_BYTES_MAX;

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

/// The limit of deployed items that an item exceeds after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    Bytes,
    Depth,
}

impl Exceeded {
    /// Returns why the item cannot be carried over.
    pub fn problem(self) -> Problem {
        let (rule, most) = match self {
            Self::Bytes => ("too_large", format!("have at most {WHOLE_BYTES_MAX} bytes")),
            Self::Depth => ("too_deep", format!("be nested at most {DEPTH_MAX} levels deep")),
        };
        problem("", rule, format!("must {most} after the steps of `{UPGRADE}`"))
    }
}

/// The memory of a step without its values, in bytes.
const STEP_BYTES: usize = 256;

impl Upgrade {
    /// Reads the steps of a stored definition; none without the word.
    pub fn load(text: &str) -> Result<Self, Vec<Problem>> {
        let definition = json::parse(text.as_bytes(), SCHEMA_DEPTH_MAX)?;
        Ok(Self::of(&definition))
    }

    /// Returns the steps of a definition.
    ///
    /// An older release published steps that are too deep. They are left out, because no item could hold their result.
    pub(super) fn of(definition: &Value) -> Self {
        let steps = stored_steps(definition).filter_map(Step::of);
        Self(steps.filter(|step| step.too_deep().is_none()).collect())
    }

    /// Returns an item of the previous version as one of this version, or the limit that it exceeds.
    ///
    /// Each step applies if it can: where a path or the source does not exist, it changes nothing.
    pub fn applied(&self, mut item: Value) -> Result<Value, Exceeded> {
        for Step { operation, path } in &self.0 {
            let new = match operation {
                Operation::Add(value) => at(&item, path).is_none().then(|| value.clone()),
                Operation::Replace(value) => at(&item, path).map(|_| value.clone()),
                Operation::Copy(from) => at(&item, from).cloned(),
                Operation::Move(from) => take(&mut item, from),
                Operation::Remove => {
                    take(&mut item, path);
                    None
                }
            };
            // A copy of an object into itself nests.
            if new.as_ref().is_some_and(|new| path.len() + json::depth(new) > DEPTH_MAX) {
                return Err(Exceeded::Depth);
            }
            if let Some(new) = new
                && let Err(value) = put(&mut item, path, new)
                && let Operation::Move(from) = operation
            {
                // The value stays where it was.
                drop(put(&mut item, from, value));
            }
            // Each copy may double the item, so the end is too late for a check.
            if json::canonical(&item).len() > WHOLE_BYTES_MAX {
                return Err(Exceeded::Bytes);
            }
        }
        Ok(item)
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

/// Returns the pointers of the steps that nest an item too deep, each with the reason.
pub(super) fn too_deep(definition: &Value) -> impl Iterator<Item = (String, String)> {
    stored_steps(definition).enumerate().filter_map(|(index, step)| {
        let (member, message) = Step::of(step)?.too_deep()?;
        Some((pointer([UPGRADE, &index.to_string(), member]), message))
    })
}

fn stored_steps(definition: &Value) -> impl Iterator<Item = &Value> {
    definition.get(UPGRADE).and_then(Value::as_array).into_iter().flatten()
}

impl Step {
    /// Returns the member that nests an item too deep, and the reason.
    fn too_deep(&self) -> Option<(&'static str, String)> {
        let names = |path: &[String]| path.len() > DEPTH_MAX;
        let message = || format!("must have at most {DEPTH_MAX} names, the nesting of a deployed item");
        if names(&self.path) {
            return Some(("path", message()));
        }
        match &self.operation {
            Operation::Move(from) | Operation::Copy(from) => names(from).then(|| ("from", message())),
            Operation::Add(value) | Operation::Replace(value) => {
                let levels = DEPTH_MAX - self.path.len();
                let message = || format!("must be nested at most {levels} levels deep at this path");
                (json::depth(value) > levels).then(|| ("value", message()))
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

/// Removes and returns the member at a path.
fn take(item: &mut Value, path: &[String]) -> Option<Value> {
    let (name, above) = path.split_last()?;
    let object = above.iter().try_fold(item, |value, name| value.as_object_mut()?.get_mut(name))?;
    object.as_object_mut()?.remove(name)
}

/// Sets the member at a path, and creates the objects above it; returns the value if this is not possible.
fn put(item: &mut Value, path: &[String], value: Value) -> Result<(), Value> {
    let Some((name, above)) = path.split_last() else { return Err(value) };
    let mut object = item;
    for name in above {
        let Some(members) = object.as_object_mut() else { return Err(value) };
        object = members.entry(name.clone()).or_insert_with(|| json!({}));
    }
    let Some(members) = object.as_object_mut() else { return Err(value) };
    members.insert(name.clone(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(steps: &Value, item: Value) -> Value {
        Upgrade::of(&json!({"x-upgrade": steps})).applied(item).unwrap()
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
        assert_eq!(Upgrade::default().applied(json!({"a": 1})), Ok(json!({"a": 1})));
        assert!(Upgrade::of(&json!({"x-upgrade": steps})).bytes() >= 3 * STEP_BYTES);
    }

    #[test]
    fn copies_end_at_the_limit_of_an_item() {
        let copy = |n: u64| json!({"op": "copy", "from": "/a", "path": format!("/a/{n}")});
        let copies: Vec<Value> = (0..32).map(copy).collect();
        let upgrade = Upgrade::of(&json!({"x-upgrade": copies}));
        assert_eq!(upgrade.applied(json!({"a": {"b": 1}})), Err(Exceeded::Bytes));
    }

    /// Returns a path of this many equal names.
    fn path(names: usize) -> String {
        "/a".repeat(names)
    }

    #[test]
    fn a_step_that_is_too_deep_is_refused_and_left_out() {
        let nested = |levels| (0..levels).fold(json!(1), |value, _| json!({"a": value}));
        let table = [
            (json!({"op": "add", "path": path(DEPTH_MAX), "value": 1}), None),
            (json!({"op": "add", "path": path(DEPTH_MAX + 1), "value": 1}), Some("path")),
            (json!({"op": "add", "path": path(5_000), "value": 1}), Some("path")),
            (json!({"op": "remove", "path": path(DEPTH_MAX + 1)}), Some("path")),
            (json!({"op": "copy", "from": path(DEPTH_MAX + 1), "path": "/b"}), Some("from")),
            (json!({"op": "add", "path": "/b/c", "value": nested(DEPTH_MAX - 2)}), None),
            (json!({"op": "add", "path": "/b/c", "value": nested(DEPTH_MAX - 1)}), Some("value")),
        ];
        for (step, refused) in table {
            let definition = json!({"x-upgrade": [step]});
            let pointers: Vec<String> = too_deep(&definition).map(|(pointer, _)| pointer).collect();
            let expected: Vec<String> =
                refused.map(|member| format!("/x-upgrade/0/{member}")).into_iter().collect();
            assert_eq!(pointers, expected, "{step:.100}");
            let result = Upgrade::of(&definition).applied(json!({"a": {}})).unwrap();
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
        assert_eq!(upgrade.applied(json!({"a": {}})), Err(Exceeded::Depth));
    }
}
