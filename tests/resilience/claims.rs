//! A thousand change instances, twenty workers, and a hundred deaths of workers (R64).

use serde_json::{Value, json};
use std::collections::BTreeMap;
use support::{Answer, ApiRequest, Clocked, Random, Running, send};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";
const KEY: &str = "vm-owner-key";
const ITEMS: usize = 1_000;
const WORKERS: usize = 20;
const DEATHS: usize = 100;
/// The length of every lease, in seconds.
const LEASE_SECONDS: u64 = 10;

/// A change instance with the number of a claim.
type Claimed = (u64, u64);

/// A system, and functions with the clock of the test.
struct Workplace {
    system: Running,
    functions: Clocked,
    /// The newest number of each change instance.
    newest: BTreeMap<u64, u64>,
    /// The completed change instances, with the numbers of their claims.
    completed: BTreeMap<u64, u64>,
}

impl Workplace {
    fn start() -> Self {
        let system = Running::demo();
        let settings = json!({"approval_required": false, "claim_required": true});
        system.expect(200, "PATCH", "/v1/orcabase/serviceowner/services/1/", KEY, &settings);
        let items: Vec<Value> = (0..ITEMS).map(|n| json!({"name": format!("vm{n}")})).collect();
        let body = json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}});
        system.expect(201, "POST", SUBMIT, "awesome-key", &body);
        system.wait_idle();
        let functions = Clocked::start(&system);
        Self { system, functions, newest: BTreeMap::new(), completed: BTreeMap::new() }
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.system.block_on(send(&self.functions.url, &ApiRequest::with_key(method, path, KEY, body)))
    }

    /// Claims work for a worker. Every number of a change instance is handed out once.
    fn claim(&mut self, worker: usize) -> Vec<Claimed> {
        let body = json!({"worker": format!("w-{worker}"), "limit": 5, "lease_seconds": LEASE_SECONDS});
        let answer = self.send("POST", &format!("{CHANGES}claim/"), &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let rows = answer.at("/results").as_array().unwrap().iter();
        let claimed = rows.map(|row| (row["id"].as_u64().unwrap(), row["claim"]["number"].as_u64().unwrap()));
        let claimed: Vec<Claimed> = claimed.collect();
        for (change, number) in &claimed {
            assert!(!self.completed.contains_key(change), "{change} is handed out after its completion");
            let before = self.newest.insert(*change, *number).unwrap_or_default();
            assert_eq!(*number, before + 1, "each number is handed out once");
        }
        claimed
    }

    /// Completes a change instance with a claim. Only the newest claim does.
    fn complete(&mut self, (change, number): Claimed) {
        let body = json!({"state": "COMPLETED", "claim": number});
        let answer = self.send("PATCH", &format!("{CHANGES}{change}/"), &body);
        if self.newest[&change] == number {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(self.completed.insert(change, number), None, "{change} is completed once");
        } else {
            assert_eq!(answer.code(), (400, "not_claimed"), "{change} of a stale worker");
        }
    }
}

#[test]
fn each_change_instance_is_completed_by_the_worker_with_its_newest_claim() {
    let mut random = Random::seeded();
    let mut work = Workplace::start();
    let mut workers: Vec<Vec<Claimed>> = vec![Vec::new(); WORKERS];
    // The work of dead workers may still end, because nothing stops an orphaned process.
    let (mut orphans, mut deaths) = (Vec::new(), 0);
    while work.completed.len() < ITEMS {
        work.functions.advance(random.below(300_000));
        let worker = random.index(WORKERS);
        let mut mine = std::mem::take(&mut workers[worker]);
        if mine.is_empty() {
            mine = work.claim(worker);
        } else if deaths < DEATHS && random.below(8) == 0 {
            deaths += 1;
            orphans.append(&mut mine);
        } else if let Some(claimed) = mine.pop() {
            work.complete(claimed);
        }
        workers[worker] = mine;
        if !orphans.is_empty() && random.below(16) == 0 {
            let orphan = orphans.swap_remove(random.index(orphans.len()));
            work.complete(orphan);
        }
    }
    assert_eq!(deaths, DEATHS);
    let again = work.newest.values().filter(|number| **number > 1).count();
    assert!(again > 0, "no work was handed out again after a death");
    for claimed in orphans {
        if !work.completed.contains_key(&claimed.0) || work.newest[&claimed.0] != claimed.1 {
            work.complete(claimed);
        }
    }
    let completed = work.system.get(&format!("{CHANGES}?state=COMPLETED&limit=1"), KEY);
    assert_eq!(completed.at("/count"), ITEMS);
    work.system.assert_sound();
}
