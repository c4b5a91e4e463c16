//! Tests with kills at random moments and restarts on the same data.
//!
//! Nothing accepted may be lost, generation must complete, and pending events must be published.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "test support"
)]

mod program;

use program::{Program, random, seed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// The number of kills.
const KILLS: u32 = 50;
/// The latest moment of a kill after the program is ready, in microseconds.
const LATEST_MICROS: u64 = 200_000;
const CORE: &str = "/v1/orcabase";
const KEYS: &str = "/v1/account/api_keys/";

/// The users of the program during the kills: a consumer and owners, each of which continues where it stopped.
#[derive(Default)]
struct Users {
    round: u64,
    /// Ids of the submissions with a response.
    accepted: Vec<u64>,
    calls: u64,
}

impl Users {
    /// Submits one declaration and processes its changes, until a connection breaks.
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

    /// Moves all change instances of an owner out of a state.
    fn work(&mut self, program: &Program, state: &str, key: &str) -> io::Result<()> {
        for change in program.all(&format!("{CORE}/serviceowner/change_instances/?state={state}"), key)? {
            let is_main = change["is_dependant"] == false;
            let body = match (state, is_main) {
                ("PENDING", _) => json!({"state": "APPROVED"}),
                (_, true) => json!({"state": "COMPLETED", "deployed_item": {"round": self.round}}),
                (_, false) => json!({"state": "COMPLETED"}),
            };
            // A change instance that was displaced meanwhile is rejected with status 400 and its state.
            let path = format!("{CORE}/serviceowner/change_instances/{}/", change["id"]);
            program.call("PATCH", &path, key, "", &body)?;
            self.calls += 1;
        }
        Ok(())
    }
}

/// Asserts I21: every history entry has an event, every event has an entry, and the order of a change instance holds.
fn assert_published(program: &Program) {
    let mut published: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
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
                let of_change =
                    published.entry(envelope["detail"]["data"]["id"].as_u64().unwrap()).or_default();
                // An event may come twice, but its first delivery must be in order.
                if !of_change.contains(&sequence) {
                    of_change.push(sequence);
                }
            }
        }
        after = page["next"].as_u64().unwrap();
    }
    let changes =
        program.all(&format!("{CORE}/consumer/change_instances/?limit=100"), "awesome-key").unwrap();
    assert_eq!(changes.len(), published.len(), "change instances, and the published ones");
    for change in changes {
        let id = change["id"].as_u64().unwrap();
        let history = program.get(&format!("{CORE}/consumer/change_instances/{id}/history/"), "awesome-key");
        let entries = history.unwrap()["count"].as_u64().unwrap();
        assert_eq!(published[&id], (1..=entries).collect::<Vec<_>>(), "the events of {id}");
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
        // Every other kill comes without a wait, so unfinished work is interrupted once more.
        if kill % 2 == 0 {
            program.assert_sound();
        }
        let moment = Duration::from_micros(random(&mut seed, LATEST_MICROS));
        let killer = program.killed_in(moment);
        while users.round(&program).is_ok() {}
        killer.join().unwrap();
    }
    let program = Program::start(&data);
    program.assert_sound();
    // After all kills the scenario must still complete.
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
    let stored: Vec<u64> = submissions.iter().map(|submission| submission["id"].as_u64().unwrap()).collect();
    assert!(users.accepted.iter().all(|id| stored.contains(id)), "{:?} in {stored:?}", users.accepted);
    assert!(submissions.iter().all(|submission| submission["state"] == "SETTLED"));
    assert_published(&program);
    eprintln!("{} declarations and {} decisions with {KILLS} kills", users.round, users.calls);
}

#[test]
fn a_later_start_still_offers_the_demo_teams_whose_keys_remain() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join("data");
    let offered = |program: &Program| {
        let settings = program.get("/v1/console.json", "").unwrap();
        let teams = settings["demo_teams"].as_array().unwrap().iter();
        teams.map(|team| team["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let program = Program::start(&data);
    let mut keys = offered(&program);
    let own = json!({"name": "own", "role": "ADMIN"});
    let own = program.call("POST", KEYS, "awesome-key", "", &own).unwrap()["key"].take();
    let listed = program.all(KEYS, "awesome-key").unwrap();
    let demo = listed.iter().find(|key| key["name"] != "own").unwrap();
    let path = format!("{KEYS}{}/", demo["id"]);
    assert_eq!(program.send("DELETE", &path, own.as_str().unwrap(), "", &Value::Null).unwrap().0, 204);
    drop(program);
    keys.retain(|key| key != "awesome-key");
    assert_eq!(offered(&Program::start(&data)), keys);
}
