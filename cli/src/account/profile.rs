//! The profiles of a user: server, team and API key, in a file that only the user can read.

use crate::{base::failure::Failure, document::file};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Name of the profile without another choice.
pub(crate) const DEFAULT: &str = "default";
/// URL of the local system.
pub(crate) const LOCAL: &str = "http://127.0.0.1:9000";

/// How to reach a server as a team.
#[derive(Clone, derive_more::Debug, Deserialize, Serialize)]
pub(crate) struct Profile {
    /// URL of the server, without `/v1`.
    pub(crate) url: String,
    /// The API key; absent if it is in the keyring.
    #[debug(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The team of the key at the time of the login.
    pub(crate) team: String,
}

/// All profiles.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Profiles {
    /// The profile in use; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    /// Reads the profiles; none before the first login.
    pub(crate) fn read() -> Result<Self, Failure> {
        let path = path()?;
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| Failure::Failed(format!("{}: {error}", path.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::file(&path)(error)),
        }
    }

    /// Replaces the file.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let path = path()?;
        let parent = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(Failure::file(parent))?;
        let text = serde_json::to_string_pretty(self).map_err(Failure::failed)?;
        file::replace_private(&path, &format!("{text}\n"))
    }

    /// Returns the name of the profile in use.
    pub(crate) fn current(&self) -> &str {
        self.current.as_deref().unwrap_or(DEFAULT)
    }

    /// Returns a profile by its name.
    pub(crate) fn get(&self, name: &str) -> Result<&Profile, Failure> {
        self.profiles.get(name).ok_or_else(|| {
            let near = domain::base::suggest::did_you_mean(name, self.profiles.keys().map(String::as_str));
            Failure::NotAllowed(format!("no profile has the name `{name}`{near}: run `dovetail login`"))
        })
    }
}

/// Returns the path of the file: `$DOVETAIL_CONFIG`, or `dovetail/profiles.json` in the user's directory.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os("DOVETAIL_CONFIG") {
        return Ok(path.into());
    }
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let directory = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    let directory = directory.ok_or_else(|| Failure::Usage("set HOME or DOVETAIL_CONFIG".to_owned()))?;
    Ok(directory.join("dovetail/profiles.json"))
}
