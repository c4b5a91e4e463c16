//! The audit log: keys, services and teams, with actor and time.

use crate::security::keys::{ADMIN, KEYS, RECORDS, made, system, text};
use domain::base::actor::Role;
use serde_json::{Value, json};

#[test]
fn the_audit_log_has_changes_of_keys_services_and_teams_with_actor_and_time() {
    let system = system();
    let admin = made(&system, ADMIN, "chief", Role::Admin);
    let admin = text(admin.at("/key"));
    let disk = json!({"title": "Disk", "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    let services = "/v1/orcabase/serviceowner/services/";
    system.expect(201, "POST", services, admin, &disk);
    for approval in [false, false] {
        // The second request changes nothing, so it must not add an entry.
        let settings = json!({"approval_required": approval, "dependant_teams": []});
        system.expect(200, "PATCH", &format!("{services}1/"), admin, &settings);
    }
    let key = made(&system, admin, "pipeline", Role::ReadOnly);
    system.expect(201, "POST", &format!("{}rotate/", text(key.at("/url"))), admin, &Value::Null);
    system.expect(204, "DELETE", text(key.at("/url")), admin, &Value::Null);
    // Rejected requests must not add entries.
    system.expect(400, "POST", KEYS, admin, &json!({"name": "chief", "role": "ADMIN"}));
    system.expect(404, "DELETE", &format!("{KEYS}7/"), admin, &Value::Null);

    let (mut entries, mut next) = (Vec::new(), format!("{RECORDS}?limit=2"));
    loop {
        let page = system.get(&next, ADMIN);
        assert_eq!(page.status, 200, "{page:?}");
        for one in page.at("/results").as_array().unwrap() {
            let name = [&one["api_key"], &one["service"]].into_iter().find_map(|of| of["name"].as_str());
            let (event, name) = (text(&one["event"]), name.unwrap_or_default());
            entries.push(format!("{event} {name} by {}", text(&one["changed_by"])));
        }
        let Some(url) = page.at("/next").as_str() else { break };
        next = url.to_owned();
    }
    assert_eq!(
        entries,
        [
            "API_KEY_REVOKED pipeline by chief (Api Key)",
            "API_KEY_ROTATED pipeline by chief (Api Key)",
            "API_KEY_CREATED pipeline by chief (Api Key)",
            "SERVICE_CHANGED VM by chief (Api Key)",
            "SERVICE_PUBLISHED Disk by chief (Api Key)",
            "API_KEY_CREATED chief by Everything-1 (Api Key)",
            "API_KEY_CREATED Everything-1 by SYSTEM",
            "TEAM_CREATED  by SYSTEM",
            "SERVICE_PUBLISHED VM by SYSTEM",
        ]
    );
    // Cursors are signed, so an invented one is rejected, even for an existing row.
    for cursor in [
        "x",
        "1",
        "%23",
        "1795436382331454%23",
        &"1".repeat(17),
        &format!("{}%23{}", "1".repeat(16), "x".repeat(999)),
    ] {
        let answer = system.get(&format!("{RECORDS}?cursor={cursor}"), ADMIN);
        assert_eq!(answer.code(), (400, "invalid_cursor"), "{cursor}: {answer:?}");
    }
    // Another team sees only its own audit log.
    let others = system.get(RECORDS, "stranger-key");
    assert_eq!(others.at("/results").as_array().unwrap().len(), 2, "{others:?}");
}
