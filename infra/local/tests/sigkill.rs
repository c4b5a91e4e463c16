//! The program is killed at any moment and started again on the same data: nothing accepted is lost, generation is
//! completed, events that are owed are sent.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test support"
)]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// How often the program is killed.
const KILLS: u32 = 50;
/// The latest moment of a kill after the program is ready, in microseconds.
const LATEST_MICROS: u64 = 200_000;
/// How long the program may take to start.
const START: Duration = Duration::from_secs(60);

const CORE: &str = "/v1/orcabase";

/// The program on a directory of data, killed when dropped.
struct Program {
    child: Child,
    base: String,
}

impl Program {
    fn start(data: &Path) -> Self {
        let ready = data.with_extension("ready");
        drop(std::fs::remove_file(&ready));
        let child = Command::new(env!("CARGO_BIN_EXE_dovetail"))
            .args(["--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()])
            .args(["--ready-file", ready.to_str().unwrap()])
            .stdout(Stdio::null())
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

    /// Makes a call; an error is a connection that the kill has broken.
    fn call(&self, method: &str, path: &str, key: &str, headers: &str, body: &Value) -> io::Result<Value> {
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
        let body: Value = serde_json::from_str(body).map_err(|_| cut())?;
        let status = head.split(' ').nth(1).ok_or_else(cut)?;
        assert!(["200", "201", "400"].contains(&status), "{method} {path}: {status} {body}");
        Ok(body)
    }

    fn get(&self, path: &str, key: &str) -> io::Result<Value> {
        self.call("GET", path, key, "", &Value::Null)
    }

    /// All rows of a list.
    fn all(&self, path: &str, key: &str) -> io::Result<Vec<Value>> {
        let (mut rows, mut next) = (Vec::new(), Some(path.to_owned()));
        while let Some(page) = next {
            let page = self.get(&page, key)?;
            rows.extend(page["results"].as_array().unwrap().iter().cloned());
            next = page["next"].as_str().map(str::to_owned);
        }
        Ok(rows)
    }

    /// Waits until all that follows from what was accepted is there, and checks every invariant.
    fn assert_sound(&self) {
        assert_eq!(self.get("/_local/settled", "").unwrap(), json!({"settled": true}));
        assert_eq!(self.get("/_local/audit", "").unwrap(), json!({"violations": []}));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What goes on while the program is killed: a consumer that declares, owners that work; each goes on where it was.
#[derive(Default)]
struct Users {
    /// Counts the declarations that were accepted.
    round: u64,
    /// The submissions that were answered.
    accepted: Vec<u64>,
    calls: u64,
}

impl Users {
    /// One declaration and all the work that follows from it; ends where a connection breaks.
    fn round(&mut self, program: &Program) -> io::Result<()> {
        let vm = |name: &str| json!({"name": name, "cpu": self.round + 1});
        let balancer = json!({"name": "CoreLB1", "related_vms": ["CoreVM1", "CoreVM2"], "algorithm": "a"});
        let services = json!({"VM": [vm("CoreVM1"), vm("CoreVM2")], "LoadBalancer": [balancer]});
        let body = json!({"AwesomeConsumer": {"NewApp1": {"services": services}}});
        let key = format!("idempotency-key: round-{}\r\n", self.round);
        let path = format!("{CORE}/consumer/submissions/submit/");
        let reply = program.call("POST", &path, "awesome-key", &key, &body)?;
        self.accepted.push(reply["id"].as_u64().unwrap_or_else(|| panic!("{reply}")));
        self.round += 1;
        for state in ["PENDING", "APPROVED"] {
            for key in ["vm-owner-key", "lb-owner-key", "np-owner-key"] {
                self.work(program, state, key)?;
            }
        }
        Ok(())
    }

    /// An owner moves on what is in a state.
    fn work(&mut self, program: &Program, state: &str, key: &str) -> io::Result<()> {
        for change in program.all(&format!("{CORE}/serviceowner/change_instances/?state={state}"), key)? {
            let is_main = change["is_dependant"] == false;
            let body = match (state, is_main) {
                ("PENDING", _) => json!({"state": "APPROVED"}),
                (_, true) => json!({"state": "COMPLETED", "deployed_item": {"round": self.round}}),
                (_, false) => json!({"state": "COMPLETED"}),
            };
            // What was displaced meanwhile answers 400 with its state.
            let path = format!("{CORE}/serviceowner/change_instances/{}/", change["id"]);
            program.call("PATCH", &path, key, "", &body)?;
            self.calls += 1;
        }
        Ok(())
    }
}

/// A random number below `limit`.
fn random(seed: &mut u64, limit: u64) -> u64 {
    // xorshift64
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % limit
}

fn seed() -> u64 {
    let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    given.unwrap_or_else(|| u64::from(now()) | 1)
}

/// I21: each history entry has an event, none is without one, and those of a change instance came in order.
fn assert_told(program: &Program) {
    let mut told: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut after = 0;
    loop {
        let page = program.get(&format!("/_local/events?after={after}"), "").unwrap();
        let events = page["events"].as_array().unwrap();
        if events.is_empty() {
            break;
        }
        for event in events {
            let envelope = &event["envelope"];
            if envelope["detail-type"] == "ChangeInstance.StateChanged.v1" {
                let sequence = envelope["detail"]["metadata"]["sequence"].as_u64().unwrap();
                let of_change = told.entry(envelope["detail"]["data"]["id"].as_u64().unwrap()).or_default();
                // The same one may come twice; first seen they are in order.
                if !of_change.contains(&sequence) {
                    of_change.push(sequence);
                }
            }
        }
        after = page["next"].as_u64().unwrap();
    }
    let changes =
        program.all(&format!("{CORE}/consumer/change_instances/?limit=100"), "awesome-key").unwrap();
    assert_eq!(changes.len(), told.len(), "change instances, and those that were told of");
    for change in changes {
        let id = change["id"].as_u64().unwrap();
        let history = program.get(&format!("{CORE}/consumer/change_instances/{id}/history/"), "awesome-key");
        let entries = history.unwrap()["count"].as_u64().unwrap();
        assert_eq!(told[&id], (1..=entries).collect::<Vec<_>>(), "the events of {id}");
    }
}

#[test]
fn whenever_it_is_killed_nothing_that_was_accepted_is_lost() {
    let mut seed = seed();
    eprintln!("SEED={seed}");
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let mut users = Users::default();
    for kill in 0..KILLS {
        let program = Program::start(&data);
        // Every other time nothing is waited for, so that what was left unfinished is cut off again.
        if kill % 2 == 0 {
            program.assert_sound();
        }
        let moment = Duration::from_micros(random(&mut seed, LATEST_MICROS));
        let pid = program.child.id().to_string();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(moment);
            assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        });
        while users.round(&program).is_ok() {}
        killer.join().unwrap();
    }
    let program = Program::start(&data);
    program.assert_sound();
    // The scenario can be finished.
    users.round(&program).unwrap();
    for state in ["PENDING", "APPROVED"] {
        program.assert_sound();
        for key in ["vm-owner-key", "lb-owner-key", "np-owner-key"] {
            users.work(&program, state, key).unwrap();
        }
    }
    program.assert_sound();
    let open =
        program.all(&format!("{CORE}/consumer/change_instances/?state=PENDING,APPROVED"), "awesome-key");
    assert_eq!(open.unwrap(), Vec::<Value>::new());
    let submissions = program.all(&format!("{CORE}/consumer/submissions/?limit=100"), "awesome-key").unwrap();
    let recorded: Vec<u64> =
        submissions.iter().map(|submission| submission["id"].as_u64().unwrap()).collect();
    assert!(users.accepted.iter().all(|id| recorded.contains(id)), "{:?} in {recorded:?}", users.accepted);
    assert!(submissions.iter().all(|submission| submission["state"] == "SETTLED"));
    assert_told(&program);
    eprintln!("{} declarations and {} decisions with {KILLS} kills", users.round, users.calls);
}
