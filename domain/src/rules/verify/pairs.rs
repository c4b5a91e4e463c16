//! The elements of two arrays that belong together: by their unique names, otherwise by index.

use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the name of an element.
pub(super) fn name(element: &Value) -> Option<&str> {
    element.get("name").and_then(Value::as_str)
}

/// Returns the index of each name; none unless each element has a unique name.
pub(super) fn by_name(elements: &[Value]) -> Option<BTreeMap<&str, usize>> {
    let named = elements.iter().enumerate().map(|(index, element)| Some((name(element)?, index)));
    let names: BTreeMap<&str, usize> = named.collect::<Option<_>>()?;
    (names.len() == elements.len()).then_some(names)
}

/// Returns the element of `priors` that belongs to each element.
pub(super) fn prior_of<'a>(elements: &[Value], priors: &'a [Value]) -> Vec<Option<&'a Value>> {
    match by_name(elements).zip(by_name(priors)) {
        Some((_, names)) => {
            let prior = |element| name(element).and_then(|name| priors.get(*names.get(name)?));
            elements.iter().map(prior).collect()
        }
        None => (0..elements.len()).map(|index| priors.get(index)).collect(),
    }
}

/// Returns the elements of `sent`, each with its element of `base`: first the paired ones, in the order of `base`.
pub(super) fn in_order_of<'a>(base: &'a [Value], sent: &'a [Value]) -> Vec<(&'a Value, Option<&'a Value>)> {
    let Some((base_names, sent_names)) = by_name(base).zip(by_name(sent)) else {
        return sent.iter().enumerate().map(|(index, element)| (element, base.get(index))).collect();
    };
    let paired = base.iter().filter_map(|base| Some((sent.get(*sent_names.get(name(base)?)?)?, Some(base))));
    let new = sent.iter().filter(|element| name(element).is_none_or(|name| !base_names.contains_key(name)));
    paired.chain(new.map(|element| (element, None))).collect()
}
