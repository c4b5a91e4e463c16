//! Plays the transcripts in `transcripts/` against the local system and compares every output.
//!
//! `UPDATE_EXPECT=1 cargo test -p dovetail-cli --test transcripts` replaces the outputs.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod program;

use program::{finish, program};
use std::fs;
use std::path::Path;
use support::Running;

/// URL in the transcripts, in place of that of the test.
const URL: &str = "http://127.0.0.1:9000";

/// Executes the commands of a transcript. Returns it with the present outputs.
fn play(transcript: &str) -> String {
    let system = Running::demo();
    let directory = tempfile::tempdir().unwrap();
    let (mut played, mut lines) = (Vec::new(), transcript.lines().peekable());
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("file ") {
            played.push(line.to_owned());
            let mut content = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("  ")) {
                played.push(line.to_owned());
                content.extend([&line[2..], "\n"]);
            }
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        } else if let Some(command) = line.strip_prefix("$ ") {
            played.push(line.to_owned());
            played.extend(output(command, &system, directory.path()).lines().map(str::to_owned));
            // The former output ends at the next empty line.
            while lines.next_if(|line| !line.is_empty()).is_some() {}
        } else {
            played.push(line.to_owned());
        }
    }
    system.assert_sound();
    played.join("\n") + "\n"
}

/// Executes one command, `dovetail ARGUMENTS [< INPUT]`.
fn output(command: &str, system: &Running, directory: &Path) -> String {
    let (command, input) = command.split_once(" < ").unwrap_or((command, ""));
    let arguments: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(arguments[0], "dovetail", "{command}");
    let mut command = program(&arguments[1..], directory);
    command.env("DOVETAIL_URL", &system.base);
    let (code, out, error) = finish(command, &format!("{input}\n"));
    // Generated change instances follow from the stream.
    system.wait_idle();
    let shown = format!("{out}{error}").replace(&system.base, URL);
    // An empty line would end the output.
    let shown: Vec<&str> = shown.lines().map(|line| if line.is_empty() { "." } else { line }).collect();
    let shown = timeless(&shown.join("\n"));
    match (code, shown.is_empty()) {
        (0, _) => shown,
        (code, true) => format!("[exit {code}]"),
        (code, false) => format!("{shown}\n[exit {code}]"),
    }
}

/// Replaces the times of a text by `TIME`.
fn timeless(text: &str) -> String {
    const LENGTH: usize = "2026-01-31T12:00:00.000000Z".len();
    let is_time = |text: &str| {
        text.len() >= LENGTH
            && text.is_char_boundary(LENGTH)
            && text[..LENGTH].ends_with('Z')
            && &text[10..11] == "T"
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("20") {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        if is_time(from) {
            shown.push_str("TIME");
            rest = &from[LENGTH..];
        } else {
            shown.push_str("20");
            rest = &from[2..];
        }
    }
    shown + rest
}

macro_rules! transcripts {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts/", stringify!($name), ".txt");
                expect_test::expect_file![path].assert_eq(&play(&fs::read_to_string(path).unwrap()));
            }
        )*
    };
}

transcripts! {
    apply_the_same_plan_twice
    decide_as_a_service_owner
    declare_and_apply
    files_and_directories
    open_an_object
    profiles
    publish_a_definition
    read_what_exists
    revert_and_compare
    settings_and_docs
    show_an_object
    wait_for_the_owners
}

#[test]
fn every_transcript_is_played() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        names.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, NAMES);
}
