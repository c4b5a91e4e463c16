//! Two teams: one removes an item while the other begins or ends a reference to it (R71, scenario P62).
//!
//! No order of their requests leaves a reference to a removed item, unless its removal was confirmed.

use super::races::request;
use super::staging::through;
use dovetail_table::ACTIONS_MAX;
use futures_util::future::join;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use support::{Answer, ApiRequest, Fate, Running, send};

const SERVICES: &str = "/v1/orcabase/serviceowner/services/";
const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CONFIRMED: &str = "/v1/orcabase/consumer/submissions/submit/?allow_removal=true";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";

const OWNER: &str = "awesome-key";
const USER: &str = "awesome2-key";

/// Number of races in each packing.
const ROUNDS: usize = 100;

/// Number of items of one submission that refer to the same item.
const USERS: usize = 300;

/// Returns a system whose links may refer to nodes of other teams. A maximum of one write in a transaction makes each
/// submission staged.
fn system(actions_max: usize) -> Running {
    let system = Running::demo_with(actions_max);
    let node = json!({"title": "Node", "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}});
    system.expect(201, "POST", SERVICES, "vm-owner-key", &node);
    let end = json!({"type": ["string", "object"], "format": "reference", "service_reference": "Node",
        "x-reach": "granted"});
    let link = json!({"title": "Link", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "end": end}});
    system.expect(201, "POST", SERVICES, "lb-owner-key", &link);
    system
}

/// Returns a declaration of the nodes of one team, which every team may use.
fn nodes(names: &[&str]) -> Value {
    let nodes: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let metadata = json!({"dovetail_granted_teams": ["*"]});
    json!({"AwesomeConsumer": {"Core": {"metadata": metadata, "services": {"Node": nodes}}}})
}

/// Returns a declaration of the links of another team, each to the same node.
fn links(count: usize, node: &Value) -> Value {
    let link = |number: usize| json!({"name": format!("link{number}"), "end": {"service_item": node}});
    let links: Vec<Value> = (0..count).map(link).collect();
    json!({"AwesomeConsumer2": {"Campus": {"services": {"Link": links}}}})
}

/// Declares a node and returns its id.
fn declare(system: &Running, name: &str) -> Value {
    let answer = system.expect(201, "PATCH", SUBMIT, OWNER, &nodes(&[name]));
    system.wait_idle();
    answer.at("/change_instances/0/service_item/id").clone()
}

/// Removes all links and nodes.
fn clear(system: &Running) {
    for (key, body) in [(USER, links(0, &Value::Null)), (OWNER, nodes(&[]))] {
        let answer = system.call("PATCH", SUBMIT, key, &body);
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        system.wait_idle();
    }
}

/// Returns the rule of the only problem of a rejected declaration.
fn rule(answer: &Answer) -> Option<&str> {
    answer.body.pointer("/problems/0/rule").and_then(Value::as_str)
}

/// Fails unless exactly one of the removal of a node and the use of it was accepted.
#[track_caller]
fn assert_one(removed: &Answer, used: &Answer) {
    match (removed.status, used.status) {
        (201, 400) => assert_eq!(rule(used), Some("unknown_item"), "{used:?}"),
        (400, 201) => assert_eq!(rule(removed), Some("in_use"), "{removed:?}"),
        _ => panic!("one of both must be accepted: {removed:?} {used:?}"),
    }
}

/// Sends a request, and another one just before a call of the first to the table. Returns both responses; the second is
/// missing if the first request has fewer calls.
fn at_call(
    system: &Arc<Running>,
    (actions_max, call): (usize, usize),
    held: &ApiRequest<'_>,
    other: impl FnOnce(&Running) -> Answer + Send + 'static,
) -> (Answer, Option<Answer>) {
    let (calls, other) = (AtomicUsize::new(0), Mutex::new(Some(other)));
    let between: Arc<Mutex<Option<Answer>>> = Arc::default();
    let (collected, running) = (Arc::clone(&between), Arc::clone(system));
    let fate = move |_: &str| {
        if calls.fetch_add(1, Ordering::SeqCst) == call {
            let (other, running) = (other.lock().unwrap().take().unwrap(), Arc::clone(&running));
            *collected.lock().unwrap() = std::thread::spawn(move || Some(other(&running))).join().unwrap();
        }
        Fate::Pass
    };
    let answer = through(system, actions_max, fate, held).unwrap();
    system.wait_idle();
    (answer, between.lock().unwrap().take())
}

#[test]
fn a_use_at_any_moment_of_a_removal_prevents_it_or_is_refused() {
    for actions_max in [ACTIONS_MAX, 1] {
        let system = Arc::new(system(actions_max));
        let mut accepted = [0, 0];
        for call in 0.. {
            let node = declare(&system, &format!("node{call}"));
            let (body, removal) = (links(1, &node), nodes(&[]));
            let removal = request("PATCH", SUBMIT, OWNER, &removal);
            let (removed, used) = at_call(&system, (actions_max, call), &removal, move |system| {
                system.call("PATCH", SUBMIT, USER, &body)
            });
            let Some(used) = used else { break };
            assert_one(&removed, &used);
            accepted[usize::from(used.status == 201)] += 1;
            clear(&system);
        }
        assert!(accepted[1] > 0, "the use is accepted before the commit of the removal");
        assert!(actions_max > 1 || accepted[0] > 0, "the removal is accepted when its commit comes first");
        system.assert_sound();
    }
}

#[test]
fn a_removal_at_any_moment_of_a_use_is_refused_or_prevents_it() {
    for actions_max in [ACTIONS_MAX, 1] {
        let system = Arc::new(system(actions_max));
        let mut accepted = [0, 0];
        for call in 0.. {
            let node = declare(&system, &format!("node{call}"));
            let using = links(1, &node);
            let using = request("PATCH", SUBMIT, USER, &using);
            let (used, removed) = at_call(&system, (actions_max, call), &using, move |system| {
                system.call("PATCH", SUBMIT, OWNER, &nodes(&[]))
            });
            let Some(removed) = removed else { break };
            assert_one(&removed, &used);
            accepted[usize::from(removed.status == 201)] += 1;
            clear(&system);
        }
        assert!(accepted[1] > 0, "the removal is accepted before the commit of the use");
        system.assert_sound();
    }
}

#[test]
fn the_end_of_a_use_and_the_removal_of_its_node_count_in_any_order() {
    for actions_max in [ACTIONS_MAX, 1] {
        let system = Arc::new(system(actions_max));
        for call in 0.. {
            let node = declare(&system, &format!("node{call}"));
            system.expect(201, "PATCH", SUBMIT, USER, &links(1, &node));
            system.wait_idle();
            let release = links(0, &node);
            let release = request("PATCH", SUBMIT, USER, &release);
            // The node is gone before the call: its removal is confirmed and complete.
            let (released, removed) = at_call(&system, (actions_max, call), &release, move |system| {
                let removed = system.call("PATCH", CONFIRMED, OWNER, &nodes(&[]));
                complete(system, removed.at("/change_instances/0/id"));
                removed
            });
            let Some(removed) = removed else { break };
            assert_eq!(
                (released.status, removed.status),
                (201, 201),
                "call {call}: {released:?} {removed:?}"
            );
            system.assert_sound();
        }
    }
}

/// Approves and completes a removal, so that its item is gone.
fn complete(system: &Running, change: &Value) {
    system.wait_idle();
    for state in ["APPROVED", "COMPLETED"] {
        let path = format!("{CHANGES}{change}/");
        system.expect(200, "PATCH", &path, "vm-owner-key", &json!({"state": state}));
    }
}

#[test]
fn of_a_removal_and_a_use_at_once_one_is_accepted() {
    for actions_max in [ACTIONS_MAX, 1] {
        let system = system(actions_max);
        for round in 0..ROUNDS {
            let node = declare(&system, &format!("node{round}"));
            let (removal, using) = (nodes(&[]), links(1, &node));
            let (removal, using) =
                (request("PATCH", SUBMIT, OWNER, &removal), request("PATCH", SUBMIT, USER, &using));
            let (removed, used) =
                system.block_on(join(send(&system.base, &removal), send(&system.base, &using)));
            assert_one(&removed, &used);
            system.wait_idle();
            clear(&system);
        }
        system.assert_sound();
    }
}

/// Returns a declaration of one node with another name than before.
fn renamed(old: &str, new: &str) -> Value {
    let mut body = nodes(&[new]);
    body["AwesomeConsumer"]["Core"]["metadata"]["dovetail_renamed"] = json!({"Node": {old: new}});
    body
}

#[test]
fn another_name_and_a_use_at_once_are_both_accepted() {
    for actions_max in [ACTIONS_MAX, 1] {
        let system = system(actions_max);
        let node = declare(&system, "node0");
        let path = format!("/v1/orcabase/consumer/service_items/{node}/");
        for round in 0..ROUNDS {
            let new = format!("node{}", round + 1);
            let rename = renamed(&format!("node{round}"), &new);
            // Every second round releases the node.
            let uses = (round + 1) % 2;
            let using = links(uses, &node);
            let (rename, using) =
                (request("PATCH", SUBMIT, OWNER, &rename), request("PATCH", SUBMIT, USER, &using));
            let (renamed, used) =
                system.block_on(join(send(&system.base, &rename), send(&system.base, &using)));
            assert_eq!((renamed.status, used.status), (201, 201), "{renamed:?} {used:?}");
            system.wait_idle();
            let item = system.get(&path, OWNER);
            let counted = item.body.pointer("/uses").and_then(Value::as_u64).unwrap_or_default();
            assert_eq!(
                (item.at("/name"), usize::try_from(counted).unwrap()),
                (&json!(new), uses),
                "round {round}"
            );
        }
        system.assert_sound();
    }
}

#[test]
fn a_node_counts_all_users_of_a_staged_submission_from_its_commit() {
    let system = system(1);
    let node = declare(&system, "node");
    let path = format!("/v1/orcabase/consumer/service_items/{node}/");
    system.enable("generate", false);
    system.expect(201, "PATCH", SUBMIT, USER, &links(USERS, &node));
    assert_eq!(system.get(&path, OWNER).at("/uses"), USERS);
    system.enable("generate", true);
    system.assert_sound();
    system.expect(201, "PATCH", SUBMIT, USER, &links(0, &node));
    assert_eq!(system.get(&path, OWNER).body.pointer("/uses"), None);
    system.assert_sound();
}
