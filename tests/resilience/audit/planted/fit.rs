//! Corruptions of items of a verified service: their drift, their base and their definition.

use super::corruption::{Corruption, is, is_item, stored, text};
use serde_json::json;

pub(crate) const PLANTED: &[Corruption] = &[
    stored(
        "I12",
        "an item has drifted and is idle",
        |r| is_item(r, "Host1"),
        |r| {
            r["sh"] = r["ver"]["M"]["dh"].clone();
        },
    ),
    stored(
        "I12",
        "the drift of an item is lost",
        |r| is_item(r, "Host1"),
        |r| {
            r.as_object_mut().unwrap().remove("df");
        },
    ),
    stored(
        "I15",
        "the version that the completion left does not exist",
        |r| is_item(r, "Host1"),
        |r| {
            r["bs"] = json!({"N": "137438953479"});
        },
    ),
    stored(
        "I27",
        "an item has drifted without an observation",
        |r| is_item(r, "Host2"),
        |r| {
            r["df"] = json!({"M": {"at": {"N": "1"}, "h": r["ver"]["M"]["dh"]}});
            r.as_object_mut().unwrap().remove("sh");
        },
    ),
    stored(
        "I27",
        "an application counts another number of drifted items",
        |r| is(r, "APP"),
        |r| {
            r["dr"] = json!({"N": "2"});
        },
    ),
    stored(
        "I28",
        "the definition of completed items requires more",
        |r| text(r, "ty") == "SCHEMA" && text(r, "ti") == "Host",
        |r| {
            r["text"] = json!({"S": text(r, "text").replace(r#"["name","ip"]"#, r#"["name","ip","tier"]"#)});
        },
    ),
];
