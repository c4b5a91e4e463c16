//! An expression with the names of attributes.

use serde_json::{Map, Value};

/// Returns the expression with attributes instead of `#` names.
pub(super) fn plain(expression: &str, names: Option<&Map<String, Value>>) -> String {
    let mut text = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some((before, name)) = rest.find('#').map(|at| rest.split_at(at)) {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '#';
        let (name, after) = name.split_at(name.find(is_end).unwrap_or(name.len()));
        let attribute = names.and_then(|names| names.get(name)?.as_str());
        text.push_str(before);
        text.push_str(attribute.unwrap_or(name));
        rest = after;
    }
    text.push_str(rest);
    text
}
