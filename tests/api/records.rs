//! The audit log: keys, services and teams, with actor and time.

use crate::api::demo::{SERVICES, definition};
use crate::security::keys::{ADMIN, KEYS, RECORDS, made, system, text};
use domain::base::actor::Role;
use serde_json::{Value, json};
use support::Answer;

#[test]
fn the_audit_log_has_changes_of_keys_services_and_teams_with_actor_and_time() {
    let system = system();
    let admin = made(&system, ADMIN, "chief", Role::Admin);
    let admin = text(admin.at("/key"));
    system.expect(201, "POST", SERVICES, admin, &definition("Disk"));
    for approval in [false, false] {
        // The second request changes nothing, so it must not add an entry.
        let settings = json!({"approval_required": approval, "dependant_teams": []});
        system.expect(200, "PATCH", &format!("{SERVICES}1/"), admin, &settings);
    }
    let key = made(&system, admin, "pipeline", Role::ReadOnly);
    system.expect(201, "POST", &format!("{}rotate/", text(key.at("/url"))), admin, &Value::Null);
    system.expect(204, "DELETE", text(key.at("/url")), admin, &Value::Null);
    // Rejected requests must not add entries.
    system.expect(400, "POST", KEYS, admin, &json!({"name": "chief", "role": "ADMIN"}));
    system.expect(404, "DELETE", &format!("{KEYS}7/"), admin, &Value::Null);

    let mut entries = Vec::new();
    for one in system.pages(&format!("{RECORDS}?limit=2"), ADMIN).iter().flat_map(Answer::rows) {
        let name = [&one["api_key"], &one["service"]].into_iter().find_map(|of| of["name"].as_str());
        let (event, name) = (text(&one["event"]), name.unwrap_or_default());
        entries.push(format!("{event} {name} by {}", text(&one["changed_by"])));
    }
    let expected = [
        "API_KEY_REVOKED pipeline by chief (Api Key)",
        "API_KEY_ROTATED pipeline by chief (Api Key)",
        "API_KEY_CREATED pipeline by chief (Api Key)",
        "SERVICE_CHANGED VM by chief (Api Key)",
        "SERVICE_PUBLISHED Disk by chief (Api Key)",
        "API_KEY_CREATED chief by Everything-1 (Api Key)",
        "API_KEY_CREATED Everything-1 by SYSTEM",
        "TEAM_CREATED  by SYSTEM",
        "SERVICE_PUBLISHED VM by SYSTEM",
    ];
    assert_eq!(entries, expected);
    // Another team sees only its own audit log.
    let others = system.get(RECORDS, "stranger-key");
    assert_eq!(others.rows().len(), 2, "{others:?}");
}
