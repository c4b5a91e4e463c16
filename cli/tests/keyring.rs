//! The API key of a profile where no keyring is reachable, as in a pipeline. The feature `keyring` changes the texts.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::{finish, program, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use support::Running;

const KEY: &str = "awesome-key";

fn profiles(directory: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join("profiles.json")).unwrap()).unwrap()
}

#[test]
fn without_a_keyring_the_key_is_in_the_file() {
    let system = Running::demo();
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let mut login = program(&["login"], directory);
    login.env("DOVETAIL_URL", &system.base);
    let (code, out, error) = finish(login, KEY);
    assert_eq!(code, 0, "{error}");
    if cfg!(feature = "keyring") {
        let file = directory.join("profiles.json");
        let line = format!("dovetail: the keyring is unreachable, so the API key is in {} (", file.display());
        assert!(error.starts_with(&line), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    } else {
        assert_eq!(error, "");
    }
    assert!(!out.contains(KEY) && !error.contains(KEY), "{out}{error}");
    assert_eq!(
        profiles(directory)["profiles"]["default"],
        json!({"url": system.base, "key": KEY, "team": "AwesomeConsumer"})
    );

    let team = format!("AwesomeConsumer at {}\n", system.base);
    assert_eq!(run(&["whoami"], directory), (0, team, String::new()));
    let (code, _, error) = run(&["logout"], directory);
    assert_eq!((code, error.as_str()), (0, ""));
    assert_eq!(profiles(directory), json!({"profiles": {}}));
}

#[test]
fn a_key_in_an_unreachable_keyring_needs_another_login() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let file = json!({"profiles": {"default": {"url": "http://127.0.0.1:1", "team": "AwesomeConsumer"}}});
    fs::write(directory.join("profiles.json"), file.to_string()).unwrap();
    let (code, reason) = if cfg!(feature = "keyring") {
        (1, "dovetail: the keyring is unreachable: ")
    } else {
        (
            4,
            "dovetail: the API key of the profile `default` is in the keyring, and this build has no feature `keyring`",
        )
    };
    // A logout must not leave the key in the keyring.
    for command in ["whoami", "logout"] {
        let (status, out, error) = run(&[command], directory);
        assert_eq!((status, out.as_str()), (code, ""), "{error}");
        assert!(error.starts_with(reason), "{error}");
    }
    assert_eq!(profiles(directory), file);
}
