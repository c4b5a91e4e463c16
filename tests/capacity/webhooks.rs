//! Deliveries to webhooks: instances of `deliver`, a queue that prefers groups with few messages in progress, and slots
//! of slow receivers.

use crate::flow::DELIVERING_MAX;
use crate::names::Names;
use crate::stack::{Rates, Stack};
use crate::table::Assumptions;
use domain::Timestamp;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::{ServiceId, TeamId};
use domain::base::refs::{ServiceRef, TeamRef};
use domain::base::side::Side;
use domain::outreach::webhook::delivery::{Delivery, Ended, Replied};
use domain::outreach::webhook::start::{Cooling, StartDecision, start_decision};
use domain::outreach::webhook::{Scope, Settings, TIMEOUT_SECONDS, Webhook};
use dovetail_aws::retry;
use serde_json::json;
use simulation::load::latency::until_next;
use simulation::locked;
use simulation::run::in_virtual_time;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Number of webhooks, and deliveries per second to each.
const WEBHOOKS: u64 = 20;
const RATE: u32 = 2;

/// Time of a response of an ordinary receiver.
const ORDINARY: Duration = Duration::from_millis(50);

/// Time of the arrivals, in seconds.
const SECONDS: u64 = 60;

/// What keeps a slow receiver from delaying others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Groups, and slots of slow receivers.
    Slots,
    /// The queue selects a group with the fewest messages in progress.
    Groups,
    /// The queue selects the oldest message.
    Nothing,
}

/// A message with the time of its first arrival.
#[derive(Clone)]
struct Message {
    at: Duration,
    delivery: Delivery,
}

struct Queue {
    isolation: Isolation,
    /// Time of a response of the first webhook.
    slow: Duration,
    /// Waiting messages, by webhook.
    waiting: BTreeMap<u64, VecDeque<Message>>,
    /// Messages in progress, by webhook.
    in_progress: BTreeMap<u64, usize>,
    /// Records of the first webhook: the last result, and the slots.
    last: Option<Replied>,
    slots: Option<Cooling>,
    /// Times from the message to the end of its delivery, of the ordinary webhooks.
    delivered: Vec<Duration>,
}

impl Queue {
    fn select(&self) -> Option<u64> {
        let busy: usize = self.in_progress.values().sum();
        let waiting =
            self.waiting.iter().filter_map(|(webhook, messages)| Some((*webhook, messages.front()?.at)));
        let waiting = waiting.filter(|_| busy < DELIVERING_MAX);
        let of = |webhook: u64| self.in_progress.get(&webhook).copied().unwrap_or_default();
        let has_groups = self.isolation != Isolation::Nothing;
        waiting
            .min_by_key(|(webhook, at)| (if has_groups { of(*webhook) } else { 0 }, *at))
            .map(|(webhook, _)| webhook)
    }

    /// Decides as `deliver` does, whose reads precede the calls.
    fn start(&mut self, webhook: u64, delivery: &Delivery, now: Duration) -> StartDecision {
        if webhook != 0 || self.isolation != Isolation::Slots {
            return StartDecision::Now(None);
        }
        let (last, slots) = (self.last.as_ref(), self.slots.as_ref());
        let decision = start_decision(&receiver(), delivery, last, slots, timestamp(now));
        if let StartDecision::Now(Some(after)) | StartDecision::Later(Some(after), ..) = &decision {
            self.slots = Some(after.clone());
        }
        decision
    }
}

/// Returns the times of deliveries to ordinary webhooks while the first webhook takes a time for each response.
pub fn run(isolation: Isolation, slow: Duration) -> Vec<Duration> {
    in_virtual_time(1, move || play(isolation, slow)).unwrap()
}

async fn play(isolation: Isolation, slow: Duration) -> Vec<Duration> {
    let stack = Stack::new(1, Rates::RAISED, "usual", 1, Assumptions::USUAL);
    let queue = Arc::new(Mutex::new(Queue {
        isolation,
        slow,
        waiting: BTreeMap::new(),
        in_progress: BTreeMap::new(),
        last: None,
        slots: None,
        delivered: Vec::new(),
    }));
    let (receiver, mut next) = (receiver(), Duration::ZERO);
    while stack.now() < Duration::from_secs(SECONDS) {
        next += stack.table.draw(|dice| until_next(dice, RATE * u32::try_from(WEBHOOKS).unwrap()));
        sleep(next.saturating_sub(stack.now())).await;
        let webhook = stack.table.draw(|dice| dice.u64(0..WEBHOOKS));
        let delivery = Delivery::new(receiver.id, json!({"metadata": {"id": next.as_micros().to_string()}}));
        let message = Message { at: stack.now(), delivery };
        locked(&queue).waiting.entry(webhook).or_default().push_back(message);
        start(&stack, &queue);
    }
    // Only a minute is measured, because the messages of the slow webhook remain for long.
    locked(&queue).delivered.clone()
}

/// Starts deliveries while instances and messages are free.
fn start(stack: &Arc<Stack>, queue: &Arc<Mutex<Queue>>) {
    let mut state = locked(queue);
    while let Some(webhook) = state.select() {
        let Some(message) = state.waiting.get_mut(&webhook).and_then(VecDeque::pop_front) else { break };
        *state.in_progress.entry(webhook).or_default() += 1;
        let decision = state.start(webhook, &message.delivery, stack.now());
        let (stack, queue) = (Arc::clone(stack), Arc::clone(queue));
        drop(tokio::spawn(async move {
            let names = Names { owner: webhook, ..Names::default() };
            // A reservation has the calls of an attempt and one read more: the record of the slots.
            stack.invoke(&stack.sequence("attempt a delivery"), names, retry::WRITE).await;
            let is_over = matches!(decision, StartDecision::Now(_));
            if is_over {
                request(&stack, &queue, webhook, &message.delivery).await;
            }
            end(&stack, &queue, webhook, is_over.then_some(message.at));
            start(&stack, &queue);
            if let StartDecision::Later(_, delivery, seconds) = decision {
                sleep(Duration::from_secs(seconds)).await;
                let message = Message { delivery, ..message };
                locked(&queue).waiting.entry(webhook).or_default().push_back(message);
                start(&stack, &queue);
            }
        }));
    }
}

/// Ends an invocation, with the first arrival of its message after a delivery.
fn end(stack: &Stack, queue: &Mutex<Queue>, webhook: u64, delivered: Option<Duration>) {
    let mut state = locked(queue);
    *state.in_progress.entry(webhook).or_default() -= 1;
    if webhook != 0 {
        state.delivered.extend(delivered.map(|at| stack.now() - at));
    }
}

/// Waits for the response of a receiver, and notes its speed.
async fn request(stack: &Stack, queue: &Mutex<Queue>, webhook: u64, delivery: &Delivery) {
    if webhook != 0 {
        return sleep(ORDINARY).await;
    }
    let (last, slow) = {
        let state = locked(queue);
        (state.last.clone(), state.slow)
    };
    let began = stack.now();
    let pause = Duration::from_millis(Replied::in_flight_millis(last.as_ref()));
    if timeout(pause, sleep(slow)).await.is_err() {
        locked(queue).last = Some(Replied::during(last.as_ref(), delivery, timestamp(began)));
        sleep((began + slow).saturating_sub(stack.now())).await;
    }
    let ended = Ended::Answered(200);
    let after = Replied::after(last.as_ref(), delivery, ended, timestamp(began), timestamp(stack.now()));
    locked(queue).last = Some(after);
}

/// Returns the first webhook.
fn receiver() -> Webhook {
    let settings = Settings {
        name: "slow".to_owned(),
        description: String::new(),
        target_url: "https://example.com/".to_owned(),
        authorization: None,
        state: None,
        active: true,
        timeout_seconds: TIMEOUT_SECONDS + 1,
        wait_seconds: 0,
        cooling_seconds: 0,
        remind_after_seconds: None,
    };
    let service = ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() };
    let scope = Scope { side: Side::ServiceOwner, service: Some(service) };
    let team = TeamRef { id: TeamId::new(1).unwrap(), name: "Owner".to_owned() };
    let ctx = RequestContext { by: Actor::System, request: String::new(), now: timestamp(Duration::ZERO) };
    Webhook::new(settings, scope, team, String::new(), "hash", &ctx)
}

fn timestamp(at: Duration) -> Timestamp {
    Timestamp::from_micros(u64::try_from(at.as_micros()).unwrap())
}
