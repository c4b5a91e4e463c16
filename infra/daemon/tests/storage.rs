//! Tests with unusable storage: a full disk, a foreign file, an unreachable table.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use about::{COMMIT, CONTRACT_VERSION, VERSION};
use dovetail_emulator::engine::{Engine, Storage};
use dovetail_table::RECORD_FORMAT;
use program::Program;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
/// The largest file in blocks of `ulimit`; the write-ahead log of the database grows larger before it is cleared.
const BLOCKS: u32 = 2048;

#[test]
fn a_full_disk_is_named_and_not_healthy() {
    let parent = tempfile::tempdir().unwrap();
    // A limit on file sizes has the effect of a full disk, and needs no separate file system.
    let mut limited = Command::new("sh");
    let script = format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" \"$@\"");
    limited.args(["-c", &script, &program::path()]);
    let data = parent.path().join("data");
    let program = Program::start_by(limited, &data, &[], Stdio::null(), Stdio::null());
    let health = || program.send("GET", "/v1/health", "", "", &Value::Null).unwrap();
    let (status, body) = health();
    let facts = json!({"status": "ok", "version": VERSION, "commit": COMMIT, "contract": CONTRACT_VERSION,
        "record_format": RECORD_FORMAT});
    assert_eq!((status, body), (200, facts));
    let submit = |number: usize| {
        let item = json!({"name": format!("vm{number}"), "cpu": 1});
        let body = json!({"AwesomeConsumer": {"App": {"services": {"VM": [item]}}}});
        program.send("PATCH", SUBMIT, "awesome-key", "", &body).unwrap()
    };
    let refused = (0..2_000).map(submit).find(|(status, _)| *status != 201).unwrap();
    assert_eq!((refused.0, &refused.1["code"]), (503, &json!("storage_full")), "{refused:?}");
    // The space left may be too small for a submission but enough for some of the small writes.
    let (status, body) = (0..1_000).map(|_| health()).find(|(status, _)| *status != 200).unwrap();
    assert_eq!((status, &body["code"]), (503, &json!("storage_full")), "{body}");
}

/// A function that damages a directory.
type Damage<'a> = &'a dyn Fn(&Path);

/// Starts the program on a directory that it must reject, and returns its message.
fn refused(data: &Path) -> String {
    let mut command = Command::new(program::path());
    command.args(["--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), [].as_slice()));
    String::from_utf8(output.stderr).unwrap()
}

/// Returns a directory in which the program has run.
fn used(parent: &Path, name: &str) -> std::path::PathBuf {
    let data = parent.join(name);
    drop(Program::start(&data));
    // After a kill, the write-ahead log has the newest data. The test needs them in the file.
    for file in ["dovetail.db", "local.db"] {
        let connection = Connection::open(data.join(file)).unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }
    data
}

#[test]
fn a_database_that_is_not_whole_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let database = |data: &Path| data.join("dovetail.db");
    let corrupt = |data: &Path| {
        let mut bytes = fs::read(database(data)).unwrap();
        let half = bytes.len() / 2;
        bytes[4096..half].fill(0xff);
        fs::write(database(data), bytes).unwrap();
    };
    let truncate = |data: &Path| {
        let file = File::options().write(true).open(database(data)).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2 / 4096 * 4096).unwrap();
    };
    let overwrite = |data: &Path| fs::write(database(data), "no database at all".repeat(100)).unwrap();
    let empty = |data: &Path| fs::write(database(data), "").unwrap();
    let remove = |data: &Path| fs::remove_file(database(data)).unwrap();
    let drop_table = |data: &Path| {
        let connection = Connection::open(database(data)).unwrap();
        connection.execute_batch("DROP TABLE \"dovetail-local-keys\"").unwrap();
    };
    let forget_table = |data: &Path| {
        let connection = Connection::open(database(data)).unwrap();
        connection.execute_batch("DELETE FROM _tables WHERE table_name = 'dovetail-local'").unwrap();
    };
    let journal = |data: &Path| fs::write(data.join("local.db"), "no database at all".repeat(100)).unwrap();
    let cases: [(&str, Damage<'_>, &str); 8] = [
        ("corrupt", &corrupt, "dovetail.db is damaged: "),
        ("truncated", &truncate, "dovetail.db is damaged: "),
        ("overwritten", &overwrite, "dovetail.db is not a Dovetail database, or its header is damaged"),
        ("emptied", &empty, "dovetail.db has lost its table dovetail-local;"),
        ("removed", &remove, "dovetail.db has lost its table dovetail-local;"),
        ("dropped", &drop_table, "dovetail.db has lost its table dovetail-local-keys;"),
        ("forgotten", &forget_table, "dovetail.db has lost its table dovetail-local;"),
        ("journal", &journal, "local.db is not a Dovetail database, or its header is damaged"),
    ];
    for (name, damage, expected) in cases {
        let data = used(parent.path(), name);
        damage(&data);
        let message = refused(&data);
        assert!(message.starts_with("dovetaild: ") && message.contains(expected), "{name}: {message}");
    }
    // The database of another program must not change.
    let data = parent.path().join("foreign");
    fs::create_dir(&data).unwrap();
    let connection = Connection::open(database(&data)).unwrap();
    connection.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = fs::read(database(&data)).unwrap();
    let error = refused(&data);
    assert!(error.contains("is not a Dovetail database"), "{error}");
    assert_eq!(fs::read(database(&data)).unwrap(), before);
}

/// Runs a command on a table with this environment and no other variables, and returns its message.
fn stderr_of(arguments: &[&str], environment: &[(&str, &str)], directory: &Path) -> String {
    let mut command = Command::new(program::path());
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.env_clear().env("HOME", directory).env("AWS_EC2_METADATA_DISABLED", "true");
    let output = command.envs(environment.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Starts a server that denies each request like a table without permissions, and returns its URL.
fn denying() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            drop(stream.read(&mut [0; 8192]));
            let body = r#"{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}"#;
            let head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/x-amz-json-1.0\r\n";
            drop(write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()));
        }
    });
    endpoint
}

#[test]
fn a_command_names_what_fails_and_where() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("world.json"), r#"{"teams": [{"name": "T"}]}"#).unwrap();
    let load = ["load", "--world", "world.json", "--table", "main"];
    let audit = ["audit", "--table", "main"];
    let region = ("AWS_REGION", "eu-west-1");
    let keys = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")];
    let at = "table main, region eu-west-1, endpoint https://dynamodb.eu-west-1.amazonaws.com, credentials: ";
    for command in [&load[..], &audit] {
        let no_region = stderr_of(command, &keys, directory.path());
        assert!(no_region.contains("no region is set: set AWS_REGION"), "{no_region}");
        let no_credentials = stderr_of(command, &[region], directory.path());
        assert!(no_credentials.contains("no credentials were found: "), "{no_credentials}");
        assert!(no_credentials.contains(&format!("({at}none)")), "{no_credentials}");
    }
    let engine = Engine::start(&Storage::Memory).unwrap();
    for (endpoint, expected) in [
        ("http://127.0.0.1:1", "the table is unavailable: the endpoint is unreachable"),
        (
            engine.endpoint(),
            "the table denies the request: the table does not exist (ResourceNotFoundException)",
        ),
        (&denying(), "the table denies the request: access is denied (AccessDeniedException)"),
    ] {
        for command in [&load[..], &audit] {
            let stderr = stderr_of(&[command, &["--endpoint", endpoint]].concat(), &[], directory.path());
            let at = format!("(table main, region us-east-1, endpoint {endpoint}, credentials: none needed)");
            assert!(stderr.contains(&format!("{expected} {at}")), "{stderr}");
        }
    }
}
