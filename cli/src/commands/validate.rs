//! The command `validate`: a declaration that is checked, and nothing else.

use crate::{
    api::client::Api,
    base::failure::{Done, Failure},
    commands::request::Declared,
    output::{Output, plan},
    report::Reports,
};
use clap::Args;

/// Checks a declaration against the rules and all schemas, and changes nothing
#[derive(Args, Clone, Debug)]
pub(crate) struct Validate {
    #[command(flatten)]
    declared: Declared,
    #[command(flatten)]
    reports: Reports,
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
