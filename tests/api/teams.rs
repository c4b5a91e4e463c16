//! The settings of a team.

use crate::api::demo::{CONSUMER, RECORDS, SUBMIT, TEAMS, numbered, vms};
use crate::security::keys::made;
use domain::base::actor::Role;
use serde_json::{Value, json};
use support::{Answer, Running};

const KEY: &str = "awesome-key";

/// Returns the path of the consumer's team.
fn path(system: &Running) -> String {
    format!("{TEAMS}{}/", system.get(TEAMS, KEY).at("/results/0/id"))
}

fn set(system: &Running, key: &str, body: &Value) -> Answer {
    system.call("PATCH", &path(system), key, body)
}

#[test]
fn an_administrator_changes_the_settings_of_the_own_team() {
    let system = Running::start(dovetail_daemon::world::DEMO);
    let team = system.get(&path(&system), KEY);
    // A new team wants its removals confirmed.
    assert_eq!(team.at("/confirm_removals"), &json!(true), "{team:?}");
    assert_eq!(system.get(TEAMS, KEY).at("/results/0"), &team.body);
    let off = set(&system, KEY, &json!({"confirm_removals": false}));
    off.assert_is(200, &json!({"/confirm_removals": false}));
    for same in [json!({"confirm_removals": false}), json!({})] {
        let same = set(&system, KEY, &same);
        assert_eq!((same.status, &same.body), (200, &off.body));
    }
    assert_eq!(set(&system, KEY, &json!({"confirm_removals": true})).body, team.body);

    for (body, code) in [
        (json!({"confirm_removals": "yes"}), "invalid_field"),
        (json!({"confirm_removals": null}), "invalid_field"),
        (json!({"metadata": {}}), "unknown_fields"),
    ] {
        let refused = set(&system, KEY, &body);
        assert_eq!(refused.code(), (400, code), "{body}: {refused:?}");
    }
    let general = made(&system, KEY, "pipeline", Role::General);
    let seen = system.get(TEAMS, general.at("/key").as_str().unwrap());
    assert_eq!((team.at("/role"), seen.at("/results/0/role")), (&json!("ADMIN"), &json!("GENERAL")));
    let refused = set(&system, general.at("/key").as_str().unwrap(), &json!({"confirm_removals": false}));
    assert_eq!(refused.code(), (403, "needs_admin"));
    let foreign = set(&system, "vm-owner-key", &json!({"confirm_removals": false}));
    assert_eq!(foreign.code(), (404, "not_found"));

    let records = system.get(RECORDS, KEY);
    let entries = records.rows().iter().filter(|entry| !entry["team"].is_null());
    let describe = |entry: &Value| {
        format!("{} {} by {}", entry["event"], entry["team"]["confirm_removals"], entry["changed_by"])
    };
    let entries: Vec<String> = entries.map(describe).collect();
    let expected = [
        r#""TEAM_CHANGED" true by "AwesomeConsumer-1 (Api Key)""#,
        r#""TEAM_CHANGED" false by "AwesomeConsumer-1 (Api Key)""#,
        r#""TEAM_CREATED" true by "SYSTEM""#,
    ];
    assert_eq!(entries, expected);
}

#[test]
fn metadata_of_a_declaration_keep_the_settings() {
    let system = Running::start(dovetail_daemon::world::DEMO);
    let declared = json!({"AwesomeConsumer": {"metadata": {"budget": 1}}});
    system.expect(201, "POST", SUBMIT, KEY, &declared);
    let team = system.get(&path(&system), KEY);
    assert_eq!((team.at("/confirm_removals"), team.at("/metadata/budget")), (&json!(true), &json!(1)));
}

/// Submits a whole team without its application, and returns the answer.
fn removing(system: &Running, query: &str, headers: &[(&str, &str)]) -> Answer {
    system.call_with(headers, "POST", &format!("{SUBMIT}{query}"), KEY, &json!({"AwesomeConsumer": {}}))
}

#[test]
fn an_unconfirmed_removal_changes_nothing_in_both_packings() {
    for items in [2, 150] {
        let system = Running::start(dovetail_daemon::world::DEMO);
        system.expect(201, "POST", SUBMIT, KEY, &vms(&numbered("vm-", items)));
        system.wait_idle();
        let list = format!("{CONSUMER}/service_items/?limit=100");
        let before = system.get(&list, KEY);
        let application = before.at("/results/0/application").clone();

        let refused = removing(&system, "", &[("idempotency-key", "k")]);
        assert_eq!(refused.code(), (400, "removal_not_confirmed"), "{refused:?}");
        let gone = json!([{"id": application["id"], "name": application["name"], "items": items}]);
        refused.assert_is(400, &json!({"/is_valid": false, "/messages": [], "/applications": gone}));
        let name = application["name"].as_str().unwrap();
        assert!(refused.at(&format!("/errors/AwesomeConsumer/{name}")).is_object(), "{refused:?}");
        let detail = refused.at("/detail").as_str().unwrap();
        for part in [&*format!("'{name}' ({items} items)"), "allow_removal=true"] {
            assert!(detail.contains(part), "{part}: {detail}");
        }
        assert_eq!(system.get(&list, KEY).rows(), before.rows());
        assert_eq!(system.get(&format!("{CONSUMER}/submissions/"), KEY).at("/count"), &json!(1));
        let invalid = removing(&system, "?allow_removal=perhaps", &[]);
        assert_eq!((invalid.status, invalid.at("/pointer")), (400, &json!("/allow_removal")));
        assert_eq!(removing(&system, "?allow_removal=false", &[]).status, 400);

        // A plan that is not the present one is 412, as for every submission.
        let stale = removing(&system, "", &[("if-match", "\"another\"")]);
        assert_eq!(stale.at("/code"), &json!("plan_changed"));
        // The refusal did not use the idempotency key.
        let done = removing(&system, "?allow_removal=true", &[("idempotency-key", "k")]);
        assert_eq!((done.status, done.at("/planned/direct")), (201, &json!(items)), "{done:?}");
        system.wait_idle();
    }
}
