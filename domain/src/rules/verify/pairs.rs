//! The elements of two arrays that belong together (R47).
//!
//! A name that is unique in both arrays pairs its elements. If no element of either array has a name, the elements pair
//! by index. Any other element has no partner, because by index it could get the values of another element.
//!
//! Each function takes the part of the definition for the elements.

use crate::catalog::schema::Part;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the index of each name that only one element has.
fn unique_names<'a>(part: &Part, elements: &'a [Value]) -> BTreeMap<&'a str, usize> {
    let mut indexes: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for (index, element) in elements.iter().enumerate() {
        if let Some(name) = part.name_of(element) {
            indexes.entry(name).and_modify(|index| *index = None).or_insert(Some(index));
        }
    }
    indexes.into_iter().filter_map(|(name, index)| Some((name, index?))).collect()
}

/// Returns the index in `others` of the partner of each element.
fn partners(part: &Part, elements: &[Value], others: &[Value]) -> Vec<Option<usize>> {
    if elements.iter().chain(others).all(|element| part.name_of(element).is_none()) {
        return (0..elements.len()).map(|index| Some(index).filter(|index| *index < others.len())).collect();
    }
    let (own, other) = (unique_names(part, elements), unique_names(part, others));
    let partner = |element| {
        let name = part.name_of(element).filter(|name| own.contains_key(name))?;
        other.get(name).copied()
    };
    elements.iter().map(partner).collect()
}

/// Returns the element of `priors` that belongs to each element.
pub(super) fn prior_of<'a>(part: &Part, elements: &[Value], priors: &'a [Value]) -> Vec<Option<&'a Value>> {
    partners(part, elements, priors).into_iter().map(|index| priors.get(index?)).collect()
}

/// Returns the elements of `sent`, each with its element of `base`.
///
/// If each sent element has a name of its own, the paired ones come first, in the order of `base`.
pub(super) fn in_order_of<'a>(
    part: &Part,
    base: &'a [Value],
    sent: &'a [Value],
) -> Vec<(&'a Value, Option<&'a Value>)> {
    let of_base = sent.iter().zip(prior_of(part, sent, base));
    if unique_names(part, sent).len() < sent.len() {
        return of_base.collect();
    }
    let paired = prior_of(part, base, sent).into_iter().zip(base);
    let paired = paired.filter_map(|(sent, base)| Some((sent?, Some(base))));
    paired.chain(of_base.filter(|(_, base)| base.is_none())).collect()
}

/// Returns the index in `others` of the element that each element is compared with, and the indexes of the other ones.
///
/// A comparison moves no value, so elements without a unique name are compared in their order.
pub(super) fn counterparts(
    part: &Part,
    elements: &[Value],
    others: &[Value],
) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut found = partners(part, elements, others);
    let paired: BTreeSet<usize> = found.iter().flatten().copied().collect();
    let (own, other) = (unique_names(part, elements), unique_names(part, others));
    let is_in = |names: &BTreeMap<&str, usize>, element| {
        part.name_of(element).is_some_and(|name| names.contains_key(name))
    };
    let left = others.iter().enumerate().filter(|(index, _)| !paired.contains(index));
    let (mut surplus, in_order): (Vec<_>, Vec<_>) = left.partition(|(_, element)| is_in(&other, element));
    let mut in_order = in_order.into_iter();
    for (element, counterpart) in elements.iter().zip(&mut found) {
        if counterpart.is_none() && !is_in(&own, element) {
            *counterpart = in_order.next().map(|(index, _)| index);
        }
    }
    surplus.extend(in_order);
    (found, surplus.into_iter().map(|(index, _)| index).collect())
}
