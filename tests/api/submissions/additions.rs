//! Values and items that metadata add, over HTTP (R66): the export on several pages, and the cost.

use super::declaration::{EXPORT, exported};
use super::history::{KEY, TEAM};
use crate::api::demo::{SUBMIT, VALIDATE};
use domain::base::json::canonical;
use serde_json::{Value, json};
use support::Running;
use support::costs::Figures;

/// Returns metadata that complete VMs, and generate a load balancer for each VM with these processors.
fn metadata(cpu: u64) -> Value {
    let entry = json!({"service": "LoadBalancer", "for": "VM", "as": "algorithm", "item": {"name": "of"},
        "where": {"properties": {"cpu": {"const": cpu}}}});
    json!({"dovetail_defaults": {"VM": {"memory": 4}}, "dovetail_each": [entry]})
}

/// Returns a declaration with a VM for each of these numbers of processors.
fn declared(metadata: &Value, cpus: &[u64]) -> Value {
    let vms: Vec<Value> =
        cpus.iter().zip(1..).map(|(cpu, n)| json!({"name": format!("vm{n}"), "cpu": cpu})).collect();
    let services = json!({"VM": vms, "LoadBalancer": [{"name": "own"}]});
    json!({TEAM: {"metadata": {}, "App": {"metadata": metadata, "services": services}}})
}

#[test]
fn each_page_of_an_export_leaves_out_what_items_on_other_pages_generate() {
    let system = Running::demo();
    let first = declared(&metadata(2), &[2, 1, 2, 2]);
    let submitted = system.expect(201, "POST", SUBMIT, KEY, &first);
    assert_eq!(submitted.at("/planned/direct"), 8, "four VMs, one load balancer and three generated ones");
    system.wait_idle();
    let second = declared(&metadata(1), &[2, 1, 2, 2]);
    system.expect(201, "POST", SUBMIT, KEY, &second);
    system.wait_idle();
    let as_of = format!("as_of={}&", submitted.at("/id"));
    for (query, expected) in [(as_of.as_str(), &first), ("", &second)] {
        for limit in [1, 2, 1_000] {
            let export = exported(&system, &format!("{query}limit={limit}"));
            assert_eq!(canonical(&export), canonical(expected), "{query}limit={limit}");
        }
    }
    system.call("POST", VALIDATE, KEY, &exported(&system, "")).assert_is(200, &json!({"/changed": false}));
    system.assert_sound();
}

#[test]
fn additions_cost_what_declared_items_cost() {
    let system = Running::demo();
    let figures = |path: &str, key: &str, body: &Value| {
        let answer = system.call("POST", path, key, body);
        assert!(matches!(answer.status, 200 | 201), "{answer:?}");
        system.wait_idle();
        Figures::from_answer(&answer)
    };
    // Without the keys, but of the same size.
    let unknown = |metadata: &Value| -> Value {
        serde_json::from_str(&metadata.to_string().replace("dovetail_", "dovetail-")).unwrap()
    };
    let (added, mut written) = (declared(&metadata(2), &[2, 1]), declared(&unknown(&metadata(2)), &[2, 1]));
    let services = &mut written[TEAM]["App"]["services"];
    for vm in services["VM"].as_array_mut().unwrap() {
        vm["memory"] = json!(4);
    }
    let generated = json!({"name": "of.vm1", "algorithm": "vm1"});
    services["LoadBalancer"].as_array_mut().unwrap().push(generated);
    let written = json!({"AwesomeConsumer2": written[TEAM].clone()});
    let [with_keys, without] = [(KEY, &added), ("awesome2-key", &written)].map(|(key, body)| {
        // The preview fills the caches of services.
        figures(VALIDATE, key, body);
        [figures(VALIDATE, key, body), figures(SUBMIT, key, body), figures(SUBMIT, key, body)]
    });
    assert_eq!(with_keys, without, "a preview, a submission, and one without changes");
    let page = system.get(EXPORT, KEY);
    let same = system.get(EXPORT, "awesome2-key");
    assert_eq!(Figures::from_answer(&page), Figures::from_answer(&same), "targets on the page cost nothing");
}
