//! Races: many concurrent requests. Some order of the requests must explain the result
//! (docs/explanation/concurrency.md).

use dovetail_table::ACTIONS_MAX;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::{Answer, ApiRequest, Running, send};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";
const CONSUMER: &str = "/v1/orcabase/consumer";

/// Number of concurrent requests.
const AT_ONCE: usize = 16;

/// Sends all requests, 16 at a time. Returns the responses in the order of the requests.
fn all(system: &Running, requests: &[ApiRequest<'_>]) -> Vec<Answer> {
    let sending = stream::iter(requests).map(|request| send(&system.base, request)).buffered(AT_ONCE);
    system.block_on(sending.collect())
}

pub(super) fn request<'a>(method: &'a str, path: &'a str, key: &'a str, body: &Value) -> ApiRequest<'a> {
    ApiRequest { method, path, key: Some(key), headers: &[], body: body.to_string().into_bytes() }
}

fn vms(team: &str, items: &[Value]) -> Value {
    json!({team: {"App": {"services": {"VM": items}}}})
}

/// Declares VMs. Returns the owner's paths of their change instances.
fn declared(system: &Running, items: &[Value]) -> Vec<String> {
    let answer = system.call("POST", SUBMIT, "awesome-key", &vms("AwesomeConsumer", items));
    assert_eq!(answer.status, 201, "{answer:?}");
    let changes = answer.at("/change_instances").as_array().unwrap();
    changes.iter().map(|change| format!("{OWNER}/change_instances/{}/", change.get("id").unwrap())).collect()
}

fn moved(system: &Running, path: &str, state: &str) {
    let answer = system.call("PATCH", path, "vm-owner-key", &json!({"state": state}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Returns the states of a change instance, oldest first.
fn states(system: &Running, path: &str) -> Vec<String> {
    let history = system.get(&format!("{path}history/"), "vm-owner-key");
    let entries = history.at("/results").as_array().unwrap().iter().rev();
    entries.map(|entry| entry.get("state").unwrap().as_str().unwrap().to_owned()).collect()
}

/// Fails unless the response is 503 with a reason and `Retry-After`.
#[track_caller]
fn assert_contended(answer: &Answer) {
    let why = [json!("contended"), json!("submission_in_flight")];
    assert!(answer.status == 503 && why.contains(answer.at("/code")), "{answer:?}");
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=5).contains(&seconds), "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
}

#[test]
fn two_hundred_repetitions_of_a_submission_are_one() {
    for actions_max in [ACTIONS_MAX, 1] {
        repeated(&Running::demo_with(actions_max));
    }
}

/// Sends a submission 200 times with one idempotency key. A maximum of one write in a transaction makes it staged.
fn repeated(system: &Running) {
    let body = vms("AwesomeConsumer", &[json!({"name": "one", "cpu": 1}), json!({"name": "two"})]);
    let headers = [("idempotency-key", "the-very-same")];
    let requests =
        vec![ApiRequest { headers: &headers, ..request("POST", SUBMIT, "awesome-key", &body) }; 200];
    let answers = all(system, &requests);
    let first = answers.first().unwrap();
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!(first.at("/change_instances").as_array().unwrap().len(), 2);
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (first.status, &first.body));
    }
    let submissions = system.get(&format!("{CONSUMER}/submissions/"), "awesome-key");
    assert_eq!(submissions.at("/count"), 1);
    system.assert_sound();
}

/// Sends 16 decisions on one PENDING change instance, and returns its final state.
fn decided_at_once(system: &Running, path: &str, wanted: &[&str]) -> String {
    let bodies: Vec<Value> = wanted.iter().map(|state| json!({"state": state})).collect();
    let requests: Vec<ApiRequest<'_>> =
        bodies.iter().map(|body| request("PATCH", path, "vm-owner-key", body)).collect();
    let answers = all(system, &requests);
    let states = states(system, path);
    assert_eq!(states.len(), 2, "{states:?}");
    let winner = states.last().unwrap();
    for (wanted, answer) in wanted.iter().zip(&answers) {
        if wanted == winner {
            assert_eq!((answer.status, answer.at("/state")), (200, &json!(winner)), "{answer:?}");
        } else {
            let actual = (answer.status, answer.at("/code"), answer.at("/state"));
            assert_eq!(actual, (400, &json!("illegal_transition"), &json!(winner)), "{answer:?}");
        }
    }
    system.assert_sound();
    winner.clone()
}

#[test]
fn of_sixteen_concurrent_teams_whose_names_look_alike_one_is_created() {
    let system = Running::demo();
    let spelled = |number: usize| -> String {
        let letters = "team".char_indices();
        letters.map(|(at, c)| if number >> at & 1 == 1 { c.to_ascii_uppercase() } else { c }).collect()
    };
    let bodies: Vec<Value> = (0..AT_ONCE).map(|number| json!({"name": spelled(number)})).collect();
    let requests: Vec<ApiRequest<'_>> =
        bodies.iter().map(|body| request("POST", "/v1/platform/teams/", "platform-key", body)).collect();
    let (created, others): (Vec<Answer>, Vec<Answer>) =
        all(&system, &requests).into_iter().partition(|answer| answer.status == 201);
    assert_eq!(created.len(), 1, "{created:?}");
    for answer in others {
        assert_eq!((answer.status, answer.at("/code")), (400, &json!("team_name_taken")), "{answer:?}");
    }
    system.assert_sound();
}

#[test]
fn sixteen_concurrent_decisions_on_one_change_instance_store_one() {
    let system = Running::demo();
    let items: Vec<Value> =
        ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| json!({"name": name})).to_vec();
    let paths = declared(&system, &items);
    let both = ["APPROVED", "REJECTED"].repeat(8);
    let (last, others) = paths.split_last().unwrap();
    for path in others {
        decided_at_once(&system, path, &both);
    }
    assert_eq!(decided_at_once(&system, last, &["APPROVED"; 16]), "APPROVED");
}

#[test]
fn sixteen_concurrent_deployed_items_become_sixteen_versions() {
    let system = Running::demo();
    let path = declared(&system, &[json!({"name": "one"})]).concat();
    moved(&system, &path, "APPROVED");
    let bodies: Vec<Value> =
        (0..AT_ONCE).map(|number| json!({"deployed_item": {"number": number}})).collect();
    let requests: Vec<ApiRequest<'_>> =
        bodies.iter().map(|body| request("PATCH", &path, "vm-owner-key", body)).collect();
    let answers = all(&system, &requests);
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(taken >= 1, "at least one of the concurrent requests wins");
    answers.iter().filter(|answer| answer.status != 200).for_each(assert_contended);
    let listed = system.get(&format!("{OWNER}/deployed_items/?limit=100&ordering=version"), "vm-owner-key");
    let versions: Vec<u64> = listed.at("/results").as_array().unwrap().iter().map(version).collect();
    let expected: Vec<u64> = (1..).take(taken).collect();
    assert_eq!(versions, expected);
    system.assert_sound();
}

#[test]
fn sixteen_concurrent_patches_of_one_deployed_item_store_one() {
    let system = Running::demo();
    let path = declared(&system, &[json!({"name": "one"})]).concat();
    moved(&system, &path, "APPROVED");
    let base = json!({"data": {"kept": true}, "change_instance": path});
    let deployed = system.call("POST", &format!("{OWNER}/deployed_items/"), "vm-owner-key", &base);
    assert_eq!(deployed.status, 201, "{deployed:?}");
    let path = format!("{OWNER}/deployed_items/{}/", deployed.at("/id"));
    let bodies: Vec<Value> = (0..AT_ONCE).map(|number| json!({"data": {"number": number}})).collect();
    let requests: Vec<ApiRequest<'_>> =
        bodies.iter().map(|body| request("PATCH", &path, "vm-owner-key", body)).collect();
    let answers = all(&system, &requests);
    let (taken, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!(taken.len(), 1, "{answers:?}");
    for answer in refused {
        assert_eq!((answer.status, answer.at("/code")), (400, &json!("deployed_item_not_latest")));
    }
    assert_eq!(taken.first().map(|answer| answer.at("/data/kept")), Some(&json!(true)));
    system.assert_sound();
}

fn version(deployed: &Value) -> u64 {
    deployed.get("version").unwrap().as_u64().unwrap()
}

#[test]
fn sixteen_concurrent_whole_submissions_end_with_the_last_one() {
    let system = Running::demo();
    let body = |number: usize| {
        let items =
            ["a", "b", "c"].map(|name| json!({"name": format!("{name}{}", number % 4), "cpu": number}));
        vms("AwesomeConsumer", &items)
    };
    let bodies: Vec<Value> = (1..=AT_ONCE).map(body).collect();
    let requests: Vec<ApiRequest<'_>> =
        bodies.iter().map(|body| request("POST", SUBMIT, "awesome-key", body)).collect();
    let answers = all(&system, &requests);
    answers.iter().filter(|answer| answer.status != 201).for_each(assert_contended);

    let snapshot = system.block_on(system.table.snapshot()).unwrap();
    let numbers: BTreeSet<u64> = snapshot.submissions.iter().map(|stored| stored.id.number()).collect();
    let taken = answers.iter().filter(|answer| answer.status == 201).count();
    assert!(taken >= 1, "at least one of the concurrent submissions is accepted");
    let dense: BTreeSet<u64> = (1..).take(taken).collect();
    assert_eq!(numbers, dense);

    let last = snapshot.submissions.iter().max_by_key(|stored| stored.id.number()).unwrap();
    let wins = |answer: &&Answer| answer.at("/id") == last.id.get();
    let at = answers.iter().position(|answer| wins(&answer)).unwrap();
    let declared = bodies.get(at).unwrap().pointer("/AwesomeConsumer/App/services/VM").unwrap();
    let declared: BTreeSet<String> = declared.as_array().unwrap().iter().map(Value::to_string).collect();
    let hashes = snapshot.items.values().filter(|item| item.declared).count();
    assert_eq!(hashes, declared.len());
    // An item absent from the last submission has a DELETE as its newest change instance.
    let mut standing = BTreeSet::new();
    for item in snapshot.items.values() {
        let newest = snapshot.changes.get(&item.latest_change).unwrap();
        let path = format!("{CONSUMER}/change_instances/{}/", newest.id);
        let answer = system.get(&path, "awesome-key");
        if item.declared {
            standing.insert(answer.at("/new_declaration/declaration").to_string());
        } else {
            assert_eq!(answer.at("/change_type"), "DELETE", "{answer:?}");
        }
    }
    assert_eq!(standing, declared);
    system.assert_sound();
}

#[test]
fn nothing_is_lost_while_the_owner_decides_and_the_consumer_submits() {
    let system = Running::demo();
    let count = 12;
    let items = |cpu: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"name": format!("vm-{number}"), "cpu": cpu})).collect()
    };
    let paths = declared(&system, &items(1));
    let approval = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
    let completion = json!({"state": "COMPLETED", "log": "done"});
    let submissions: Vec<Value> = (2..8).map(|cpu| vms("AwesomeConsumer", &items(cpu))).collect();
    let mut requests = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        if let Some(body) = submissions.get(number / 2).filter(|_| number % 2 == 0) {
            requests.push(request("POST", SUBMIT, "awesome-key", body));
        }
        requests.push(request("PATCH", path, "vm-owner-key", &approval));
        requests.push(request("PATCH", path, "vm-owner-key", &completion));
    }
    let answers = all(&system, &requests);
    let mut submitted = 0;
    for (request, answer) in requests.iter().zip(&answers) {
        match (request.path == SUBMIT, answer.status) {
            (true, 201) => submitted += 1,
            (false, 200) => {}
            // The order is open: an approval or completion can come too late, a completion too early.
            (false, 400) => assert_eq!(answer.at("/code"), "illegal_transition", "{answer:?}"),
            _ => assert_contended(answer),
        }
    }
    let snapshot = system.block_on(system.table.snapshot()).unwrap();
    assert_eq!(snapshot.submissions.len(), submitted + 1);
    assert_eq!(
        snapshot.changes.len(),
        count * (submitted + 1),
        "each submission opens one change instance for each item"
    );
    // Each 200 promises one entry in a history, so both numbers must be equal.
    let decided = |state: &str| {
        let accepted = requests.iter().zip(&answers).filter(|(request, answer)| {
            request.path != SUBMIT
                && answer.status == 200
                && request.body == json_bytes(state, &approval, &completion)
        });
        accepted.count()
    };
    let entries_in = |state: &str| {
        let entries = snapshot.changes.values().flat_map(|change| &change.history);
        entries.filter(|entry| entry.to.name() == state && entry.from.is_some()).count()
    };
    let taken = submitted + decided("APPROVED") + decided("COMPLETED");
    assert!(taken >= 1, "at least one of the concurrent requests wins");
    assert_eq!(entries_in("APPROVED"), decided("APPROVED"));
    assert_eq!(entries_in("COMPLETED"), decided("COMPLETED"));
    system.assert_sound();
}

fn json_bytes(state: &str, approval: &Value, completion: &Value) -> Vec<u8> {
    let body = if state == "APPROVED" { approval } else { completion };
    body.to_string().into_bytes()
}

#[test]
fn completion_and_displacement_of_one_change_instance_exclude_each_other() {
    let system = Running::demo();
    let mut outcomes = BTreeSet::new();
    for round in 0..8 {
        let name = format!("vm-{round}");
        let item = |cpu: u64| vms("AwesomeConsumer", &[json!({"name": name, "cpu": cpu})]);
        let partial = |cpu: u64| {
            let answer = system.call("PATCH", SUBMIT, "awesome-key", &item(cpu));
            assert_eq!(answer.status, 201, "{answer:?}");
            let changes = answer.at("/change_instances").as_array().unwrap();
            let change =
                changes.iter().find(|change| change.pointer("/service_item/name").unwrap() == name.as_str());
            format!("{OWNER}/change_instances/{}/", change.unwrap().get("id").unwrap())
        };
        let older = partial(1);
        moved(&system, &older, "APPROVED");
        let newer = partial(2);
        let (complete, approve) = (json!({"state": "COMPLETED"}), json!({"state": "APPROVED"}));
        let requests = [
            request("PATCH", &older, "vm-owner-key", &complete),
            request("PATCH", &newer, "vm-owner-key", &approve),
        ];
        let answers = all(&system, &requests);
        let (completed, approved) = (answers.first().unwrap(), answers.last().unwrap());
        assert_eq!((approved.status, approved.at("/state")), (200, &json!("APPROVED")), "{approved:?}");
        let end = states(&system, &older).pop().unwrap();
        if completed.status == 200 {
            assert_eq!(end, "COMPLETED");
        } else {
            let actual = (completed.status, completed.at("/code"), completed.at("/state"));
            assert_eq!(actual, (400, &json!("illegal_transition"), &json!("CLOSED")), "{completed:?}");
            assert_eq!(end, "CLOSED");
        }
        // If the CREATE closed before its completion, nothing exists yet. So the newer change is a CREATE (R8).
        let change_type = if end == "COMPLETED" { "MODIFY" } else { "CREATE" };
        assert_eq!(system.get(&newer, "vm-owner-key").at("/change_type"), change_type);
        outcomes.insert(end);
        system.assert_sound();
    }
    assert!(!outcomes.is_empty());
}

/// Number of rounds of a race between an owner and a consumer.
const ROUNDS: usize = 50;

/// Races the decision of an owner with a declaration in each round. Each item has one completed declaration, if
/// `is_in_place`.
fn raced(settings: &Value, is_in_place: bool, state: &str, after: &Value) -> (Running, Vec<[Answer; 2]>) {
    let system = Running::demo();
    let services = format!("{OWNER}/services/1/");
    system.call("PATCH", &services, "vm-owner-key", settings).expect_status(200);
    let rounds = (0..ROUNDS).map(|round| {
        let named = |body: &Value| {
            let items: Vec<Value> = body.as_object().map(|_| body.clone()).into_iter().collect();
            json!({"AwesomeConsumer": {format!("App{round}"): {"services": {"VM": items}}}})
        };
        let declare = |cpu: u64| {
            let declared =
                system.call("PATCH", SUBMIT, "awesome-key", &named(&json!({"name": "one", "cpu": cpu})));
            format!("{OWNER}/change_instances/{}/", declared.at("/change_instances/0/id"))
        };
        let mut path = declare(1);
        if is_in_place {
            for state in ["APPROVED", "COMPLETED"] {
                moved(&system, &path, state);
            }
            path = declare(2);
            moved(&system, &path, "APPROVED");
        }
        let (decision, next) = (json!({"state": state}), named(after));
        let requests = [
            request("PATCH", &path, "vm-owner-key", &decision),
            request("PATCH", SUBMIT, "awesome-key", &next),
        ];
        <[Answer; 2]>::try_from(all(&system, &requests)).unwrap()
    });
    let rounds = rounds.collect();
    (system, rounds)
}

#[test]
fn an_approval_and_an_unneeded_removal_exclude_each_other() {
    let (system, rounds) = raced(&json!({"complete_unneeded": true}), false, "APPROVED", &Value::Null);
    for [approved, removed] in &rounds {
        assert_eq!(removed.status, 201, "{removed:?}");
        let expected = if approved.status == 200 { "PENDING" } else { "COMPLETED" };
        assert_eq!(removed.at("/change_instances/0/state"), expected, "{approved:?} {removed:?}");
    }
    system.assert_sound();
}

#[test]
fn the_completion_of_a_first_half_and_a_new_declaration_have_an_order() {
    let next = json!({"name": "one", "cpu": 3});
    let (system, rounds) = raced(&json!({"update_strategy": "REPLACE"}), true, "COMPLETED", &next);
    let mut created = 0;
    for [completed, declared] in &rounds {
        assert_eq!((completed.status, declared.status), (200, 201), "{completed:?} {declared:?}");
        let item = format!("service_item_id={}", completed.at("/service_item/id"));
        let changes = system.get(&format!("{OWNER}/change_instances/?{item}"), "vm-owner-key");
        let of_kind = |change: &&Value| change["kind"] == "REPLACEMENT";
        created += changes.at("/results").as_array().unwrap().iter().filter(of_kind).count();
        // After the second half, the declaration replaces it. Before, it waits for the removal.
        assert_eq!(declared.at("/change_instances/0/change_type"), "DELETE", "{declared:?}");
    }
    assert!(created <= ROUNDS, "at most one second half each");
    system.assert_sound();
}

/// Claims work for a worker until nothing is left, and returns the change instances with the numbers of the claims.
fn claimed(system: &Running, workers: usize, at_once: u64) -> Vec<(Value, Value)> {
    let path = format!("{OWNER}/change_instances/claim/");
    let worker = |n: usize| json!({"worker": format!("w-{n}"), "limit": at_once});
    let bodies: Vec<Value> = (0..workers).map(worker).collect();
    let requests: Vec<_> = bodies.iter().map(|body| request("POST", &path, "vm-owner-key", body)).collect();
    let answers = all(system, &requests);
    let rows = answers.iter().inspect(|answer| assert_eq!(answer.status, 200, "{answer:?}"));
    let rows = rows.flat_map(|answer| answer.at("/results").as_array().unwrap().clone());
    rows.map(|change| (change["id"].clone(), change["claim"]["number"].clone())).collect()
}

#[test]
fn eight_workers_get_forty_different_change_instances() {
    let system = Running::demo();
    let items: Vec<Value> = (0..40).map(|n| json!({"name": format!("vm{n}")})).collect();
    for path in declared(&system, &items) {
        moved(&system, &path, "APPROVED");
    }
    let mut all = Vec::new();
    // A worker that loses all its races gets fewer than it wants, and asks again.
    while let round = claimed(&system, 8, 5)
        && !round.is_empty()
    {
        all.extend(round);
    }
    let distinct: BTreeSet<String> = all.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!((all.len(), distinct.len()), (40, 40));
    assert!(all.iter().all(|(_, number)| number == 1), "{all:?}");
    system.assert_sound();
}

#[test]
fn a_worker_whose_lease_has_ended_completes_nothing() {
    let system = Running::demo();
    let path = declared(&system, &[json!({"name": "one"})]).remove(0);
    moved(&system, &path, "APPROVED");
    let claim = format!("{path}claim/");
    let take = |worker: &str| system.call("POST", &claim, "vm-owner-key", &json!({"worker": worker}));
    assert_eq!(take("w-1").at("/claim/number"), 1);
    take("w-2").expect_status(400);
    end_leases(&system);
    assert_eq!(take("w-2").at("/claim/number"), 2);
    let complete = |number: u64| json!({"state": "COMPLETED", "claim": number});
    let stale = system.call("PATCH", &path, "vm-owner-key", &complete(1));
    assert_eq!((stale.status, stale.at("/code")), (400, &json!("not_claimed")));
    assert_eq!((stale.at("/claim/worker"), stale.at("/claim/number")), (&json!("w-2"), &json!(2)));
    // The lease has ended, but the work is still the worker's own.
    end_leases(&system);
    system.call("PATCH", &path, "vm-owner-key", &complete(2)).expect_status(200);
    let released = system.get(&format!("{path}?claims=true"), "vm-owner-key");
    assert_eq!(released.at("/claim"), &json!({"number": 2, "worker": null, "until": null}));
    system.assert_sound();
}

#[test]
fn a_completion_and_a_claim_of_another_worker_have_an_order() {
    let system = Running::demo();
    let items: Vec<Value> = (0..ROUNDS).map(|n| json!({"name": format!("vm{n}")})).collect();
    for path in declared(&system, &items) {
        moved(&system, &path, "APPROVED");
        let claim = format!("{path}claim/");
        system.call("POST", &claim, "vm-owner-key", &json!({"worker": "w-1"})).expect_status(200);
        end_leases(&system);
        let (complete, take) = (json!({"state": "COMPLETED", "claim": 1}), json!({"worker": "w-2"}));
        let requests = [
            request("PATCH", &path, "vm-owner-key", &complete),
            request("POST", &claim, "vm-owner-key", &take),
        ];
        let [completed, taken] = <[Answer; 2]>::try_from(all(&system, &requests)).unwrap();
        let statuses = (completed.status, taken.status);
        assert!([(200, 400), (400, 200)].contains(&statuses), "{completed:?} {taken:?}");
    }
    system.assert_sound();
}

/// Moves the end of every lease to the past, because the clock of the functions is the real one.
fn end_leases(system: &Running) {
    for mut row in system.rows().into_iter().filter(|row| row["ty"]["S"] == "CLAIM") {
        if row.get("u").is_some() {
            row["u"] = json!({"N": "1"});
            system.put_row(&row);
        }
    }
}
