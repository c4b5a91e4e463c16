//! The page of the client has every command, variable and exit code of the program.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::run;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/reference/client.md");

/// Returns the first words of the lines below a heading of the help text.
fn words(heading: &str) -> Vec<String> {
    let (code, help, _) = run(&["--help"], Path::new("."));
    assert_eq!(code, 0);
    let (_, below) = help.split_once(&format!("{heading}:\n")).unwrap();
    let lines = below.lines().take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn the_page_has_every_command() {
    let commands = words("Commands");
    assert!(commands.len() > 20, "{commands:?}");
    let rows: Vec<&str> =
        PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    for command in &commands {
        assert!(rows.contains(&command.as_str()), "{command}");
    }
}

#[test]
fn the_page_has_every_exit_code() {
    let (_, help, _) = run(&["--help"], Path::new("."));
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    for line in codes.lines() {
        let (code, meaning) = line.trim().split_once(' ').unwrap();
        let row = format!("| {code} | {} |", meaning.trim());
        assert!(PAGE.contains(&row), "{row}");
    }
}

#[test]
fn invalid_command_lines_exit_with_64_and_suggest_a_word() {
    for arguments in
        [&["aply"][..], &["plan", "--hole"], &["plan", "--old", "a.json"], &["approve"], &["list", "item"]]
    {
        let (code, out, error) = run(arguments, Path::new("."));
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}: {error}");
    }
    let (_, _, error) = run(&["aply"], Path::new("."));
    assert!(error.contains("a similar subcommand exists: 'apply'"), "{error}");
}

/// Returns the texts of all transcripts.
fn transcripts() -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let files =
        fs::read_dir(directory).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    files.collect()
}

#[test]
fn a_transcript_has_every_command() {
    // Other tests execute these: they serve a client or receive deliveries, or they need no system.
    const ELSEWHERE: [&str; 5] = ["completions", "definition", "man", "mcp", "webhook"];
    let played = transcripts();
    for command in words("Commands") {
        let is_played = played.contains(&format!("\n$ dovetail {command}"));
        assert_ne!(is_played, ELSEWHERE.contains(&command.as_str()), "{command}");
    }
}

#[test]
fn a_transcript_has_every_exit_code() {
    let (_, help, _) = run(&["--help"], Path::new("."));
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let codes = codes.lines().map(|line| line.split_whitespace().next().unwrap());
    let played = transcripts();
    // `interrupts.rs` has the code of an interrupt.
    for code in codes.filter(|code| !["0", "130"].contains(code)) {
        assert!(played.contains(&format!("\n[exit {code}]\n")), "{code}");
    }
}
