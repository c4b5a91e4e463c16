//! The elements of two arrays that belong together (R47, R67).
//!
//! A name that is unique in both arrays pairs its elements. If no element of either array has a name, the elements pair
//! by index. Any other element has no partner, because by index it could get the values of another element.
//!
//! In an array without an order, the elements pair by name if each has a name of its own. If not, elements with the
//! same values of the consumer pair.

use crate::base::json;
use crate::catalog::schema::Part;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The way in which the elements of an array pair.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'p> {
    /// The part of each element.
    pub(super) part: &'p Part,
    /// Whether their order has no meaning.
    pub(super) is_unordered: bool,
}

impl<'p> Pairs<'p> {
    /// Returns the way for an array whose definition has a schema for its elements.
    pub(super) fn of(array: &'p Part) -> Option<Self> {
        Some(Self { part: array.elements()?, is_unordered: array.is_unordered() })
    }

    /// Returns the index of each name that only one element has.
    fn unique_names(self, elements: &[Value]) -> BTreeMap<&str, usize> {
        let mut indexes: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for (index, element) in elements.iter().enumerate() {
            if let Some(name) = self.part.name_of(element) {
                indexes.entry(name).and_modify(|index| *index = None).or_insert(Some(index));
            }
        }
        indexes.into_iter().filter_map(|(name, index)| Some((name, index?))).collect()
    }

    /// Returns whether the elements pair by their values, and neither by name nor by index.
    fn pair_by_value(self, elements: &[Value], others: &[Value]) -> bool {
        let are_named = |elements: &[Value]| self.unique_names(elements).len() == elements.len();
        self.is_unordered && !(are_named(elements) && are_named(others))
    }

    /// Returns the index in `others` of the partner of each element.
    fn partners(self, elements: &[Value], others: &[Value]) -> Vec<Option<usize>> {
        if self.pair_by_value(elements, others) {
            return self.by_value(elements, others);
        }
        if elements.iter().chain(others).all(|element| self.part.name_of(element).is_none()) {
            return (0..elements.len())
                .map(|index| Some(index).filter(|index| *index < others.len()))
                .collect();
        }
        let (own, other) = (self.unique_names(elements), self.unique_names(others));
        let partner = |element| {
            let name = self.part.name_of(element).filter(|name| own.contains_key(name))?;
            other.get(name).copied()
        };
        elements.iter().map(partner).collect()
    }

    /// Pairs the elements with the same values of the consumer. Among equal ones, the first of each array pair, sorted
    /// by all of their values.
    fn by_value(self, elements: &[Value], others: &[Value]) -> Vec<Option<usize>> {
        let mut open: BTreeMap<String, VecDeque<usize>> = BTreeMap::new();
        for ((of_consumer, _), index) in self.in_order(others) {
            open.entry(of_consumer).or_default().push_back(index);
        }
        let mut found = vec![None; elements.len()];
        for ((of_consumer, _), index) in self.in_order(elements) {
            let partner = open.get_mut(&of_consumer).and_then(VecDeque::pop_front);
            if let Some(found) = found.get_mut(index) {
                *found = partner;
            }
        }
        found
    }

    /// Returns the elements of an array without an order in sorted order: the consumer's values, then all values, and the
    /// index.
    fn in_order(self, elements: &[Value]) -> Vec<((String, String), usize)> {
        let key = |element: &Value| {
            let text = |value: &Value| json::canonical(&self.part.sorted(value));
            (text(&of_consumer(self.part, element)), text(element))
        };
        let mut order: Vec<_> = elements.iter().map(key).zip(0..).collect();
        order.sort();
        order
    }

    /// Returns the element of `priors` that belongs to each element.
    pub(super) fn prior_of<'a>(self, elements: &[Value], priors: &'a [Value]) -> Vec<Option<&'a Value>> {
        self.partners(elements, priors).into_iter().map(|index| priors.get(index?)).collect()
    }

    /// Returns the element of `priors` that may excuse the value of each element in a comparison.
    pub(super) fn excusing<'a>(self, elements: &[Value], priors: &'a [Value]) -> Vec<Option<&'a Value>> {
        if !self.is_unordered {
            return self.prior_of(elements, priors);
        }
        let (found, _) = self.counterparts(elements, priors);
        found.into_iter().map(|index| priors.get(index?)).collect()
    }

    /// Returns the elements of `sent`, each with its element of `base`.
    ///
    /// The paired ones come first, in the order of `base`, if each sent element has a name of its own, or if the order
    /// has no meaning.
    pub(super) fn in_order_of<'a>(
        self,
        base: &'a [Value],
        sent: &'a [Value],
    ) -> Vec<(&'a Value, Option<&'a Value>)> {
        let of_base = sent.iter().zip(self.prior_of(sent, base));
        if !self.is_unordered && self.unique_names(sent).len() < sent.len() {
            return of_base.collect();
        }
        let paired = self.prior_of(base, sent).into_iter().zip(base);
        let paired = paired.filter_map(|(sent, base)| Some((sent?, Some(base))));
        paired.chain(of_base.filter(|(_, base)| base.is_none())).collect()
    }

    /// Returns the index in `others` of the element that each element is compared with, and the indexes of the other
    /// ones.
    ///
    /// A comparison moves no value, so elements without a partner are compared in their order, or in sorted order if
    /// their order has no meaning. An element with a unique name is compared with that name alone.
    pub(super) fn counterparts(
        self,
        elements: &[Value],
        others: &[Value],
    ) -> (Vec<Option<usize>>, Vec<usize>) {
        let mut found = self.partners(elements, others);
        let paired: BTreeSet<usize> = found.iter().flatten().copied().collect();
        if self.pair_by_value(elements, others) {
            let indexes = |elements: &[Value]| self.in_order(elements).into_iter().map(|(_, index)| index);
            let mut left = indexes(others).filter(|index| !paired.contains(index));
            for index in indexes(elements) {
                if let Some(counterpart) = found.get_mut(index).filter(|counterpart| counterpart.is_none()) {
                    *counterpart = left.next();
                }
            }
            return (found, left.collect());
        }
        let (own, other) = (self.unique_names(elements), self.unique_names(others));
        let is_in = |names: &BTreeMap<&str, usize>, element| {
            self.part.name_of(element).is_some_and(|name| names.contains_key(name))
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
}

/// Returns the values at consumer paths: without the owner's values, secrets and notes.
fn of_consumer(part: &Part, value: &Value) -> Value {
    match value {
        Value::Object(members) if part.names_members() => {
            let stays = |(name, value): (&String, &Value)| {
                let part = part.member(name).filter(|part| !part.is_owner() && !part.is_secret())?;
                Some((name.clone(), of_consumer(part, value)))
            };
            members.iter().filter_map(stays).collect()
        }
        Value::Array(elements) => match part.elements() {
            Some(part) => elements.iter().map(|element| of_consumer(part, element)).collect(),
            None => value.clone(),
        },
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            value.clone()
        }
    }
}
