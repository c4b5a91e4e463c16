//! Compares the verdicts about items with the public test suite of JSON Schema.
//!
//! `JSON_SCHEMA_TEST_SUITE=FOLDER cargo run --locked -p conformance`: FOLDER is a copy of JSON-Schema-Test-Suite. Each
//! schema becomes the property `x` of a definition, and each value the property `x` of an item. A schema or a value that
//! Dovetail refuses has no verdict; docs/reference/limits.md has the reasons.
#![expect(clippy::print_stdout, reason = "a program that prints figures")]

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{
    base::{json, problem::Problem},
    catalog::schema::{Budget, Schema, publish},
    model::declaration::DEPTH_MAX,
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// The folder of each supported draft, with its address.
const DRAFTS: [(&str, &str); 2] = [
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
];
/// The files with another verdict, by decision: no check asserts these formats, and a definition with one of them gets a
/// warning. Draft-07 leaves it to the implementation whether the other formats are asserted, and its file expects none.
const NOT_ASSERTED: [&str; 5] = [
    "draft2020-12/optional/format/idn-email.json",
    "draft2020-12/optional/format/idn-hostname.json",
    "draft7/optional/format/idn-email.json",
    "draft7/optional/format/idn-hostname.json",
    "draft7/format.json",
];
/// The files whose formats are asserted. In 2020-12, only a definition with words asserts formats (R47).
const FORMATS: &str = "optional/format/";

/// A schema with its cases.
#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    /// As text, because a reader would round some of the numbers.
    data: Box<RawValue>,
    valid: bool,
}

/// The cases of a draft by their result.
#[derive(Default)]
struct Counts {
    right: usize,
    wrong: usize,
    /// By the rule that refuses the schema or the value.
    refused: BTreeMap<&'static str, usize>,
    not_asserted: usize,
}

impl Counts {
    fn refuse(&mut self, problems: &[Problem], cases: usize) {
        if let Some(problem) = problems.first() {
            *self.refused.entry(problem.rule).or_default() += cases;
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let suite = env::var_os("JSON_SCHEMA_TEST_SUITE")
        .ok_or("JSON_SCHEMA_TEST_SUITE must name the folder of the suite")?;
    let mut is_right = true;
    for (folder, address) in DRAFTS {
        let counts = draft(&Path::new(&suite).join("tests"), folder, address)?;
        let refused: usize = counts.refused.values().sum();
        println!(
            "{folder}: {} right, {} wrong, {refused} refused, {} not asserted",
            counts.right, counts.wrong, counts.not_asserted
        );
        for (rule, cases) in &counts.refused {
            println!("  refused, {rule}: {cases}");
        }
        is_right &= counts.wrong == 0 && counts.right > 0;
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the cases of a draft.
fn draft(suite: &Path, folder: &str, address: &str) -> Result<Counts, Box<dyn Error>> {
    let mut counts = Counts::default();
    for file in files(&suite.join(folder))? {
        let name = file.strip_prefix(suite)?.display().to_string();
        let groups: Vec<Group> = serde_json::from_slice(&fs::read(&file)?)?;
        if NOT_ASSERTED.contains(&name.as_str()) {
            counts.not_asserted += groups.iter().map(|group| group.tests.len()).sum::<usize>();
            continue;
        }
        for group in groups {
            let definition = definition(group.schema, address, name.contains(FORMATS));
            match publish(definition.to_string().as_bytes()) {
                Ok(schema) => {
                    check(&schema, &group.tests, &format!("{name}: {}", group.description), &mut counts);
                }
                Err(problems) => counts.refuse(&problems, group.tests.len()),
            }
        }
    }
    Ok(counts)
}

/// Returns the JSON files in a folder and below, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Runs the cases of one schema, and prints the wrong verdicts.
fn check(schema: &Schema, cases: &[Case], group: &str, counts: &mut Counts) {
    for case in cases {
        let item = format!(r#"{{"name": "n", "x": {}}}"#, case.data.get());
        match json::parse(item.as_bytes(), DEPTH_MAX) {
            Ok(item) if schema.problems(&item, &mut Budget::of_request()).is_empty() == case.valid => {
                counts.right += 1;
            }
            Ok(_) => {
                counts.wrong += 1;
                println!("wrong: {group}: {}, valid is {}", case.description, case.valid);
            }
            Err(problems) => counts.refuse(&problems, 1),
        }
    }
}

/// Returns a definition whose items have a value of the schema as `x`.
fn definition(mut schema: Value, address: &str, asserts_formats: bool) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
    }
    move_references(&mut schema);
    json!({
        "$schema": address,
        "title": "Case",
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}, "id": {"readOnly": asserts_formats}, "x": schema},
    })
}

/// Changes the references to the root of a schema, because the schema has moved to a property.
fn move_references(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return schema.as_array_mut().into_iter().flatten().for_each(move_references);
    };
    // References below an identifier start at the schema that has it.
    if members.get("$id").is_some_and(Value::is_string) {
        return;
    }
    for (name, member) in members {
        match (name.as_str(), member.as_str().and_then(|text| text.strip_prefix('#'))) {
            ("$ref", Some(path)) if path.is_empty() || path.starts_with('/') => {
                *member = format!("#/properties/x{path}").into();
            }
            // These are values, other than properties with these names.
            ("const" | "default", _) => {}
            ("enum", _) if member.is_array() => {}
            _ => move_references(member),
        }
    }
}
