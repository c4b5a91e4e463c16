//! The command `plan`: the changes that a declaration would make.

use crate::{
    api::client::Api,
    base::failure::{Done, Failure},
    commands::{compare, request::Declared},
    document::file,
    output::{Output, plan},
    report::{self, Reports},
};
use clap::Args;
use std::path::PathBuf;

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
    #[arg(conflicts_with_all = ["paths", "files", "recursive", "whole", "annotate", "sarif", "markdown", "save"])]
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
    Ok(if plan::has_changes(&preview) { Done::Changes } else { Done::Success })
}

/// Executes `plan` with two files; none without them.
pub(crate) fn compare(command: &Plan, out: &mut Output) -> Option<Result<Done, Failure>> {
    let (old, new) = (command.old.as_ref()?, command.new.as_ref()?);
    let compared = compare::run(old, new, out);
    Some(compared.map(|has_changes| if has_changes { Done::Changes } else { Done::Success }))
}
