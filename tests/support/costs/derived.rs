//! The costs of derived values (R70).

use super::figures::Figures;
use super::measured::{OWNER, submit, system};
use super::page::Table;
use crate::running::Running;
use serde_json::{Value, json};

const CONSUMER: &str = "/v1/orcabase/consumer";

/// Number of items on the measured page.
const ROWS: u64 = 100;

/// Publishes a service with references to another one, and with these derived values.
fn publish(system: &Running, title: &str, to: &str, derived: &[(&str, &str)]) {
    let mut definition = json!({"title": title, "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "ip": {"type": "string", "readOnly": true},
        "to": {"type": "string", "format": "reference", "service_reference": to}}});
    for (name, text) in derived {
        definition["properties"][name] = json!({"type": "string", "readOnly": true, "x-derived": text});
    }
    let path = format!("{OWNER}/services/");
    system.call("POST", &path, "vm-owner-key", &definition).expect_status(201);
}

/// Reads the item with this name, and its page, with `document=true`. Returns the figures of the single read.
fn item(system: &Running, name: &str) -> Figures {
    let list = format!("{CONSUMER}/service_items/?name={name}&document=true");
    let page = system.get(&list, "awesome-key");
    let path = page.at("/results/0/url").as_str().unwrap().to_owned();
    Figures::from_answer(&system.get(&path, "awesome-key").expect_status(200))
}

/// Reads the page of the items of a service with `document=true`, and returns it with its figures.
fn page(system: &Running, service: &str) -> (Value, Figures) {
    let path =
        format!("{CONSUMER}/service_items/?service_name={service}&document=true&limit={ROWS}&count=false");
    let page = system.get(&path, "awesome-key").expect_status(200);
    assert_eq!(page.at("/results").as_array().map(Vec::len), usize::try_from(ROWS).ok());
    (page.at("/results/0").clone(), Figures::from_answer(&page))
}

/// Measures reads of items with derived values, next to the same reads without.
pub fn derived() -> Table {
    let mut table = Table::new("Derived values");
    let system = system();
    publish(&system, "Site", "Site", &[("title", "site {name}")]);
    publish(&system, "Node", "Site", &[("title", "{name} in {to.title}")]);
    publish(&system, "Port", "Node", &[("title", "{name} on {to.title}")]);
    publish(&system, "Plain", "Site", &[]);
    let named = |prefix: &str, to: Option<&str>| -> Vec<Value> {
        let one = |n| {
            let mut item = json!({"name": format!("{prefix}{n}")});
            if let Some(to) = to {
                item["to"] = json!(format!("{to}{n}"));
            }
            item
        };
        (1..=ROWS).map(one).collect()
    };
    submit(
        &system,
        &json!({"App": {"services": {"Site": named("site", None), "Node": named("node", Some("site")),
        "Port": named("port", Some("node")), "Plain": named("plain", None)}}}),
    );
    // So many items are staged, and generation was paused.
    system.enable("generate", true);
    system.wait_idle();
    // The definitions are read once per process.
    page(&system, "Port");
    page(&system, "Plain");
    let plain = item(&system, "plain1");
    table.row("an item of a definition without derived values", plain);
    let own = item(&system, "site1");
    assert_eq!(own, plain, "a derived value of the item's own values needs no further read");
    table.row("an item with a derived value of its own values", own);
    table.row("an item with a derived value of one other item, of 400", item(&system, "node1"));
    table.row("an item with a derived value over three levels, of 400", item(&system, "port1"));
    table.row("100 items of a definition without derived values", page(&system, "Plain").1);
    table.row("100 items with a derived value of their own values", page(&system, "Site").1);
    let (first, figures) = page(&system, "Port");
    assert_eq!(first["document"]["title"], "port1 on node1 in site site1");
    assert_eq!(first["document_problems"], json!([]));
    table.row("100 items with a derived value over three levels", figures);
    table
}
