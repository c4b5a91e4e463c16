//! The creation of deployed items: references by id and by URL.

use crate::api::demo::OWNER;
use crate::api::example::SHARED;
use serde_json::{Value, json};

/// The Python client sends both references.
#[test]
fn a_deployed_item_may_name_its_item_and_its_change_instance() {
    let path = SHARED.fresh("named-twice");
    let approved = SHARED.system.call("PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}));
    let (change, item) = (approved.at("/id"), approved.at("/service_item/id"));
    let create = |change: &Value, item: &Value| {
        let body = json!({"data": {"v": 1}, "change_instance": change, "service_item": item});
        SHARED.system.call("POST", &format!("{OWNER}/deployed_items/"), "vm-owner-key", &body)
    };
    assert_eq!(create(change, item).status, 201);
    let answer = create(change, &json!(SHARED.item));
    let fields = ["/errors/change_instance", "/errors/service_item", "/change_instance", "/service_item"];
    let named = fields.iter().filter(|field| answer.body.pointer(field).is_some()).count();
    assert_eq!((answer.status, named), (400, 2), "{answer:?}");
}

/// A URL of another host must not name an object here, for any path.
#[test]
fn ids_are_read_off_urls_of_this_host_alone() {
    let path = SHARED.fresh("own-host");
    let approved = SHARED.system.call("PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"}));
    let own = approved.at("/url").as_str().unwrap();
    let path = &own[own.find("/v1/").unwrap()..];
    let foreign = format!("https://elsewhere.example{path}");
    let behind_tls = own.replace("http://", "https://");
    let longer = own.replace(path, &format!("0{path}"));
    for (url, status) in [(own, 201), (&foreign, 400), (&longer, 400), (path, 200), (&behind_tls, 200)] {
        let body = json!({"data": {"v": 1}, "change_instance": url});
        let answer = SHARED.system.call("POST", &format!("{OWNER}/deployed_items/"), "vm-owner-key", &body);
        assert_eq!(answer.status, status, "{url}: {answer:?}");
    }
}
