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
/// Ends with a table of the changes that still wait, and of their owners. The first rejected or failed change ends the
/// wait with exit code 1.
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
    /// After a rejected or failed change, wait for the others
    #[arg(long)]
    keep_waiting: bool,
}

/// What ends a wait.
pub(crate) struct End<'a> {
    pub(crate) goal: Goal,
    pub(crate) timeout: Duration,
    /// Whether a rejected or failed change ends the wait only after all others.
    pub(crate) keep_waiting: bool,
    /// The file of the JUnit report.
    pub(crate) junit: Option<&'a Path>,
}

/// Executes `wait`.
pub(crate) fn wait(api: &Api, command: &Wait, out: &mut Output) -> Result<Done, Failure> {
    let end = End {
        goal: command.goal,
        timeout: Duration::from_secs(command.timeout),
        keep_waiting: command.keep_waiting,
        junit: command.junit.as_deref(),
    };
    until(api, command.submission, &end, out)
}

/// Waits until a submission reaches a goal, or fails to reach it.
pub(crate) fn until(api: &Api, submission: u64, end: &End<'_>, out: &mut Output) -> Result<Done, Failure> {
    let left = watch(api, submission, end)?;
    if let Some(path) = end.junit {
        // Read once more, because only this report needs the changes that reached the goal.
        report::write_junit(path, submission, &changes(api, submission)?, |change| {
            is_short_of(end.goal, change)
        })?;
    }
    if left.is_nothing() {
        if out.format == Format::Table {
            out.text(&format!("Submission {submission}: all changes are {}.\n", end.goal.name()))?;
        }
        return Ok(Done::Success);
    }
    out.list(&left.changes, &WAITING)?;
    if left.ends(end) {
        let refused = left.refused();
        return Err(Failure::Failed(format!(
            "{refused} rejected or failed: declare another value, or retry"
        )));
    }
    Ok(Done::StillWaiting)
}

/// Looks at a submission until nothing is left, or until the wait ends without that.
fn watch(api: &Api, submission: u64, end: &End<'_>) -> Result<Left, Failure> {
    let (began, [mut pause, longest], line) = (Instant::now(), PAUSES, Progress::text());
    loop {
        let left = Left::read(api, submission, end.goal)?;
        if left.is_nothing() || left.ends(end) || began.elapsed() >= end.timeout {
            return Ok(left);
        }
        line.show(match left.changes.len() {
            0 => format!("Submission {submission} has pending work."),
            changes => format!("Submission {submission}: not yet {}: {changes}", end.goal.name()),
        });
        thread::sleep(pause.min(end.timeout.saturating_sub(began.elapsed())));
        pause = (pause * 2).min(longest);
    }
}

/// What keeps a submission from a goal.
struct Left {
    is_applied: bool,
    /// The changes that are short of the goal, and those that are rejected or failed.
    changes: Vec<Value>,
}

impl Left {
    fn read(api: &Api, submission: u64, goal: Goal) -> Result<Self, Failure> {
        let progress = api.get(&format!("{ORCABASE}/consumer/submissions/{submission}/"))?;
        let is_applied = progress.text_at("/state") == "SETTLED";
        let mut changes =
            if is_applied && goal != Goal::Applied { changes(api, submission)? } else { Vec::new() };
        changes.retain(|change| is_short_of(goal, change) || is_refused(change));
        Ok(Self { is_applied, changes })
    }

    const fn is_nothing(&self) -> bool {
        self.is_applied && self.changes.is_empty()
    }

    /// Returns the number of rejected and failed changes.
    fn refused(&self) -> usize {
        self.changes.iter().filter(|change| is_refused(change)).count()
    }

    /// Returns whether rejected or failed changes end the wait.
    fn ends(&self, end: &End<'_>) -> bool {
        let refused = self.refused();
        refused > 0 && (!end.keep_waiting || refused == self.changes.len())
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

/// Returns whether a change is rejected or failed, so that its consumer or its owner must act.
fn is_refused(change: &Value) -> bool {
    state(change).is_some_and(State::is_blocked)
}

fn state(change: &Value) -> Option<State> {
    change.text_at("/state").parse().ok()
}
