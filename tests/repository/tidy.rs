//! Rules of the workspace: dependencies between crates, lints, golden files, short files, and no leftovers.

use repository::{files, name, read, root, sources};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of code lines of a file, without the tests at its end.
const LINES_MAX: usize = 700;

/// Crates that every function may use, in addition to the domain and the infra crates.
const HELPERS: &[&str] = &[
    "futures-util",
    "lambda_runtime",
    "percent-encoding",
    "regex",
    "serde",
    "serde_json",
    "tokio",
    "tracing",
    "url",
];

/// Returns the directories of the workspace members.
fn members() -> Vec<PathBuf> {
    let manifest = read(&root().join("Cargo.toml"));
    let list = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap().to_owned();
    let mut members = Vec::new();
    for pattern in list.split(',').map(|text| text.trim().trim_matches('"')).filter(|text| !text.is_empty()) {
        match pattern.strip_suffix("/*") {
            Some(parent) => {
                let entries = fs::read_dir(root().join(parent)).unwrap();
                members.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
            }
            None => members.push(root().join(pattern)),
        }
    }
    members.sort();
    members
}

/// Returns the names in a section of a manifest.
fn dependencies(member: &Path, section: &str) -> Vec<String> {
    let manifest = read(&member.join("Cargo.toml"));
    let Some(lines) = manifest.split(&format!("\n[{section}]\n")).nth(1) else { return Vec::new() };
    let lines = lines.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
    names.map(|name| name.split('.').next().unwrap_or(name).to_owned()).collect()
}

/// Returns the name of a package.
fn package(member: &Path) -> String {
    let manifest = read(&member.join("Cargo.toml"));
    let (_, named) = manifest.split_once("name = \"").unwrap();
    named.split('"').next().unwrap().to_owned()
}

/// Returns the files with a word, except below these paths.
fn mentions(word: &str, allowed: &[&str]) -> Vec<String> {
    let own = root().join(file!());
    let tidy = |path: &Path| path == own || path.ends_with("tests/repository/tidy.rs");
    let mentioning = sources().into_iter().filter(|path| !tidy(path) && read(path).contains(word));
    let names = mentioning.map(|path| name(&path));
    names.filter(|name| !allowed.iter().any(|prefix| name.starts_with(prefix))).collect()
}

#[test]
fn the_domain_knows_no_storage_no_network_and_no_clock() {
    for section in ["dependencies", "dev-dependencies"] {
        for dependency in dependencies(&root().join("domain"), section) {
            let foreign = ["aws", "lambda", "tokio", "hyper", "http", "dovetail", "dynoxide", "rusqlite"];
            let is_foreign = foreign.iter().any(|foreign| dependency.starts_with(foreign));
            assert!(!is_foreign, "domain depends on {dependency}");
        }
    }
    for word in ["SystemTime", "Instant::now", "now_utc"] {
        let domain = root().join("domain/src");
        for path in sources().into_iter().filter(|path| path.starts_with(&domain)) {
            let text = read(&path);
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            assert!(!code.contains(word), "{} says {word}", name(&path));
        }
    }
}

#[test]
fn a_function_depends_on_domain_and_infra_and_on_no_other_function() {
    for member in members().iter().filter(|member| member.starts_with(root().join("functions"))) {
        for dependency in dependencies(member, "dependencies") {
            let ours = [
                "domain",
                "dovetail-aws",
                "dovetail-events",
                "dovetail-http",
                "dovetail-issuer",
                "dovetail-outbound",
                "dovetail-queue",
                "dovetail-table",
                "dovetail-worker",
            ];
            let is_allowed = ours.contains(&dependency.as_str()) || HELPERS.contains(&dependency.as_str());
            assert!(is_allowed, "{} depends on {dependency}", name(member));
        }
    }
}

#[test]
fn only_the_daemon_and_tests_depend_on_functions() {
    let is_in = |member: &Path, directory: &str| member.starts_with(root().join(directory));
    let members = members();
    let functions: Vec<String> =
        members.iter().filter(|member| is_in(member, "functions")).map(|member| package(member)).collect();
    assert!(functions.len() >= 13, "{functions:?}");
    for member in members.iter().filter(|member| !is_in(member, "tests")) {
        for section in ["dependencies", "dev-dependencies"] {
            for dependency in dependencies(member, section) {
                let is_daemon = is_in(member, "infra/daemon");
                let is_clean = is_daemon || !functions.contains(&dependency);
                assert!(is_clean, "{} depends on the function {dependency}", name(member));
            }
        }
    }
}

#[test]
fn the_emulator_depends_on_no_function_and_not_on_the_domain() {
    let ours = ["dovetail-aws", "dovetail-events", "dovetail-http", "dovetail-queue"];
    for dependency in dependencies(&root().join("infra/emulator"), "dependencies") {
        let is_path = dependency == "domain" || dependency.starts_with("dovetail-");
        assert!(!is_path || ours.contains(&dependency.as_str()), "infra/emulator depends on {dependency}");
    }
}

#[test]
fn only_one_crate_speaks_to_dynamodb_one_to_eventbridge_and_one_to_api_gateway() {
    assert_eq!(mentions("aws_sdk_dynamodb", &["infra/table/"]), Vec::<String>::new());
    assert_eq!(mentions("aws_sdk_eventbridge", &["infra/events/"]), Vec::<String>::new());
    assert_eq!(mentions("aws_sdk_sqs", &["infra/queue/"]), Vec::<String>::new());
    assert_eq!(
        mentions(
            "aws_lambda_events::apigw",
            &["infra/http/", "infra/daemon/", "infra/emulator/", "tests/bench/lambda/"]
        ),
        Vec::<String>::new()
    );
    assert_eq!(mentions("aws_lambda_events::dynamodb", &["infra/table/"]), Vec::<String>::new());
}

#[test]
fn every_debug_form_is_derived() {
    // The attributes of `derive_more` show next to the fields what a log may show. A form by hand hides it.
    assert_eq!(mentions("Debug for", &[]), Vec::<String>::new());
}

#[test]
fn every_member_takes_the_lints_of_the_workspace() {
    assert!(members().len() >= 15, "{:?}", members());
    for member in members() {
        let manifest = read(&member.join("Cargo.toml"));
        assert!(manifest.contains("\n[lints]\nworkspace = true\n"), "{}", name(&member));
    }
}

/// The one reason for which `cargo test` skips a test.
const DEPLOYED: &str = r#"#[ignore = "runs on deployed stacks: tests/deploy/run"]"#;

#[test]
fn no_file_has_a_leftover() {
    let words = ["FIXME", "XXX", "todo!(", "unimplemented!(", "#[ignore", "dbg!("];
    for path in sources().into_iter().filter(|path| !path.ends_with("tests/repository/tidy.rs")) {
        let text = read(&path).replace(DEPLOYED, "");
        for word in words {
            assert!(!text.contains(word), "{} says {word}", name(&path));
        }
    }
}

#[test]
fn every_golden_file_is_compared_with_something() {
    let all: String = sources().iter().map(|path| read(path)).collect();
    for path in files(&root().join("tests/golden"), "") {
        let file = path.strip_prefix(root().join("tests")).unwrap().display().to_string();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let named = all.contains(&format!("/{file}\"")) || all.contains(&format!("\"{stem}\""));
        assert!(named, "no test names {file}");
    }
}

#[test]
fn files_stay_short() {
    for path in sources() {
        let file = name(&path);
        let is_test = file.starts_with("tests/") || file.contains("/tests/");
        let text = read(&path);
        let lines = text.split("#[cfg(test)]").next().unwrap_or_default().lines().count();
        assert!(is_test || lines <= LINES_MAX, "{file} has {lines} lines");
    }
}

#[test]
fn every_file_begins_with_its_purpose() {
    for path in sources() {
        assert!(read(&path).starts_with("//!"), "{}", name(&path));
    }
}
