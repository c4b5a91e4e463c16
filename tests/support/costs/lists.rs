//! The requests of each page of each list: queries, batches and single reads, with their cost.

use super::figures::{Figures, decimal};
use super::page::Table;
use crate::proxy::Seen;
use crate::request::ApiRequest;
use crate::running::Running;
use crate::watched::Watched;
use serde_json::{Value, json};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";

/// Number of VMs, and of load balancers with a VM each: more than a page.
const EACH: u64 = 25;

/// Number of rows of a page.
const LIMIT: usize = 10;

/// A list with its name, the API key, the path and a filter.
struct List {
    name: &'static str,
    key: &'static str,
    path: &'static str,
    filter: &'static str,
}

macro_rules! lists {
    ($($name:literal: $key:expr, $path:literal, $filter:literal;)*) => {
        [$(List { name: $name, key: $key, path: $path, filter: $filter }),*]
    };
}

const CONSUMER_KEY: &str = "awesome-key";
const VM_KEY: &str = "vm-owner-key";
const LB_KEY: &str = "lb-owner-key";
const NP_KEY: &str = "np-owner-key";

const LISTS: [List; 20] = lists! {
    "a consumer's items": CONSUMER_KEY, "consumer/service_items", "service_name=VM";
    "an owner's items": VM_KEY, "serviceowner/service_items", "runtime_state=REQUESTED,IN_SERVICE";
    "a consumer's items with a dependent team":
        CONSUMER_KEY, "consumer/service_items/dependant", "name=CoreLB7";
    "items of a dependent team": NP_KEY, "serviceowner/service_items/dependant", "name=CoreLB7";
    "a consumer's change instances": CONSUMER_KEY, "consumer/change_instances", "change_type=CREATE";
    "the same, light": CONSUMER_KEY, "consumer/change_instances?light=true", "change_type=CREATE";
    "an owner's change instances": LB_KEY, "serviceowner/change_instances", "service_name=LoadBalancer";
    "the same, light": LB_KEY, "serviceowner/change_instances?light=true", "service_name=LoadBalancer";
    "an owner's queue, one state":
        LB_KEY, "serviceowner/change_instances?state=PENDING", "declaration_contains=CoreLB";
    "a consumer's dependent change instances":
        CONSUMER_KEY, "consumer/change_instances/dependant", "state=PENDING";
    "a dependent team's change instances":
        NP_KEY, "serviceowner/change_instances/dependant", "change_type=CREATE";
    "referenced change instances": LB_KEY, "serviceowner/change_instances/referenced", "change_type=CREATE";
    "a consumer's deployed items": CONSUMER_KEY, "consumer/deployed_items", "declaration_contains=10.0";
    "an owner's deployed items": LB_KEY, "serviceowner/deployed_items", "declaration_contains=10.0";
    "deployed items of a dependent team's items":
        NP_KEY, "serviceowner/deployed_items/dependant", "declaration_contains=10.0";
    "services, for a consumer": CONSUMER_KEY, "consumer/services", "name=Service7";
    "an owner's services": VM_KEY, "serviceowner/services", "name=Service7";
    "applications": CONSUMER_KEY, "consumer/applications", "runtime_state=REQUESTED";
    "applications, light": CONSUMER_KEY, "consumer/applications?light=true", "search=app";
    "submissions": CONSUMER_KEY, "consumer/submissions", "commit_id=c7";
};

/// Starts a system with more than a page of every kind of row.
fn system() -> Running {
    let system = Running::demo();
    for number in 1..=12 {
        let definition = json!({"title": format!("Service{number}"), "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        system.call("POST", &format!("{OWNER}/services/"), VM_KEY, &definition).expect_status(201);
    }
    // `count` VMs with a load balancer each. The first `grown` VMs are larger.
    let application = |count: u64, grown: u64| {
        let vm = |n: u64| json!({"name": format!("CoreVM{n}"), "cpu": if n <= grown { 16 } else { 8 }, "memory": 2});
        let lb = |n: u64| json!({"name": format!("CoreLB{n}"), "algorithm": "a", "related_vms": [format!("CoreVM{n}")]});
        json!({"services": {"VM": (1..=count).map(vm).collect::<Vec<_>>(),
            "LoadBalancer": (1..=count).map(lb).collect::<Vec<_>>()}})
    };
    let submit = |commit: u64, name: &str, body: &Value| {
        let path = format!("{SUBMIT}?commit_id=c{commit}");
        let body = json!({"AwesomeConsumer": {name: body}});
        system.call("PATCH", &path, CONSUMER_KEY, &body).expect_status(201);
        system.wait_idle();
    };
    // One submission per item: concurrent generation has no order, and pages are in order of creation.
    for count in 1..=EACH {
        submit(0, "App", &application(count, 0));
    }
    let pending = system.get(&format!("{OWNER}/change_instances/?limit=100&light=true"), LB_KEY);
    for change in pending.at("/results").as_array().unwrap() {
        let body = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
        system.call("PATCH", change["url"].as_str().unwrap(), LB_KEY, &body).expect_status(200);
    }
    for grown in 1..=EACH {
        submit(1, "App", &application(EACH, grown));
    }
    for number in 2..=12 {
        submit(number, &format!("App{number}"), &application(1, 0));
    }
    system
}

/// Maximum number of queries of one page: one per state of six, or one per application of ten and their own.
const QUERIES_MAX: usize = 11;

/// Requests one page. Returns its cells and its next page.
fn page(watched: &Watched<'_>, list: &List, path: &str) -> (String, Option<String>) {
    let (answer, seen) = watched.send(&ApiRequest::with_key("GET", path, list.key, &Value::Null));
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    let calls = |operation: &str| seen.iter().filter(|seen| seen.operation == operation).count();
    let [queries, batches] = ["Query", "BatchGetItem"].map(calls);
    assert_eq!(queries + batches, seen.len(), "{path}");
    let counting = |seen: &&Seen| seen.request.get("Select").is_some();
    let counts = seen.iter().filter(counting).count();
    let Figures { read, round_trips, .. } = Figures::from_answer(&answer);
    let rows = answer.at("/results").as_array().map_or(0, Vec::len);
    let queries = queries - counts;
    if path.contains("cursor=") {
        assert!(counts == 0 && queries <= QUERIES_MAX && batches <= 3 && round_trips <= 3, "{path}");
    }
    let cells =
        format!("{rows} | {queries} | {counts} | {batches} | {} | {round_trips}", decimal(read, 3, 0));
    (cells, answer.at("/next").as_str().map(str::to_owned))
}

/// Measures the table of lists.
pub fn lists() -> Table {
    let system = system();
    let watched = Watched::on(&system);
    let mut table = Table::beginning(INTRODUCTION);
    for list in &LISTS {
        let joint = if list.path.contains('?') { '&' } else { '?' };
        let path = format!("/v1/orcabase/{}{joint}limit={LIMIT}", list.path);
        // The first request fills the cache of schemas.
        page(&watched, list, &path);
        let (cells, next) = page(&watched, list, &path);
        table.line(&format!("**{}**", list.name), &cells);
        let next = next.unwrap_or_else(|| panic!("{path} must have a second page"));
        let (cells, _) = page(&watched, list, &next);
        table.line("its second page", &cells);
        let (cells, _) = page(&watched, list, &format!("{path}&{}", list.filter));
        table.line(&format!("with `{}`", list.filter), &cells);
    }
    table
}

const INTRODUCTION: &str = "\
## Lists, page by page

Each list has more rows than one page of ten. The table shows the first page, the page behind its `next`, and the
first page with a filter.

- A page takes one or two queries. The change instances of an owner take one query per state, and applications take one
  query per application and one of their own.
- For the first page of most lists without a filter, further queries count the rows, up to 1,000.
- A batch reads up to 100 records. The first batch of a list from an index reads the records of its rows, and further
  batches read records for the response. Strongly and eventually consistent reads need separate batches.
- The lists read no record singly.
- A page with a filter reads at most 1,000 rows, 100 at a time. The tables for 10,000 rows have these figures.

| list | rows | queries | count queries | batches | read units | round trips |
|---|---:|---:|---:|---:|---:|---:|
";
