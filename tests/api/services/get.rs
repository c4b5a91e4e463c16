//! Reads of a service with a schema version.

use crate::api::demo::{SERVICES, definition};
use domain::catalog::schema::DIALECT;
use serde_json::{Value, json};
use support::{ApiRequest, Running};

#[test]
fn the_dialect_of_definitions_needs_no_key_and_a_definition_may_name_it() {
    let system = Running::demo();
    let path = "/v1/definition.schema.json";
    let dialect = system.send(&ApiRequest { method: "GET", path, ..ApiRequest::default() });
    assert_eq!((dialect.status, dialect.header("content-type")), (200, Some("application/schema+json")));
    assert_eq!(dialect.body, serde_json::from_str::<Value>(DIALECT).unwrap());
    let mut definition = definition("Host");
    definition["$schema"] = json!(format!("https://api.example.com{path}"));
    definition["properties"]["ip"] = json!({"readOnly": true, "x-tier": 1});
    let validated = system.expect(200, "POST", &format!("{SERVICES}validate/"), "vm-owner-key", &definition);
    assert_eq!(validated.at("/warnings"), &json!(["/properties/ip/x-tier has no meaning for Dovetail"]));
    system.expect(201, "POST", SERVICES, "vm-owner-key", &definition);
}

#[test]
fn earlier_schema_versions_can_be_read() {
    let system = Running::demo();
    let path = "/v1/orcabase/serviceowner/services/1/";
    let first = system.get(path, "vm-owner-key");
    let mut stricter = definition("VM");
    stricter["required"] = json!(["name", "owner"]);
    let published = system.call("POST", SERVICES, "vm-owner-key", &stricter);
    published.assert_is(200, &json!({"/schema/version": 2}));
    for (side, key) in [("serviceowner", "vm-owner-key"), ("consumer", "awesome-key")] {
        let path = path.replace("serviceowner", side);
        for (query, schema) in [
            ("", published.at("/schema")),
            ("?version=2", published.at("/schema")),
            ("?version=1", first.at("/schema")),
        ] {
            let answer = system.get(&format!("{path}{query}"), key);
            assert_eq!((answer.status, answer.at("/schema")), (200, schema), "{path}{query}");
        }
        for (query, status, code) in [
            ("3", 404, "not_found"),
            ("0", 404, "not_found"),
            ("x", 400, "invalid_filter"),
            ("9007199254740991", 404, "not_found"),
        ] {
            let answer = system.get(&format!("{path}?version={query}"), key);
            assert_eq!(answer.code(), (status, code), "{query}");
        }
    }
}
