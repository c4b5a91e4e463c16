//! Deliveries to webhooks: instances of `deliver`, and a queue that prefers groups with few messages in progress.

use crate::flow::DELIVERING_MAX;
use crate::names::Names;
use crate::stack::{Rates, Stack, locked};
use dovetail_aws::retry;
use simulation::load::latency::until_next;
use simulation::run::in_virtual_time;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

/// Number of webhooks, and deliveries per second to each.
const WEBHOOKS: u64 = 20;
const RATE: u32 = 2;

/// Time of a response of an ordinary receiver.
const ORDINARY: Duration = Duration::from_millis(50);

/// Time of the arrivals, in seconds.
const SECONDS: u64 = 60;

/// How the queue selects the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A group with the fewest messages in progress.
    Fair,
    /// The oldest message.
    Oldest,
}

struct Queue {
    /// Times of the waiting messages, by webhook.
    waiting: BTreeMap<u64, VecDeque<Duration>>,
    /// Messages in progress, by webhook.
    in_progress: BTreeMap<u64, usize>,
    /// Times from the message to the end of its delivery, of the ordinary webhooks.
    delivered: Vec<Duration>,
}

impl Queue {
    fn select(&self, selection: Selection) -> Option<u64> {
        let busy: usize = self.in_progress.values().sum();
        let waiting = self.waiting.iter().filter_map(|(webhook, times)| Some((*webhook, *times.front()?)));
        let waiting = waiting.filter(|_| busy < DELIVERING_MAX);
        let of = |webhook: u64| self.in_progress.get(&webhook).copied().unwrap_or_default();
        waiting
            .min_by_key(|(webhook, at)| (if selection == Selection::Fair { of(*webhook) } else { 0 }, *at))
            .map(|(webhook, _)| webhook)
    }
}

/// Returns the times of deliveries to ordinary webhooks while the first webhook takes a time for each response.
pub fn run(selection: Selection, slow: Duration) -> Vec<Duration> {
    in_virtual_time(1, move || play(selection, slow)).unwrap()
}

async fn play(selection: Selection, slow: Duration) -> Vec<Duration> {
    let stack = Stack::new(1, Rates::RAISED, "usual", 1);
    let queue = Queue { waiting: BTreeMap::new(), in_progress: BTreeMap::new(), delivered: Vec::new() };
    let queue = Arc::new(Mutex::new(queue));
    let mut next = Duration::ZERO;
    while stack.now() < Duration::from_secs(SECONDS) {
        next += stack.table.draw(|dice| until_next(dice, RATE * u32::try_from(WEBHOOKS).unwrap()));
        sleep(next.saturating_sub(stack.now())).await;
        let webhook = stack.table.draw(|dice| dice.u64(0..WEBHOOKS));
        locked(&queue).waiting.entry(webhook).or_default().push_back(stack.now());
        start(&stack, &queue, selection, slow);
    }
    // Only a minute is measured, because the messages of the slow webhook remain for long.
    locked(&queue).delivered.clone()
}

/// Starts deliveries while instances and messages are free.
fn start(stack: &Arc<Stack>, queue: &Arc<Mutex<Queue>>, selection: Selection, slow: Duration) {
    let mut state = locked(queue);
    while let Some(webhook) = state.select(selection) {
        let Some(began) = state.waiting.get_mut(&webhook).and_then(VecDeque::pop_front) else { break };
        *state.in_progress.entry(webhook).or_default() += 1;
        let (stack, queue) = (Arc::clone(stack), Arc::clone(queue));
        drop(tokio::spawn(async move {
            let names = Names { owner: webhook, ..Names::default() };
            stack.invoke(&stack.sequence("attempt a delivery"), names, retry::WRITE).await;
            sleep(if webhook == 0 { slow } else { ORDINARY }).await;
            let mut state = locked(&queue);
            *state.in_progress.entry(webhook).or_default() -= 1;
            if webhook != 0 {
                state.delivered.push(stack.now() - began);
            }
            drop(state);
            start(&stack, &queue, selection, slow);
        }));
    }
}
