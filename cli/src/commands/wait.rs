//! The command `wait`: until the changes of a submission are applied, decided or completed.

use crate::{
    api::{
        client::{Api, ORCABASE},
        kinds::ITEM,
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
        progress::Progress,
        text::Column,
    },
    output::{Format, Output},
    report,
};
use clap::{Args, ValueEnum};
use domain::State;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// The first and the longest pause between two looks.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
/// Maximum number of change instances of a submission.
const CHANGES_MAX: usize = 1_000_000;

/// The columns of the changes that still wait.
const WAITING: [Column; 6] = [
    ("CHANGE", &["/id"]),
    ("TYPE", &["/change_type"]),
    ("ITEM", ITEM),
    ("STATE", &["/state"]),
    ("OWNER", &["/owner/name"]),
    ("LOG", &["/log"]),
];

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// All items have their new declarations, and all change instances exist
    Applied,
    /// No change instance waits for a decision
    Decided,
    /// All change instances are completed or closed
    Completed,
}

impl Goal {
    const fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Decided => "decided",
            Self::Completed => "completed",
        }
    }
}

/// Waits for the changes of a submission
///
/// Ends with a table of the changes that still wait, and of their owners. A rejected or failed change ends the wait.
#[derive(Args, Clone, Debug)]
pub(crate) struct Wait {
    /// Id of the submission
    #[arg(value_name = "SUBMISSION")]
    submission: u64,
    /// What to wait for
    #[arg(long = "for", value_name = "GOAL", value_enum, default_value = "completed")]
    goal: Goal,
    /// Longest wait, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    timeout: u64,
    /// Write a JUnit report to this file after the wait, with a case for each item
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Executes `wait`.
pub(crate) fn wait(api: &Api, command: &Wait, out: &mut Output) -> Result<Done, Failure> {
    let timeout = Duration::from_secs(command.timeout);
    until(api, command.submission, command.goal, timeout, command.junit.as_deref(), out)
}

/// Waits until a submission reaches a goal.
pub(crate) fn until(
    api: &Api,
    submission: u64,
    goal: Goal,
    timeout: Duration,
    junit: Option<&Path>,
    out: &mut Output,
) -> Result<Done, Failure> {
    let (began, [mut pause, longest], line) = (Instant::now(), PAUSES, Progress::text());
    loop {
        let progress = api.get(&format!("{ORCABASE}/consumer/submissions/{submission}/"))?;
        let is_applied = progress.text_at("/state") == "SETTLED";
        let changes =
            if is_applied && goal != Goal::Applied { changes(api, submission)? } else { Vec::new() };
        let waiting: Vec<Value> = changes.into_iter().filter(|change| is_short_of(goal, change)).collect();
        let is_refused = |change: &Value| state(change).is_some_and(State::is_blocked);
        let can_go_on = !is_applied || waiting.iter().any(|change| !is_refused(change));
        let is_late = began.elapsed() >= timeout;
        if let (Some(path), true) = (junit, !can_go_on || is_late) {
            // Read once more, because only this report needs the changes that reached the goal.
            report::write_junit(path, submission, &self::changes(api, submission)?, |change| {
                is_short_of(goal, change)
            })?;
        }
        if is_applied && waiting.is_empty() {
            drop(line);
            if out.format == Format::Table {
                out.text(&format!("Submission {submission}: all changes are {}.\n", goal.name()))?;
            }
            return Ok(Done::Success);
        }
        if !can_go_on || is_late {
            drop(line);
            out.list(&waiting, &WAITING)?;
            let refused = waiting.iter().filter(|change| is_refused(change)).count();
            return match refused {
                0 => Ok(Done::StillWaiting),
                _ if can_go_on => Ok(Done::StillWaiting),
                _ => Err(Failure::Failed(format!(
                    "{refused} rejected or failed: declare another value, or retry"
                ))),
            };
        }
        line.show(match waiting.len() {
            0 => format!("Submission {submission} has pending work."),
            changes => format!("Submission {submission}: not yet {}: {changes}", goal.name()),
        });
        thread::sleep(pause.min(timeout.saturating_sub(began.elapsed())));
        pause = (pause * 2).min(longest);
    }
}

fn changes(api: &Api, submission: u64) -> Result<Vec<Value>, Failure> {
    api.list(&format!("{ORCABASE}/consumer/change_instances/?submission_id={submission}"), CHANGES_MAX)
}

/// Returns whether a change has not reached the goal.
fn is_short_of(goal: Goal, change: &Value) -> bool {
    match goal {
        Goal::Applied => false,
        Goal::Decided => state(change) == Some(State::Pending),
        Goal::Completed => !matches!(state(change), Some(State::Completed | State::Closed)),
    }
}

fn state(change: &Value) -> Option<State> {
    change.text_at("/state").parse().ok()
}
