//! The keyring of the desktop. It holds the API keys if this build has the feature `keyring`.

#[cfg(not(feature = "keyring"))]
pub(crate) use absent::{read, remove, store};
#[cfg(feature = "keyring")]
pub(crate) use desktop::{read, remove, store};

#[cfg(feature = "keyring")]
mod desktop {
    use crate::{account::profile, base::failure::Failure};
    use ::keyring::{Entry, Error};
    use dovetail_terminal::plain;
    use std::{
        io::Write as _,
        path::{self, Path},
    };

    /// The attribute `service` of each key.
    const SERVICE: &str = "dovetail";

    /// Stores the key of a profile. Returns the key if no keyring accepts it, so it belongs into the file.
    pub(crate) fn store(profile: &str, key: String) -> Result<Option<String>, Failure> {
        let file = profile::path()?;
        let Err(error) = entry(&file, profile).and_then(|entry| entry.set_password(&key)) else {
            return Ok(None);
        };
        let (reason, file) = (reason(&error), file.display());
        let line = format!("dovetail: the keyring is unreachable, so the API key is in {file} ({reason})");
        // Without standard error the key is in the file all the same.
        drop(writeln!(anstream::stderr(), "{line}"));
        Ok(Some(key))
    }

    /// Returns the key of a profile.
    pub(crate) fn read(profile: &str) -> Result<String, Failure> {
        match entry(&profile::path()?, profile).and_then(|entry| entry.get_password()) {
            Ok(key) => Ok(key),
            Err(Error::NoEntry) => Err(Failure::NotAllowed(format!(
                "the keyring has no API key of the profile `{profile}`: run `dovetail login`"
            ))),
            Err(error) => Err(unreachable(&error)),
        }
    }

    /// Removes the key of a profile, if there is one.
    pub(crate) fn remove(profile: &str) -> Result<(), Failure> {
        match entry(&profile::path()?, profile).and_then(|entry| entry.delete_credential()) {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(unreachable(&error)),
        }
    }

    /// Returns the entry of a profile. Its user name has the file, because each file has its own profiles.
    fn entry(file: &Path, profile: &str) -> ::keyring::Result<Entry> {
        let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Entry::new(SERVICE, &format!("{profile} in {}", file.display()))
    }

    fn unreachable(error: &Error) -> Failure {
        Failure::Failed(format!("the keyring is unreachable: {}", reason(error)))
    }

    /// Returns the reason in one line. The forms of `Display` contain no secret, unlike those of `Debug`.
    fn reason(error: &Error) -> String {
        let error = match (error, Entry::store_status()) {
            (Error::NoDefaultStore, Err(cause)) => cause,
            _ => error,
        };
        plain(&error.to_string())
    }
}

#[cfg(not(feature = "keyring"))]
mod absent {
    use crate::base::failure::Failure;

    /// Returns the key, because it belongs into the file.
    pub(crate) fn store(_profile: &str, key: String) -> Result<Option<String>, Failure> {
        Ok(Some(key))
    }

    /// Refuses: a build with the feature has stored the key.
    pub(crate) fn read(profile: &str) -> Result<String, Failure> {
        Err(Failure::NotAllowed(format!("{}: run `dovetail login`", text(profile))))
    }

    /// Refuses: a build with the feature has stored the key.
    pub(crate) fn remove(profile: &str) -> Result<(), Failure> {
        Err(Failure::NotAllowed(text(profile)))
    }

    fn text(profile: &str) -> String {
        format!(
            "the API key of the profile `{profile}` is in the keyring, and this build has no feature `keyring`"
        )
    }
}
