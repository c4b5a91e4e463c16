//! Pages that a reader can follow: bash runs their commands in order, and their output must match what the page shows.
//!
//! Each page gets a system with the demo world. With `DOVETAIL_PAGES_API` and `DOVETAIL_PAGES_LOCAL` set, the page runs
//! on another system with an empty demo world: the first is the base URL of the API, the second that of `/_local/`.

use crate::{Answer, ApiRequest, Running, send, yaml};
use dovetail_daemon::world;
use dovetail_table::Settings;
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tokio::runtime::Runtime;

/// The address that every page uses for the system.
const DOCUMENTED: &str = "http://127.0.0.1:9000";
/// Number of times that a page asks whether the system is idle. Each answer waits for up to 30 seconds. Under `cargo
/// lambda watch`, a function is first built when a record needs it, and the builds of other checks slow it down.
const SETTLED_ANSWERS_MAX: usize = 20;
/// Separates the output of one block from the output of the next.
const END: &str = "-- end of block --";
/// Exit codes of the last command of a block: success, and the client's codes for changes and for a broken rule.
const RESULTS: [&str; 3] = ["0", "2", "3"];
/// Functions of the shell. Two programs share the name `yq`, with different options, so the player converts the YAML of
/// the page. The player also approves the changes that the client shows.
const FUNCTIONS: &str = r#"
exec 2>&1
set -uo pipefail
yq() { cat "${@: -1}.json"; }
dovetail() {
    case "$*" in
        *--auto-approve*) command dovetail "$@" ;;
        apply* | revert*) command dovetail "$@" --auto-approve ;;
        *) command dovetail "$@" ;;
    esac
}
export -f yq dovetail
"#;

/// The system that a page runs on.
struct System {
    runtime: Runtime,
    /// The base URL of the API.
    api: String,
    /// The base URL of `/_local/`.
    local: String,
    /// Stops when the page ends; `None` for a system that runs elsewhere.
    own: Option<Running>,
}

impl System {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        match env::var("DOVETAIL_PAGES_API") {
            Ok(api) => Self { runtime, api, local: env::var("DOVETAIL_PAGES_LOCAL").unwrap(), own: None },
            Err(_) => {
                let own = Running::start(world::DEMO);
                Self { runtime, api: own.base.clone(), local: own.base.clone(), own: Some(own) }
            }
        }
    }

    fn get(&self, path: &str) -> Answer {
        self.runtime.block_on(send(&self.local, &ApiRequest::new("GET", path, &Value::Null)))
    }

    /// Waits until generation has caught up, as a reader does between two commands.
    fn wait_idle(&self) {
        let mut answers = (0..SETTLED_ANSWERS_MAX).map(|_| self.get("/_local/settled").body);
        assert!(answers.any(|body| body == json!({"settled": true})), "the system becomes idle");
    }

    fn assert_sound(&self) {
        let audit = self.get("/_local/audit");
        assert_eq!((audit.status, audit.body), (200, json!({"violations": []})));
    }
}

/// One bash process for a whole page: variables and files last from block to block, as in a reader's terminal.
struct Shell {
    process: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start(mut command: Command, directory: &Path) -> Self {
        command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut commands = process.stdin.take().unwrap();
        commands.write_all(FUNCTIONS.as_bytes()).unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, commands, output }
    }

    /// Runs a block and returns its output; the last command must give a result.
    fn run(&mut self, block: &str) -> String {
        writeln!(self.commands, "{block}\nprintf '\\n%s %s\\n' '{END}' $?").unwrap();
        let mut output = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "bash ended in:\n{block}\n{output}");
            if let Some(status) = line.strip_prefix(END) {
                assert!(RESULTS.contains(&status.trim()), "exit status {status} of:\n{block}\n{output}");
                return output.trim_end().trim_start_matches('\n').to_owned();
            }
            output.push_str(&line);
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It may have ended already, by an `exit` of the page.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns language and text of each fenced block of a page.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    // Blocks and prose alternate.
    page.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap())
}

/// Runs a page from top to bottom and compares each block of output.
pub fn follow(page: &str) {
    follow_in(page, |_, _| Command::new("bash"));
}

/// Runs a page in a shell for the directory of the page and the URL of the system.
pub fn follow_in(page: &str, shell: impl FnOnce(&Path, &str) -> Command) {
    let system = System::start();
    let directory = tempfile::tempdir().unwrap();
    let mut shell = Shell::start(shell(directory.path(), &system.api), directory.path());
    let mut output = String::new();
    let mut compared = 0;
    for (language, text) in blocks(page) {
        match language {
            "sh" if text == "cargo run -- --memory" => output = announcement(&system),
            "sh" => {
                let local = format!("{}/_local/", system.local);
                let block = text.replace(&format!("{DOCUMENTED}/_local/"), &local);
                output = shell.run(&block.replace(DOCUMENTED, &system.api)).replace(&system.api, DOCUMENTED);
                system.wait_idle();
            }
            "json" => {
                compare(&output, text);
                compared += 1;
            }
            "text" => {
                // A system elsewhere has started already.
                if !output.is_empty() {
                    assert_eq!(without_line_ends(&output), without_line_ends(text));
                    compared += 1;
                }
            }
            "yaml" | "bash" => write_file(directory.path(), (language, text), &system),
            "mermaid" => {}
            other => panic!("the page has a block of {other}"),
        }
    }
    assert!(compared >= 2, "the page shows two outputs at least");
    system.assert_sound();
}

/// What `cargo run -- --memory` prints; empty where the system did not start here.
fn announcement(system: &System) -> String {
    let Some(own) = &system.own else { return String::new() };
    // The engine of a test is not the system's own.
    let Settings { table, keys_table, .. } = &own.tables;
    let place =
        format!("at {}, in the tables {table} and {keys_table}; positions, events and messages ", own.engine);
    own.announcement.replace(&place, "").replace(&own.base, DOCUMENTED).trim().to_owned()
}

/// Writes a file of the page; the first comment line ends with its name.
fn write_file(directory: &Path, (language, text): (&str, &str), system: &System) {
    let name = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap();
    fs::write(directory.join(name), text.replace(DOCUMENTED, &system.api)).unwrap();
    if language == "yaml" {
        fs::write(directory.join(format!("{name}.json")), yaml(text).to_string()).unwrap();
    }
}

/// Returns a text without white space at the ends of its lines, which editors remove from pages.
fn without_line_ends(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Fails unless the last JSON documents of an output have everything that the page shows of them.
fn compare(output: &str, documented: &str) {
    let documents = |text: &str| -> Vec<Value> {
        let documents = serde_json::Deserializer::from_str(text).into_iter();
        documents.map(|document| document.unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
    };
    let (replies, excerpts) = (documents(output), documents(documented));
    assert!(
        replies.len() >= excerpts.len(),
        "the page shows documents of the output:\n{documented}\n{output}"
    );
    // Where only the last replies are worth a look, the page shows only these.
    for (reply, excerpt) in replies[replies.len() - excerpts.len()..].iter().zip(&excerpts) {
        assert_holds(reply, excerpt, "", reply);
    }
}

/// Fails unless `value` has everything that `excerpt` shows.
fn assert_holds(value: &Value, excerpt: &Value, pointer: &str, whole: &Value) {
    match (value, excerpt) {
        (Value::Object(value), Value::Object(excerpt)) => {
            for (key, excerpt) in excerpt {
                let member = value.get(key).unwrap_or(&Value::Null);
                assert_holds(member, excerpt, &format!("{pointer}/{key}"), whole);
            }
        }
        (Value::Array(values), Value::Array(excerpts)) => {
            assert_eq!(values.len(), excerpts.len(), "at {pointer} of {whole:#}");
            for ((value, excerpt), index) in values.iter().zip(excerpts).zip(0..) {
                assert_holds(value, excerpt, &format!("{pointer}/{index}"), whole);
            }
        }
        (value, excerpt) => assert_eq!(value, excerpt, "at {pointer} of {whole:#}"),
    }
}
