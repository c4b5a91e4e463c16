//! The command `dovetaild audit`: checks every invariant of a table or an export, and repairs derived values.

pub mod export;
mod progress;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{ArgGroup, Args};
use domain::Timestamp;
use domain::audit::invariant::Violation;
use domain::audit::result::AuditOutcome;
use dovetail_emulator::engine::{Engine, Storage};
use dovetail_table::{
    Table,
    audit::{Audited, ROWS_IN_MEMORY, Rows},
};
use serde_json::{Value, json};

use crate::{
    account,
    error::{Error, printed},
    option::{DEPLOYED_TABLE_BYTES, EXIT_CODES, table_name, url},
    settings::TABLE,
};
use progress::Progress;

/// Checks every invariant on all records. Prints each violation as a JSON line, then a summary.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = EXIT_CODES, group = ArgGroup::new("source").required(true).args(["data", "table", "export"]))]
#[group(skip)]
pub struct Options {
    /// Directory of a stopped local system
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Deployed table, read with the credentials and the region of the environment
    #[arg(long, value_name = "NAME", value_parser = table_name(DEPLOYED_TABLE_BYTES))]
    table: Option<String>,
    /// DynamoDB engine to use instead of AWS
    #[arg(long, value_name = "URL", value_parser = url, conflicts_with_all = ["data", "export"])]
    endpoint: Option<String>,
    /// Downloaded S3 export of a table, in DynamoDB JSON
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Recompute wrong blockers, digests, roots and shares, then repeat the audit
    #[arg(long, conflicts_with = "export")]
    repair: bool,
    /// Store time and numbers of the audit in the table, for `GET /v1/platform/status/`
    #[arg(long, conflicts_with = "export")]
    record: bool,
}

impl From<Options> for Settings {
    fn from(options: Options) -> Self {
        let Options { data, table, endpoint, export, repair, record } = options;
        let source = match (data, table) {
            (Some(directory), _) => Source::Data(directory),
            (None, Some(name)) => Source::Table { name, endpoint },
            // The parser requires one of the three.
            (None, None) => Source::Export(export.unwrap_or_default()),
        };
        Self { source, repair, record }
    }
}

/// The source of the audit, and whether to repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Source of the rows.
    pub source: Source,
    /// Whether to repair values that can be recomputed.
    pub repair: bool,
    /// Whether to store the result in the table.
    pub record: bool,
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
            let audited = of_table(&table, None, settings).await?;
            engine.stop()?;
            audited
        }
        Source::Table { name, endpoint } => {
            let reached = account::reach(name, endpoint.as_deref()).await?;
            let audited = of_table(&reached.table, Some(now), settings).await;
            audited.map_err(|error| {
                if let Error::Table(source) = error { reached.failure(source).into() } else { error }
            })?
        }
        Source::Export(directory) => (of_export(directory)?, None),
    };
    printed(print(&audited, repaired.as_deref(), out))?;
    Ok(audited.outcome())
}

async fn of_table(
    table: &Table,
    now: Option<Timestamp>,
    settings: &Settings,
) -> Result<(Audited, Option<Vec<Violation>>), Error> {
    let started = dovetail_aws::now();
    let (mut audited, mut repaired) = (audit(table, now).await?, None);
    if settings.repair {
        // The second audit shows the effect of the repairs, and decides the exit code.
        repaired = Some(table.repair(&audited).await?);
        audited = audit(table, now).await?;
    }
    if settings.record {
        record(table, &audited, started).await?;
    }
    Ok((audited, repaired))
}

/// Stores the result of an audit that has just ended.
pub(crate) async fn record(
    table: &Table,
    audited: &Audited,
    started: Timestamp,
) -> Result<(), dovetail_table::Error> {
    table.put_audit_result(&audited.result(started, dovetail_aws::now())).await
}

async fn audit(table: &Table, now: Option<Timestamp>) -> Result<Audited, Error> {
    let progress = Progress::new();
    Ok(table.audit(now, &|seen| progress.show(seen)).await?)
}

fn of_export(directory: &Path) -> Result<Audited, Error> {
    let progress = Progress::new();
    let mut rows = Rows::at_most(ROWS_IN_MEMORY);
    export::each_line(directory, |line| {
        rows.add_exported(line)?;
        progress.show(rows.seen());
        Ok(())
    })?;
    let mut audited = rows.audit();
    for teams in rows.forgotten() {
        let mut of_teams = Rows::of(teams, &rows);
        export::each_line(directory, |line| of_teams.add_exported(line))?;
        audited.add_teams(&of_teams);
    }
    Ok(audited)
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
