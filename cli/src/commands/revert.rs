//! The command `revert`: what was declared after an earlier submission.

use crate::{
    api::client::Api,
    base::failure::{Done, Failure},
    commands::{apply::Approval, request::Request},
    output::Output,
};
use clap::Args;

/// Declares again what was declared after an earlier submission
#[derive(Args, Clone, Debug)]
pub(crate) struct Revert {
    /// Id of the submission
    #[arg(value_name = "SUBMISSION")]
    submission: u64,
    #[command(flatten)]
    approval: Approval,
}

/// Executes `revert`.
pub(crate) fn revert(api: &Api, command: &Revert, out: &mut Output) -> Result<Done, Failure> {
    command.approval.make(api, &Request::revert(command.submission), out)
}
