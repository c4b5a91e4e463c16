//! Fences taken away, one at a time, on the way to the storage: what is left shows what each of them holds back.
//!
//! A condition is made one that always holds; the functions themselves are as they are delivered.

use serde_json::Value;

/// A fence, as the text of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// What it is called in docs/architecture.md.
    pub name: &'static str,
    /// The part of the condition that is it.
    condition: &'static str,
    /// The type of the rows that it guards; any, where the condition tells enough.
    row: Option<&'static str>,
    /// How it shows that it is needed.
    pub needed: Needed,
}

/// How a fence shows that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// One of the runs from this seed on breaks without it.
    From(u64),
    /// No run misses it, for this reason; the model tells whether it does (docs/reliability.md).
    Unseen(&'static str),
}

const fn needed(name: &'static str, condition: &'static str, row: Option<&'static str>, seed: u64) -> Fence {
    Fence { name, condition, row, needed: Needed::From(seed) }
}

const fn unseen(
    name: &'static str,
    condition: &'static str,
    row: Option<&'static str>,
    other: &'static str,
) -> Fence {
    Fence { name, condition, row, needed: Needed::Unseen(other) }
}

/// The fences of docs/architecture.md that are conditions, one after the other.
pub const FENCES: [Fence; 13] = [
    unseen("HEAD.submissions", "#sub = :sub", None, "the key of the next submission is taken"),
    needed("HEAD.attention", "#attn = :attn AND #att = :att", None, 13),
    unseen("HEAD.next_change", "#nc = :nc", None, "the keys of change instances are taken"),
    unseen("HEAD.in_flight, before a submission", "attribute_not_exists(#inf)", None, "HEAD.submissions"),
    unseen("HEAD.in_flight, at its end", "#inf = :inf", None, "SUBMISSION.work_left"),
    unseen("STAGING.state", "#st = :st", None, "a commit and the sweep hardly ever meet"),
    unseen("APP.dig, APP.ni", "#dig = :dig AND #ni = :ni", None, "the head is written with it"),
    needed("ITEM.revision", "#rv = :rv", None, 3),
    unseen("history length and state", "#n = :n AND #st = :st", None, "ITEM.revision"),
    needed("key not taken: change instance", "attribute_not_exists(pk)", Some("CHANGE"), 9),
    unseen("key not taken: submission", "attribute_not_exists(pk)", Some("SUBMISSION"), "HEAD.submissions"),
    unseen("SUBMISSION.work_left", "#wl = :before", None, "the work record itself"),
    unseen("the work record itself", "attribute_exists(pk)", Some("DELETE"), "SUBMISSION.work_left"),
];

impl Fence {
    /// Takes it away from a transaction; tells whether it was there.
    pub fn remove(&self, request: &mut Value) -> bool {
        let mut removed = false;
        for action in request["TransactItems"].as_array_mut().into_iter().flatten() {
            let Some((kind, action)) = action.as_object_mut().and_then(|action| action.iter_mut().next())
            else {
                continue;
            };
            let row = action.pointer("/Item/ty/S").and_then(Value::as_str);
            let row = if kind == "Delete" { Some("DELETE") } else { row };
            let Some(condition) = action.get("ConditionExpression").and_then(Value::as_str) else { continue };
            let is_whole = self.name == "STAGING.state" || self.name.starts_with("HEAD.in_flight, at");
            let is_it =
                if is_whole { condition == self.condition } else { condition.contains(self.condition) };
            if is_it && self.row.is_none_or(|ty| row == Some(ty)) {
                // Its names stay in use, which DynamoDB asks for.
                let always =
                    format!("(({0}) OR attribute_exists(pk) OR attribute_not_exists(pk))", self.condition);
                action["ConditionExpression"] = Value::String(condition.replace(self.condition, &always));
                removed = true;
            }
        }
        removed
    }
}
