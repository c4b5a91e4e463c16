//! Masks at the submission: the secrets of a declared item leave its declaration (R58).

use crate::base::hash::Hash;
use crate::base::json;
use crate::base::problem::{Problem, below, tokens};
use crate::catalog::schema::Part;
use crate::model::declaration::DeclaredItem;
use crate::model::secrets::{MaskKey, SecretOwner, Secrets, is_mask};
use serde_json::Value;

/// Returns whether a definition has secrets and an item declares one.
pub fn has_secret(part: &Part, item: &DeclaredItem) -> bool {
    let mut has_secret = false;
    for_each(part, "", &item.body, &mut |_, _| has_secret = true);
    has_secret
}

/// Returns whether an item declares a mask in place of a secret.
pub fn has_mask(part: &Part, item: &DeclaredItem) -> bool {
    let mut has_mask = false;
    for_each(part, "", &item.body, &mut |_, value| has_mask |= value.as_str().is_some_and(is_mask));
    has_mask
}

/// Puts masks in place of the secrets of an item.
///
/// A declared mask means the secret that is `stored` under it; a mask without one is a problem. An unchanged secret
/// keeps its mask, even if the key has changed since.
pub fn mask(
    item: &mut DeclaredItem,
    part: &Part,
    key: &MaskKey,
    (owner, team): (&SecretOwner, &str),
    stored: &[&Secrets],
) -> Vec<Problem> {
    let (mut secrets, mut unknown) = (Secrets::default(), Vec::new());
    let masked = replaced(part, "", &item.body, &mut |pointer, value| {
        let declared = match value.as_str().filter(|text| is_mask(text)) {
            Some(mask) => {
                stored.iter().find_map(|stored| stored.value(mask)).map(|value| (mask.to_owned(), value))
            }
            None => {
                let unchanged = stored.iter().find_map(|stored| stored.mask_of(value)).map(str::to_owned);
                unchanged.or_else(|| key.mask(owner, value)).map(|mask| (mask, value))
            }
        };
        let Some((mask, value)) = declared else {
            unknown.push(pointer.to_owned());
            return Value::Null;
        };
        secrets.insert(mask.clone(), value.clone());
        Value::String(mask)
    });
    if unknown.is_empty() {
        item.canonical = json::canonical(&masked);
        item.hash = Hash::of(&item.canonical);
        item.body = replaced(part, "", &masked, &mut |_, mask| {
            mask.as_str().and_then(|mask| secrets.value(mask)).unwrap_or(mask).clone()
        });
        item.secrets = secrets;
    }
    unknown.into_iter().map(|pointer| unknown_secret(item, [team, &owner.application], &pointer)).collect()
}

fn unknown_secret(item: &DeclaredItem, [team, application]: [&str; 2], pointer: &str) -> Problem {
    let path = [team, application, &item.service, &item.name].map(str::to_owned);
    Problem {
        pointer: format!("{}{pointer}", item.pointer),
        path: path.into_iter().chain(tokens(pointer)).collect(),
        rule: "unknown_secret",
        message: "must be the mask of a stored secret of this item, or a new secret".to_owned(),
        change: None,
    }
}

/// Visits the values at `writeOnly` paths with their pointers.
fn for_each(part: &Part, pointer: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    replaced(part, pointer, value, &mut |pointer, value| {
        visit(pointer, value);
        Value::Null
    });
}

/// Returns a value with others in place of those at `writeOnly` paths.
fn replaced(part: &Part, pointer: &str, value: &Value, of: &mut impl FnMut(&str, &Value) -> Value) -> Value {
    if part.is_secret() {
        return of(pointer, value);
    }
    let mut at = |token: &str, part: Option<&Part>, value: &Value| match part {
        Some(part) => replaced(part, &below(pointer, token), value, of),
        None => value.clone(),
    };
    match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), at(name, part.member(name), value))).collect()
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            elements.map(|(index, value)| at(&index.to_string(), part.elements(), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
