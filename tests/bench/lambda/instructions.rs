//! Instructions of starts and of warm invocations, counted by `valgrind`.
//!
//! They hardly depend on the load of the machine, so a committed table is their limit: a ratchet.

use super::events::{self, OWNER, Simple, messages, request, simple};
use super::function::Function;
use super::overhead::submission;
use super::{Started, disable};
use crate::given::{CONSUMER, CONSUMER_KEY, OWNER_KEY};
use crate::offline;
use crate::process::is_there;
use crate::rates::SUBMIT;
use crate::session::{Mode, Page, Session};
use capacity::text::markdown;
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::Delivery;
use dovetail_emulator::gateway::{plain, serve};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use support::Running;
use support::ratchet::{self, Counts};
use support::source::Method;
use tokio::net::TcpListener;

/// Operation of a submission.
pub const SUBMISSION: &str = "a submission of 10 changed items";
/// Operation of a decision.
pub const APPROVAL: &str = "an approval";
/// Operation of each function.
const START: &str = "the first response, over TLS";
/// Number of applications of a team with many.
const APPLICATIONS: usize = 900;
/// Invocations before the counted ones. They fill connections and caches.
const FIRST: usize = 5;
/// Number of starts.
const STARTS: usize = 5;
/// Counted invocations.
const COUNTED: usize = 20;
const COMMENT: &str = "\
# Instructions of each operation, counted by valgrind. `just figures --check instructions` fails if one is more than 2 %
# higher. `just figures` lowers lines. `UPDATE_EXPECT=1` also writes higher ones.
";

/// The instructions of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    pub function: String,
    pub operation: String,
    pub instructions: u64,
    /// The most that the committed table allows.
    pub limit: u64,
}

/// Writes the block of all operations.
pub fn renew(session: &Session) {
    let rows = session.instructions().iter().map(|counted| {
        let result = if counted.instructions <= counted.limit { "pass" } else { "fail" };
        vec![
            format!("`{}`", counted.function),
            counted.operation.clone(),
            format!("{:.2}", millions(counted.limit)),
            format!("{:.2}", millions(counted.instructions)),
            result.to_owned(),
        ]
    });
    let body = markdown("function | operation | limit, millions | counted, millions | result", rows);
    session.renew(Page::Performance, "instructions", Method::Counted, &body);
}

pub fn millions(instructions: u64) -> f64 {
    instructions as f64 / 1e6
}

/// Counts all operations, and compares them with the committed table.
pub fn measure(session: &Session) -> Vec<Counted> {
    assert!(is_there("valgrind"), "valgrind is missing: apt-get install valgrind");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let committed = ratchet::read(&fs::read_to_string(&path).unwrap());
    let counts = count_all(session);
    let accept = std::env::var_os("UPDATE_EXPECT").is_some();
    let renewed = ratchet::renewed(&committed, &counts, accept);
    if session.mode == Mode::Write || accept {
        fs::write(&path, format!("{COMMENT}{}", ratchet::lines(&renewed))).unwrap();
    }
    for name in ratchet::grown(&renewed, &counts) {
        session.fail(format!("{name}: {} instructions instead of {}", counts[&name], renewed[&name]));
    }
    let counted = |(name, instructions): (&String, &u64)| {
        let (function, operation) = name.split_once(": ").unwrap();
        Counted {
            function: function.to_owned(),
            operation: operation.to_owned(),
            instructions: *instructions,
            limit: ratchet::limit(renewed[name]),
        }
    };
    counts.iter().map(counted).collect()
}

/// Returns events of a number of invocations in order.
type Events = fn(&Running, usize) -> Vec<String>;

/// Operations with different events: function, operation, and events.
const DIFFERENT: [(&str, &str, Events); 5] = [
    ("submit", SUBMISSION, |system, count| (0..count).map(|number| submission(system, number)).collect()),
    ("submit", "a submission of one changed item, of a team with 900 applications", among_applications),
    ("update-state", APPROVAL, approvals),
    ("generate", "one generated change instance", generations),
    ("deliver", "a delivery", deliveries),
];

/// Counts the starts, the simple events, and the operations with different events.
fn count_all(session: &Session) -> Counts {
    let mut counts = Counts::new();
    let mut add = |function: &str, operation: &str, count: u64| {
        println!("{count:>12} {function}: {operation}");
        counts.insert(format!("{function}: {operation}"), count);
    };
    let program = |name: &str| session.functions().program(name).clone();
    for Simple { function, operation, .. } in simple(&Running::demo()) {
        let program = program(function);
        add(function, START, started(&program, function));
        let repeated = |times| {
            let system = Running::demo();
            let events = vec![simple_of(&system, function); times];
            total(&program, function, &system, &system.environment, &events)
        };
        add(function, operation, of_each(repeated));
    }
    for (function, operation, events) in DIFFERENT {
        let program = program(function);
        let different = |times| {
            let system = Running::demo();
            disable(&system, &COUNTED_FUNCTIONS);
            let events = events(&system, times);
            total(&program, function, &system, &system.environment, &events)
        };
        add(function, operation, of_each(different));
    }
    add("dovetail", "a plan of 1,000 items, 1 % changed", offline::instructions());
    counts
}

/// Returns the instructions of one invocation: the difference of two runs leaves out the start.
fn of_each(count: impl Fn(usize) -> u64) -> u64 {
    (count(FIRST + COUNTED) - count(FIRST)) / COUNTED as u64
}

/// Returns all instructions of a process with one event: the least of several starts.
///
/// A start on a loaded machine can open one connection more, which costs up to 20 % of the instructions.
fn started(program: &Path, function: &str) -> u64 {
    let world = Started::new();
    let environment = world.environment(function);
    let event = [simple_of(&world.system, function)];
    let counts = (0..STARTS).map(|_| total(program, function, &world.system, &environment, &event));
    counts.min().unwrap()
}

fn simple_of(system: &Running, function: &str) -> String {
    simple(system).into_iter().find(|simple| simple.function == function).unwrap().event
}

/// Functions that only the counted process may execute.
const COUNTED_FUNCTIONS: [&str; 3] = ["generate", "notify", "deliver"];

/// Returns all instructions of a process with these events.
fn total(program: &Path, name: &str, system: &Running, environment: &str, events: &[String]) -> u64 {
    disable(system, &COUNTED_FUNCTIONS);
    let directory = tempfile::tempdir().unwrap();
    let counts = directory.path().join("counts");
    let mut function = Function::start_counted(program, environment, &counts);
    for event in events {
        events::assert_answered(name, &function.invoke(event));
    }
    function.stop();
    summary(&counts)
}

/// Returns the number of instructions in a file of `cachegrind`.
pub fn summary(counts: &Path) -> u64 {
    let text = fs::read_to_string(counts).unwrap();
    let summary = text.lines().find_map(|line| line.strip_prefix("summary: "));
    summary.unwrap().trim().parse().unwrap()
}

/// Returns records of submissions, each with one change instance to generate.
fn generations(system: &Running, count: usize) -> Vec<String> {
    for number in 0..count {
        let items = json!([{"name": "lb", "algorithm": "RoundRobin"}]);
        let body = json!({CONSUMER: {format!("App{number}"): {"services": {"LoadBalancer": items}}}});
        assert_eq!(system.call("PATCH", SUBMIT, CONSUMER_KEY, &body).status, 201);
    }
    let records = events::submissions(system);
    assert_eq!(records.len(), count);
    records.iter().map(|record| json!({"Records": [record]}).to_string()).collect()
}

/// Returns messages that each cause a delivery to one webhook.
fn deliveries(system: &Running, count: usize) -> Vec<String> {
    let listener = system.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let target = format!("http://{}/", listener.local_addr().unwrap());
    let answer = async |_| plain(200, &json!({}));
    drop(system.spawn(serve(listener, answer, std::future::pending())));
    let webhooks = "/v1/external/serviceowner/webhooks/";
    let body = json!({"service": 1, "target_url": target});
    let webhook = system.call("POST", webhooks, OWNER_KEY, &body);
    let webhook = WebhookId::parse(webhook.at("/id").as_u64().unwrap()).unwrap();
    let event = |number: usize| {
        let (id, change) = (format!("{number}:1"), 137_438_953_488_u64);
        json!({"metadata": {"id": id}, "data": {"id": change, "to": "APPROVED"}})
    };
    (0..count).map(|number| messages(&[Delivery::new(webhook, event(number)).to_message()])).collect()
}

/// Returns partial submissions that each change one item of a team with many applications.
fn among_applications(system: &Running, count: usize) -> Vec<String> {
    let declared = |applications: &mut dyn Iterator<Item = usize>, cpu: usize| {
        let application = |number: usize| {
            (format!("App{number:03}"), json!({"services": {"VM": [{"name": "vm", "cpu": cpu}]}}))
        };
        json!({CONSUMER: applications.map(application).collect::<Map<_, _>>()})
    };
    // Each submission changes at most 90 applications.
    for first in (0..APPLICATIONS).step_by(90) {
        let answer = system.call("PATCH", SUBMIT, CONSUMER_KEY, &declared(&mut (first..first + 90), 1));
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    let of_one = |number| {
        request(system, "PATCH", SUBMIT, CONSUMER_KEY, &declared(&mut std::iter::once(7), number + 2))
    };
    (0..count).map(of_one).collect()
}

/// Returns approvals of different change instances.
fn approvals(system: &Running, count: usize) -> Vec<String> {
    let items: Vec<Value> = (0..count).map(|item| json!({"name": format!("vm-{item}"), "cpu": 8})).collect();
    let declaration = json!({CONSUMER: {"App": {"services": {"VM": items}}}});
    let submitted = system.call("POST", SUBMIT, CONSUMER_KEY, &declaration);
    let created = submitted.at("/change_instances").as_array().unwrap();
    let approval = |change: &Value| {
        let path = format!("{OWNER}/change_instances/{}/", change["id"]);
        request(system, "PATCH", &path, OWNER_KEY, &json!({"state": "APPROVED"}))
    };
    created.iter().map(approval).collect()
}
