//! The README's tour: its commands are run as they stand there, and the excerpts below them must be in the
//! replies.
//!
//! It is taken in a system of its own; or, when `DOVETAIL_TOUR_API`, `DOVETAIL_TOUR_LOCAL` and `DOVETAIL_TOUR_NOTIFY`
//! are set, in one that runs elsewhere with an empty table: the first is the base URL of the API, the second that of
//! `/_local/`, the third where that system notifies the team that the demo world has notified.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

use dovetail_local::world;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use tests::{Answer, Ask, Running, elsewhere, send};
use tokio::runtime::Runtime;

const README: &str = include_str!("../README.md");

/// The system that the tour is taken in.
struct System {
    runtime: Runtime,
    /// What every URL of the API begins with.
    api: String,
    /// What the URLs begin with under which the system tells about itself.
    local: String,
    /// Where the notifications arrive.
    receiver: TcpListener,
    /// Kept while the tour lasts; none when the system runs elsewhere.
    own: Option<Running>,
}

/// Where the demo world has a team notified.
const NOTIFY: &str = "127.0.0.1:9100";

impl System {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        match env::var("DOVETAIL_TOUR_API") {
            Ok(api) => {
                let local = env::var("DOVETAIL_TOUR_LOCAL").unwrap();
                let receiver = TcpListener::bind(env::var("DOVETAIL_TOUR_NOTIFY").unwrap()).unwrap();
                Self { runtime, api, local, receiver, own: None }
            }
            Err(_) => {
                let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = receiver.local_addr().unwrap().to_string();
                let own = Running::start(&world::DEMO.replace(NOTIFY, &address));
                Self { runtime, api: own.base.clone(), local: own.base.clone(), receiver, own: Some(own) }
            }
        }
    }

    /// Waits until what follows from a command is there, as a reader of the tour does.
    fn settle(&self) {
        let settled =
            self.send(&self.local, &Ask { method: "GET", path: "/_local/settled", ..Ask::default() });
        assert_eq!(settled.body, json!({"settled": true}));
    }

    /// Takes one notification, with this answer.
    fn receive(&self, answer: &str) -> Answer {
        let (stream, _) = self.receiver.accept().unwrap();
        let mut stream = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        stream.get_mut().write_all(answer.replace("\\r\\n", "\r\n").as_bytes()).unwrap();
        Answer { status: 0, headers: Vec::new(), body: serde_json::from_slice(&body).unwrap() }
    }

    fn send(&self, base: &str, ask: &Ask<'_>) -> Answer {
        self.runtime.block_on(send(base, ask))
    }

    fn assert_sound(&self) {
        let audit = self.send(&self.local, &Ask { method: "GET", path: "/_local/audit", ..Ask::default() });
        assert_eq!((audit.status, audit.body), (200, json!({"violations": []})));
    }
}

/// A fenced block of the tour.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

#[test]
fn the_tour_gives_what_it_says() {
    let system = System::start();
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
            // A system that runs elsewhere has printed its own start already; on another engine it says where the data is.
            "text" => {
                if let Some(own) = system.own.as_ref().filter(|_| elsewhere().is_none()) {
                    let printed = own.announcement.replace(&own.base, "http://127.0.0.1:9000");
                    assert_eq!(block.text, printed.trim_end());
                }
            }
            other => panic!("the tour has a block of {other}"),
        }
    }
    assert_eq!(compared, 17, "the tour's excerpts");
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

/// Runs the lines of a shell block: assignments, `cargo run` (which is running), curl, and a receiver.
fn run(system: &System, variables: &mut BTreeMap<String, String>, script: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for words in commands(script, variables) {
        match words.first().map(String::as_str) {
            Some("cargo") => {
                assert_eq!(words, ["cargo", "run", "--", "--memory"]);
            }
            Some("curl") => {
                answers.push(curl(system, &words[1..]));
                system.settle();
            }
            Some("printf") => {
                let (address, port) = NOTIFY.split_once(':').unwrap();
                assert_eq!(words[2..], ["|", "nc", "-l", address, port]);
                answers.push(system.receive(&words[1]));
            }
            Some(word) => {
                let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("cannot run {word}"));
                let value = value.replace("http://127.0.0.1:9000", &system.api);
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
fn curl(system: &System, words: &[String]) -> Answer {
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
    system.send(&system.api, &Ask { method, path: url.unwrap(), key, body, ..Ask::default() })
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
