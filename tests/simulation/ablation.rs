//! Removes one fence at a time on the way to the storage, to show its effect.
//!
//! The fence becomes a condition that always holds. The functions run as delivered.

use serde_json::Value;

/// A fence, as the text of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Name in docs/explanation/concurrency.md.
    pub name: &'static str,
    condition: Condition,
    /// Type of the guarded rows. `None` if the condition alone identifies the fence.
    row: Option<&'static str>,
    /// Proof that the fence is necessary.
    pub needed: Needed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// A condition with this text.
    Part(&'static str),
    /// A condition with one of these texts.
    AnyPart([&'static str; 2]),
    /// A condition with exactly this text.
    Whole(&'static str),
}

/// The proof that a fence is necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// One of the runs from this seed on fails without the fence.
    From(u64),
    /// No run fails without it, for this reason. The model can still need it (docs/explanation/verification.md).
    Unseen(&'static str),
}

use Condition::{AnyPart, Part, Whole};
use Needed::{From, Unseen};

const fn fence(name: &'static str, condition: Condition, row: Option<&'static str>, needed: Needed) -> Fence {
    Fence { name, condition, row, needed }
}

const NOT_TAKEN: Condition = Part("attribute_not_exists(pk)");

/// The fences of docs/explanation/concurrency.md with a condition, in order.
pub const FENCES: [Fence; 20] = [
    fence("HEAD.submissions", Part("#sub = :sub"), None, Unseen("the key of the next submission is taken")),
    fence("HEAD.blockers", Part("#attn = :attn AND #att = :att"), None, From(1)),
    fence("HEAD.next_change", Part("#nc = :nc"), None, Unseen("the keys of change instances are taken")),
    fence(
        "HEAD.in_flight, before a submission",
        Part("attribute_not_exists(#inf)"),
        Some("HEAD"),
        Unseen("HEAD.submissions"),
    ),
    fence("HEAD.in_flight, at its end", Whole("#inf = :inf"), None, Unseen("SUBMISSION.work_left")),
    fence("STAGING.state", Whole("#st = :st"), None, Unseen("a commit and the sweep hardly ever meet")),
    fence("APP.dig, APP.ni", Part("#dig = :dig AND #ni = :ni"), None, Unseen("the head is written with it")),
    fence(
        "APP.dr",
        Part("(attribute_not_exists(#dr) OR #dr = :dr)"),
        None,
        Unseen("an observation and a new declaration of another item hardly ever meet"),
    ),
    fence("APP.us", AnyPart(["attribute_not_exists(#us)", "#us = :us"]), None, From(14)),
    fence("ITEM.dc", Whole("#dc = :dc"), None, From(14)),
    fence(
        "HEAD.in_flight of another team",
        Whole("attribute_not_exists(#inf)"),
        Some("CHECK"),
        Unseen("tests/resilience/uses.rs needs it; here its moment hardly ever occurs"),
    ),
    fence("ITEM.revision", Part("#rv = :rv"), None, From(3)),
    fence("CLAIM.n", Whole("#n = :n"), None, Unseen("the claim is read before the write")),
    fence("history length and state", Part("#n = :n AND #st = :st"), None, Unseen("ITEM.revision")),
    fence("key not taken: change instance", NOT_TAKEN, Some("CHANGE"), From(76)),
    fence("key not taken: submission", NOT_TAKEN, Some("SUBMISSION"), Unseen("HEAD.submissions")),
    fence("key not taken: idempotency key", NOT_TAKEN, Some("KEY"), Unseen("HEAD.submissions")),
    fence("key not taken: claim", NOT_TAKEN, Some("CHECK"), Unseen("the claim is read before the plan")),
    fence("SUBMISSION.work_left", Part("#wl = :before"), None, Unseen("the work record itself")),
    fence(
        "the work record itself",
        Part("attribute_exists(pk)"),
        Some("DELETE"),
        Unseen("SUBMISSION.work_left"),
    ),
];

impl Condition {
    /// Returns the text of the fence in a condition, if the condition has it.
    fn text_in(self, condition: &str) -> Option<&'static str> {
        match self {
            Part(fence) => condition.contains(fence).then_some(fence),
            AnyPart(fences) => fences.into_iter().find(|fence| condition.contains(fence)),
            Whole(fence) => (condition == fence).then_some(fence),
        }
    }
}

impl Fence {
    /// Removes the fence from a transaction. Returns whether the transaction had it.
    pub fn remove(&self, request: &mut Value) -> bool {
        let mut removed = false;
        for action in request["TransactItems"].as_array_mut().into_iter().flatten() {
            let Some((kind, action)) = action.as_object_mut().and_then(|action| action.iter_mut().next())
            else {
                continue;
            };
            let row = action.pointer("/Item/ty/S").and_then(Value::as_str);
            let row = match kind.as_str() {
                "Delete" => Some("DELETE"),
                "ConditionCheck" => Some("CHECK"),
                _ => row,
            };
            let Some(condition) = action.get("ConditionExpression").and_then(Value::as_str) else { continue };
            let Some(fence) = self.condition.text_in(condition) else { continue };
            if self.row.is_none_or(|ty| row == Some(ty)) {
                // The names must stay in use, because DynamoDB rejects unused ones.
                // DynamoDB also rejects redundant parentheses.
                let fenced = if fence.starts_with('(') { fence.to_owned() } else { format!("({fence})") };
                let always = format!("({fenced} OR attribute_exists(pk) OR attribute_not_exists(pk))");
                action["ConditionExpression"] = Value::String(condition.replace(fence, &always));
                removed = true;
            }
        }
        removed
    }
}
