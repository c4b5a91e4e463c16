//! The costs of what references show, and of the causes of referenced change instances (R72, R73).

use super::figures::Figures;
use super::measured::{decide_on, submit, system};
use super::page::Table;
use crate::running::Running;
use serde_json::{Value, json};

const CHANGES: &str = "/v1/orcabase/serviceowner/change_instances";

/// Declares VMs with this number of CPUs, a load balancer of the first one, and others without a reference.
fn declare(system: &Running, cpu: u64) -> Value {
    let vm = |n: u64| json!({"name": format!("vm{n}"), "cpu": cpu});
    let plain = |n: u64| json!({"name": format!("plain{n}")});
    let mut balancers: Vec<Value> = (0..9).map(plain).collect();
    balancers.push(json!({"name": "front", "related_vms": ["vm0"]}));
    let vms: Vec<Value> = (0..3).map(vm).collect();
    let shop = json!({"Shop": {"services": {"VM": vms, "LoadBalancer": balancers}}});
    let answer = submit(system, &shop);
    system.enable("generate", true);
    system.wait_idle();
    answer.at("/change_instances").clone()
}

/// Reads a change instance, or a list, as the owner of the load balancers.
fn read(system: &Running, path: &str) -> Figures {
    Figures::from_answer(&system.get(&format!("{CHANGES}/{path}"), "lb-owner-key").expect_status(200))
}

/// Measures reads of change instances with references, next to the same reads without.
pub fn shown() -> Table {
    let mut table = Table::new("What references show");
    let system = system();
    let created = declare(&system, 1);
    let id = |name: &str| {
        let rows = created.as_array().unwrap().iter();
        rows.filter(|row| row["service_item"]["name"] == name).map(|row| &row["id"]).next().unwrap()
    };
    for state in ["APPROVED", "COMPLETED"] {
        decide_on(&system, id("vm0"), state);
    }
    let [plain, front] = ["plain0", "front"].map(|name| format!("{}/", id(name)));
    // The definitions are read once per process.
    read(&system, &front);
    let without = read(&system, &plain);
    table.row("a change instance of an item without references", without);
    table.row("one of an item with a reference", read(&system, &front));
    for (setting, row) in [
        ("DEPLOYED", "one of an item with a reference, `references_see` DEPLOYED"),
        ("ALL", "one of an item with a reference, `references_see` ALL"),
    ] {
        let path = "/v1/orcabase/serviceowner/services/1/";
        let set = json!({"references_see": setting});
        system.call("PATCH", path, "vm-owner-key", &set).expect_status(200);
        read(&system, &front);
        table.row(row, read(&system, &front));
    }
    table.row("10 change instances", read(&system, "?limit=10&count=false&state=PENDING"));
    let listed = read(&system, "?limit=10&count=false&state=PENDING&references=true");
    table.row("10 change instances, one of an item with a reference, `references=true`", listed);
    declare(&system, 2);
    let referenced = system.get(&format!("{CHANGES}/referenced/"), "lb-owner-key");
    let path = format!("{}/", referenced.at("/results/0/id"));
    table.row("a REFERENCED change instance with one cause", read(&system, &path));
    table
}
