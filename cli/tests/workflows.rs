//! The workflow files of `examples/gitops` are valid YAML and contain only steps of the script.
#![expect(clippy::unwrap_used, reason = "test support")]

use saphyr::{LoadableYamlNode as _, Yaml};
use std::fs;
use std::path::Path;

/// Steps of the script, as its last lines list them.
const STEPS: &[&str] = &["install", "plan", "comment", "reviewed", "apply", "wait"];

fn text(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gitops").join(name);
    fs::read_to_string(path).unwrap()
}

/// Returns all texts at a key, at any depth.
fn values<'a>(node: &'a Yaml<'_>, key: &str, found: &mut Vec<&'a str>) {
    if let Some(members) = node.as_mapping() {
        for (name, value) in members {
            if name.as_str() == Some(key) {
                found.extend(value.as_str());
                found.extend(value.as_sequence().into_iter().flatten().filter_map(Yaml::as_str));
            }
            values(value, key, found);
        }
    }
    for element in node.as_sequence().into_iter().flatten() {
        values(element, key, found);
    }
}

/// Returns all texts at some keys of a file.
fn all(name: &str, keys: &[&str]) -> Vec<String> {
    let text = text(name);
    let documents = Yaml::load_from_str(&text).unwrap();
    assert_eq!(documents.len(), 1);
    let mut found = Vec::new();
    for key in keys {
        values(documents.first().unwrap(), key, &mut found);
    }
    found.into_iter().map(str::to_owned).collect()
}

/// Fails unless every command calls one step of the script, and all steps are called.
fn assert_steps(commands: &[String]) {
    for command in commands {
        let step = command.strip_prefix("ci/dovetail.sh ");
        assert!(step.is_some_and(|step| STEPS.contains(&step)), "{command}");
    }
    for step in STEPS {
        assert!(commands.iter().any(|command| command.ends_with(step)), "{step}");
    }
}

#[test]
fn the_script_has_these_steps() {
    let script = text("dovetail.sh");
    assert!(script.contains(&format!("must be one of {}'", STEPS.join(", "))));
}

#[test]
fn a_workflow_runs_only_steps_of_the_script_and_pinned_actions() {
    assert_steps(&all("github/dovetail.yml", &["run"]));
    let actions = all("github/dovetail.yml", &["uses"]);
    assert!(actions.len() >= 4, "{actions:?}");
    for action in actions {
        let (_, version) = action.split_once('@').unwrap();
        let is_commit = version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_major = version.strip_prefix('v').is_some_and(|major| major.parse::<u32>().is_ok());
        assert!(is_commit || is_major, "{action}");
    }
}

#[test]
fn a_workflow_gives_no_token_more_than_it_needs() {
    let text = text("github/dovetail.yml");
    assert!(text.contains("\npermissions: {}\n"));
    assert!(!text.contains("pull_request_target"), "it would give secrets to code of a fork");
    assert_eq!(text.matches("DOVETAIL_WRITE_KEY").count(), 1);
    let (plan, apply) = text.split_once("\n  apply:\n").unwrap();
    assert!(!plan.contains("WRITE_KEY") && !apply.contains(": write\n"));
    assert_eq!(text.matches("actions/checkout").count(), text.matches("persist-credentials: false").count());
}

#[test]
fn a_template_runs_only_steps_of_the_script() {
    assert_steps(&all("gitlab/dovetail.gitlab-ci.yml", &["script", "before_script", "after_script"]));
    let reports = all("gitlab/dovetail.gitlab-ci.yml", &["codequality", "junit"]);
    assert_eq!(reports, ["gl-code-quality-report.json", "dovetail-reports/junit.xml"]);
}
