//! No command shows a declared secret (R58), neither in its output nor in a file that it writes.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::{finish, program, run};
use std::fs;
use std::path::Path;
use support::Running;

/// The secret of the declared item.
const CANARY: &str = "canary-of-the-client";
const DEFINITION: &str = r#"{"title": "Vault", "type": "object", "required": ["name"], "x-verified": true,
    "properties": {"name": {"type": "string"}, "size": {"type": "integer", "maximum": 100},
        "password": {"type": "string", "writeOnly": true, "maxLength": 40}}}"#;

fn log_in(system: &Running, directory: &Path, profile: &str, key: &str) {
    let mut login = program(&["login", "--profile", profile], directory);
    login.env("DOVETAIL_URL", &system.base);
    let (code, out, error) = finish(login, &format!("{key}\n"));
    assert_eq!(code, 0, "{out}{error}");
}

/// Declares this size and password in the file of the consumer.
fn write(directory: &Path, size: u32, password: &str) {
    let text = format!(
        "Safe:\n  services:\n    Vault:\n      - name: main\n        size: {size}\n        password: {password}\n"
    );
    fs::write(directory.join("apps/safe.yaml"), text).unwrap();
}

/// Fails if a text has the secret.
#[track_caller]
fn assert_masked(what: &str, text: &str) {
    assert!(!text.contains(CANARY), "{what}:\n{text}");
}

/// Runs a command in every form of output. Returns the output of the last one.
#[track_caller]
fn shown(directory: &Path, command: &str, codes: &[i32]) -> String {
    let mut last = String::new();
    for form in ["table", "json", "ndjson", "yaml", "name"] {
        let arguments: Vec<&str> = command.split(' ').chain(["-o", form]).collect();
        let (code, out, error) = run(&arguments, directory);
        // Some commands have no names, or no lines.
        let has_no_such_form = code == 1 && error.contains("--output");
        assert!(codes.contains(&code) || has_no_such_form, "{command} -o {form}: {code}\n{out}{error}");
        assert_masked(command, &format!("{out}{error}"));
        last = out;
    }
    last
}

/// Fails if a file below a directory has the secret; the declared file itself is not written by a command.
#[track_caller]
fn assert_files_masked(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_files_masked(&path);
        } else if !path.ends_with("apps/safe.yaml") {
            assert_masked(path.to_str().unwrap(), &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn r58_no_output_and_no_file_of_a_command_has_a_secret() {
    let system = Running::demo();
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::create_dir(directory.join("apps")).unwrap();
    fs::write(directory.join("vault.json"), DEFINITION).unwrap();
    log_in(&system, directory, "vm", "vm-owner-key");
    log_in(&system, directory, "consumer", "awesome-key");
    let done = |arguments: &str, codes: &[i32]| {
        let (code, out, error) = run(&arguments.split(' ').collect::<Vec<_>>(), directory);
        assert!(codes.contains(&code), "{arguments}: {code}\n{out}{error}");
        assert_masked(arguments, &format!("{out}{error}"));
    };
    done("publish vault.json --profile vm", &[0]);

    // Problems: the size is too large, and the password too long.
    write(directory, 101, &CANARY.repeat(3));
    done("validate apps --annotate github --sarif problems.sarif", &[3]);
    shown(directory, "validate apps", &[3]);
    shown(directory, "plan apps", &[3]);

    // The first declaration, and a change of the secret alone.
    for (size, password) in [(1, CANARY.to_owned()), (1, format!("{CANARY}-2"))] {
        write(directory, size, &password);
        shown(directory, "plan apps", &[0, 2]);
        done("plan apps --markdown plan.md --save plan.json", &[0, 2]);
        done("apply apps --auto-approve --wait applied --junit applied.xml", &[0, 2]);
        let of_owner =
            ["queue", "list changes --owner", "show changes Safe/Vault/main", "history Safe/Vault/main"];
        for command in of_owner {
            shown(directory, &format!("{command} --profile vm"), &[0]);
        }
        done("approve Safe/Vault/main --profile vm", &[0]);
        done("complete Safe/Vault/main --profile vm", &[0]);
    }
    let submissions = shown(directory, "list submissions", &[0]);
    let [newest, oldest] = submissions.lines().collect::<Vec<_>>()[..] else { panic!("{submissions}") };
    for command in [
        "list items",
        "list changes",
        "show items Safe/Vault/main",
        "show changes Safe/Vault/main",
        "show applications Safe",
        "get items Safe/Vault/main",
        &format!("show submissions {oldest}"),
        "graph Safe",
        &format!("diff {oldest} {newest}"),
        "history Safe/Vault/main",
        "pull",
        "plan apps",
    ] {
        shown(directory, command, &[0, 2]);
    }
    done("pull --directory pulled", &[0]);
    done(&format!("revert {oldest} --auto-approve"), &[0, 2]);
    let (_, out, error) = run(&["show", "items", "Safe/Vault/main"], directory);
    assert!(out.contains("secret"), "{out}{error}");
    assert_files_masked(directory);
}
