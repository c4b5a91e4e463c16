//! Plays transcripts: files, commands and their outputs.

use crate::program::{finish, program};
use crate::terminal::Terminal;
use std::fs;
use std::path::Path;
use std::process::Command;
use support::Running;

/// The answer to a question.
const YES: &str = "y";
/// URL in the transcripts, in place of that of the test.
const URL: &str = "http://127.0.0.1:9000";

/// Executes the commands of a transcript, in a terminal with this number of columns or with pipes.
///
/// Returns the transcript with the present outputs.
pub(crate) fn play(transcript: &str, columns: Option<u16>) -> String {
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
            played.extend(output(command, columns, &system, directory.path()).lines().map(str::to_owned));
            // The former output ends at the next empty line.
            while lines.next_if(|line| !line.is_empty()).is_some() {}
        } else {
            played.push(line.to_owned());
        }
    }
    system.assert_sound();
    played.join("\n") + "\n"
}

/// Executes one command: `dovetail ARGUMENTS [< INPUT]`, or `cat FILE`. In a terminal, the input answers a question.
fn output(command: &str, columns: Option<u16>, system: &Running, directory: &Path) -> String {
    if let Some(file) = command.strip_prefix("cat ") {
        return without_empty_lines(&fs::read_to_string(directory.join(file)).unwrap());
    }
    let (command, input) = command.split_once(" < ").unwrap_or((command, ""));
    let arguments: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(arguments[0], "dovetail", "{command}");
    let mut command = program(&arguments[1..], directory);
    command.env("DOVETAIL_URL", &system.base);
    let is_question = input.is_empty() || input == YES;
    let (code, shown) = match columns.filter(|_| is_question) {
        Some(columns) => answer(&command, input, columns),
        None => {
            let (code, out, error) = finish(command, &format!("{input}\n"));
            (code, out + &error)
        }
    };
    // Generated change instances follow from the stream.
    system.wait_idle();
    let shown = shown.replace(&system.base, URL);
    let shown = timeless(&without_empty_lines(&shown));
    match (code, shown.is_empty()) {
        (0, _) => shown,
        (code, true) => format!("[exit {code}]"),
        (code, false) => format!("{shown}\n[exit {code}]"),
    }
}

/// Replaces empty lines, which would end the output.
fn without_empty_lines(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "." } else { line }).collect::<Vec<_>>().join("\n")
}

/// Executes a command in a terminal, and answers its question.
fn answer(command: &Command, input: &str, columns: u16) -> (i32, String) {
    let mut terminal = Terminal::start(command, columns);
    if !input.is_empty() {
        terminal.reads_until("[y/N]");
        terminal.types(input);
    }
    terminal.finish()
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
