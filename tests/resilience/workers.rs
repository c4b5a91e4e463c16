//! The workers of `examples/workers`: they die in the middle of their work, lose their lease, or their command fails.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use support::{Answer, ApiRequest, Clocked, Running, send};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::timeout;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";
const KEY: &str = "vm-owner-key";
/// The shortest lease.
const LEASE_SECONDS: u64 = 10;
/// Maximum time to wait for a worker.
const WAITS: Duration = Duration::from_secs(60);
/// Maximum number of attempts to claim between two extensions of a lease.
const CLAIMS_MAX: usize = 10;

/// The command of the workers: it sends item and number to the test, and prints the line of the response.
const COMMAND: &str = r#"
set -euo pipefail
exec 3<>"/dev/tcp/127.0.0.1/$1"
jq -r '"\(.service_item.name) \(.claim.number)"' >&3
read -r deployed <&3 || { echo "the test has no answer" >&2; exit 1; }
printf '%s' "$deployed"
"#;

/// A system with one APPROVED change, functions with the clock of the test, and the commands of the workers.
struct Workplace {
    system: Running,
    functions: Clocked,
    /// Path of the change instance.
    change: String,
    /// Accepts a connection of each command.
    commands: TcpListener,
    directory: TempDir,
}

impl Workplace {
    fn start() -> Self {
        let system = Running::demo();
        let body = json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "vm"}]}}}});
        let submitted = system.expect(201, "POST", SUBMIT, "awesome-key", &body);
        let change = format!("{CHANGES}{}/", submitted.at("/change_instances/0/id"));
        system.expect(200, "PATCH", &change, KEY, &json!({"state": "APPROVED"}));
        system.wait_idle();
        let functions = Clocked::start(&system);
        let commands = system.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("command"), COMMAND).unwrap();
        Self { system, functions, change, commands, directory }
    }

    /// Starts a worker with the shortest lease.
    fn worker(&self, script: &str, name: &str) -> Worker {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/workers").join(script);
        let directory = self.directory.path();
        let port = self.commands.local_addr().unwrap().port();
        let command = format!("bash {}/command {port}", directory.display());
        let mut worker = Command::new(script);
        worker.args(["--worker", name, "--lease", &LEASE_SECONDS.to_string(), "--run", &command]);
        worker.env("DOVETAIL_URL", &self.functions.url).env("DOVETAIL_API_KEY", KEY).env("TMPDIR", directory);
        Worker::start(worker.stdout(Stdio::piped()))
    }

    /// Waits until a command has started with this number.
    fn command(&self, number: u64) -> TcpStream {
        let accepted = self.system.block_on(async { timeout(WAITS, self.commands.accept()).await });
        let stream = accepted.unwrap().unwrap().0.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(WAITS)).unwrap();
        let expected = format!("vm {number}\n");
        let mut started = vec![0; expected.len()];
        (&stream).read_exact(&mut started).unwrap();
        assert_eq!(String::from_utf8(started).unwrap(), expected);
        stream
    }

    /// Moves the clock past the end of every lease.
    fn end_leases(&self) {
        self.functions.advance((LEASE_SECONDS + 1) * 1_000_000);
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.system.block_on(send(&self.functions.url, &ApiRequest::with_key(method, path, KEY, body)))
    }

    /// Fails unless a completion with this number is refused.
    #[track_caller]
    fn assert_fenced(&self, number: u64) {
        let late = json!({"state": "COMPLETED", "claim": number, "deployed_item": {"host": "late"}});
        assert_eq!(self.send("PATCH", &self.change, &late).code(), (400, "not_claimed"));
    }

    /// Fails unless the change has these values, and the system is sound.
    #[track_caller]
    fn assert_result(&self, values: &Value) {
        self.send("GET", &self.change, &Value::Null).assert_is(200, values);
        self.system.assert_sound();
    }
}

/// A process with a worker, and the lines of its output without the id of the change.
struct Worker {
    process: Child,
    lines: Receiver<String>,
}

impl Worker {
    fn start(command: &mut Command) -> Self {
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            let texts = output.lines().map_while(Result::ok);
            let texts = texts.filter_map(|line| line.split_once(": ").map(|(_, text)| text.to_owned()));
            // The test may end before the worker does.
            texts.for_each(|text| drop(sender.send(text)));
        });
        Self { process, lines }
    }

    #[track_caller]
    fn expect(&self, line: &str) {
        assert_eq!(self.lines.recv_timeout(WAITS).as_deref(), Ok(line));
    }

    /// Kills the process with SIGKILL.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Sends SIGTERM.
    fn terminate(&self) {
        let sent = Command::new("kill").arg(self.process.id().to_string()).status().unwrap();
        assert!(sent.success(), "the worker runs");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The workers, and for each the worker that continues after it.
const PAIRS: [(&str, &str); 2] = [("worker.py", "worker.sh"), ("worker.sh", "worker.py")];

#[test]
fn another_worker_repeats_the_work_of_a_killed_one() {
    for (killed, successor) in PAIRS {
        let work = Workplace::start();
        let mut first = work.worker(killed, "w-1");
        first.expect("claimed with number 1");
        // Its command outlives the worker, as a request to a real system would.
        let _orphan = work.command(1);
        first.kill();
        work.end_leases();
        let mut second = work.worker(successor, "w-2");
        second.expect("claimed with number 2");
        let mut command = work.command(2);
        work.assert_fenced(1);
        second.terminate();
        command.write_all(b"{\"host\": \"second\"}\n").unwrap();
        second.expect("COMPLETED");
        assert!(second.process.wait().unwrap().success(), "TERM ends {successor} after its change");
        work.assert_fenced(1);
        let deployed = json!({"/state": "COMPLETED", "/service_item/deployed_item/host": "second"});
        work.assert_result(&deployed);
    }
}

#[test]
fn a_worker_that_lost_its_lease_leaves_the_change() {
    for (script, _) in PAIRS {
        let work = Workplace::start();
        let first = work.worker(script, "w-1");
        first.expect("claimed with number 1");
        let mut command = work.command(1);
        // The worker may extend its lease between the move of the clock and the claim.
        let claimed = (0..CLAIMS_MAX).any(|_| {
            work.end_leases();
            let path = format!("{}claim/", work.change);
            work.send("POST", &path, &json!({"worker": "w-2"})).status == 200
        });
        assert!(claimed, "a claim comes before an extension");
        // A refused extension may have stopped the command already.
        drop(command.write_all(b"{\"host\": \"first\"}\n"));
        first.expect("another worker has the change");
        work.assert_result(&json!({"/state": "APPROVED", "/service_item/deployed_item": {}}));
    }
}

#[test]
fn a_failed_command_is_an_error_with_its_reason() {
    for (script, _) in PAIRS {
        let work = Workplace::start();
        let worker = work.worker(script, "w-1");
        worker.expect("claimed with number 1");
        drop(work.command(1));
        worker.expect("ERRORED");
        work.assert_result(&json!({"/state": "ERRORED", "/log": "the test has no answer"}));
    }
}
