//! A key of the role PLATFORM: made by a load, never rotated, and a reader in its own team.

use crate::api::demo::{SUBMIT, TEAMS, VALIDATE};
use domain::base::actor::Role;
use serde_json::{Value, json};
use support::Running;

const KEYS: &str = "/v1/account/api_keys/";
const OPERATOR: &str = "platform-key";

#[test]
fn the_demo_has_a_key_of_operators_in_its_last_team() {
    let system = Running::demo();
    let teams = system.get("/v1/platform/teams/?limit=100", OPERATOR);
    let last = teams.rows().last().unwrap().clone();
    assert_eq!((&last["id"], &last["name"]), (teams.at("/count"), &json!("Platform")));
    assert_eq!(system.get(TEAMS, OPERATOR).at("/results/0/id"), &last["id"]);
    assert!(system.announcement.contains("PLATFORM  platform-key"), "{}", system.announcement);
}

#[test]
fn within_its_team_it_reads_only() {
    let system = Running::demo();
    for list in ["consumer/submissions", "consumer/service_items", "serviceowner/change_instances"] {
        let answer = system.get(&format!("/v1/orcabase/{list}/"), OPERATOR);
        assert_eq!((answer.status, answer.at("/count")), (200, &json!(0)), "{list}: {answer:?}");
    }
    let declared = json!({"Platform": {"App": {"services": {"VM": [{"name": "one"}]}}}});
    system.expect(200, "POST", VALIDATE, OPERATOR, &declared);
    let keys = system.get(KEYS, OPERATOR);
    let submitted = system.call("POST", SUBMIT, OPERATOR, &declared);
    for refused in [keys, submitted] {
        assert_eq!(refused.code(), (403, "read_only_key"), "{refused:?}");
    }
}

#[test]
fn an_administrator_of_its_team_may_revoke_it_but_not_rotate_it() {
    let team = json!({"name": "Platform", "api_keys": [
        {"key": "chief-key", "name": "chief", "role": "ADMIN"},
        {"key": OPERATOR, "name": "console", "role": "PLATFORM"},
    ]});
    let system = Running::start(&json!({"teams": [team]}).to_string());
    let keys = system.get(KEYS, "chief-key");
    let key = &keys.rows()[1];
    assert_eq!((&key["name"], &key["role"]), (&json!("console"), &json!(Role::Platform.name())));
    let url = key["url"].as_str().unwrap();
    let rotated = system.call("POST", &format!("{url}rotate/"), "chief-key", &json!({}));
    assert_eq!(rotated.code(), (400, "platform_key"), "{rotated:?}");
    assert_eq!(system.get(url, "chief-key").at("/successor"), &Value::Null);
    system.expect(204, "DELETE", url, "chief-key", &Value::Null);
    assert_eq!(system.get(KEYS, "chief-key").at("/count"), &json!(1));
}
