//! The command `man`: manual pages, from the descriptions of the commands.

use crate::{
    base::failure::{Done, Failure},
    output::Output,
};
use clap::Args;
use std::{fs, path::PathBuf};

/// Prints the manual page, or writes a page for each command
#[derive(Args, Clone, Debug)]
pub(crate) struct Man {
    /// Directory for the pages `dovetail.1`, `dovetail-plan.1` and so on, such as `~/.local/share/man/man1`
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Executes `man` for these commands.
pub(crate) fn man(command: &Man, commands: clap::Command, out: &mut Output) -> Result<Done, Failure> {
    if let Some(directory) = &command.directory {
        fs::create_dir_all(directory).map_err(Failure::file(directory))?;
        clap_mangen::generate_to(commands, directory).map_err(Failure::file(directory))?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(commands).render(&mut page).map_err(Failure::failed)?;
        out.text(&String::from_utf8_lossy(&page))?;
    }
    Ok(Done::Success)
}
