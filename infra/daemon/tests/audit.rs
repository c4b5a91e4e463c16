//! Tests of the command `dovetaild audit`: output and exit code.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use flate2::{Compression, write::GzEncoder};
use program::run;
use std::fs::{self, File};
use std::io::Write as _;

/// Runs an audit of an export with these rows.
fn export(rows: &str) -> (i32, String, String) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    let file = File::create(directory.path().join("data/rows.json.gz")).unwrap();
    let mut file = GzEncoder::new(file, Compression::fast());
    file.write_all(rows.as_bytes()).unwrap();
    file.finish().unwrap();
    run(&["audit", "--export", "."], directory.path())
}

#[test]
fn a_sound_export_exits_with_0_and_another_one_with_2() {
    let sound = (0, "{\"rows\":0,\"violations\":0}\n".to_owned(), String::new());
    assert_eq!(export(""), sound);
    let (status, printed, stderr) = export("{\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"b\"}}}\n");
    assert_eq!((status, stderr.as_str()), (2, ""));
    let broken = "{\"detail\":\"its type is unknown\",\"rule\":\"I25\",\"subject\":\"record a / b\"}\n";
    assert_eq!(printed, format!("{broken}{{\"rows\":1,\"violations\":1}}\n"));
}

#[test]
fn an_impossible_audit_exits_with_1_and_a_reason() {
    let nothing = tempfile::tempdir().unwrap();
    let (status, printed, stderr) = export("no row\n");
    assert_eq!((status, printed.as_str()), (1, ""));
    assert!(stderr.contains("rows.json.gz, line 1: "), "{stderr}");
    for (arguments, why) in [
        (["audit", "--data", "."], "the directory has no database"),
        (["audit", "--export", "."], "exactly one export, not 0"),
    ] {
        let (status, printed, stderr) = run(&arguments, nothing.path());
        assert_eq!((status, printed.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}
