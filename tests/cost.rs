//! What each operation costs at the table: measured on the engine, and written down in `docs/cost.md`, which this
//! compares whole. A figure that moves fails until the page says so.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

use domain::id::{SubmissionId, TeamId};
use dovetail_table::{Cost, metered};
use expect_test::expect_file;
use generate::{Carried, carry_out_all};
use serde_json::{Value, json};
use tests::{Answer, Running};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const CONSUMER: &str = "/v1/orcabase/consumer";
const OWNER: &str = "/v1/orcabase/serviceowner";

/// What a million units cost, in thousandths of a dollar.
const WRITE_PRICE: u64 = 625;
const READ_PRICE: u64 = 125;

/// What one operation costs; units in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figures {
    write: u64,
    read: u64,
    round_trips: u64,
}

impl Figures {
    /// What a reply tells.
    #[track_caller]
    fn told(answer: &Answer) -> Self {
        let told = answer.header("server-timing").unwrap_or_else(|| panic!("{answer:?}"));
        let figure = |name: &str| {
            let (_, rest) = told.split_once(&format!("{name};desc=\"")).unwrap();
            thousandths(rest.split_once('"').unwrap().0)
        };
        let round_trips = figure("round_trips") / 1_000;
        Self { write: figure("write_units"), read: figure("read_units"), round_trips }
    }

    /// One of the ten more that this holds than another.
    fn tenth_above(self, less: Self) -> Self {
        let tenth = |more: u64, less: u64| more.checked_sub(less).unwrap() / 10;
        Self {
            write: tenth(self.write, less.write),
            read: tenth(self.read, less.read),
            round_trips: tenth(self.round_trips, less.round_trips),
        }
    }

    fn row(self, operation: &str) -> String {
        // A thousandth of a unit at so many thousandths of a dollar for a million: millionths for a million.
        let price = decimal(self.write * WRITE_PRICE + self.read * READ_PRICE, 6, 2);
        let (write, read) = (decimal(self.write, 3, 0), decimal(self.read, 3, 0));
        let goal = GOALS.iter().find(|(of, _)| *of == operation).map(|(_, goal)| *goal);
        let goal = goal.map_or_else(String::new, |goal| self.beside(goal, operation));
        format!("| {operation} | {write} | {read} | {} | {price} | {goal} |\n", self.round_trips)
    }

    /// The goal in words; fails when it is missed.
    #[track_caller]
    fn beside(self, goal: Goal, operation: &str) -> String {
        let parts = [
            (goal.write.map(|goal| goal * 1_000), self.write, "write"),
            (goal.half_reads.map(|goal| goal * 500), self.read, "read"),
            (goal.round_trips.map(|goal| goal * 1_000), self.round_trips * 1_000, "round trips"),
        ];
        let held = parts.into_iter().filter_map(|(goal, measured, what)| {
            let goal = goal?;
            assert!(measured <= goal, "{operation}: {what} {measured}, at most {goal} thousandths");
            Some(format!("{} {what}", decimal(goal, 3, 0)))
        });
        held.collect::<Vec<_>>().join(", ")
    }
}

/// What an operation may cost at most.
#[derive(Clone, Copy)]
struct Goal {
    write: Option<u64>,
    /// In half read units.
    half_reads: Option<u64>,
    round_trips: Option<u64>,
}

const fn goal(write: Option<u64>, half_reads: Option<u64>, round_trips: Option<u64>) -> Goal {
    Goal { write, half_reads, round_trips }
}

const GOALS: [(&str, Goal); 14] = [
    ("one CREATE, in a new application", goal(Some(19), None, Some(3))),
    ("one CREATE, in an application with one item", goal(Some(19), None, Some(3))),
    ("each further CREATE", goal(Some(10), None, None)),
    ("each further CREATE, staged", goal(Some(10), None, None)),
    ("nothing new, one item", goal(Some(4), Some(4), Some(2))),
    ("nothing new, 20 items", goal(Some(4), Some(4), Some(2))),
    ("approve", goal(Some(6), None, Some(2))),
    ("complete", goal(Some(10), None, Some(2))),
    ("complete, with a deployed item", goal(Some(10), None, Some(2))),
    ("reject", goal(Some(8), None, Some(2))),
    ("an owner's queue, empty", goal(Some(0), Some(1), Some(1))),
    ("an owner's queue, 50 change instances, light", goal(Some(0), Some(12), Some(1))),
    ("its history", goal(Some(0), Some(2), Some(1))),
    ("the same work, delivered again", goal(Some(0), Some(2), Some(1))),
];

impl From<Cost> for Figures {
    fn from(cost: Cost) -> Self {
        let Cost { write_units, read_units, round_trips, .. } = cost;
        Self { write: write_units.thousandths(), read: read_units.thousandths(), round_trips }
    }
}

/// A decimal number in thousandths.
fn thousandths(number: &str) -> u64 {
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    format!("{whole}{rest:0<3}").parse().unwrap()
}

/// A number with this many digits behind the point, of which zeros at the end are left out beyond the first few.
fn decimal(number: u64, digits: usize, kept: usize) -> String {
    let text = format!("{number:0width$}", width = digits + 1);
    let (whole, rest) = text.split_at(text.len() - digits);
    let (kept, more) = rest.split_at(kept);
    let rest = format!("{kept}{}", more.trim_end_matches('0'));
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

/// A system in which work is carried out when the test says so.
fn system() -> Running {
    let system = Running::demo();
    system.enable("generate", false);
    system
}

/// An application with these VMs, by number and processors.
fn vms(items: impl IntoIterator<Item = u64>, cpu: u64) -> Value {
    let vm = |n| json!({"name": format!("CoreVM{n}"), "cpu": cpu, "memory": 2});
    let items: Vec<Value> = items.into_iter().map(vm).collect();
    json!({"services": {"VM": items}})
}

#[track_caller]
fn submit(system: &Running, applications: &Value) -> Answer {
    let answer = system.call("POST", SUBMIT, "awesome-key", &json!({"AwesomeConsumer": applications}));
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
    answer
}

/// The path of the first change instance that a submission has made, for its owner.
fn change(answer: &Answer) -> String {
    format!("{OWNER}/change_instances/{}/", answer.at("/change_instances/0/id"))
}

#[track_caller]
fn decide(system: &Running, path: &str, body: &Value) -> Figures {
    let answer = system.call("PATCH", path, "vm-owner-key", body);
    assert_eq!(answer.status, 200, "{answer:?}");
    Figures::told(&answer)
}

#[track_caller]
fn read(system: &Running, path: &str, key: &str, rows: Option<usize>) -> Figures {
    let answer = system.get(path, key);
    assert_eq!(answer.status, 200, "{answer:?}");
    let found = answer.at("/results").as_array().map(Vec::len);
    assert_eq!(found, rows, "{path}");
    Figures::told(&answer)
}

/// A table under a heading, in the making.
struct Table(String);

impl Table {
    fn new(heading: &str) -> Self {
        let head = "| operation | write units | read units | round trips | $ per million | goal, at most |\n\
            |---|---:|---:|---:|---:|---|\n";
        Self(format!("## {heading}\n\n{head}"))
    }

    fn row(&mut self, operation: &str, figures: Figures) {
        self.0.push_str(&figures.row(operation));
    }

    /// A row of what is written alone: items that land beside each other are read again when they meet.
    fn writes(&mut self, operation: &str, figures: Figures) {
        self.row(operation, Figures { read: 0, round_trips: 0, ..figures });
    }
}

fn submissions() -> Table {
    let mut table = Table::new("Submissions");
    let fresh = system();
    let one = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    let one = Figures::told(&one);
    table.row("one CREATE, in a new application", one);
    let again = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    let more = submit(&fresh, &json!({"App": vms(1..=2, 8)}));
    table.row("one CREATE, in an application with one item", Figures::told(&more));
    let eleven = submit(&system(), &json!({"App": vms(1..=11, 8)}));
    table.row("each further CREATE", Figures::told(&eleven).tenth_above(one));
    let [fifty, sixty] =
        [50, 60].map(|count| Figures::told(&submit(&system(), &json!({"App": vms(1..=count, 8)}))));
    table.writes("each further CREATE, staged", sixty.tenth_above(fifty));
    table.row("nothing new, one item", Figures::told(&again));
    let fresh = system();
    submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    let again = submit(&fresh, &json!({"App": vms(1..=20, 8)}));
    table.row("nothing new, 20 items", Figures::told(&again));
    let fresh = system();
    let created = submit(&fresh, &json!({"App": vms(1..=1, 8)}));
    for state in ["APPROVED", "COMPLETED"] {
        decide(&fresh, &change(&created), &json!({"state": state}));
    }
    table.row("one MODIFY", Figures::told(&submit(&fresh, &json!({"App": vms(1..=1, 16)}))));
    table.row(
        "one MODIFY that displaces another",
        Figures::told(&submit(&fresh, &json!({"App": vms(1..=1, 12)}))),
    );
    let fresh = system();
    let created = submit(&fresh, &json!({"App": vms(1..=2, 8)}));
    for state in ["APPROVED", "COMPLETED"] {
        decide(&fresh, &change(&created), &json!({"state": state}));
    }
    table.row("one DELETE", Figures::told(&submit(&fresh, &json!({"App": vms(2..=2, 8)}))));
    table
}

fn decisions() -> Table {
    let mut table = Table::new("Decisions");
    let system = system();
    let fresh = |name: &str| {
        change(&{
            let declared = json!({"AwesomeConsumer": {name: vms(1..=1, 8)}});
            system.call("PATCH", SUBMIT, "awesome-key", &declared)
        })
    };
    let state = |path: &str, state: &str| decide(&system, path, &json!({"state": state}));
    let done = fresh("Done");
    table.row("approve, of which the function has not heard before", state(&done, "APPROVED"));
    let known = |name: &str| {
        let path = fresh(name);
        state(&path, "PENDING");
        path
    };
    table.row("approve", state(&known("Known"), "APPROVED"));
    table.row("complete", state(&done, "COMPLETED"));
    let deployed = known("Deployed");
    state(&deployed, "APPROVED");
    let body = json!({"state": "COMPLETED", "deployed_item": {"ip": "10.0.0.1"}});
    table.row("complete, with a deployed item", decide(&system, &deployed, &body));
    let closed = known("Closed");
    table.row("reject", state(&closed, "REJECTED"));
    table.row("close", state(&closed, "CLOSED"));
    let failed = known("Failed");
    state(&failed, "APPROVED");
    table.row("report an error", state(&failed, "ERRORED"));
    let retried = system.call("POST", &format!("{failed}retry/"), "vm-owner-key", &Value::Null);
    assert_eq!(retried.status, 201, "{retried:?}");
    table.row("retry", Figures::told(&retried));
    table
}

fn reads() -> Table {
    let mut table = Table::new("Reads");
    let system = system();
    let queue = format!("{OWNER}/change_instances/?state=PENDING&limit=50");
    table.row("an owner's queue, empty", read(&system, &queue, "vm-owner-key", Some(0)));
    let first = submit(&system, &json!({"App1": vms(1..=25, 8)}));
    submit(&system, &json!({"App1": vms(1..=25, 8), "App2": vms(1..=25, 8)}));
    let light = format!("{queue}&light=true");
    table
        .row("an owner's queue, 50 change instances, light", read(&system, &light, "vm-owner-key", Some(50)));
    table.row("an owner's queue, 50 change instances", read(&system, &queue, "vm-owner-key", Some(50)));
    let path = change(&first);
    table.row("one change instance", read(&system, &path, "vm-owner-key", None));
    let history = format!("{path}history/");
    table.row("its history", read(&system, &history, "vm-owner-key", Some(1)));
    let items = format!("{CONSUMER}/service_items/?limit=50");
    table.row("a consumer's items, 50", read(&system, &items, "awesome-key", Some(50)));
    let items = format!("{OWNER}/service_items/?limit=50");
    table.row("an owner's items, 50", read(&system, &items, "vm-owner-key", Some(50)));
    table
}

fn generation() -> Table {
    let mut table = Table::new("Generation, per work record");
    let declared = |cpu: u64, balancers: u64| {
        let balancer =
            |n| json!({"name": format!("CoreLB{n}"), "algorithm": "a", "related_vms": ["CoreVM1"]});
        let balancers: Vec<Value> = (1..=balancers).map(balancer).collect();
        let mut application = vms(1..=1, cpu);
        application.as_object_mut().unwrap()["services"]["LoadBalancer"] = json!(balancers);
        json!({"App": application})
    };
    let carried = |system: &Running, submission: u64| {
        let team = system.block_on(system.table.team_by_name("AwesomeConsumer")).unwrap().unwrap().id;
        let submission = SubmissionId::new(TeamId::new(team.get()).unwrap(), submission).unwrap();
        let submission = system.block_on(system.table.submission(submission)).unwrap().unwrap();
        let (carried, cost) = system.block_on(metered(carry_out_all(&system.table, &submission)));
        assert!(carried.unwrap().iter().all(|carried| *carried == Carried::Out));
        Figures::from(cost)
    };
    let one = system();
    submit(&one, &declared(8, 1));
    let eleven = system();
    submit(&eleven, &declared(8, 11));
    let dependent = carried(&one, 1);
    table.row("a dependent team's share of one item", dependent);
    table.row("each further item", carried(&eleven, 1).tenth_above(dependent));
    table.row("the same work, delivered again", carried(&one, 1));
    submit(&one, &declared(16, 1));
    table.row("a referenced item with its dependent team's share", carried(&one, 2));
    table
}

#[test]
fn the_page_of_costs_is_what_is_measured() {
    let tables = [submissions, decisions, reads, generation];
    let tables: Vec<String> = std::thread::scope(|scope| {
        let measuring: Vec<_> = tables.map(|table| scope.spawn(table)).into();
        measuring.into_iter().map(|table| table.join().unwrap().0).collect()
    });
    expect_file!["../docs/cost.md"].assert_eq(&format!("{INTRODUCTION}\n{}", tables.join("\n")));
}

#[test]
fn every_reply_tells_what_it_cost() {
    let system = system();
    let none = Figures { write: 0, read: 0, round_trips: 0 };
    let one = Figures { write: 0, read: 1_000, round_trips: 1 };
    let missing = format!("{OWNER}/change_instances/137438953488/");
    let table = [
        ("nowhere", "/v1/nowhere/", "vm-owner-key", 404, none),
        ("nobody", &missing, "nobodys-key", 401, none),
        ("a bad filter", &format!("{OWNER}/change_instances/?colour=red"), "vm-owner-key", 400, none),
        ("no such object", &missing, "vm-owner-key", 404, one),
    ];
    for (what, path, key, status, figures) in table {
        let answer = system.get(path, key);
        assert_eq!((answer.status, Figures::told(&answer)), (status, figures), "{what}: {answer:?}");
    }
}

#[test]
fn numbers_are_written_as_they_are() {
    for (number, digits, kept, expected) in [
        (0, 3, 0, "0"),
        (2_500, 3, 0, "2.5"),
        (19_000, 3, 0, "19"),
        (312_500, 6, 2, "0.3125"),
        (11_000_000, 6, 2, "11.00"),
    ] {
        assert_eq!(decimal(number, digits, kept), expected);
    }
    for (number, expected) in [("0", 0), ("2.5", 2_500), ("19", 19_000), ("0.125", 125)] {
        assert_eq!(thousandths(number), expected);
    }
}

const INTRODUCTION: &str = "\
# What it costs

What the operations cost at the table, measured on the embedded engine by [`tests/cost.rs`](../tests/cost.rs), which
fails when a figure here is not the measured one. When one moved on purpose, write the page anew:

```sh
UPDATE_EXPECT=1 cargo test -p tests the_page_of_costs
```

Every reply tells its own figures in `Server-Timing`, and every deployed function in a line of metrics (the
[README](../README.md), \"Operate\").

- **Units** are DynamoDB's: a write unit is a write of up to 1 KB, a read unit a strongly consistent read of up to 4 KB;
  one that may be a moment old costs half. In a transaction a write of the table costs twice, of an index once. Items
  here are small: a name and two numbers.
- **Round trips** are calls in sequence: those that are made side by side count once. The attempts of one call count
  as one.
- **The price** is that of us-east-1, on demand: $0.625 for a million write units, $0.125 for a million read units.
- **Included** are the indexes and the declarations that are stored beside the transaction.
- **Not included** are the authorizer's read (one read unit), API Gateway, Lambda, storage, the reads of the stream
  (Lambda's are free), what a write that is refused consumed (the table does not tell), and what follows later:
  generation has a table of its own here.
";
