//! Masks at the submission: the secrets of a declared item leave its declaration (R58).

use crate::base::hash::Hash;
use crate::base::problem::{Problem, below, tokens};
use crate::catalog::schema::Part;
use crate::model::declaration::{DECLARATION_BYTES_MAX, DeclaredItem};
use crate::model::secrets::{MaskKey, SecretOwner, Secrets, is_mask};
use crate::model::storable::{StorableValue, Unstorable};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::Infallible;

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

/// Returns whether an item declares a mask in place of each of its secrets.
pub fn is_masked(part: &Part, item: &DeclaredItem) -> bool {
    let mut is_masked = true;
    for_each(part, "", &item.body, &mut |_, value| is_masked &= value.as_str().is_some_and(is_mask));
    is_masked
}

/// Returns the pointers of the secrets in a value at a path of a definition.
pub(crate) fn pointers(part: &Part, value: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    for_each(part, "", value, &mut |pointer, _| pointers.push(pointer.to_owned()));
    pointers
}

/// Returns whether `secrets` has the secret of each mask in a stored declaration.
pub(crate) fn knows_masks(part: &Part, declared: &Value, secrets: Option<&Secrets>) -> bool {
    let mut knows_all = true;
    for_each(part, "", declared, &mut |_, value| {
        let mask = value.as_str().filter(|text| is_mask(text));
        knows_all &= mask.is_none_or(|mask| secrets.is_some_and(|secrets| secrets.value(mask).is_some()));
    });
    knows_all
}

/// Puts masks in place of the secrets of an item. Returns the size of the item with its secrets, in bytes.
///
/// A declared mask stands for the secret that is `stored` under it; a mask without a stored secret is a problem. An
/// unchanged secret keeps its mask, even if the key has changed since.
///
/// A mask may be longer or shorter than its secret, so the item must be within the limit of bytes both with masks and
/// with secrets. If there is a problem, the item stays unchanged.
pub fn mask(
    item: &mut DeclaredItem,
    part: &Part,
    key: &MaskKey,
    (owner, team): (&SecretOwner, &str),
    stored: &[&Secrets],
) -> Result<usize, Vec<Problem>> {
    let mut masks = Masks::of(stored, |value| key.mask(owner, value));
    let masked = replaced(part, "", &item.body, &mut |pointer, value| masks.mask(pointer, value));
    let Masks { secrets, unknown, .. } = masks;
    let made = masked.and_then(|masked| {
        let masked = StorableValue::new(masked)?.within(DECLARATION_BYTES_MAX)?;
        // The size comes first, because many masks may stand for one large secret.
        secrets.revealed(&masked)?.within(DECLARATION_BYTES_MAX)?;
        let revealed = replaced(part, "", &masked, &mut |_, mask| {
            let secret = mask.as_str().and_then(|mask| secrets.value(mask));
            Ok(secret.map_or_else(|| mask.clone(), |secret| Value::clone(secret)))
        });
        Ok((masked, StorableValue::new(revealed?)?))
    });
    let problems = match made {
        _ if !unknown.is_empty() => unknown,
        Ok((masked, revealed)) => {
            let bytes = revealed.text().len();
            (item.body, item.canonical) = (revealed.into_value(), masked.into_text());
            item.hash = Hash::of(&item.canonical);
            item.secrets = secrets;
            return Ok(bytes);
        }
        Err(reason) => vec![unstorable(reason)],
    };
    Err(problems.into_iter().map(|problem| of_item(item, [team, &owner.application], problem)).collect())
}

/// Removes secrets from the problems of a stored declaration that another definition checks, because that definition
/// may not treat them as secrets.
pub fn hide(problems: &mut [Problem], masked: &Value, secrets: &Secrets) {
    let mut places = Vec::new();
    collect_masks("", masked, secrets, &mut places);
    let is_within = |pointer: &str, place: &str| {
        let rest = pointer.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for problem in problems {
        let shows = |(place, secret): &(String, &StorableValue)| {
            // A message quotes a value as JSON, or a text as it is.
            let texts = [Some(secret.text()), secret.as_str()];
            let has_secret = texts.into_iter().flatten().any(|text| problem.message.contains(text));
            is_within(&problem.pointer, place) || is_within(place, &problem.pointer) && has_secret
        };
        if places.iter().any(shows) {
            HIDDEN.clone_into(&mut problem.message);
        }
    }
}

const HIDDEN: &str = "must fit the definition; the value is a secret, or contains one";

/// Collects the pointers of the masks in a value, each with its secret.
fn collect_masks<'a>(
    pointer: &str,
    value: &Value,
    secrets: &'a Secrets,
    places: &mut Vec<(String, &'a StorableValue)>,
) {
    match value {
        Value::String(text) => {
            places.extend(secrets.value(text).map(|secret| (pointer.to_owned(), secret)));
        }
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, value)| collect_masks(&below(pointer, name), value, secrets, places));
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                collect_masks(&below(pointer, &index.to_string()), value, secrets, places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The masks of an item.
struct Masks<'a, F> {
    stored: &'a [&'a Secrets],
    /// The masks of the stored secrets by the canonical form of the secret.
    by_secret: BTreeMap<&'a str, &'a str>,
    /// Returns the mask of a new secret.
    new: F,
    /// The secrets so far.
    secrets: Secrets,
    /// The problems of masks without a stored secret.
    unknown: Vec<Problem>,
}

impl<'a, F: Fn(&StorableValue) -> Option<String>> Masks<'a, F> {
    fn of(stored: &'a [&'a Secrets], new: F) -> Self {
        // If two declarations have a mask of the same secret, the mask of the first one stays.
        let by_secret = stored.iter().rev().flat_map(|stored| stored.masks()).collect();
        Self { stored, by_secret, new, secrets: Secrets::default(), unknown: Vec::new() }
    }

    /// Returns the mask of a declared secret, or of a mask itself.
    fn mask(&mut self, pointer: &str, value: &Value) -> Result<Value, Unstorable> {
        let declared = match value.as_str().filter(|text| is_mask(text)) {
            // The same secret stands at another place of the item.
            Some(mask) if self.secrets.value(mask).is_some() => return Ok(value.clone()),
            Some(mask) => {
                let secret = self.stored.iter().find_map(|stored| stored.value(mask));
                secret.map(|secret| (mask.to_owned(), secret.clone()))
            }
            None => {
                let secret = StorableValue::new(value.clone())?;
                let unchanged = self.by_secret.get(secret.text()).map(|mask| (*mask).to_owned());
                unchanged.or_else(|| (self.new)(&secret)).map(|mask| (mask, secret))
            }
        };
        let Some((mask, secret)) = declared else {
            self.unknown.push(unknown_secret(pointer));
            return Ok(Value::Null);
        };
        self.secrets.insert(mask.clone(), secret);
        Ok(Value::String(mask))
    }
}

fn unknown_secret(pointer: &str) -> Problem {
    Problem {
        pointer: pointer.to_owned(),
        path: tokens(pointer),
        rule: "unknown_secret",
        message: "must be the mask of a stored secret of this item, or a new secret".to_owned(),
        change: None,
    }
}

/// Returns the problem of an item that no record can hold, with its masks or with its secrets.
fn unstorable(reason: Unstorable) -> Problem {
    reason.problem(DECLARATION_BYTES_MAX, "with the masks of its secrets, and with the secrets themselves")
}

/// Returns a problem of an item with its position in the whole declaration.
fn of_item(item: &DeclaredItem, [team, application]: [&str; 2], problem: Problem) -> Problem {
    let path = [team, application, &item.service, &item.name].map(str::to_owned);
    let pointer = item.pointer_to(&problem.pointer);
    Problem { pointer, path: path.into_iter().chain(problem.path).collect(), ..problem }
}

/// Visits the values at `writeOnly` paths with their pointers.
fn for_each(part: &Part, pointer: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    let visited = replaced(part, pointer, value, &mut |pointer, value| {
        visit(pointer, value);
        Ok::<_, Infallible>(Value::Null)
    });
    let Ok(_) = visited;
}

/// Returns a value with other values in place of those at `writeOnly` paths.
fn replaced<E>(
    part: &Part,
    pointer: &str,
    value: &Value,
    of: &mut impl FnMut(&str, &Value) -> Result<Value, E>,
) -> Result<Value, E> {
    if part.is_secret() {
        return of(pointer, value);
    }
    let mut at = |token: &str, part: Option<&Part>, value: &Value| match part {
        Some(part) => replaced(part, &below(pointer, token), value, of),
        None => Ok(value.clone()),
    };
    Ok(match value {
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| Ok((name.clone(), at(name, part.member(name), value)?));
            Value::Object(members.iter().map(member).collect::<Result<Map<_, _>, E>>()?)
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            let element = |(index, value): (usize, &Value)| at(&index.to_string(), part.elements(), value);
            Value::Array(elements.map(element).collect::<Result<_, E>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    })
}
