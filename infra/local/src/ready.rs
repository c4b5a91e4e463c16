//! Telling that requests are answered: to a person on the terminal, and to a program through a file.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    net::SocketAddr,
    path::Path,
};

use crate::{load::Made, world::World};

/// A read that every key may do.
const FIRST_CALL: &str = "/v1/account/teams/";

/// The URL that everything is served under.
pub fn base_url(listening: SocketAddr) -> String {
    let mut reachable = listening;
    if listening.ip().is_unspecified() {
        // No address to call, but one that means all of this machine's own.
        reachable.set_ip(match listening {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reachable}")
}

/// Prints the base URL, the keys of `world` that it gives, those that were made, and a first call to try.
pub fn announce(out: &mut impl Write, base_url: &str, world: &World, made: &[Made]) -> io::Result<()> {
    writeln!(out, "Dovetail answers at {base_url}\n")?;
    let given = world.teams.iter().flat_map(|team| team.api_keys.iter().map(move |key| (team, key)));
    let given = given.filter_map(|(team, key)| Some((&team.name, key.key.as_ref()?)));
    let keys: Vec<_> = given.chain(made.iter().map(|made| (&made.team, &made.key))).collect();
    let width = keys.iter().map(|(team, _)| team.len()).max().unwrap_or_default();
    for (team, key) in &keys {
        writeln!(out, "  {team:width$}  {key}")?;
    }
    if let Some((_, key)) = keys.first() {
        writeln!(out, "\nTry: curl -H 'Authorization: Api-Key {key}' {base_url}{FIRST_CALL}")?;
    }
    out.flush()
}

/// Writes `text`, alone, to `path`; a reader sees all of it or no file.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = OsString::from(path);
    // In the same directory, since a rename works only within one file system.
    beside.push(format!(".{}.new", std::process::id()));
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world;

    #[test]
    fn the_announcement_names_url_keys_and_a_call() {
        let mut out = Vec::new();
        announce(&mut out, "http://127.0.0.1:9000", &world::parse(world::DEMO).unwrap(), &[]).unwrap();
        let expected = "\
Dovetail answers at http://127.0.0.1:9000

  VMOwnerTeam       vm-owner-key
  LBOwnerTeam       lb-owner-key
  NPOwnerTeam       np-owner-key
  AwesomeConsumer   awesome-key
  AwesomeConsumer2  awesome2-key

Try: curl -H 'Authorization: Api-Key vm-owner-key' http://127.0.0.1:9000/v1/account/teams/
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
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
