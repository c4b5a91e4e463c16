//! The graph of an application and around an item: items, references and dependent teams, as far as a team sees them.

use crate::api::demo::{CONSUMER, OWNER, SERVICES, SUBMIT, definition};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use support::{Answer, Running};

const KEY: &str = "awesome-key";

/// A system with an application: two load balancers share a VM, and a name leads to one of them.
struct World {
    system: Running,
    /// Ids of the items by name.
    ids: BTreeMap<String, u64>,
    application: u64,
}

impl World {
    fn new() -> Self {
        let system = Running::demo();
        let name = json!({"title": "Name", "type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "to/balancer": {"type": "string", "format": "reference", "service_reference": "LoadBalancer"}}});
        system.expect(201, "POST", SERVICES, "np-owner-key", &name);
        let balancer = |name: &str, vms: &[&str]| json!({"name": name, "related_vms": vms});
        let declared = json!({"AwesomeConsumer": {"App": {"services": {
            "Name": [{"name": "www", "to/balancer": "left"}],
            "LoadBalancer": [balancer("left", &["a", "b"]), balancer("right", &["b", "b"])],
            "VM": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}}});
        system.expect(201, "POST", SUBMIT, KEY, &declared);
        system.wait_idle();
        let items = system.get(&format!("{CONSUMER}/service_items/"), KEY);
        let id = |item: &Value| (item["name"].as_str().unwrap().to_owned(), item["id"].as_u64().unwrap());
        let ids = items.rows().iter().map(id).collect();
        let application = items.at("/results/0/application/id").as_u64().unwrap();
        Self { system, ids, application }
    }

    fn get(&self, path: &str, key: &str) -> Graph {
        let mut graph = Graph::default();
        for page in self.system.pages(path, key) {
            assert_eq!(page.at("/application"), &json!({"id": self.application, "name": "App"}));
            graph.add(&page, &self.ids);
        }
        graph
    }

    /// Returns the graph around an item.
    fn around(&self, side: &str, item: &str, key: &str) -> Graph {
        self.get(&format!("/v1/orcabase/{side}/service_items/{}/graph/", self.ids[item]), key)
    }
}

/// All pages of a graph, with names instead of ids.
#[derive(Debug, Default, PartialEq)]
struct Graph {
    items: Vec<String>,
    references: Vec<String>,
    dependants: BTreeSet<String>,
    pages: usize,
}

impl Graph {
    fn add(&mut self, page: &Answer, ids: &BTreeMap<String, u64>) {
        let rows = |pointer: &str| page.at(pointer).as_array().unwrap().clone();
        let name = |id: &Value| ids.iter().find(|(_, other)| id == *other).unwrap().0.clone();
        for item in rows("/service_items") {
            assert_eq!(item["name"], name(&item["id"]), "{item}");
            self.items.push(name(&item["id"]));
        }
        self.references.extend(rows("/references").iter().map(|reference| {
            let pointer = reference["pointer"].as_str().unwrap();
            format!("{}{pointer} -> {}", name(&reference["from"]), name(&reference["to"]))
        }));
        let text = |row: &Value, of: &str| row[of]["name"].as_str().unwrap().to_owned();
        let dependant = |row: &Value| format!("{} of {}", text(row, "team"), text(row, "service"));
        self.dependants.extend(rows("/dependants").iter().map(dependant));
        self.pages += 1;
    }

    /// Returns the items in the order of their names, and the references.
    fn parts(&self) -> (Vec<&str>, Vec<&str>) {
        let mut items: Vec<&str> = self.items.iter().map(String::as_str).collect();
        items.sort_unstable();
        let mut references: Vec<&str> = self.references.iter().map(String::as_str).collect();
        references.sort_unstable();
        (items, references)
    }
}

const ALL: [&str; 5] = [
    "left/related_vms/0 -> a",
    "left/related_vms/1 -> b",
    "right/related_vms/0 -> b",
    "right/related_vms/1 -> b",
    "www/to~1balancer -> left",
];

#[test]
fn a_graph_of_an_application_has_its_items_and_their_references_page_by_page() {
    let world = World::new();
    let path = format!("{CONSUMER}/applications/{}/graph/", world.application);
    for (limit, pages) in [(1, 6), (4, 2), (1_000, 1)] {
        let graph = world.get(&format!("{path}?limit={limit}"), KEY);
        assert_eq!(graph.pages, pages);
        assert_eq!(graph.parts(), (vec!["a", "b", "c", "left", "right", "www"], ALL.to_vec()), "{limit}");
        assert_eq!(graph.dependants, BTreeSet::from(["NPOwnerTeam of LoadBalancer".to_owned()]));
        let once: BTreeSet<&String> = graph.items.iter().collect();
        assert_eq!(once.len(), graph.items.len(), "each item is on one page");
    }
    let page = world.system.get(&path, KEY);
    let mut items = page.at("/service_items").as_array().unwrap().iter();
    let item = items.find(|item| item["name"] == "left").unwrap();
    let full = world.system.get(item["url"].as_str().unwrap(), KEY);
    let fields = ["/id", "/url", "/name", "/service_owner_team", "/runtime_state", "/change_state"];
    let parts = ["/application/id", "/application/name", "/service/id", "/service/name"];
    for field in fields.iter().chain(&parts) {
        assert_eq!(item.pointer(field), Some(full.at(field)), "{field}");
    }
}

#[test]
fn a_graph_around_an_item_has_what_it_reaches_and_what_reaches_it() {
    let world = World::new();
    let graph = |item| {
        let graph = world.around("consumer", item, KEY);
        let (items, references) = graph.parts();
        format!("{}: {}", items.join(" "), references.join(", "))
    };
    assert_eq!(graph("a"), "a left www: left/related_vms/0 -> a, www/to~1balancer -> left");
    assert_eq!(
        graph("b"),
        "b left right www: left/related_vms/1 -> b, right/related_vms/0 -> b, right/related_vms/1 -> b, \
         www/to~1balancer -> left"
    );
    assert_eq!(graph("c"), "c: ");
    assert_eq!(graph("right"), "b right: right/related_vms/0 -> b, right/related_vms/1 -> b");
    assert_eq!(
        graph("www"),
        "a b left www: left/related_vms/0 -> a, left/related_vms/1 -> b, www/to~1balancer -> left"
    );
}

#[test]
fn an_owner_sees_its_own_part_of_a_graph() {
    let world = World::new();
    let seen = |item, key| {
        let graph = world.around("serviceowner", item, key);
        let (items, references) = graph.parts();
        let dependants: Vec<&str> = graph.dependants.iter().map(String::as_str).collect();
        format!("{}: {}; {}", items.join(" "), references.join(", "), dependants.join(", "))
    };
    assert_eq!(seen("b", "vm-owner-key"), "b: ; ");
    // `right` and `left` reach the same VM, which their owner does not see.
    assert_eq!(seen("left", "lb-owner-key"), "left: ; NPOwnerTeam of LoadBalancer");
    // A dependent team sees the load balancers with its share, and its own service leads to one of them.
    let shared = "left www: www/to~1balancer -> left; NPOwnerTeam of LoadBalancer";
    assert_eq!([seen("left", "np-owner-key"), seen("www", "np-owner-key")], [shared; 2]);
    let application = format!("{OWNER}/applications/{}/graph/", world.application);
    let item = |side: &str| format!("/v1/orcabase/{side}/service_items/{}/graph/", world.ids["left"]);
    for (path, key) in [
        (application.clone(), "vm-owner-key"),
        (application.replace("serviceowner", "consumer"), "awesome2-key"),
        (item("serviceowner"), "vm-owner-key"),
        (item("consumer"), "lb-owner-key"),
        (item("serviceowner"), KEY),
    ] {
        let refused = world.system.get(&path, key);
        assert_eq!(refused.code(), (404, "not_found"), "{path}: {refused:?}");
    }
    // In the other role, the team sees its application without items of other teams' services.
    assert_eq!(world.get(&application, KEY).parts(), (vec![], vec![]));
}

#[test]
fn a_reference_without_a_property_in_the_current_definition_belongs_to_the_whole_item() {
    let world = World::new();
    world.system.expect(200, "POST", SERVICES, "lb-owner-key", &definition("LoadBalancer"));
    let graph = world.around("consumer", "right", KEY);
    assert_eq!(graph.parts(), (vec!["b", "right"], vec!["right -> b"]));
}

#[test]
fn a_gone_item_is_no_part_of_a_graph_but_its_own() {
    let world = World::new();
    let decide = |state: &str, change_type: &str| {
        let filter = format!("change_type={change_type}&service_item_id={}", world.ids["c"]);
        let listed = world.system.get(&format!("{OWNER}/change_instances/?{filter}"), "vm-owner-key");
        let url = listed.at("/results/0/url").as_str().unwrap();
        world.system.expect(200, "PATCH", url, "vm-owner-key", &json!({"state": state}));
    };
    decide("APPROVED", "CREATE");
    decide("COMPLETED", "CREATE");
    world.system.expect(201, "POST", SUBMIT, KEY, &json!({"AwesomeConsumer": {}}));
    world.system.wait_idle();
    let path = format!("{CONSUMER}/applications/{}/graph/", world.application);
    let all = (vec!["a", "b", "c", "left", "right", "www"], ALL.to_vec());
    assert_eq!(world.get(&path, KEY).parts(), all, "removed items stay until they are gone");
    decide("APPROVED", "DELETE");
    decide("COMPLETED", "DELETE");
    assert_eq!(world.get(&path, KEY).parts().0, ["a", "b", "left", "right", "www"]);
    assert_eq!(world.around("consumer", "c", KEY).parts(), (vec!["c"], vec![]));
}
