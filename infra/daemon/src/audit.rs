//! The command `dovetail audit`: checks every invariant of a table or an export, and repairs derived values.

mod export;
mod progress;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use domain::Timestamp;
use domain::audit::invariant::Violation;
use dovetail_emulator::engine::{self, Engine, Storage};
use dovetail_table::{
    Table,
    audit::{Audited, Rows},
};
use serde_json::{Value, json};

use crate::{account, settings::TABLE};
use progress::Progress;

/// The help text of `audit --help`.
pub const HELP: &str = "\
Checks every invariant on all records. Prints each violation as a JSON line, then a summary.

Usage: dovetail audit --data DIR [--repair]
       dovetail audit --table NAME [--endpoint URL] [--repair]
       dovetail audit --export DIR

Options:
  --data DIR      directory of a stopped local system
  --table NAME    deployed table, read with the credentials and the region of the environment
  --endpoint URL  DynamoDB engine to use instead of AWS
  --export DIR    downloaded S3 export of a table, in DynamoDB JSON
  --repair        recompute wrong blockers, digests, roots and shares, then repeat the audit
  --help          print this help

Exit status: 0 no violations, 1 violations, 2 the audit failed.
";

/// The source of the audit, and whether to repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Source of the rows.
    pub source: Source,
    /// Whether to repair values that can be recomputed.
    pub repair: bool,
}

/// The source of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The directory of an embedded engine.
    Data(PathBuf),
    Table {
        name: String,
        /// Endpoint of an engine that replaces AWS; `None` means AWS.
        endpoint: Option<String>,
    },
    /// A downloaded S3 export.
    Export(PathBuf),
}

/// The result of an audit, which decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOutcome {
    Sound,
    /// An invariant is violated.
    Violated,
    /// No violation holds, but some records moved at every look.
    Unsettled,
}

/// The reason for a failed audit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: the directory has no database", .0.display())]
    NoDatabase(PathBuf),
    #[error(transparent)]
    Engine(#[from] engine::Error),
    #[error(transparent)]
    Table(#[from] dovetail_table::Error),
    /// The table of a stack cannot be used.
    #[error(transparent)]
    Account(#[from] account::Error),
    /// The export is unreadable, incomplete or invalid.
    #[error(transparent)]
    Export(#[from] export::Error),
    #[error("the violations could not be printed: {0}")]
    Print(#[from] io::Error),
}

/// Runs the audit and prints the violations.
pub async fn run(settings: &Settings, now: Timestamp, out: &mut impl Write) -> Result<AuditOutcome, Error> {
    let (audited, repaired) = match &settings.source {
        Source::Data(directory) => {
            if !Engine::is_in(directory) {
                return Err(Error::NoDatabase(directory.clone()));
            }
            let engine = Engine::start(&Storage::Directory(directory.clone()))?;
            let table = account::of_engine(TABLE, engine.endpoint());
            // The age of pending work is not checked: while the local system is stopped, the sweep does not run.
            let audited = of_table(&table, None, settings.repair).await?;
            engine.stop()?;
            audited
        }
        Source::Table { name, endpoint } => {
            let reached = account::reach(name, endpoint.as_deref()).await?;
            let audited = of_table(&reached.table, Some(now), settings.repair).await;
            audited.map_err(|error| {
                if let Error::Table(source) = error { reached.failure(source).into() } else { error }
            })?
        }
        Source::Export(directory) => (of_export(directory)?, None),
    };
    match print(&audited, repaired.as_deref(), out) {
        // A reader such as `head` closes the pipe when it has enough. This is not a failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(outcome(&audited)),
    }
}

fn outcome(audited: &Audited) -> AuditOutcome {
    match (audited.violations.is_empty(), audited.unsettled) {
        (true, 0) => AuditOutcome::Sound,
        (true, _) => AuditOutcome::Unsettled,
        (false, _) => AuditOutcome::Violated,
    }
}

async fn of_table(
    table: &Table,
    now: Option<Timestamp>,
    repair: bool,
) -> Result<(Audited, Option<Vec<Violation>>), Error> {
    let audited = audit(table, now).await?;
    if !repair {
        return Ok((audited, None));
    }
    // The second audit shows the effect of the repairs, and decides the exit status.
    let repaired = table.repair(&audited).await?;
    Ok((audit(table, now).await?, Some(repaired)))
}

async fn audit(table: &Table, now: Option<Timestamp>) -> Result<Audited, Error> {
    let progress = Progress::new();
    Ok(table.audit(now, &|seen| progress.show(seen)).await?)
}

fn of_export(directory: &Path) -> Result<Audited, Error> {
    let progress = Progress::new();
    let mut rows = Rows::default();
    export::each_line(directory, |line| {
        rows.add_exported(line)?;
        progress.show(rows.seen());
        Ok(())
    })?;
    Ok(rows.audit())
}

fn print(audited: &Audited, repaired: Option<&[Violation]>, out: &mut impl Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    for violation in repaired.unwrap_or_default() {
        let Violation { rule, subject, detail } = violation;
        writeln!(out, "{}", json!({"repaired": rule, "subject": subject.to_string(), "detail": detail}))?;
    }
    for violation in &audited.violations {
        writeln!(out, "{}", view(violation))?;
    }
    let mut summary = json!({"rows": audited.rows, "violations": audited.violations.len()});
    let more = [
        ("repaired", repaired.map(|repaired| json!(repaired.len()))),
        ("unsettled", (audited.unsettled > 0).then(|| json!(audited.unsettled))),
    ];
    if let Value::Object(summary) = &mut summary {
        summary.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    writeln!(out, "{summary}")?;
    out.flush()
}

/// Returns the report of a running system: violations, and the number of unsettled ones if there are any.
pub(crate) fn report(audited: &Audited) -> Value {
    let mut report = json!({"violations": audited.violations.iter().map(view).collect::<Vec<_>>()});
    if let (Value::Object(report), true) = (&mut report, audited.unsettled > 0) {
        report.insert("unsettled".to_owned(), json!(audited.unsettled));
    }
    report
}

/// Returns a violation as JSON.
fn view(violation: &Violation) -> Value {
    let Violation { rule, subject, detail } = violation;
    json!({"rule": rule, "subject": subject.to_string(), "detail": detail})
}
