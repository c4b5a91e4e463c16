//! Texts of JSON documents, by their pointers.

use crate::base::json::At as _;
use serde_json::Value;

/// A column of a list: its heading, and the JSON pointers of its texts, which are joined by `/`.
pub(crate) type Column = (&'static str, &'static [&'static str]);

/// The words for the halves of a replacement: the DELETE of what is in place, and the CREATE after it.
pub(crate) const HALVES: [&str; 2] = ["-/+ remove (1 of 2)", "-/+ create (2 of 2)"];

/// Returns the texts at these pointers, joined by `/`; nothing if all are absent.
pub(crate) fn joined(value: &Value, pointers: &[&str]) -> String {
    let texts: Vec<String> = pointers.iter().map(|pointer| value.text_at(pointer)).collect();
    if texts.iter().all(String::is_empty) { String::new() } else { texts.join("/") }
}

/// Returns the parts of a JSON pointer, without its escapes (RFC 6901).
pub(crate) fn parts(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}
