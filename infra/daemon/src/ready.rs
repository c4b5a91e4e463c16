//! Announces that the system is ready: to a person on the terminal, and to a program by a file.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    net::SocketAddr,
    path::Path,
};

use dovetail_terminal::columns;

use crate::load::NewKey;

/// A path that every key may read.
const FIRST_CALL: &str = "/v1/account/teams/";
/// A path that needs no key.
const HEALTH: &str = "/v1/health";

/// Returns the base URL of the server.
pub fn base_url(listening: SocketAddr) -> String {
    let mut reachable = listening;
    if listening.ip().is_unspecified() {
        // A client cannot connect to the unspecified address, but the server also listens on loopback.
        reachable.set_ip(match listening {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reachable}")
}

/// The contents of the announcement.
pub(crate) struct Announced<'a> {
    /// Base URL of the server.
    pub(crate) base_url: &'a str,
    /// The place of the data, as a sentence without its full stop.
    pub(crate) storage: &'a str,
    /// Whether the demo world was skipped because the table already has teams.
    pub(crate) is_demo_left_out: bool,
    /// Keys that this start has created.
    pub(crate) new_keys: &'a [NewKey],
    /// Differences between stored objects and the world, a sentence each.
    pub(crate) differences: &'a [String],
}

/// Returns the text of the announcement: the console, base URL, storage, new keys, and an example request.
pub(crate) fn announcement(of: &Announced<'_>) -> String {
    let Announced { base_url, storage, is_demo_left_out, new_keys, differences } = *of;
    let mut text = format!("Open the console at {base_url}/\nDovetail answers at {base_url}\n{storage}.\n");
    if is_demo_left_out {
        text.push_str(
            "The database has teams, so the demo world is not loaded. Use `--world demo` to load it.\n",
        );
    }
    for difference in differences {
        text.push_str(difference);
        text.push('\n');
    }
    let Some(first) = new_keys.first() else {
        return format!("{text}\nTry: curl {base_url}{HEALTH}\n");
    };
    let rows = new_keys.iter().map(|key| [&*key.team, &*key.name, key.role.name(), &*key.key]);
    format!(
        "{text}\n{}\n\nThese keys are new, and printed only once: save them.\n\n\
         Try: curl -H 'Authorization: Api-Key {}' {base_url}{FIRST_CALL}\n",
        columns(["TEAM", "NAME", "ROLE", "KEY"], rows),
        first.key
    )
}

/// Prints the announcement and flushes it, because a program may wait for it.
pub(crate) fn print(out: &mut impl Write, announcement: &str) -> io::Result<()> {
    out.write_all(announcement.as_bytes())?;
    out.flush()
}

/// Writes `text` to `path` atomically: a reader sees the complete text or no file.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = OsString::from(path);
    // The new file is in the same directory, because a rename is atomic only within one file system.
    temporary.push(format!(".{}.new", std::process::id()));
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use domain::base::actor::Role;

    use super::*;

    fn key(team: &str, name: &str, role: Role, key: &str) -> NewKey {
        let text = str::to_owned;
        NewKey { team: text(team), name: text(name), role, key: text(key), is_generated: false }
    }

    #[test]
    fn the_announcement_has_url_storage_new_keys_and_a_call() {
        let new_keys = [
            key("Owners", "ci", Role::ReadOnly, "one"),
            key("Z\u{fc}rich", "automation", Role::Admin, "two"),
        ];
        let base_url = "http://127.0.0.1:9000";
        let announced = Announced {
            base_url,
            storage: "Data is stored in .dovetail",
            is_demo_left_out: false,
            new_keys: &new_keys,
            differences: &["differs, left unchanged: team A has other metadata".to_owned()],
        };
        let expected = "\
Open the console at http://127.0.0.1:9000/
Dovetail answers at http://127.0.0.1:9000
Data is stored in .dovetail.
differs, left unchanged: team A has other metadata

TEAM    NAME        ROLE       KEY
Owners  ci          READ_ONLY  one
Z\u{fc}rich  automation  ADMIN      two

These keys are new, and printed only once: save them.

Try: curl -H 'Authorization: Api-Key one' http://127.0.0.1:9000/v1/account/teams/
";
        assert_eq!(announcement(&announced), expected);
        let expected = "\
Open the console at http://127.0.0.1:9000/
Dovetail answers at http://127.0.0.1:9000
Data is stored in .dovetail.
The database has teams, so the demo world is not loaded. Use `--world demo` to load it.

Try: curl http://127.0.0.1:9000/v1/health
";
        assert_eq!(
            announcement(&Announced { is_demo_left_out: true, new_keys: &[], differences: &[], ..announced }),
            expected
        );
    }

    #[test]
    fn the_url_can_be_called() {
        for (listening, url) in [
            ("127.0.0.1:9000", "http://127.0.0.1:9000"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
        ] {
            assert_eq!(base_url(listening.parse().unwrap()), url);
        }
    }

    #[test]
    fn a_file_holds_the_text_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("ready");
        fs::write(&path, "an older and longer content").unwrap();
        write_file(&path, "http://127.0.0.1:1").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "http://127.0.0.1:1");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
