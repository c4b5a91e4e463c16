//! The command `apply`: the changes that it shows, and exactly these.

use crate::{
    api::client::Api,
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    commands::{
        request::{Declared, Request},
        wait::{self, End, Goal},
    },
    document::file,
    output::{Format, Output, plan},
};
use clap::Args;
use dialoguer::Confirm;
use serde_json::Value;
use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
    time::Duration,
};

/// Maximum number of plans of one `apply` without a review.
const UNREVIEWED_PLANS_MAX: u32 = 5;
/// Variables of pipelines with the commit.
const COMMIT_VARIABLES: [&str; 2] = ["GITHUB_SHA", "CI_COMMIT_SHA"];

/// Makes the changes that it shows, after your approval
#[derive(Args, Clone, Debug)]
pub(crate) struct Apply {
    #[command(flatten)]
    declared: Declared,
    #[command(flatten)]
    approval: Approval,
}

/// How to make the shown changes.
#[derive(Args, Clone, Debug)]
pub(super) struct Approval {
    /// Do not ask; required without a terminal
    #[arg(long)]
    auto_approve: bool,
    /// Confirm with `--auto-approve` also the removals that need it; a reviewed plan confirms its own
    #[arg(long)]
    allow_removal: bool,
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
    /// After a rejected or failed change, wait for the others
    #[arg(long, requires = "wait")]
    keep_waiting: bool,
}

/// Executes `apply`.
pub(crate) fn apply(api: &Api, command: &Apply, out: &mut Output) -> Result<Done, Failure> {
    command.approval.make(api, &command.declared.read(api)?, out)
}

impl Approval {
    /// Shows the changes of a request, asks, and makes them.
    pub(super) fn make(&self, api: &Api, request: &Request, out: &mut Output) -> Result<Done, Failure> {
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
        if !plan::has_changes(&preview) {
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
        } else if reviewed.is_none() && !self.allow_removal {
            assert_confirmed(&preview)?;
        }
        let commit =
            self.commit.clone().or_else(|| COMMIT_VARIABLES.iter().find_map(|name| env::var(name).ok()));
        let submission = request.submit(api, &preview, commit, self.message.clone())?;
        match out.format {
            Format::Table => out.text(&plan::submission(&submission))?,
            Format::Name => out.text(&plan::ids(&submission))?,
            Format::Json | Format::Ndjson | Format::Yaml => drop(out.json(&submission)?),
        }
        match (self.wait, submission.at("/id").as_u64()) {
            (Some(goal), Some(id)) => {
                let end = End {
                    goal,
                    timeout: Duration::from_secs(self.timeout),
                    keep_waiting: self.keep_waiting,
                    junit: self.junit.as_deref(),
                };
                wait::until(api, id, &end, out)
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

/// Fails if the plan has a removal that needs a confirmation.
fn assert_confirmed(preview: &Value) -> Result<(), Failure> {
    let removals = plan::unconfirmed_removals(preview);
    if removals.is_empty() {
        return Ok(());
    }
    Err(Failure::Problems(format!(
        "needs a confirmation of what it removes: {}. Give --allow-removal, or review the plan and give --plan-file",
        removals.join(", ")
    )))
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
