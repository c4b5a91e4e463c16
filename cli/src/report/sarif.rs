//! SARIF 2.1.0, for the code scanning of GitHub and for editors.

use super::path::from_root;
use crate::base::{
    failure::Failure,
    location::{Located, Position},
};
use crate::document::file::save;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::{collections::BTreeSet, path::Path};

/// Characters of a path that a URI needs encoded.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// Writes the problems with a place to a file. A report without results closes the problems of the last one.
pub(super) fn write(path: &Path, problems: &[Located]) -> Result<(), Failure> {
    save(path, &format!("{:#}\n", log(problems)))
}

fn log(problems: &[Located]) -> Value {
    let rules: BTreeSet<&str> = problems.iter().map(|problem| problem.problem.rule.as_str()).collect();
    let rules: Value = rules.into_iter().map(|rule| json!({"id": rule})).collect();
    // GitHub refuses a result without a location.
    let results: Value = problems.iter().filter_map(|one| Some(result(one, one.file.as_deref()?))).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "dovetail",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(problem: &Located, file: &Path) -> Value {
    let Position { line, column } = problem.position();
    let uri = utf8_percent_encode(&from_root(file), IN_PATH).to_string();
    json!({
        "ruleId": problem.problem.rule,
        "level": "error",
        "message": {"text": problem.message()},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri},
            "region": {"startLine": line, "startColumn": column},
        }}],
    })
}
