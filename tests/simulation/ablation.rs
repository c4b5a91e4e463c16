//! Fences taken away, one at a time, on the way to the storage: what is left shows what each of them holds back.
//!
//! A condition is made one that always holds; the functions themselves are as they are delivered.

use serde_json::Value;

/// A fence, as the text of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// What it is called in docs/explanation/concurrency.md.
    pub name: &'static str,
    condition: Condition,
    /// The type of the rows that it guards; any, where the condition tells enough.
    row: Option<&'static str>,
    /// How it shows that it is needed.
    pub needed: Needed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// A part of a condition, or all of it.
    Part(&'static str),
    /// All of a condition.
    Whole(&'static str),
}

/// How a fence shows that it is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// One of the runs from this seed on breaks without it.
    From(u64),
    /// No run misses it, for this reason; the model tells whether it does (docs/explanation/verification.md).
    Unseen(&'static str),
}

use Condition::{Part, Whole};
use Needed::{From, Unseen};

const fn fence(name: &'static str, condition: Condition, row: Option<&'static str>, needed: Needed) -> Fence {
    Fence { name, condition, row, needed }
}

const NOT_TAKEN: Condition = Part("attribute_not_exists(pk)");

/// The fences of docs/explanation/concurrency.md that are conditions, one after the other.
pub const FENCES: [Fence; 14] = [
    fence("HEAD.submissions", Part("#sub = :sub"), None, Unseen("the key of the next submission is taken")),
    fence("HEAD.attention", Part("#attn = :attn AND #att = :att"), None, From(13)),
    fence("HEAD.next_change", Part("#nc = :nc"), None, Unseen("the keys of change instances are taken")),
    fence(
        "HEAD.in_flight, before a submission",
        Part("attribute_not_exists(#inf)"),
        None,
        Unseen("HEAD.submissions"),
    ),
    fence("HEAD.in_flight, at its end", Whole("#inf = :inf"), None, Unseen("SUBMISSION.work_left")),
    fence("STAGING.state", Whole("#st = :st"), None, Unseen("a commit and the sweep hardly ever meet")),
    fence("APP.dig, APP.ni", Part("#dig = :dig AND #ni = :ni"), None, Unseen("the head is written with it")),
    fence("ITEM.revision", Part("#rv = :rv"), None, From(3)),
    fence("history length and state", Part("#n = :n AND #st = :st"), None, Unseen("ITEM.revision")),
    fence("key not taken: change instance", NOT_TAKEN, Some("CHANGE"), From(52)),
    fence("key not taken: submission", NOT_TAKEN, Some("SUBMISSION"), Unseen("HEAD.submissions")),
    fence("key not taken: idempotency key", NOT_TAKEN, Some("KEY"), Unseen("HEAD.submissions")),
    fence("SUBMISSION.work_left", Part("#wl = :before"), None, Unseen("the work record itself")),
    fence(
        "the work record itself",
        Part("attribute_exists(pk)"),
        Some("DELETE"),
        Unseen("SUBMISSION.work_left"),
    ),
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
            let (is_it, fence) = match self.condition {
                Part(fence) => (condition.contains(fence), fence),
                Whole(fence) => (condition == fence, fence),
            };
            if is_it && self.row.is_none_or(|ty| row == Some(ty)) {
                // Its names stay in use, which DynamoDB asks for.
                let always = format!("(({fence}) OR attribute_exists(pk) OR attribute_not_exists(pk))");
                action["ConditionExpression"] = Value::String(condition.replace(fence, &always));
                removed = true;
            }
        }
        removed
    }
}
