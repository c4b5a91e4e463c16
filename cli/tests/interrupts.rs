//! Commands that Ctrl-C ends: all that wait for a server or a user, and the watch of the queue.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod program;
mod terminal;

use program::{finish, program, run};
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use support::Running;
use terminal::Terminal;

/// The commands without a request.
const OFFLINE: [&str; 6] = ["completions", "definition", "logout", "man", "mcp", "profile"];
/// The commands with requests, and their arguments.
const ONLINE: [&str; 29] = [
    "login",
    "whoami",
    "services",
    "schema VM",
    "init VM",
    "validate shop.yaml",
    "plan shop.yaml",
    "apply shop.yaml",
    "revert 1",
    "diff 1 2",
    "wait 1",
    "list items",
    "get items 1",
    "show items 1",
    "open items 1",
    "pull",
    "graph Shop",
    "history 1",
    "queue --watch",
    "claim --worker w-1",
    "approve 1",
    "reject 1",
    "complete 1",
    "fail 1",
    "close 1",
    "retry 1",
    "settings VM",
    "docs VM",
    "publish vm.json",
];
/// Those of `webhook`.
const WEBHOOK: [&str; 2] = ["webhook list", "webhook trigger 1"];

const SHOP: &str = "Shop: {services: {VM: [{name: web1, cpu: 8}, {name: web2, cpu: 4}]}}";

const DEFINITION: &str =
    r#"{"title": "VM", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}"#;

fn interrupt(child: &Child) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
}

/// Returns a directory with the files of the commands.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("shop.yaml"), SHOP).unwrap();
    fs::write(directory.path().join("vm.json"), DEFINITION).unwrap();
    directory
}

/// Returns a directory with profiles of a consumer and a service owner, and two changes that wait.
fn shop(system: &Running) -> tempfile::TempDir {
    let directory = directory();
    for (profile, key) in [("vm", "vm-owner-key\n"), ("consumer", "awesome-key\n")] {
        let mut login = program(&["login", "--profile", profile], directory.path());
        login.env("DOVETAIL_URL", &system.base);
        assert_eq!(finish(login, key).0, 0);
    }
    let (code, out, error) = run(&["apply", "shop.yaml", "--auto-approve"], directory.path());
    assert_eq!(code, 0, "{out}{error}");
    system.wait_idle();
    directory
}

#[test]
fn every_command_exits_with_130() {
    let directory = directory();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    for arguments in ONLINE.into_iter().chain(WEBHOOK) {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut command = program(&arguments, directory.path());
        command.env("DOVETAIL_URL", &url);
        if arguments[0] != "login" {
            command.env("DOVETAIL_API_KEY", "some-key");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdin.take().unwrap().write_all(b"some-key\n"));
        // The server accepts the request and never responds.
        let _connection = server.accept().unwrap();
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
    }
}

#[test]
fn no_command_is_left_out() {
    let (_, help, _) = run(&["--help"], Path::new("."));
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| line.starts_with("  "));
    let first = |line: &'static str| line.split(' ').next().unwrap();
    let known: Vec<&str> = ONLINE.into_iter().chain(WEBHOOK).map(first).chain(OFFLINE).collect();
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        assert!(known.contains(&command), "{command}");
    }
}

#[test]
fn an_interrupted_question_changes_nothing() {
    let system = Running::demo();
    let directory = shop(&system);
    fs::write(directory.path().join("shop.yaml"), SHOP.replace("cpu: 8", "cpu: 9")).unwrap();
    let mut terminal = Terminal::start(&program(&["apply", "shop.yaml"], directory.path()), 80);
    terminal.reads_until("[y/N]");
    terminal.types("\u{3}");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    let (_, submissions, _) = run(&["list", "submissions", "-o", "name"], directory.path());
    assert_eq!(submissions.lines().count(), 1, "{submissions}");
}

#[test]
fn an_interrupted_password_stores_nothing() {
    let directory = directory();
    let mut terminal = Terminal::start(&program(&["login"], directory.path()), 80);
    terminal.reads_until("API key");
    terminal.types("\u{3}");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130, "{shown}");
    assert!(!directory.path().join("profiles.json").exists());
}

/// Starts the watch of a service owner's queue with pipes. Returns it with its lines.
fn watch(arguments: &[&str], directory: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let arguments = [&["queue", "--profile", "vm", "--watch", "--interval", "1"], arguments].concat();
    let mut command: Command = program(&arguments, directory);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

#[test]
fn a_watch_in_a_pipe_prints_new_and_changed_changes_until_ctrl_c() {
    let system = Running::demo();
    let directory = shop(&system);
    let (mut child, mut lines) = watch(&[], directory.path());
    let mut next = || lines.next().unwrap().unwrap();
    let waiting = "PENDING\tVMOwnerTeam\tAwesomeConsumer\t";
    assert_eq!(next(), format!("137438953488\tCREATE\tShop/VM/web1\t{waiting}"));
    assert_eq!(next(), format!("137438953504\tCREATE\tShop/VM/web2\t{waiting}"));
    let (code, ..) = run(&["approve", "Shop/VM/web2", "--profile", "vm"], directory.path());
    assert_eq!(code, 0);
    assert_eq!(
        next(),
        format!("137438953504\tCREATE\tShop/VM/web2\t{}", waiting.replace("PENDING", "APPROVED"))
    );
    fs::write(directory.path().join("lab.yaml"), "Lab: {services: {VM: [{name: test1}]}}").unwrap();
    assert_eq!(run(&["apply", "lab.yaml", "--auto-approve"], directory.path()).0, 0);
    assert_eq!(next(), format!("137438953520\tCREATE\tLab/VM/test1\t{waiting}"));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(lines.next().is_none());
}

#[test]
fn a_watch_ends_by_itself() {
    let system = Running::demo();
    let directory = shop(&system);
    let (mut child, lines) = watch(&["--for", "0", "-o", "name"], directory.path());
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(lines, ["137438953488", "137438953504"]);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_watch_in_a_terminal_redraws_it_until_ctrl_c() {
    let system = Running::demo();
    let directory = shop(&system);
    let watch = program(&["queue", "--profile", "vm", "--watch", "--interval", "1"], directory.path());
    let mut terminal = Terminal::start(&watch, 120);
    terminal.reads_until("Ctrl-C ends.");
    assert_eq!(run(&["approve", "Shop/VM/web1", "--profile", "vm"], directory.path()).0, 0);
    terminal.reads_until("APPROVED");
    terminal.types("\u{3}");
    let (code, shown) = terminal.finish();
    assert_eq!(code, 130);
    // Each look clears the terminal and starts at its top.
    let looks: Vec<&str> = shown.split("\\e[2J").collect();
    assert!(looks.len() > 2, "{shown}");
    assert!(looks[1].contains("\\e[33mPENDING\\e[0m"), "{shown}");
    assert!(looks[looks.len() - 1].contains("\\e[36mAPPROVED\\e[0m"), "{shown}");
}

#[test]
fn invalid_watches_have_exit_code_64() {
    for arguments in [
        &["queue", "--for", "1"][..],
        &["queue", "--interval", "1"],
        &["queue", "--watch", "--interval", "0"],
    ] {
        assert_eq!(run(arguments, Path::new(".")).0, 64, "{arguments:?}");
    }
}
