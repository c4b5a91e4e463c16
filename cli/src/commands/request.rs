//! A declaration as a request: its preview, its plan and its submission.

use crate::{
    api::{
        client::{Api, Call, ORCABASE},
        filter, object, suggest,
    },
    base::{failure::Failure, json::At as _},
    document::{
        input::Input,
        sources::{IGNORE, LeftOut},
    },
};
use clap::Args;
use domain::Hash;
use serde_json::{Map, Value, json};
use std::{
    io::Write as _,
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

/// The declaration of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct Declared {
    /// YAML or JSON files, directories with one file per application, a repository with `.netorca/`, or `-` for
    /// standard input; the current directory without any
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The same as PATH
    #[arg(short, long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Read the directories below, too; `.dovetailignore` names what declares nothing
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Declare the whole team: remove every application that is not in PATH
    #[arg(long)]
    whole: bool,
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
    /// Reads the files, and returns their request.
    pub(super) fn read(&self, api: &Api) -> Result<Request, Failure> {
        let team = team(api)?;
        let mut paths = [self.paths.as_slice(), &self.files].concat();
        if paths.is_empty() {
            paths.push(PathBuf::from("."));
        }
        let input = Input::read(&paths, self.recursive, &team)?;
        self.report_left_out(&input)?;
        Ok(Request::new(input.body(&team), self.whole, Some(input)))
    }

    /// Names what was not read. A whole declaration fails without what can declare applications, because it would
    /// remove them.
    fn report_left_out(&self, input: &Input) -> Result<(), Failure> {
        let is_refused = self.whole && input.left_out.iter().any(LeftOut::can_declare);
        let named = input.left_out.iter().filter(|left_out| !is_refused || left_out.can_declare());
        let left_out = named.map(LeftOut::text).collect::<Vec<_>>().join(", ");
        if is_refused {
            return Err(Failure::Usage(format!(
                "--whole must read all applications, but leaves out {left_out}; name in {IGNORE} what declares nothing"
            )));
        }
        if !left_out.is_empty() {
            drop(writeln!(anstream::stderr(), "Left out: {left_out}."));
        }
        Ok(())
    }
}

fn team(api: &Api) -> Result<String, Failure> {
    Ok(object::own_team(api)?.text_at("/name"))
}

impl Request {
    /// Returns the request to declare again what was declared after a submission.
    pub(super) fn revert(submission: u64) -> Self {
        let path = format!("{ORCABASE}/consumer/submissions/{submission}/revert/");
        let validate = format!("{path}validate/");
        Self { method: "POST", validate, submit: path, body: Value::Null, input: None }
    }

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
        let mut next = api.next_page(&preview, "/change_instances_next");
        while let Some(path) = next {
            let page = self.send(api, &path, &[])?;
            if page.at("/plan") != preview.at("/plan") {
                return Ok(None);
            }
            if let Some(all) = preview.pointer_mut("/change_instances").and_then(Value::as_array_mut) {
                all.extend_from_slice(page.list_at("/change_instances"));
            }
            next = api.next_page(&page, "/change_instances_next");
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

    /// Submits a declaration, if its effects are still those of the preview.
    pub(crate) fn submit(
        &self,
        api: &Api,
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
        let identity = json!([of_commit, newest, plan, of_message, self.method, self.submit, self.body]);
        let key = Hash::of(&identity.to_string()).to_string();
        let headers = [("If-Match", format!("\"{plan}\"")), ("Idempotency-Key", key)];
        let parameters = [("commit_id", commit), ("message", message)];
        let given = parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let query = filter::query(&given.collect::<Vec<_>>());
        self.send(api, &format!("{}{query}", self.submit), &headers)
    }
}
