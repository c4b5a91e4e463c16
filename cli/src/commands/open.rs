//! The command `open`: the page of an object in the console.

use crate::{
    api::{client::Api, kinds::Kind, object},
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    output::Output,
};
use clap::Args;
use serde_json::{Value, json};
use std::{
    env,
    io::{self, IsTerminal as _},
    process::{Command, Stdio},
};

/// Prints the console's page of an object, and opens it on a desktop
///
/// The page of a change is that of its item.
#[derive(Args, Clone, Debug)]
pub(crate) struct Open {
    /// What to open
    #[arg(value_enum)]
    kind: Kind,
    /// Its id, or its name: APPLICATION/SERVICE/ITEM of an item or its newest change
    #[arg(value_name = "ID_OR_NAME")]
    object: String,
    /// Only print the URL
    #[arg(long)]
    print: bool,
}

/// Executes `open`.
pub(crate) fn open(api: &Api, command: &Open, out: &mut Output) -> Result<Done, Failure> {
    let object = object::read(api, command.kind, &command.object, None)?.value;
    let url = format!("{}/#/{}", api.url(), page(command.kind, &object));
    if !out.json(&json!({"url": url}))? {
        out.text(&format!("{url}\n"))?;
    }
    if !command.print
        && io::stdout().is_terminal()
        && let Some(program) = program()
    {
        let ended = Command::new(program).arg(&url).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let ended = ended.map_err(|error| Failure::Failed(format!("{program}: {error}")))?;
        if !ended.success() {
            return Err(Failure::Failed(format!("{program}: {ended}")));
        }
    }
    Ok(Done::Success)
}

/// Returns the path of the page of an object.
fn page(kind: Kind, object: &Value) -> String {
    let (page, id) = match kind {
        Kind::Applications => ("applications", "/id"),
        Kind::Items => ("items", "/id"),
        Kind::Changes => ("items", "/service_item/id"),
        Kind::Submissions => ("submissions", "/id"),
        Kind::Services => ("catalogue", "/id"),
    };
    format!("{page}/{}", object.text_at(id))
}

/// Returns the program that opens URLs; none without a desktop.
fn program() -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return Some("open");
    }
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    has_desktop.then_some("xdg-open")
}
