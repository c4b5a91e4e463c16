//! The commands `login`, `logout`, `whoami` and `profile`.

use crate::{
    account::{
        keyring,
        profile::{self, Profile, Profiles},
    },
    api::{client::Api, object},
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::Output,
};
use clap::{Args, Subcommand};
use dialoguer::Password;
use serde_json::{Value, json};
use std::io::{self, BufRead as _, IsTerminal as _};

const PROFILES: [Column; 4] =
    [("PROFILE", &["/name"]), ("TEAM", &["/team"]), ("URL", &["/url"]), ("CURRENT", &["/current"])];

/// Signs in with an API key, and stores it in a profile
///
/// Asks for the key, or reads one line from standard input. The file is readable by you alone.
#[derive(Args, Clone, Debug)]
pub(crate) struct Login {
    /// URL of the server
    #[arg(long, value_name = "URL", env = "DOVETAIL_URL", default_value = profile::LOCAL)]
    url: String,
}

/// Manages profiles: servers and teams
#[derive(Args, Clone, Debug)]
pub(crate) struct ProfileCommand {
    #[command(subcommand)]
    action: ProfileAction,
}

#[derive(Clone, Debug, Subcommand)]
enum ProfileAction {
    /// Lists the profiles
    List,
    /// Chooses the profile of the next commands
    Use {
        /// Name of the profile
        name: String,
    },
}

/// Executes `login`.
pub(crate) fn login(name: Option<&str>, command: &Login, out: &mut Output) -> Result<Done, Failure> {
    let key = key()?;
    let team = team(&Api::new(&command.url, &key))?;
    let mut profiles = Profiles::read()?;
    let name = name.unwrap_or(profile::DEFAULT).to_owned();
    out.text(&format!("Signed in as {team} at {}, profile `{name}`.\n", command.url))?;
    let profile = Profile { url: command.url.clone(), key: keyring::store(&name, key)?, team };
    let _previous = profiles.profiles.insert(name.clone(), profile);
    profiles.current = Some(name);
    profiles.write()?;
    Ok(Done::Success)
}

/// Reads the key from the terminal without showing it, or from standard input.
fn key() -> Result<String, Failure> {
    let key = if io::stdin().is_terminal() {
        Password::new().with_prompt("API key").interact().map_err(Failure::unanswered)?
    } else {
        let mut line = String::new();
        let _bytes = io::stdin().lock().read_line(&mut line).map_err(Failure::failed)?;
        line
    };
    let key = key.trim();
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain {
        Ok(key.to_owned())
    } else {
        Err(Failure::Usage("the API key must be one word of ASCII".to_owned()))
    }
}

/// Returns the name of the key's team.
fn team(api: &Api) -> Result<String, Failure> {
    let team = object::own_team(api)?;
    team.at("/name")
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::NotAllowed("the API key has no team".to_owned()))
}

/// Executes `logout`.
pub(crate) fn logout(name: Option<&str>, out: &mut Output) -> Result<Done, Failure> {
    let mut profiles = Profiles::read()?;
    let name = name.unwrap_or_else(|| profiles.current()).to_owned();
    let Some(profile) = profiles.profiles.remove(&name) else {
        return Err(Failure::NotAllowed(format!("no profile has the name `{name}`")));
    };
    // If the file has the key, the keyring may have that of an earlier login.
    let removed = keyring::remove(&name);
    if profile.key.is_none() {
        removed?;
    }
    profiles.current = profiles.current.filter(|current| *current != name);
    profiles.write()?;
    out.text(&format!("Removed the profile `{name}` and its API key. The key itself stays valid.\n"))?;
    Ok(Done::Success)
}

/// Executes `whoami`.
pub(crate) fn whoami(api: &Api, out: &mut Output) -> Result<Done, Failure> {
    let team = team(api)?;
    if !out.json(&json!({"team": team, "url": api.url()}))? {
        out.text(&format!("{team} at {}\n", api.url()))?;
    }
    Ok(Done::Success)
}

/// Executes `profile`.
pub(crate) fn profile(command: &ProfileCommand, out: &mut Output) -> Result<Done, Failure> {
    let mut profiles = Profiles::read()?;
    match &command.action {
        ProfileAction::List => {
            let current = profiles.current();
            let rows = profiles.profiles.iter().map(|(name, profile)| {
                json!({"name": name, "team": profile.team, "url": profile.url, "current": if name == current { "yes" } else { "" }})
            });
            let rows: Vec<Value> = rows.collect();
            out.list(&rows, &PROFILES)?;
        }
        ProfileAction::Use { name } => {
            profiles.get(name)?;
            profiles.current = Some(name.clone());
            profiles.write()?;
            out.text(&format!("The next commands use the profile `{name}`.\n"))?;
        }
    }
    Ok(Done::Success)
}
