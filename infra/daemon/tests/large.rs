//! Tests of submissions with thousands of items through HTTP, with kills on the way, and of two consumers while
//! owners decide.
//!
//! `just figures kills` runs them at full size, with a release build of the program, and reads what they print.
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
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CORE: &str = "/v1/orcabase";

/// The default number of items; an unoptimized test must not take minutes.
const ITEMS: u64 = 120;

fn items() -> u64 {
    std::env::var("ITEMS").ok().and_then(|items| items.parse().ok()).unwrap_or(ITEMS)
}

/// Starts the program with a world whose service VM accepts any field.
fn start(folder: &Path) -> Program {
    let mut world: Value = serde_json::from_str(dovetail_daemon::world::DEMO).unwrap();
    for service in world["services"].as_array_mut().unwrap() {
        service["schema"].as_object_mut().unwrap().remove("additionalProperties");
    }
    for team in world["teams"].as_array_mut().unwrap() {
        let team = team.as_object_mut().unwrap();
        team.remove("notify");
        // The last submission removes the application.
        team.insert("confirm_removals".to_owned(), json!(false));
    }
    let file = folder.join("world.json");
    std::fs::write(&file, world.to_string()).unwrap();
    Program::start_with(&folder.join("data"), &["--world", file.to_str().unwrap()])
}

/// Returns a declaration of VMs with about 300 bytes each. If `changed` is set, one VM in that many has other
/// processors.
fn declared(team: &str, count: u64, changed: Option<u64>) -> Value {
    let vm = |n: u64| {
        let cpu = if changed.is_some_and(|every| n.is_multiple_of(every)) { 32 } else { 8 };
        json!({"name": format!("vm{n:05}"), "cpu": cpu, "memory": 64, "image": "debian-12",
            "zone": format!("eu-{}", n % 3), "disks": [{"size": 100, "kind": "ssd"}, {"size": 500, "kind": "hdd"}],
            "tags": {"team": format!("team{}", n % 17), "env": "prod"}, "note": "x".repeat(100)})
    };
    let vms: Vec<Value> = (0..count).map(vm).collect();
    json!({team: {"App": {"services": {"VM": vms}}}})
}

/// Submits until the declaration is accepted; the idempotency key makes repeated requests one submission.
fn submitted(program: &Program, key: &str, name: &str, body: &Value) -> io::Result<Value> {
    let header = format!("idempotency-key: {name}\r\n");
    loop {
        let (status, reply) =
            program.send("POST", &format!("{CORE}/consumer/submissions/submit/"), key, &header, body)?;
        match status {
            201 => return Ok(reply),
            503 => std::thread::sleep(Duration::from_millis(200)),
            _ => panic!("{status} {reply}"),
        }
    }
}

/// Waits until all change instances of a submission exist, and prints the progress.
fn wait_for_changes(program: &Program, key: &str, submission: &Value) -> io::Result<Value> {
    loop {
        let now = program.get(submission["url"].as_str().unwrap(), key)?;
        let sum = now["landed"].as_u64().unwrap() + now["remaining"].as_u64().unwrap();
        let planned = &now["planned"];
        assert_eq!(sum, planned["direct"].as_u64().unwrap() + planned["generated"].as_u64().unwrap());
        if now["state"] == "SETTLED" {
            return Ok(now);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Counts the change instances of a submission by type and state; each item has one.
fn caused(program: &Program, submission: &Value) -> BTreeMap<(String, String), u64> {
    let path = format!("{CORE}/consumer/change_instances/?limit=100&submission_id={}", submission["id"]);
    let (mut counted, mut of_item) = (BTreeMap::new(), BTreeMap::new());
    for change in program.all(&path, "awesome-key").unwrap() {
        let text = |name: &str| change[name].as_str().unwrap().to_owned();
        *counted.entry((text("change_type"), text("state"))).or_default() += 1;
        *of_item.entry(change["service_item"]["id"].as_u64().unwrap()).or_insert(0) += 1;
    }
    assert!(of_item.values().all(|count| *count == 1), "each item once");
    counted
}

#[test]
fn a_large_submission_is_applied_exactly_once_however_often_it_is_killed() {
    let (mut seed, items) = (seed(), items());
    eprintln!("SEED={seed} ITEMS={items}");
    let parent = tempfile::tempdir().unwrap();
    let hundredth = items.div_ceil(100);
    let phases = [
        ("create", declared("AwesomeConsumer", items, None), 2, "CREATE", items),
        // The items are still PENDING, so the new change is a CREATE too.
        ("one in a hundred", declared("AwesomeConsumer", items, Some(100)), 1, "CREATE", hundredth),
        ("remove", json!({"AwesomeConsumer": {}}), 2, "DELETE", items),
    ];
    let mut program = start(parent.path());
    let mut all_cut_off = 0;
    for (name, body, kills, change_type, count) in phases {
        let (began, mut cut_off) = (Instant::now(), 0);
        for _ in 0..kills {
            // Most kills hit between the first byte of the request and the last item.
            let killer = program.killed_in(Duration::from_millis(random(&mut seed, 100 + count / 2)));
            let followed = submitted(&program, "awesome-key", name, &body)
                .and_then(|submission| wait_for_changes(&program, "awesome-key", &submission));
            cut_off += u64::from(followed.is_err());
            killer.join().unwrap();
            // The old process must end first, because it has the lock of the directory.
            drop(program);
            program = start(parent.path());
        }
        let submission = submitted(&program, "awesome-key", name, &body).unwrap();
        let submission = wait_for_changes(&program, "awesome-key", &submission).unwrap();
        let seconds = began.elapsed().as_secs();
        let counted = caused(&program, &submission);
        assert_eq!(
            counted,
            BTreeMap::from([((change_type.to_owned(), "PENDING".to_owned()), count)]),
            "{name}"
        );
        program.assert_sound();
        eprintln!(
            "{name}: {count} change instances, killed {kills} times, {cut_off} of them on the way, {seconds} s"
        );
        all_cut_off += cut_off;
    }
    assert!(all_cut_off > 0, "it was never killed on the way");
    let submissions = program.all(&format!("{CORE}/consumer/submissions/?limit=100"), "awesome-key").unwrap();
    assert_eq!(submissions.len(), 3, "each once, however often it was sent");
}

/// Decides on pending change instances until the consumers are done and nothing is pending.
///
/// Returns each accepted decision, and the number of rejected decisions.
fn deciding(program: &Program, done: &AtomicBool, mut seed: u64) -> (Vec<(u64, &'static str)>, u64) {
    let (mut decided, mut refused) = (Vec::new(), 0);
    loop {
        let was_done = done.load(Ordering::SeqCst);
        let path = format!("{CORE}/serviceowner/change_instances/?state=PENDING&limit=100&light=true");
        let page = program.get(&path, "vm-owner-key").unwrap();
        let rows = page["results"].as_array().unwrap();
        if rows.is_empty() && was_done {
            return (decided, refused);
        }
        for _ in 0..rows.len().min(20) {
            // Two owners may choose the same change instance; the first one decides.
            let at = usize::try_from(random(&mut seed, u64::try_from(rows.len()).unwrap())).unwrap();
            let path = format!("{CORE}/serviceowner/change_instances/{}/", rows[at]["id"]);
            let state = if random(&mut seed, 10) == 0 { "REJECTED" } else { "APPROVED" };
            let (status, _) =
                program.send("PATCH", &path, "vm-owner-key", "", &json!({"state": state})).unwrap();
            match status {
                200 => decided.push((rows[at]["id"].as_u64().unwrap(), state)),
                400 | 503 => refused += 1,
                _ => panic!("{status}"),
            }
        }
    }
}

#[test]
fn two_large_submissions_and_eight_owners_at_once_lose_nothing() {
    let (seed, items) = (seed(), items() / 2);
    eprintln!("SEED={seed} ITEMS={items} each");
    let parent = tempfile::tempdir().unwrap();
    let program = start(parent.path());
    let done = AtomicBool::new(false);
    let began = Instant::now();
    let (mut decided, mut refused) = (Vec::new(), 0);
    std::thread::scope(|scope| {
        let teams = [("AwesomeConsumer", "awesome-key"), ("AwesomeConsumer2", "awesome2-key")];
        let consumers: Vec<_> = teams
            .map(|(team, key)| {
                let program = &program;
                scope.spawn(move || {
                    let submission = submitted(program, key, "create", &declared(team, items, None)).unwrap();
                    wait_for_changes(program, key, &submission).unwrap()
                })
            })
            .into();
        let owners: Vec<_> = (1..=8)
            .map(|owner| {
                let (program, done) = (&program, &done);
                scope.spawn(move || deciding(program, done, seed.wrapping_mul(owner) | 1))
            })
            .collect();
        let results: Vec<_> = consumers.into_iter().map(|consumer| consumer.join()).collect();
        // The owners must end even if a consumer fails.
        done.store(true, Ordering::SeqCst);
        for result in results {
            assert_eq!(result.unwrap()["landed"], items);
        }
        for owner in owners {
            let (by_owner, not) = owner.join().unwrap();
            decided.extend(by_owner);
            refused += not;
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    program.assert_sound();
    let rows =
        program.all(&format!("{CORE}/serviceowner/change_instances/?limit=100&light=true"), "vm-owner-key");
    let is: BTreeMap<u64, Value> =
        rows.unwrap().into_iter().map(|row| (row["id"].as_u64().unwrap(), row["state"].clone())).collect();
    assert_eq!(is.len(), usize::try_from(2 * items).unwrap());
    // An accepted decision must hold, whatever the others requested.
    for (id, state) in &decided {
        assert_eq!(is[id], **state, "change instance {id}");
    }
    let decided_ids: BTreeSet<u64> = decided.iter().map(|(id, _)| *id).collect();
    assert_eq!(decided_ids.len(), is.len(), "each is decided");
    eprintln!(
        "2 x {items} items were applied and decided in {seconds:.1} s; {} requests repeated the stored state, \
         {refused} were refused",
        decided.len() - decided_ids.len(),
    );
}
