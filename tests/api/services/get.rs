//! Reads of a service with a schema version.

use crate::api::demo::OWNER;
use serde_json::json;
use support::Running;

#[test]
fn finding_25_earlier_schema_versions_can_be_read() {
    let system = Running::demo();
    let path = "/v1/orcabase/serviceowner/services/1/";
    let first = system.get(path, "vm-owner-key");
    let stricter = json!({"title": "VM", "type": "object", "required": ["name", "owner"],
        "properties": {"name": {"type": "string"}}});
    let published = system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &stricter);
    assert_eq!((published.status, published.at("/schema/version")), (200, &json!(2)));
    for (pov, key) in [("serviceowner", "vm-owner-key"), ("consumer", "awesome-key")] {
        let path = path.replace("serviceowner", pov);
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
            assert_eq!((answer.status, answer.at("/code")), (status, &json!(code)), "{query}");
        }
    }
}
