//! Plays `terminal/script.txt` in terminals of 80 and 120 columns and with pipes, and compares every output.
//!
//! `UPDATE_EXPECT=1 cargo test -p dovetail-cli --test terminals` replaces the outputs.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod player;
mod program;
mod terminal;

use player::play;
use program::program;
use terminal::Terminal;

const SCRIPT: &str = include_str!("terminal/script.txt");

#[test]
fn a_terminal_of_80_columns_has_tables_with_cut_texts() {
    let played = play(SCRIPT, Some(80));
    expect_test::expect_file!["terminal/80.txt"].assert_eq(&played);
    assert_eq!(widest(&played), 80);
}

#[test]
fn a_terminal_of_120_columns_has_tables_with_more_text() {
    let played = play(SCRIPT, Some(120));
    expect_test::expect_file!["terminal/120.txt"].assert_eq(&played);
}

#[test]
fn a_pipe_has_lines_with_tabs_and_no_escapes() {
    let played = play(SCRIPT, None);
    expect_test::expect_file!["terminal/pipe.txt"].assert_eq(&played);
    assert!(!played.contains('\u{1b}'));
}

#[test]
fn a_user_who_wants_no_colours_gets_the_same_words() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("old.json"), r#"{"items": {"a": {}}}"#).unwrap();
    std::fs::write(directory.path().join("new.json"), r#"{"items": {"b": {}}}"#).unwrap();
    let compare = || program(&["plan", "--old", "old.json", "--new", "new.json"], directory.path());
    let shown = |no_color: &str| {
        let mut command = compare();
        command.env("NO_COLOR", no_color);
        Terminal::start(&command, 80).finish()
    };
    let (code, coloured) = shown("");
    assert_eq!(code, 2);
    assert!(coloured.contains("\\e[31mDELETE\\e[0m"), "{coloured}");
    let (_, plain) = shown("1");
    assert_eq!(plain, coloured.replace("\\e[31m", "").replace("\\e[32m", "").replace("\\e[0m", ""));
}

/// Returns the number of characters in the longest line of a table, without escapes.
fn widest(played: &str) -> usize {
    let lines = played.lines().filter(|line| line.contains('…'));
    lines.map(|line| plain(line).chars().count()).max().unwrap_or_default()
}

/// Returns a line without its escapes.
fn plain(line: &str) -> String {
    let mut parts = line.split("\\e[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| &part[part.find('m').map_or(0, |end| end + 1)..]).collect::<String>()
}
