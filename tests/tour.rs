//! The README's tour: its commands are run as they stand there, and the excerpts below them must be in the
//! replies.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

use serde_json::Value;
use std::collections::BTreeMap;
use tests::{Answer, Ask, Running};

const README: &str = include_str!("../README.md");

/// A fenced block of the tour.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

#[test]
fn the_tour_gives_what_it_says() {
    let system = Running::demo();
    let mut variables = BTreeMap::new();
    let mut answers: Vec<Answer> = Vec::new();
    let mut compared = 0;
    for block in tour() {
        match block.language {
            "sh" => answers = run(&system, &mut variables, block.text),
            "json" => {
                let excerpts: Vec<Value> = serde_json::Deserializer::from_str(block.text)
                    .into_iter()
                    .map(|excerpt| excerpt.unwrap())
                    .collect();
                // Where only the last reply is worth showing, only that one is shown.
                let shown = &answers[answers.len() - excerpts.len()..];
                for (excerpt, answer) in excerpts.iter().zip(shown) {
                    assert_holds(&answer.body, excerpt, "", &answer.body);
                    compared += 1;
                }
            }
            other => panic!("the tour has a block of {other}"),
        }
    }
    assert_eq!(compared, 12, "the tour's excerpts");
    system.assert_sound();
}

fn tour() -> Vec<Block<'static>> {
    let start = README.find("## Five minutes").unwrap();
    let tour = &README[start..];
    let (tour, _) = tour[2..].split_once("\n## ").unwrap();
    let mut parts = tour.split("\n```");
    parts.next();
    let mut blocks = Vec::new();
    // Every other part is a block, the ones between are prose.
    while let (Some(block), Some(_prose)) = (parts.next(), parts.next()) {
        let (language, text) = block.split_once('\n').unwrap();
        blocks.push(Block { language, text });
    }
    blocks
}

/// Runs the lines of a shell block: assignments, `cargo run` (which is running), and curl.
fn run(system: &Running, variables: &mut BTreeMap<String, String>, script: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for words in commands(script, variables) {
        match words.first().map(String::as_str) {
            Some("cargo") => {
                assert_eq!(words, ["cargo", "run", "--", "--memory"]);
            }
            Some("curl") => answers.push(curl(system, &words[1..])),
            Some(word) => {
                let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("cannot run {word}"));
                let value = value.replace("http://127.0.0.1:9000", &system.base);
                variables.insert(name.to_owned(), value);
            }
            None => {}
        }
    }
    answers
}

/// Splits a script into commands and words as a shell does: quotes, and variables outside single ones.
///
/// A variable is taken when its command is split, so commands are handed out one by one.
fn commands<'a>(
    script: &'a str,
    variables: &BTreeMap<String, String>,
) -> impl Iterator<Item = Vec<String>> + use<'a> {
    let variables = variables.clone();
    let mut all = Vec::new();
    let mut words = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    let mut rest = script.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '$') => {
                let mut name = String::new();
                while let Some(c) = rest.next_if(char::is_ascii_uppercase) {
                    name.push(c);
                }
                let value = variables.get(&name).unwrap_or_else(|| panic!("no variable {name}"));
                word.get_or_insert_default().push_str(value);
            }
            (None, '\n') => {
                words.extend(word.take());
                all.push(std::mem::take(&mut words));
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    all.push(words);
    all.into_iter()
}

/// Sends what a curl command line asks for.
fn curl(system: &Running, words: &[String]) -> Answer {
    let (mut method, mut key, mut body, mut url) = (None, None, Vec::new(), None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" => {}
            "-H" => key = words.next().unwrap().strip_prefix("Authorization: Api-Key "),
            "-X" => method = words.next().map(String::as_str),
            "-d" => body = words.next().unwrap().clone().into_bytes(),
            argument => url = Some(argument),
        }
    }
    let method = method.unwrap_or(if body.is_empty() { "GET" } else { "POST" });
    system.send(&Ask { method, path: url.unwrap(), key, body, ..Ask::default() })
}

/// Fails unless `value` has everything that `excerpt` shows.
fn assert_holds(value: &Value, excerpt: &Value, place: &str, whole: &Value) {
    match (value, excerpt) {
        (Value::Object(value), Value::Object(excerpt)) => {
            for (key, excerpt) in excerpt {
                let found = value.get(key).unwrap_or(&Value::Null);
                assert_holds(found, excerpt, &format!("{place}/{key}"), whole);
            }
        }
        (Value::Array(values), Value::Array(excerpts)) => {
            assert_eq!(values.len(), excerpts.len(), "at {place} of {whole:#}");
            for ((value, excerpt), at) in values.iter().zip(excerpts).zip(0..) {
                assert_holds(value, excerpt, &format!("{place}/{at}"), whole);
            }
        }
        (value, excerpt) => assert_eq!(value, excerpt, "at {place} of {whole:#}"),
    }
}
