//! The order of changes under load: workers claim ready work alone, and a required order holds against removals at once
//! (R74; scenarios P82 and P85).

use super::races::request;
use futures_util::future::join;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use support::{Running, send};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances/";
const KEY: &str = "vm-owner-key";
const WORKERS: usize = 8;
const ROUNDS: usize = 100;

/// Starts a system with a service whose items may refer to each other.
fn start(settings: &Value) -> Running {
    let system = Running::demo();
    let after = json!({"type": "array", "format": "reference_list", "service_reference": "Step"});
    let definition = json!({"title": "Step", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "after": after}});
    let published = system.expect(201, "POST", "/v1/orcabase/serviceowner/services/", KEY, &definition);
    let path = format!("/v1/orcabase/serviceowner/services/{}/", published.at("/id"));
    system.expect(200, "PATCH", &path, KEY, settings);
    system
}

fn declared(steps: &[Value]) -> Value {
    json!({"AwesomeConsumer": {"Lab": {"services": {"Step": steps}}}})
}

#[test]
fn workers_claim_a_wave_after_the_wave_before_is_in_place() {
    let system = start(&json!({"approval_required": false}));
    let name = |wave: usize, n: usize| format!("step-{wave}-{n}");
    let step = |wave: usize, n: usize| match wave {
        0 => json!({"name": name(wave, n)}),
        _ => json!({"name": name(wave, n), "after": [name(wave - 1, n), name(wave - 1, (n + 1) % 20)]}),
    };
    // The later waves come first in the queue, so only the order keeps workers from them.
    let steps: Vec<Value> =
        [2, 1, 0].into_iter().flat_map(|wave| (0..20).map(move |n| step(wave, n))).collect();
    system.expect(201, "POST", SUBMIT, "awesome-key", &declared(&steps));
    system.wait_idle();
    let wave_of = |row: &Value| row["service_item"]["name"].as_str().unwrap()[5..6].parse::<usize>().unwrap();
    let (mut done, mut claimed) = (BTreeSet::new(), BTreeMap::<u64, Value>::new());
    let mut turns = 0_usize;
    while done.len() < 60 {
        turns += 1;
        assert!(turns < 1_000, "the work comes to an end");
        let body = json!({"worker": format!("w-{}", turns % WORKERS), "limit": 3});
        let rows = system.expect(200, "POST", &format!("{CHANGES}claim/"), KEY, &body);
        for row in rows.at("/results").as_array().unwrap() {
            let (wave, n) =
                (wave_of(row), row["service_item"]["name"].as_str().unwrap()[7..].parse::<usize>().unwrap());
            let before = [(wave.wrapping_sub(1), n), (wave.wrapping_sub(1), (n + 1) % 20)];
            assert!(wave == 0 || before.iter().all(|one| done.contains(one)), "{row} comes too early");
            claimed.insert(row["id"].as_u64().unwrap(), row.clone());
        }
        // Half of the claimed work ends in each turn.
        let ends: Vec<u64> = claimed.keys().copied().step_by(2).collect();
        for id in ends {
            let row = claimed.remove(&id).unwrap();
            let body = json!({"state": "COMPLETED", "claim": row["claim"]["number"]});
            system.expect(200, "PATCH", &format!("{CHANGES}{id}/"), KEY, &body);
            done.insert((
                wave_of(&row),
                row["service_item"]["name"].as_str().unwrap()[7..].parse::<usize>().unwrap(),
            ));
        }
    }
    system.assert_sound();
}

#[test]
fn a_required_order_holds_while_the_consumer_declares_at_once() {
    let system = start(&json!({"approval_required": false, "require_ready": true}));
    let complete = json!({"state": "COMPLETED"});
    let mut refused = 0;
    for round in 0..ROUNDS {
        let (a, b) = (format!("a{round}"), format!("b{round}"));
        let both = |size: usize| {
            declared(&[json!({"name": a}), json!({"name": b, "after": [a.clone()], "size": size})])
        };
        let created = system.expect(201, "POST", SUBMIT, "awesome-key", &both(1));
        let rows = created.at("/change_instances").as_array().unwrap();
        let path = |name: &str| {
            let row = rows.iter().find(|row| row["service_item"]["name"] == *name).unwrap();
            format!("{CHANGES}{}/", row["id"])
        };
        let (first, second) = (path(&a), path(&b));
        let early = request("PATCH", &second, KEY, &complete);
        // The completion of the first item, or another declaration, at the same time.
        let other = if round % 2 == 0 {
            request("PATCH", &first, KEY, &complete)
        } else {
            request("POST", SUBMIT, "awesome-key", &both(2))
        };
        let (early, other) = system.block_on(join(send(&system.base, &early), send(&system.base, &other)));
        assert!(matches!(other.status, 200 | 201), "{other:?}");
        system.wait_idle();
        let is_first_done = system.get(&first, KEY).at("/state") == "COMPLETED";
        match early.status {
            200 => assert!(is_first_done, "round {round}: COMPLETED before {a} is in place"),
            400 => {
                refused += 1;
                assert!(["not_ready", "illegal_transition"].contains(&early.code().1), "{early:?}");
            }
            503 => {}
            _ => panic!("{early:?}"),
        }
        // The end of the round: everything is completed in its order.
        for name in [&a, &b] {
            let open = system.get(&format!("{CHANGES}?state=APPROVED&service_name=Step"), KEY);
            let row = open
                .at("/results")
                .as_array()
                .unwrap()
                .iter()
                .find(|row| row["service_item"]["name"] == **name)
                .cloned();
            if let Some(row) = row {
                system.expect(200, "PATCH", &format!("{CHANGES}{}/", row["id"]), KEY, &complete);
            }
        }
    }
    assert!(refused > 0, "no completion came too early");
    system.assert_sound();
}
