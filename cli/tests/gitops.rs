//! Runs the steps of `examples/gitops` in a shell, against the local system and the API of a host of repositories.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod host;
mod program;

use host::Host;
use program::{finish, program};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::Running;
use tempfile::TempDir;

/// The commit of the merge.
const COMMIT: &str = "9f1c2ab9f1c2ab9f1c2ab9f1c2ab9f1c2ab9f1c2";
const KEY: &str = "awesome-key";
const OWNER: &str = "vm-owner-key";

const SHOP: &str = "Shop:\n  services:\n    VM:\n      - name: web1\n        cpu: 8\n";
const INVALID: &str = "Shop:\n  services:\n    VM:\n      - name: web1\n        cpu: many\n";

/// A repository with the pipeline, its pull request 7, and the system.
struct Pipeline<'a> {
    system: &'a Running,
    host: &'a Host,
    repository: TempDir,
    /// Variables of the pipeline's platform.
    variables: Vec<(&'static str, String)>,
}

/// Exit code, standard output and standard error of a step.
type Step = (i32, String, String);

impl<'a> Pipeline<'a> {
    fn github(system: &'a Running, host: &'a Host) -> Self {
        let repository = tempfile::tempdir().unwrap();
        let variables = vec![
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_TOKEN", "host-token".to_owned()),
            ("GITHUB_API_URL", host.base.clone()),
            ("GITHUB_REPOSITORY", "team/shop".to_owned()),
            ("GITHUB_SHA", COMMIT.to_owned()),
            ("GITHUB_WORKSPACE", repository.path().display().to_string()),
            ("GITHUB_STEP_SUMMARY", repository.path().join("summary.md").display().to_string()),
        ];
        Self { system, host, repository, variables }
    }

    fn gitlab(system: &'a Running, host: &'a Host) -> Self {
        let repository = tempfile::tempdir().unwrap();
        let variables = vec![
            ("GITLAB_CI", "true".to_owned()),
            ("DOVETAIL_GITLAB_TOKEN", "host-token".to_owned()),
            ("CI_API_V4_URL", host.base.clone()),
            ("CI_PROJECT_ID", "3".to_owned()),
            ("CI_COMMIT_SHA", COMMIT.to_owned()),
            ("CI_COMMIT_BRANCH", "main".to_owned()),
            ("CI_PROJECT_DIR", repository.path().display().to_string()),
        ];
        Self { system, host, repository, variables }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.repository.path().join(name)
    }

    fn declare(&self, file: &str, text: &str) {
        let path = self.path(".netorca").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a step of the pipeline with more variables.
    fn step_with(&self, name: &str, more: &[(&str, &str)]) -> Step {
        let directory = self.repository.path();
        let mut command = Command::new(script());
        command.arg(name).current_dir(directory);
        for (name, value) in program(&[], directory).get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        for variable in ["GITLAB_CI", "GITHUB_STEP_SUMMARY", "CI_MERGE_REQUEST_IID"] {
            command.env_remove(variable);
        }
        let own = Path::new(env!("CARGO_BIN_EXE_dovetail")).parent().unwrap().display();
        command
            .env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap()))
            .env("DOVETAIL_URL", &self.system.base)
            .env("DOVETAIL_API_KEY", KEY)
            .env("DOVETAIL_TIMEOUT", "0")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(more.iter().copied());
        let step = finish(command, "");
        self.system.wait_idle();
        step
    }

    fn step(&self, name: &str) -> Step {
        self.step_with(name, &[])
    }

    /// Runs a step of the pull request.
    fn review(&self, name: &str) -> Step {
        self.step_with(name, &[("DOVETAIL_PULL_REQUEST", "7"), ("CI_MERGE_REQUEST_IID", "7")])
    }

    /// Runs a step that must succeed. Returns its output.
    #[track_caller]
    fn done(&self, step: Step) -> String {
        assert_eq!(step.0, 0, "{}{}", step.1, step.2);
        step.1
    }

    /// Reviews the declaration in the pull request.
    #[track_caller]
    fn reviewed(&self) {
        for name in ["install", "plan", "comment"] {
            self.done(self.review(name));
        }
    }

    /// Applies the declaration after the merge.
    #[track_caller]
    fn merged(&self) {
        for name in ["install", "reviewed", "apply", "wait"] {
            self.done(self.step(name));
        }
    }

    /// Returns the names of the applications of the team.
    fn applications(&self) -> Vec<String> {
        let found = self.system.get("/v1/orcabase/consumer/applications/", KEY).body;
        let names =
            found["results"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/gitops/dovetail.sh")
}

/// Runs a test on both platforms.
fn on_both(test: impl Fn(&Pipeline<'_>)) {
    for is_github in [true, false] {
        let (system, host) = (Running::demo(), Host::start(COMMIT));
        let platform = if is_github { Pipeline::github } else { Pipeline::gitlab };
        test(&platform(&system, &host));
        system.assert_sound();
    }
}

#[test]
fn a_reviewed_plan_is_applied_after_the_merge() {
    on_both(|pipeline| {
        pipeline.declare("shop.yaml", SHOP);
        pipeline.reviewed();
        let [comment] = &pipeline.host.own()[..] else { panic!("one comment") };
        assert!(comment.contains("| CREATE | `Shop/VM/web1` | `VMOwnerTeam` |  |"), "{comment}");
        // Another push replaces the comment.
        pipeline.declare("shop.yaml", &SHOP.replace("web1", "web2"));
        pipeline.reviewed();
        let [comment] = &pipeline.host.own()[..] else { panic!("one comment") };
        assert!(comment.contains("`Shop/VM/web2`") && !comment.contains("web1"), "{comment}");
        pipeline.merged();
        assert_eq!(pipeline.applications(), ["Shop"]);
        let junit = pipeline.read("dovetail-reports/junit.xml");
        assert!(junit.contains(r#"<testcase name="Shop/VM/web2" classname="Shop/VM">"#), "{junit}");
        assert!(junit.contains(r#"<skipped message="PENDING, VMOwnerTeam""#), "{junit}");
        // The same job again has nothing to do.
        pipeline.merged();
    });
}

#[test]
fn an_invalid_declaration_has_its_problems_at_their_lines() {
    on_both(|pipeline| {
        pipeline.declare("shop.yaml", INVALID);
        let (code, _, error) = pipeline.review("plan");
        assert_eq!(code, 3, "{error}");
        let is_github = pipeline.variables[0].0 == "GITHUB_ACTIONS";
        if is_github {
            let expected = "::error file=.netorca/shop.yaml,line=5,col=14,title=dovetail%3A schema\
                ::\"many\" is not of type \"integer\"\n";
            assert!(error.contains(expected), "{error}");
        } else {
            let problems: Value =
                serde_json::from_str(&pipeline.read("gl-code-quality-report.json")).unwrap();
            let location = json!({"path": ".netorca/shop.yaml", "lines": {"begin": 5}});
            assert_eq!(problems[0]["location"], location);
            assert!(!error.contains("::error"), "{error}");
        }
        let sarif: Value = serde_json::from_str(&pipeline.read("dovetail-reports/problems.sarif")).unwrap();
        let region = sarif.pointer("/runs/0/results/0/locations/0/physicalLocation/region").unwrap();
        assert_eq!(*region, json!({"startLine": 5, "startColumn": 14}));
        pipeline.done(pipeline.review("comment"));
        let [comment] = &pipeline.host.own()[..] else { panic!("one comment") };
        assert!(comment.contains("| `.netorca/shop.yaml:5` |"), "{comment}");
        // A merge of it all the same applies nothing.
        pipeline.done(pipeline.step("reviewed"));
        assert_eq!(pipeline.step("apply").0, 3);
        assert_eq!(pipeline.applications(), Vec::<String>::new());
    });
}

#[test]
fn a_plan_that_another_change_made_old_is_not_applied() {
    on_both(|pipeline| {
        pipeline.declare("shop.yaml", SHOP);
        pipeline.reviewed();
        let other = json!({"AwesomeConsumer": {"Shop": {"services": {"VM": [{"name": "web1", "cpu": 1}, {"name": "web9"}]}}}});
        let answer = pipeline.system.call("PATCH", "/v1/orcabase/consumer/submissions/submit/", KEY, &other);
        assert_eq!(answer.status, 201, "{answer:?}");
        pipeline.system.wait_idle();
        pipeline.done(pipeline.step("reviewed"));
        let (code, out, error) = pipeline.step("apply");
        assert_eq!(code, 5, "{out}{error}");
        assert!(error.contains("the plan has changed since it was shown"), "{error}");
        assert!(out.contains("- Shop/VM/web9"), "{out}");
        let items = pipeline.system.get("/v1/orcabase/consumer/service_items/", KEY).body;
        assert_eq!(items["count"], json!(2), "nothing was applied");
        // A person reads the new plan, and starts the job with its token.
        let token = out.split("Its token: ").nth(1).unwrap().trim().to_owned();
        pipeline.done(pipeline.step_with("reviewed", &[("DOVETAIL_PLAN", &token)]));
        pipeline.done(pipeline.step("apply"));
    });
}

#[test]
fn only_a_comment_of_the_pipeline_has_a_reviewed_plan() {
    on_both(|pipeline| {
        pipeline.declare("shop.yaml", SHOP);
        pipeline.done(pipeline.review("plan"));
        // Without a review: the right token, in a comment of another author, behind a page of others.
        for _ in 0..100 {
            pipeline.host.add("someone", 5, "a comment");
        }
        pipeline.host.add("someone", 5, &pipeline.read("dovetail-reports/plan.md"));
        pipeline.done(pipeline.step("reviewed"));
        assert_eq!(pipeline.step("apply").0, 5);
        assert_eq!(pipeline.applications(), Vec::<String>::new());
        // The own comment is on the second page.
        pipeline.reviewed();
        assert_eq!(pipeline.host.own().len(), 1);
        pipeline.reviewed();
        assert_eq!(pipeline.host.own().len(), 1);
        pipeline.merged();
        assert_eq!(pipeline.applications(), ["Shop"]);
    });
}

#[test]
fn a_rejected_item_is_a_failed_case() {
    on_both(|pipeline| {
        pipeline.declare("shop.yaml", &format!("{SHOP}      - {{name: web2, cpu: 4}}\n"));
        pipeline.reviewed();
        pipeline.done(pipeline.step("reviewed"));
        pipeline.done(pipeline.step("apply"));
        let submission: Value =
            serde_json::from_str(&pipeline.read("dovetail-reports/submission.json")).unwrap();
        let decide = |at: usize, body: &Value| {
            let id = &submission["change_instances"][at]["id"];
            let path = format!("/v1/orcabase/serviceowner/change_instances/{id}/");
            let answer = pipeline.system.call("PATCH", &path, OWNER, body);
            assert_eq!(answer.status, 200, "{answer:?}");
        };
        // The other item still waits for its owner.
        decide(0, &json!({"state": "APPROVED"}));
        decide(1, &json!({"state": "REJECTED", "log": "at most 2 CPUs & no more"}));
        let (code, out, error) = pipeline.step("wait");
        assert_eq!(code, 1, "{out}{error}");
        let junit = pipeline.read("dovetail-reports/junit.xml");
        let expected = r#"<testsuites name="dovetail" tests="2" skipped="1" failures="1" errors="0">"#;
        assert!(junit.contains(expected), "{junit}");
        assert!(
            junit.contains(r#"<failure message="at most 2 CPUs &amp; no more" type="REJECTED">"#),
            "{junit}"
        );
    });
}

#[test]
fn two_repositories_of_one_team_leave_each_other_alone() {
    let (system, host, other_host) = (Running::demo(), Host::start(COMMIT), Host::start(COMMIT));
    let shop = Pipeline::github(&system, &host);
    let lab = Pipeline::gitlab(&system, &other_host);
    shop.declare("shop.yaml", SHOP);
    shop.declare("config.yaml", "netorca_global:\n  base_url: https://api.example.com/v1\n");
    shop.reviewed();
    shop.merged();
    lab.declare("lab.yaml", "Lab:\n  services:\n    VM: [{name: test1, cpu: 1}]\n");
    lab.reviewed();
    lab.merged();
    assert_eq!(shop.applications(), ["Lab", "Shop"]);
    for pipeline in [&shop, &lab] {
        let out = pipeline.done(pipeline.review("plan"));
        assert_eq!(out, "No changes.\n");
    }
    // A change of one repository has no effect on the other one.
    shop.declare("shop.yaml", &SHOP.replace('8', "16"));
    shop.reviewed();
    shop.merged();
    assert_eq!(lab.done(lab.review("plan")), "No changes.\n");
    // The whole team in one repository removes what the others declare, and the review shows it.
    // Without the folder of existing repositories, the reports are below the path of the declaration.
    fs::rename(lab.path(".netorca/lab.yaml"), lab.path("lab.yaml")).unwrap();
    fs::remove_dir(lab.path(".netorca")).unwrap();
    let whole = [("DOVETAIL_WHOLE", "true")];
    let out = lab.done(lab.step_with("plan", &whole));
    assert!(out.contains("- Shop/VM/web1"), "{out}");
    assert!(out.contains("1 to delete"), "{out}");
    // The token of that review is not one of the applications alone.
    let token: Value = serde_json::from_str(&lab.read("dovetail-reports/plan.json")).unwrap();
    fs::write(lab.path("dovetail-reports/token"), token["plan"].as_str().unwrap()).unwrap();
    lab.done(lab.step_with("apply", &whole));
    let removed = system.get("/v1/orcabase/consumer/change_instances/?change_type=DELETE", KEY).body;
    assert_eq!(removed["results"][0]["application"]["name"], json!("Shop"));
    system.assert_sound();
}

/// Two teams with pipelines, each with the keys and applications of eight repositories.
const TEAMS: [&str; 2] = [KEY, "awesome2-key"];
const REPOSITORIES: usize = 8;

/// The exit code of a plan with changes.
const HAS_CHANGES: i32 = 2;

/// Runs a command of the client for all repositories at the same time, and compares the exit codes.
fn at_once(system: &Running, directory: &Path, code: i32, arguments: &dyn Fn(&str) -> Vec<String>) {
    let mut running = Vec::new();
    for key in TEAMS {
        for repository in 0..REPOSITORIES {
            let name = format!("{key}-{repository}");
            let arguments = arguments(&name);
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut command = program(&arguments, directory);
            command.env("DOVETAIL_URL", &system.base).env("DOVETAIL_API_KEY", key);
            running.push((name, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()));
        }
    }
    for (name, child) in running {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Writes the file of each application in a directory.
fn declare_all(directory: &Path, cpu: usize) {
    for key in TEAMS {
        for repository in 0..REPOSITORIES {
            let shop =
                SHOP.replace("Shop", &format!("App{repository}")).replace("cpu: 8", &format!("cpu: {cpu}"));
            fs::write(directory.join(format!("{key}-{repository}.yaml")), shop).unwrap();
        }
    }
}

#[test]
fn pipelines_of_all_applications_of_a_team_apply_at_once() {
    let (system, directory) = (Running::demo(), tempfile::tempdir().unwrap());
    // In the first round, the applications are new and alike.
    for round in 1..=3 {
        declare_all(directory.path(), 4 * round);
        at_once(&system, directory.path(), 0, &|name| {
            vec!["apply".to_owned(), format!("{name}.yaml"), "--auto-approve".to_owned()]
        });
    }
    // Plans that were reviewed before any of them was applied.
    declare_all(directory.path(), 16);
    system.wait_idle();
    at_once(&system, directory.path(), HAS_CHANGES, &|name| {
        vec!["plan".to_owned(), format!("{name}.yaml"), "--save".to_owned(), format!("{name}.json")]
    });
    at_once(&system, directory.path(), 0, &|name| {
        let [file, plan] = ["yaml", "json"].map(|ending| format!("{name}.{ending}"));
        ["apply", &file, "--plan-file", &plan, "--auto-approve"].map(str::to_owned).to_vec()
    });
    system.assert_sound();
    let items = system.get("/v1/orcabase/consumer/service_items/?limit=100", KEY);
    let items = items.at("/results").as_array().unwrap().clone();
    let declared =
        items.iter().filter(|item| item["application"]["name"].as_str().unwrap().starts_with("App"));
    assert!(declared.clone().all(|item| item["declaration"]["cpu"] == 16), "{items:?}");
    assert_eq!(declared.count(), REPOSITORIES);
}
