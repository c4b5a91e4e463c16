//! Histories of concurrent clients, with dying functions and lost requests. The answers must have a sequential order.

use crate::cloud::{Cloud, Indexes};
use crate::faults::Faults;
use crate::linear::History as LinearHistory;
use crate::locked;
use crate::run::in_virtual_time;
use crate::shape::demo;
use crate::spec::{Change, Op, Ret};
use crate::system::{Answer, ApiRequest, Limits, OWNED, STAGED, SUBMIT, System};
use domain::base::id::CHANGE_STRIDE;
use domain::base::json::canonical;
use domain::base::state::ChangeType;
use domain::{ChangeId, Hash, State, TeamId};
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CLIENTS: usize = 4;
/// Number of operations of each client in a history.
const OPS: usize = 5;
/// Maximum number of attempts of an operation.
const TRIES_MAX: u32 = 4;
/// CPUs of the declared item, or `None` for its removal.
const TARGETS: [Option<u8>; 4] = [Some(1), Some(2), Some(3), None];

/// A history in progress.
struct History {
    system: Arc<System>,
    team: TeamId,
    operations: Mutex<LinearHistory>,
}

/// Creates the history of a seed and searches for a sequential order. Returns the number of answered requests, or the
/// error.
pub fn history(seed: u64) -> Result<usize, String> {
    in_virtual_time(seed, move || make(seed))
}

async fn make(seed: u64) -> usize {
    let mut dice = Rng::with_seed(seed);
    let faults = Faults::drawn(&mut dice);
    let cloud = Cloud::new(dice, Indexes::Exact, None);
    let actions_max = if seed.is_multiple_of(3) { STAGED } else { 100 };
    // The owner of the only service approves every change, and no team depends on it.
    let system = System::start(&demo(1), Limits::of_actions(actions_max), cloud).await;
    let team = system.table.team_by_name("AwesomeConsumer").await.unwrap().unwrap().id;
    system.cloud.suffer(faults);
    let history = Arc::new(History { system, team, operations: Mutex::default() });
    let clients = (0..CLIENTS).map(|_| {
        let history = Arc::clone(&history);
        tokio::spawn(async move {
            for _ in 0..OPS {
                history.act().await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    let outcome = history.outcome().await;
    let operations = locked(&history.operations);
    assert!(
        operations.is_linearizable(&outcome),
        "an order of the requests leads to {outcome:#?}: {operations:#?}"
    );
    operations.answered()
}

/// Returns the declared item.
fn item(cpu: u8) -> Value {
    json!({"name": "vm1", "cpu": cpu})
}

impl History {
    /// Returns the final change instances, after the last fault and without pending work.
    async fn outcome(&self) -> Vec<Change> {
        self.system.cloud.suffer(Faults::none());
        tokio::time::sleep(Duration::from_secs(100)).await;
        self.system.sweep_all().await.unwrap();
        let changes = self.system.table.snapshot().await.unwrap().changes;
        let target =
            |hash| TARGETS.into_iter().flatten().find(|cpu| hash == Hash::of(&canonical(&item(*cpu))));
        let outcome = changes.values().enumerate().map(|(at, change)| {
            assert_eq!(change.id, self.id(at), "change instances are numbered without gaps");
            let target = change.new.map(|new| target(new.hash).unwrap());
            Change { state: change.state, change_type: change.change_type, target }
        });
        outcome.collect()
    }

    async fn act(&self) {
        let draw = |end: u64| self.system.cloud.draw(|dice| dice.u64(0..end));
        tokio::time::sleep(Duration::from_millis(draw(150))).await;
        let version = usize::try_from(draw(6)).unwrap();
        let op = match draw(10) {
            0..=3 => Op::Declare(TARGETS[usize::try_from(draw(4)).unwrap()]),
            4..=8 => {
                let states = [State::Approved, State::Approved, State::Completed, State::Rejected];
                let rare = [State::Errored, State::Closed];
                let to = if draw(4) == 0 {
                    rare[usize::try_from(draw(2)).unwrap()]
                } else {
                    states[usize::try_from(draw(4)).unwrap()]
                };
                Op::Decide(version, to)
            }
            _ => Op::Read(version),
        };
        for _ in 0..TRIES_MAX {
            if self.attempt(&op).await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(draw(2_000))).await;
        }
    }

    /// Sends one request. Returns whether it has a final answer.
    async fn attempt(&self, op: &Op) -> bool {
        let lock = || locked(&self.operations);
        let attempt = lock().begin(op.clone());
        let id = self.system.next_request();
        let answer = self.system.send(&self.request_of(op), &id).await;
        let Some(ret) = answer.as_ref().and_then(|answer| self.ret(op, answer)) else { return false };
        let mut operations = lock();
        match (op, ret) {
            // The storage's answer got lost. The decision succeeded, but another change came before the read that
            // confirms it.
            (Op::Decide(at, to), Ret::Is(state, change_type)) if state != *to => {
                operations.end(attempt, Ret::Is(*to, change_type));
                operations.meanwhile(attempt, Op::Read(*at), Ret::Is(state, change_type));
            }
            (_, ret) => operations.end(attempt, ret),
        }
        true
    }

    fn request_of(&self, op: &Op) -> ApiRequest {
        let of_owner = |method: &str, at: &usize, body: Value| {
            ApiRequest::new(method, &format!("{OWNED}{}/", self.id(*at)), "vm-owner-key", body)
        };
        match op {
            Op::Declare(cpu) => {
                let items: Vec<Value> = cpu.iter().map(|cpu| item(*cpu)).collect();
                let body = json!({"AwesomeConsumer": {"App1": {"services": {"VM": items}}}});
                ApiRequest::new("POST", SUBMIT, "awesome-key", body)
            }
            Op::Decide(at, to) => of_owner("PATCH", at, json!({"state": to.name()})),
            Op::Read(at) => of_owner("GET", at, Value::Null),
        }
    }

    /// Returns the id of a change instance by its number. Each submission with a change of the only item creates one.
    fn id(&self, at: usize) -> ChangeId {
        let number = CHANGE_STRIDE * (u64::try_from(at).unwrap() + 1);
        ChangeId::new(self.team, number).unwrap()
    }

    fn number(&self, id: &Value) -> usize {
        let id = id.as_u64().unwrap();
        (0..).find(|at| self.id(*at).get() == id).unwrap()
    }

    /// Returns the meaning of an answer. `None` if the result stays unknown.
    fn ret(&self, op: &Op, answer: &Answer) -> Option<Ret> {
        let Answer { status, body } = answer;
        let change_type = |body: &Value| ChangeType::parse(body["change_type"].as_str()?);
        let state = |body: &Value| State::parse(body["state"].as_str()?);
        match (op, status, body["code"].as_str()) {
            (_, 503, _) | (_, _, Some("submission_in_flight")) => None,
            (_, 500, None) if body["message"] == "Internal Server Error" => None,
            // The submission is accepted, but its change instance does not exist yet.
            (Op::Declare(_), 201, None) if !body["change_instances_next"].is_null() => None,
            (Op::Declare(_), 201, None) => Some(match body["change_instances"].as_array()?.first() {
                None => Ret::Unchanged,
                Some(created) => {
                    let displaced = created["supersedes"].as_array()?.first();
                    let displaced = displaced.map(|id| self.number(id));
                    Ret::Created(self.number(&created["id"]), change_type(created)?, displaced)
                }
            }),
            (Op::Declare(_), 400, Some("blocked")) => Some(Ret::Blocked),
            (_, 200, None) => Some(Ret::Is(state(body)?, change_type(body)?)),
            (_, 400, Some("illegal_transition")) => Some(Ret::Illegal(state(body)?)),
            (_, 404, Some("not_found")) => Some(Ret::Missing),
            _ => panic!("{op:?} is answered {answer:?}"),
        }
    }
}
