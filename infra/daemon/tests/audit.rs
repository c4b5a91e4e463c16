//! Tests of the command `dovetail audit`: output and exit status.
#![expect(clippy::unwrap_used, reason = "test support")]

use flate2::{Compression, write::GzEncoder};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Exit status, standard output and standard error of the program.
type Ended = (i32, String, String);

fn audit(arguments: &[&str], directory: &Path) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dovetail"));
    command.arg("audit").args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs an audit of an export with these rows.
fn export(rows: &str) -> Ended {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    let file = File::create(directory.path().join("data/rows.json.gz")).unwrap();
    let mut file = GzEncoder::new(file, Compression::fast());
    file.write_all(rows.as_bytes()).unwrap();
    file.finish().unwrap();
    audit(&["--export", "."], directory.path())
}

#[test]
fn what_is_sound_ends_with_0_and_what_is_not_with_1() {
    let sound = (0, "{\"rows\":0,\"violations\":0}\n".to_owned(), String::new());
    assert_eq!(export(""), sound);
    let (status, printed, stderr) = export("{\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"b\"}}}\n");
    assert_eq!((status, stderr.as_str()), (1, ""));
    let broken = "{\"detail\":\"its type is unknown\",\"rule\":\"I25\",\"subject\":\"record a / b\"}\n";
    assert_eq!(printed, format!("{broken}{{\"rows\":1,\"violations\":1}}\n"));
}

#[test]
fn what_cannot_be_audited_ends_with_2_and_says_why() {
    let nothing = tempfile::tempdir().unwrap();
    let (status, printed, stderr) = export("no row\n");
    assert_eq!((status, printed.as_str()), (2, ""));
    assert!(stderr.contains("rows.json.gz, line 1: "), "{stderr}");
    for (arguments, why) in [
        (["--data", "."], "the directory has no database"),
        (["--export", "."], "exactly one export, not 0"),
        (["--table", "?"], "--table"),
    ] {
        let (status, printed, stderr) = audit(&arguments, nothing.path());
        assert_eq!((status, printed.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}
