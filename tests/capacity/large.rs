//! A large submission, and small submissions of other teams at the same time.

use crate::names::Names;
use crate::operations::STAGED_ITEMS;
use crate::outcome::{Outcome, limits};
use crate::sequence::{Sequence, Step};
use crate::stack::{Rates, Response, Route, Stack};
use crate::table::Assumptions;
use crate::traffic::{Act, Arrivals, arrive};
use dovetail_aws::retry;
use simulation::load::lanes::LANES_MAX;
use simulation::run::in_virtual_time;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::time::sleep;

/// Items of a work record.
pub const WORK_ITEMS: usize = 100;

/// Number and time of the small submissions. They begin at the commit.
const OTHERS: u32 = 1_000;
const OTHERS_SECONDS: u32 = 20;

/// Most seconds until all change instances exist.
const GENERATED_MAX: u64 = 120;

/// Time for the other teams in the lane of the large submission.
const SETTLING: Duration = Duration::from_secs(10);

/// The large submission belongs to this team. The others have the numbers from 1.
const LARGE: u64 = 1_000_000;

/// Figures of a large submission.
#[derive(Clone, Debug)]
pub struct Large {
    /// Time until the commit.
    pub commit: Duration,
    /// Time until the response.
    pub response: Duration,
    /// Time from the commit until all change instances exist.
    pub generated: Duration,
    /// The small submissions, and everything that the stack consumed.
    pub outcome: Outcome,
}

/// Returns a sequence with more items. Only the calls that lay out the submission depend on their number.
pub fn scaled(sequence: &Sequence, times: usize) -> Sequence {
    let is_layout = |step: &Step| {
        step.units.iter().all(|units| {
            ["DECLARATION", "STAGING", "WORK"].iter().any(|prefix| units.key.starts_with(prefix))
        })
    };
    let mut scaled = sequence.clone();
    for step in scaled.steps.iter_mut().filter(|step| step.times > 1 && is_layout(step)) {
        step.times *= times;
        for units in &mut step.units {
            units.thousandths *= u64::try_from(times).unwrap();
        }
    }
    scaled
}

/// Runs a submission of this number of items, at least 1,000.
pub fn run(size: &'static str, items: usize) -> Large {
    in_virtual_time(1, move || play(size, items)).unwrap()
}

async fn play(size: &'static str, items: usize) -> Large {
    let stack = Stack::new(1, Rates::RAISED, size, LANES_MAX, Assumptions::USUAL);
    let sequence = scaled(&stack.sequence("submit 1,000 items"), items / STAGED_ITEMS);
    // The commit is the transaction with the head.
    let commit = sequence.steps.iter().find(|step| !step.shared.is_empty()).map_or(0, |step| step.round);
    let of_rounds = |is_wanted: &dyn Fn(usize) -> bool| {
        let steps = sequence.steps.iter().filter(|step| is_wanted(step.round)).cloned().collect();
        Sequence { steps, ..sequence.clone() }
    };
    let (before, after) = (of_rounds(&|round| round <= commit), of_rounds(&|round| round > commit));
    let names = Names { consumer: LARGE, owner: 10_000_001, service: 30_000_001, ..Names::default() };
    let done = stack.invoke(&before, names, retry::PLAN).await;
    assert!(done, "the large submission is not committed");
    let committed = stack.now();
    // The function itself processes the first work record.
    stack.flow.generate(&stack, "generate 1 staged work record", items / WORK_ITEMS - 1, names);
    let rate = OTHERS * 1_000 / OTHERS_SECONDS;
    let act = Act::Request(Route::Submissions, "submit 1 CREATE with a dependent team");
    let arrivals = Arrivals { act, rate, consumers: u64::from(OTHERS), owners: 100 };
    let time = Duration::from_secs(u64::from(OTHERS_SECONDS));
    let others = arrive(Arc::clone(&stack), arrivals, Arc::new(AtomicU64::new(1)), time);
    let response = async {
        assert!(stack.invoke(&after, names, retry::WRITE).await);
        stack.now()
    };
    let (responses, response) = tokio::join!(others, response);
    let limits = limits(&stack, Rates::RAISED);
    let generated = generated(&stack).await;
    // The teams in the lane of the large submission come after it.
    sleep(SETTLING).await;
    let outcome = Outcome::of(&stack, time, limits, responses);
    Large { commit: committed, response, generated, outcome }
}

/// Waits until all change instances of the large submission exist. Returns the time since the commit.
async fn generated(stack: &Stack) -> Duration {
    for _ in 0..GENERATED_MAX {
        let generated = stack.flow.times().generated;
        if let Some((_, lag)) = generated.into_iter().find(|(consumer, _)| *consumer == LARGE) {
            return lag;
        }
        sleep(Duration::from_secs(1)).await;
    }
    panic!("the change instances of the large submission do not exist");
}

impl Large {
    /// Returns the times until the generated change instances of the small submissions.
    pub fn lags(&self) -> Vec<Duration> {
        let others = self.outcome.generated.iter().filter(|(consumer, _)| *consumer != LARGE);
        others.map(|(_, lag)| *lag).collect()
    }

    /// Returns the responses to the small submissions.
    pub fn responses(&self) -> impl Iterator<Item = &Response> {
        self.outcome.responses.iter().map(|(_, response)| response)
    }
}
