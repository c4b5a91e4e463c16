//! The program in a separate process that tests can kill.
#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::indexing_slicing,
    reason = "each test uses what it needs"
)]

use serde_json::{Value, json};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// The longest time of a start.
const START: Duration = Duration::from_secs(60);

/// Runs the program in a directory until it ends. Returns exit code, standard output and standard error.
pub(crate) fn run(arguments: &[&str], directory: &Path) -> (i32, String, String) {
    let mut command = Command::new(path());
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the path of the program: of this build, or of the environment.
pub(crate) fn path() -> String {
    std::env::var("DOVETAIL").unwrap_or_else(|_| env!("CARGO_BIN_EXE_dovetaild").to_owned())
}

/// A running program; it is killed when dropped.
pub(crate) struct Program {
    child: Child,
    base: String,
}

impl Program {
    /// Starts the program with the demo world and waits until it is ready.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    /// Starts the program with more arguments.
    pub(crate) fn start_with(data: &Path, arguments: &[&str]) -> Self {
        Self::start_telling(data, arguments, Stdio::null(), Stdio::inherit())
    }

    /// Starts the program with the given standard output and standard error.
    pub(crate) fn start_telling(data: &Path, arguments: &[&str], out: Stdio, err: Stdio) -> Self {
        Self::start_by(Command::new(path()), data, arguments, out, err)
    }

    /// Starts the program through a command that passes its arguments on.
    pub(crate) fn start_by(
        mut command: Command,
        data: &Path,
        arguments: &[&str],
        out: Stdio,
        err: Stdio,
    ) -> Self {
        let ready = data.with_extension("ready");
        drop(std::fs::remove_file(&ready));
        let child = command
            .args(["--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()])
            .args(["--ready-file", ready.to_str().unwrap()])
            .args(arguments)
            .stdout(out)
            .stderr(err)
            .spawn()
            .unwrap();
        let began = Instant::now();
        let mut program = Self { child, base: String::new() };
        while program.base.is_empty() {
            assert!(began.elapsed() < START, "the program does not start");
            assert!(program.child.try_wait().unwrap().is_none(), "the program ends by itself");
            std::thread::sleep(Duration::from_millis(2));
            program.base = std::fs::read_to_string(&ready).unwrap_or_default();
        }
        program
    }

    /// Sends a request; an error is a connection that the kill has closed.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &str,
        body: &Value,
    ) -> io::Result<Value> {
        let (status, body) = self.send(method, path, key, headers, body)?;
        assert!([200, 201, 400].contains(&status), "{method} {path}: {status} {body}");
        Ok(body)
    }

    /// Sends a request and returns the response with any status.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        headers: &str,
        body: &Value,
    ) -> io::Result<(u16, Value)> {
        let host = self.base.strip_prefix("http://").unwrap();
        let path = path.strip_prefix(&self.base).unwrap_or(path);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Api-Key {key}\r\n\
             content-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (head, body) = reply.split_once("\r\n\r\n").ok_or_else(cut)?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
        let body = if status == 204 { "null" } else { body };
        Ok((status, serde_json::from_str(body).map_err(|_| cut())?))
    }

    /// Kills the program after a time, in another thread.
    pub(crate) fn killed_in(&self, moment: Duration) -> JoinHandle<()> {
        let pid = self.child.id().to_string();
        std::thread::spawn(move || {
            std::thread::sleep(moment);
            assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        })
    }

    /// Sends a GET request.
    pub(crate) fn get(&self, path: &str, key: &str) -> io::Result<Value> {
        self.call("GET", path, key, "", &Value::Null)
    }

    /// Returns all rows of a list.
    pub(crate) fn all(&self, path: &str, key: &str) -> io::Result<Vec<Value>> {
        let (mut rows, mut next) = (Vec::new(), Some(path.to_owned()));
        while let Some(page) = next {
            let page = self.get(&page, key)?;
            rows.extend(page["results"].as_array().unwrap().iter().cloned());
            next = page["next"].as_str().map(str::to_owned);
        }
        Ok(rows)
    }

    /// Waits until the consumers are idle, and checks every invariant.
    pub(crate) fn assert_sound(&self) {
        while self.get("/_local/settled", "").unwrap() != json!({"settled": true}) {}
        assert_eq!(self.get("/_local/audit", "").unwrap(), json!({"violations": []}));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a random number below `limit`.
pub(crate) fn random(seed: &mut u64, limit: u64) -> u64 {
    // The algorithm is xorshift64.
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % limit
}

/// Returns the seed of this run, or the one of the environment.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    given.unwrap_or_else(|| u64::from(now()) | 1)
}
