//! References to items of other teams: what a team learns of them with a grant, without one, and after its end (R69).

use serde_json::{Value, json};
use support::{Answer, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";
const ITEMS: &str = "/v1/orcabase/consumer/service_items";
const GRANTED: &str = "/v1/orcabase/consumer/granted_items";

const OWNER: &str = "awesome-key";
const USER: &str = "awesome2-key";

/// The marks of values of the granting team. The other team may see the note while it has a grant, and never the secret.
const NOTE: &str = "core-note";
const SECRET: &str = "core-secret";

/// Starts a system with a service whose items refer to items of other teams and derive a text from their values.
fn system() -> Running {
    let system = Running::demo();
    let text = json!({"type": "string"});
    let derived = |text: &str| json!({"type": "string", "readOnly": true, "x-derived": text});
    let port = json!({"title": "Port", "type": "object", "required": ["name"], "properties": {"name": text,
        "note": text, "password": {"type": "string", "writeOnly": true}}});
    let link = json!({"title": "Link", "type": "object", "required": ["name"], "properties": {"name": text,
        "port": {"type": ["string", "object"], "format": "reference", "service_reference": "Port",
            "x-reach": "granted"},
        "title": derived("{port.note}"), "stolen": derived("{port.password}"), "number": derived("{port.service_item}")}});
    for definition in [port, link] {
        system.expect(201, "POST", "/v1/orcabase/serviceowner/services/", "vm-owner-key", &definition);
    }
    system
}

/// Declares the ports of one team, and grants them to other teams. Returns the id of the first one.
fn ports(system: &Running, names: &[&str], granted: &[&str]) -> u64 {
    let port = |name: &&str| json!({"name": name, "note": NOTE, "password": SECRET});
    let ports: Vec<Value> = names.iter().map(port).collect();
    let metadata = json!({"dovetail_granted_teams": granted});
    let core = json!({"metadata": metadata, "services": {"Port": ports}});
    let path = format!("{SUBMIT}?allow_removal=true");
    let answer = system.call("PATCH", &path, OWNER, &json!({"AwesomeConsumer": {"Core": core}}));
    assert!([200, 201].contains(&answer.status), "{answer:?}");
    system.wait_idle();
    let listed = system.get(&format!("{ITEMS}/?name=ge-0"), OWNER);
    listed.at("/results/0/id").as_u64().unwrap()
}

fn link(port: &Value) -> Value {
    json!({"AwesomeConsumer2": {"Campus": {"services": {"Link": [{"name": "lab", "port": port}]}}}})
}

/// Returns the documents of the user's item, alone and in a list.
fn documents(system: &Running) -> [Value; 2] {
    let listed = system.get(&format!("{ITEMS}/?name=lab&document=true"), USER);
    let item = listed.at("/results/0").clone();
    let one = system.get(&format!("{ITEMS}/{}/", item["id"]), USER).body;
    [one["document"].clone(), item["document"].clone()]
}

/// Returns the responses of all lists and objects of the user, as one text.
fn seen(system: &Running) -> String {
    let id = system.get(&format!("{ITEMS}/?name=lab"), USER).at("/results/0/id").as_u64().unwrap();
    let consumer = "/v1/orcabase/consumer";
    let paths = [
        format!("{ITEMS}/?document=true&limit=100"),
        format!("{ITEMS}/{id}/"),
        format!("{ITEMS}/?declaration_contains={NOTE}"),
        format!("{consumer}/change_instances/?limit=100"),
        format!("{consumer}/submissions/?limit=100"),
        format!("{consumer}/declaration/"),
        format!("{consumer}/graph/"),
        format!("{consumer}/applications/"),
    ];
    paths.iter().map(|path| system.get(path, USER).body.to_string()).collect()
}

#[track_caller]
fn assert_missing(answers: &[Answer]) {
    for answer in answers {
        assert_eq!(answer.at("/problems/0/rule"), "unknown_item", "{answer:?}");
        assert_eq!(answer.body["problems"], answers[0].body["problems"], "every answer is the same");
    }
}

#[test]
fn an_item_without_a_grant_looks_like_a_missing_one() {
    let system = system();
    let port = ports(&system, &["ge-0", "ge-1"], &[]);
    let try_all = |ids: &[u64]| -> Vec<Answer> {
        let reference = |id: &u64| link(&json!({"service_item": id}));
        let each = ids.iter().flat_map(|id| [(SUBMIT, reference(id)), (VALIDATE, reference(id))]);
        each.map(|(path, body)| system.expect(400, "PATCH", path, USER, &body)).collect()
    };
    assert_missing(&try_all(&[port, port + 1, port + 77, 1, (1 << 53) - 1]));
    let granted = |id: u64| system.get(&format!("{GRANTED}/{id}/"), USER);
    assert_eq!((granted(port).status, granted(port + 77).status), (404, 404));

    // A grant to another team changes nothing, and a removed item is missing.
    ports(&system, &["ge-0", "ge-1"], &["LBOwnerTeam"]);
    assert_missing(&try_all(&[port, port + 77]));
    ports(&system, &["ge-0"], &["*"]);
    assert_missing(&try_all(&[port + 1, port + 77]));
    assert_eq!(granted(port).status, 200);
    system.assert_sound();
}

#[test]
fn a_text_shows_a_value_of_another_team_as_long_as_the_grant_lasts() {
    let system = system();
    let port = ports(&system, &["ge-0"], &["AwesomeConsumer2"]);
    system.expect(201, "PATCH", SUBMIT, USER, &link(&json!({"service_item": port})));
    system.wait_idle();
    for document in documents(&system) {
        assert_eq!((&document["title"], document.get("stolen")), (&json!(NOTE), None), "{document}");
        assert_eq!(document.get("number"), None, "a name goes through the reference, not into it");
    }
    let granted = system.get(&format!("{GRANTED}/{port}/"), USER).body.to_string();
    assert!(granted.contains(NOTE) && !granted.contains(SECRET), "{granted}");
    assert!(!seen(&system).contains(SECRET));

    ports(&system, &["ge-0"], &[]);
    for document in documents(&system) {
        assert_eq!(document.get("title"), None, "{document}");
    }
    assert!(!seen(&system).contains(NOTE), "the value is not shown after the grant");
    assert_eq!(system.get(&format!("{GRANTED}/{port}/"), USER).status, 404);
    // The reference stays, and counts.
    assert_eq!(system.get(&format!("{ITEMS}/{port}/"), OWNER).at("/uses"), 1);
}

#[test]
fn a_team_learns_the_number_of_its_users_and_not_their_names() {
    let system = system();
    let port = ports(&system, &["ge-0"], &["*"]);
    system.expect(201, "PATCH", SUBMIT, USER, &link(&json!({"service_item": port})));
    system.wait_idle();
    let core = json!({"AwesomeConsumer": {"Core": {"services": {"Port": []}}}});
    let refused = system.expect(400, "PATCH", SUBMIT, OWNER, &core);
    let previewed = system.expect(200, "PATCH", VALIDATE, OWNER, &core);
    let listed = system.get(&format!("{ITEMS}/?references={port}"), OWNER);
    assert_eq!((listed.at("/count"), previewed.at("/unconfirmed_removals/0/uses")), (&json!(0), &json!(1)));
    for answer in [refused, previewed, listed, system.get(&format!("{ITEMS}/{port}/"), OWNER)] {
        let text = answer.body.to_string();
        assert!(!text.contains("AwesomeConsumer2") && !text.contains("Campus"), "{text}");
    }
    assert_eq!(system.get(&format!("{ITEMS}/?references={port}"), USER).at("/count"), 1);
}
