//! The costs of references to items of other applications and teams (R69, R71), and of parts of definitions (R68).

use super::figures::Figures;
use super::measured::{OWNER, system};
use super::page::Table;
use crate::request::Answer;
use crate::running::Running;
use serde_json::{Value, json};

const CONSUMER: &str = "/v1/orcabase/consumer";

/// Publishes a definition, and returns the response.
fn publish(system: &Running, title: &str, property: (&str, &Value)) -> Answer {
    let mut definition = json!({"title": title, "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}}});
    definition["properties"][property.0] = property.1.clone();
    system.call("POST", &format!("{OWNER}/services/"), "vm-owner-key", &definition).expect_status(201)
}

/// Submits a part of a declaration of one of two consumers.
fn patch(system: &Running, team: &str, applications: &Value) -> Answer {
    let key = if team == "AwesomeConsumer" { "awesome-key" } else { "awesome2-key" };
    let path = format!("{CONSUMER}/submissions/submit/?allow_removal=true");
    system.call("PATCH", &path, key, &json!({team: applications})).expect_status(201)
}

/// Declares the links of an application, each to one of these items; null for none.
fn links(system: &Running, team: &str, application: &str, to: &[Value]) -> Answer {
    let link = |(n, to): (usize, &Value)| {
        let name = json!({"name": format!("link{n}")});
        if to.is_null() { name } else { json!({"name": format!("link{n}"), "to": to}) }
    };
    let links: Vec<Value> = to.iter().enumerate().map(link).collect();
    patch(system, team, &json!({application: {"services": {"Link": links}}}))
}

/// Reads the first item with this name alone, and returns its figures.
fn read(system: &Running, name: &str) -> Figures {
    let page = system.get(&format!("{CONSUMER}/service_items/?name={name}"), "awesome-key");
    let path = page.at("/results/0/url").as_str().unwrap().to_owned();
    Figures::from_answer(&system.get(&path, "awesome-key").expect_status(200))
}

/// Measures references to items elsewhere, next to the same operations without.
pub fn references() -> Table {
    let mut table = Table::new("References elsewhere, and parts of definitions");
    let system = system();
    table.answer("publish a definition", &publish(&system, "Node", ("site", &json!({"type": "string"}))));
    let part = json!({"$ref": "dovetail:Node/1#/properties/site"});
    table.answer(
        "publish a definition with a part of another one",
        &publish(&system, "Rack", ("site", &part)),
    );
    let reach = json!({"type": ["string", "object"], "format": "reference", "service_reference": "Node",
        "x-reach": "granted"});
    publish(&system, "Link", ("to", &reach));
    let nodes: Vec<Value> = (0..9).map(|n| json!({"name": format!("node{n}")})).collect();
    let metadata = json!({"dovetail_granted_teams": ["*"]});
    let core = json!({"Core": {"metadata": metadata, "services": {"Node": nodes}}});
    let declared = patch(&system, "AwesomeConsumer", &core);
    let id = |n: usize| declared.at(&format!("/change_instances/{n}/service_item/id")).clone();
    let named = |n: usize| json!({"application": "Core", "name": format!("node{n}")});
    let granted = |n: usize| json!({"service_item": id(n)});
    for team in ["AwesomeConsumer", "AwesomeConsumer2"] {
        links(&system, team, "Links", &[Value::Null]);
    }
    let one = links(&system, "AwesomeConsumer", "Links", &[Value::Null, Value::Null]);
    table.answer("one CREATE without a reference", &one);
    let one = links(&system, "AwesomeConsumer", "Links", &[Value::Null, Value::Null, named(0)]);
    table.answer("one CREATE with a reference to another application", &one);
    let one = links(&system, "AwesomeConsumer2", "Links", &[Value::Null, granted(1)]);
    table.answer("one CREATE with a reference to another team", &one);
    let all = [Value::Null, granted(1), granted(2), granted(3), granted(4)];
    table.answer(
        "three CREATEs with references to one other team",
        &links(&system, "AwesomeConsumer2", "Links", &all),
    );
    let released = links(
        &system,
        "AwesomeConsumer2",
        "Links",
        &[Value::Null, Value::Null, granted(2), granted(3), granted(4)],
    );
    table.answer("one MODIFY that releases an item of another team", &released);
    table.row("an item without a reference elsewhere", read(&system, "link0"));
    table.row("an item with a reference elsewhere", read(&system, "link2"));
    let used = format!("{CONSUMER}/service_items/?references={}", id(0));
    table.answer("the items that refer to one, of 3", &system.get(&used, "awesome-key").expect_status(200));
    let core = json!({"Core": {"metadata": metadata, "services": {"Node": nodes[..8]}}});
    table.answer("one DELETE of an item without a use", &patch(&system, "AwesomeConsumer", &core));
    let core = json!({"Core": {"metadata": metadata, "services": {"Node": nodes[1..8]}}});
    table.answer("one DELETE of an item in use", &patch(&system, "AwesomeConsumer", &core));
    let renamed = |metadata: Value, name: &str, site: &str| {
        let mut nodes = nodes[1..8].to_vec();
        nodes[0] = json!({"name": name, "site": site});
        patch(
            &system,
            "AwesomeConsumer",
            &json!({"Core": {"metadata": metadata, "services": {"Node": nodes}}}),
        )
    };
    let modified = renamed(json!({"dovetail_granted_teams": []}), "node1", "ams");
    table.answer("one MODIFY with other metadata of its application", &modified);
    let entry = json!({"dovetail_renamed": {"Node": {"node1": "node9"}}});
    table.answer("one MODIFY with another name", &renamed(entry, "node9", "ams"));
    table
}
