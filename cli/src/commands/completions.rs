//! The command `completions`: the completions of a shell.

use crate::{
    base::failure::{Done, Failure},
    output::Output,
};
use clap::Args;
use clap_complete::Shell;

/// Prints the completions of a shell
#[derive(Args, Clone, Debug)]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

/// Executes `completions` for these commands.
pub(crate) fn completions(
    command: &Completions,
    mut commands: clap::Command,
    out: &mut Output,
) -> Result<Done, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut commands, "dovetail", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Done::Success)
}
