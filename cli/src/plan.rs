//! The commands `validate`, `plan`, `apply` and `revert`: a declaration, its effects, and exactly these effects.

use crate::{
    api::{
        client::{Api, Call, ORCABASE},
        filter, object, suggest,
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    compare,
    document::{file, input::Input},
    output::{Format, Output, plan},
    report::{self, Reports},
    wait::{self, Goal},
};
use clap::Args;
use dialoguer::Confirm;
use domain::Hash;
use serde_json::{Map, Value, json};
use std::{
    env, io,
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// The longest wait for earlier submissions, before a plan is possible.
const PENDING_MAX: Duration = Duration::from_secs(60);
/// Maximum number of change instances on a page of a preview. Each page plans the whole declaration again.
const PAGE_MAX: u64 = 1_000;
/// Maximum number of previews until all pages belong to one plan.
const PREVIEWS_MAX: u32 = 5;
/// Maximum number of plans of one `apply` without a review.
const UNREVIEWED_PLANS_MAX: u32 = 5;
/// Variables of pipelines with the commit.
const COMMIT_VARIABLES: [&str; 2] = ["GITHUB_SHA", "CI_COMMIT_SHA"];

/// The declaration of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Declared {
    /// A YAML or JSON file, a directory with one file per application, or a repository with `.netorca/`
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Declare the whole team: remove every application that is not in PATH
    #[arg(long)]
    whole: bool,
}

/// Checks a declaration against the rules and all schemas, and changes nothing
#[derive(Args, Clone, Debug)]
pub(crate) struct Validate {
    #[command(flatten)]
    declared: Declared,
    #[command(flatten)]
    reports: Reports,
}

/// Shows the changes that `apply` would make
///
/// The applications of PATH are compared with the stored ones. All others stay as they are, unless `--whole` is given.
/// With `--old` and `--new`, two files are compared without a server. That plan does not consider schemas, references,
/// dependent teams, changes in progress and other submissions.
#[derive(Args, Clone, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    declared: Declared,
    /// Compare this file with `--new`, without a server
    #[arg(long, value_name = "FILE", requires = "new")]
    #[arg(conflicts_with_all = ["path", "whole", "annotate", "sarif", "markdown", "save"])]
    old: Option<PathBuf>,
    /// Compare this file with `--old`, without a server
    #[arg(long, value_name = "FILE", requires = "old")]
    new: Option<PathBuf>,
    /// Write the plan to this file, for `apply --plan-file`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write the plan, or the problems, to this file as a Markdown comment
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    reports: Reports,
}

/// Makes the changes that it shows, after your approval
#[derive(Args, Clone, Debug)]
pub(crate) struct Apply {
    #[command(flatten)]
    declared: Declared,
    #[command(flatten)]
    approval: Approval,
}

/// Declares again what was declared after an earlier submission
#[derive(Args, Clone, Debug)]
pub(crate) struct Revert {
    /// Id of the submission
    #[arg(value_name = "SUBMISSION")]
    submission: u64,
    #[command(flatten)]
    approval: Approval,
}

/// Compares the declarations after two submissions
#[derive(Args, Clone, Debug)]
pub(crate) struct Diff {
    /// Id of the earlier submission
    #[arg(value_name = "FROM")]
    from: u64,
    /// Id of the later submission
    #[arg(value_name = "TO")]
    to: u64,
}

/// How to make the shown changes.
#[derive(Args, Clone, Debug)]
struct Approval {
    /// Do not ask; required without a terminal
    #[arg(long)]
    auto_approve: bool,
    /// Make the reviewed changes or none: the `plan` in the output of `dovetail plan -o json`
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    plan: Option<String>,
    /// Make the reviewed changes or none: the file of `dovetail plan --save`
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    plan_file: Option<PathBuf>,
    /// Commit of the declaration; by default that of the pipeline, in `GITHUB_SHA` or `CI_COMMIT_SHA`
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
    /// Text for the history of the team: why it submits
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Wait until the changes are applied, decided or completed
    #[arg(long, value_name = "GOAL", value_enum)]
    wait: Option<Goal>,
    /// Longest wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, requires = "wait")]
    timeout: u64,
    /// Write a JUnit report to this file after the wait, with a case for each item
    #[arg(long, value_name = "FILE", requires = "wait")]
    junit: Option<PathBuf>,
}

/// A request that can be previewed.
pub(crate) struct Request {
    method: &'static str,
    /// Paths of the preview and of the submission.
    validate: String,
    submit: String,
    body: Value,
    /// The files of the declaration; none for a revert.
    input: Option<Input>,
}

impl Declared {
    fn read(&self, api: &Api) -> Result<Request, Failure> {
        let team = team(api)?;
        let input = Input::read(&self.path, &team)?;
        Ok(Request::new(input.body(&team), self.whole, Some(input)))
    }
}

fn team(api: &Api) -> Result<String, Failure> {
    Ok(object::own_team(api)?.text_at("/name"))
}

impl Request {
    fn new(body: Value, whole: bool, input: Option<Input>) -> Self {
        let path = |name: &str| format!("{ORCABASE}/consumer/submissions/{name}/");
        let method = if whole { "POST" } else { "PATCH" };
        Self { method, validate: path("validate"), submit: path("submit"), body, input }
    }

    /// Returns the request for applications that are in no file.
    pub(crate) fn inline(api: &Api, applications: Map<String, Value>, whole: bool) -> Result<Self, Failure> {
        Ok(Self::new(json!({team(api)?: applications}), whole, None))
    }

    /// Sends the declaration. Problems get their place in the files.
    fn send(&self, api: &Api, path: &str, headers: &[(&str, String)]) -> Result<Value, Failure> {
        let call = Call { method: self.method, path, headers, body: &self.body };
        match api.send(&call) {
            Err(Failure::Refused(mut refusal)) if !refusal.problems.is_empty() => Err(match &self.input {
                Some(input) => {
                    suggest::properties(api, &self.body, &mut refusal.problems);
                    Failure::Invalid(input.locate(&refusal.problems))
                }
                None => Failure::Refused(refusal),
            }),
            result => result,
        }
    }

    /// Returns the preview with all its change instances. Starts again if the plan changes between two pages.
    pub(crate) fn preview(&self, api: &Api) -> Result<Value, Failure> {
        for _ in 0..PREVIEWS_MAX {
            if let Some(preview) = self.pages(api)? {
                return Ok(preview);
            }
        }
        Err(Failure::PlanChanged)
    }

    /// Returns all pages of a preview as one; none if they belong to different plans.
    fn pages(&self, api: &Api) -> Result<Option<Value>, Failure> {
        let mut preview = self.send(api, &format!("{}?limit={PAGE_MAX}", self.validate), &[])?;
        let mut next = api.next(&preview, "/change_instances_next");
        while let Some(path) = next {
            let page = self.send(api, &path, &[])?;
            if page.at("/plan") != preview.at("/plan") {
                return Ok(None);
            }
            if let Some(all) = preview.pointer_mut("/change_instances").and_then(Value::as_array_mut) {
                all.extend_from_slice(page.list_at("/change_instances"));
            }
            next = api.next(&page, "/change_instances_next");
        }
        if let Some(next) = preview.pointer_mut("/change_instances_next") {
            *next = Value::Null;
        }
        Ok(Some(preview))
    }

    /// Returns a preview with a plan. Waits for the work of earlier submissions.
    pub(crate) fn plan(&self, api: &Api) -> Result<Value, Failure> {
        let began = Instant::now();
        loop {
            let preview = self.preview(api)?;
            if preview.at("/plan").is_string() {
                return Ok(preview);
            }
            if began.elapsed() > PENDING_MAX {
                return Err(Failure::Failed(
                    "an earlier submission has pending work: try again later".to_owned(),
                ));
            }
            thread::sleep(Duration::from_millis(500));
        }
    }
}

/// Executes `validate`.
pub(crate) fn validate(api: &Api, command: &Validate, out: &mut Output) -> Result<Done, Failure> {
    let preview = command.declared.read(api).and_then(|request| request.preview(api));
    let preview = command.reports.write(preview)?;
    if !out.json(&preview)? {
        out.text(&format!("{}The declaration is valid.\n", plan::warnings(&preview)))?;
    }
    Ok(Done::Success)
}

/// Executes `plan` with a server.
pub(crate) fn plan(api: &Api, command: &Plan, out: &mut Output) -> Result<Done, Failure> {
    let preview = command.declared.read(api).and_then(|request| match (&command.save, &command.markdown) {
        (None, None) => request.preview(api),
        // A report needs a token, and there is none while an earlier submission has work.
        _ => request.plan(api),
    });
    if let Some(path) = &command.markdown {
        report::write_markdown(path, &preview)?;
    }
    let preview = command.reports.write(preview)?;
    if let Some(path) = &command.save {
        file::save(path, &format!("{preview:#}\n"))?;
    }
    if !out.json(&preview)? {
        out.text(&plan::text(&preview))?;
    }
    Ok(if has_changes(&preview) { Done::Changes } else { Done::Success })
}

/// Executes `plan` with two files; none without them.
pub(crate) fn compare(command: &Plan, out: &mut Output) -> Option<Result<Done, Failure>> {
    let (old, new) = (command.old.as_ref()?, command.new.as_ref()?);
    let compared = compare::run(old, new, out);
    Some(compared.map(|has_changes| if has_changes { Done::Changes } else { Done::Success }))
}

/// Executes `apply`.
pub(crate) fn apply(api: &Api, command: &Apply, out: &mut Output) -> Result<Done, Failure> {
    command.approval.make(api, &command.declared.read(api)?, out)
}

/// Executes `revert`.
pub(crate) fn revert(api: &Api, command: &Revert, out: &mut Output) -> Result<Done, Failure> {
    let path = format!("{ORCABASE}/consumer/submissions/{}/revert/", command.submission);
    let validate = format!("{path}validate/");
    let request = Request { method: "POST", validate, submit: path, body: Value::Null, input: None };
    command.approval.make(api, &request, out)
}

/// Executes `diff`.
pub(crate) fn diff(api: &Api, command: &Diff, out: &mut Output) -> Result<Done, Failure> {
    let difference = difference(api, command.from, command.to)?;
    if !out.json(&difference)? {
        out.text(&plan::difference(&difference))?;
    }
    Ok(Done::Success)
}

/// Returns all differences between the declarations after two submissions.
pub(crate) fn difference(api: &Api, from: u64, to: u64) -> Result<Value, Failure> {
    let (mut metadata, mut items) = (Vec::new(), Vec::new());
    api.pages(format!("{ORCABASE}/consumer/submissions/{from}/difference/?to={to}"), |page| {
        metadata.extend_from_slice(page.list_at("/metadata"));
        items.extend_from_slice(page.list_at("/service_items"));
    })?;
    Ok(json!({"from": from, "to": to, "metadata": metadata, "service_items": items}))
}

impl Approval {
    /// Shows the changes of a request, asks, and makes them.
    fn make(&self, api: &Api, request: &Request, out: &mut Output) -> Result<Done, Failure> {
        let reviewed = self.reviewed()?;
        let is_reviewed = reviewed.is_some() || !self.auto_approve;
        let mut plans = 1;
        loop {
            match self.attempt(api, request, reviewed.as_deref(), out) {
                // Without a review, another plan is as good.
                Err(Failure::PlanChanged) if !is_reviewed && plans < UNREVIEWED_PLANS_MAX => plans += 1,
                result => return result,
            }
        }
    }

    /// Plans the changes of a request once, and makes them.
    fn attempt(
        &self,
        api: &Api,
        request: &Request,
        reviewed: Option<&str>,
        out: &mut Output,
    ) -> Result<Done, Failure> {
        let preview = request.plan(api)?;
        // Without changes there is nothing to review. So a pipeline can run again after its plan was applied.
        if !has_changes(&preview) {
            if !out.json(&preview)? {
                out.text(&plan::text(&preview))?;
            }
            return Ok(Done::Success);
        }
        if reviewed.is_some_and(|plan| plan != preview.text_at("/plan")) {
            return Err(Failure::PlanChanged);
        }
        let plan = plan::text(&preview);
        if out.format == Format::Table {
            out.text(&plan)?;
        } else if !self.auto_approve {
            // Standard output has the result alone.
            drop(anstream::stderr().write_all(plan.as_bytes()));
        }
        if !self.auto_approve {
            approve()?;
        }
        let commit =
            self.commit.clone().or_else(|| COMMIT_VARIABLES.iter().find_map(|name| env::var(name).ok()));
        let submission = submit(api, request, &preview, commit, self.message.clone())?;
        match out.format {
            Format::Table => out.text(&plan::submission(&submission))?,
            Format::Name => out.text(&plan::ids(&submission))?,
            Format::Json | Format::Ndjson | Format::Yaml => drop(out.json(&submission)?),
        }
        match (self.wait, submission.at("/id").as_u64()) {
            (Some(goal), Some(id)) => {
                let timeout = Duration::from_secs(self.timeout);
                wait::until(api, id, goal, timeout, self.junit.as_deref(), out)
            }
            _ => Ok(Done::Success),
        }
    }

    /// Returns the token of the reviewed plan; none if the plan is reviewed now.
    fn reviewed(&self) -> Result<Option<String>, Failure> {
        let Some(path) = &self.plan_file else { return Ok(self.plan.clone()) };
        let plan: Value = serde_json::from_str(&file::read(path)?).unwrap_or_default();
        match plan.at("/plan").as_str() {
            Some(token) => Ok(Some(token.to_owned())),
            None => Err(Failure::Failed(format!("{}: must be a file of `plan --save`", path.display()))),
        }
    }
}

/// Submits a declaration, if its effects are still those of the preview.
pub(crate) fn submit(
    api: &Api,
    request: &Request,
    preview: &Value,
    commit: Option<String>,
    message: Option<String>,
) -> Result<Value, Failure> {
    let plan = preview.text_at("/plan");
    // The same plan can occur again after a revert. Only without a submission in between it is the same request.
    let newest = api.list(&format!("{ORCABASE}/consumer/submissions/?ordering=-id"), 1)?;
    let newest = newest.first().map(|submission| submission.text_at("/id")).unwrap_or_default();
    let [of_commit, of_message] = [&commit, &message].map(|text| text.as_deref().unwrap_or_default());
    // The body as well, because two bodies can have one plan.
    let identity = json!([of_commit, newest, plan, of_message, request.method, request.submit, request.body]);
    let key = Hash::of(&identity.to_string()).to_string();
    let headers = [("If-Match", format!("\"{plan}\"")), ("Idempotency-Key", key)];
    let parameters = [("commit_id", commit), ("message", message)];
    let given = parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let query = filter::query(&given.collect::<Vec<_>>());
    request.send(api, &format!("{}{query}", request.submit), &headers)
}

fn has_changes(preview: &Value) -> bool {
    preview.is_at("/changed")
}

/// Asks whether the shown changes are to be made.
fn approve() -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage("no terminal to ask: give --auto-approve".to_owned()));
    }
    let answer = Confirm::new().with_prompt("Apply these changes?").default(false).interact();
    match answer {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Failed("nothing was applied".to_owned())),
        Err(error) => Err(Failure::unanswered(error)),
    }
}
