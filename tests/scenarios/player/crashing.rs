//! Runs the requests of scenarios while functions die at their calls.
//!
//! Deaths of one shape have the same effect: the same function makes the same calls, and dies at the same one. So each
//! shape dies in two scenarios. `DOVETAIL_TEST_DEATHS=all` tests all deaths, and removes each fence of
//! `simulation::ablation` to show that the chosen deaths find as much as all.

use super::given;
use super::script::Script;
use super::stage::Stage;
use crate::scenarios::{FOLDER, LISTED};
use dovetail_table::ACTIONS_MAX;
use simulation::ablation::{FENCES, Fence};
use simulation::crashes;
use simulation::deaths::{Chosen, Deaths, Dying, choose};
use simulation::system::{ApiRequest, STAGED};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

/// Number of tested deaths of a shape.
const TIMES: usize = 2;

/// Minimum number of shapes of the scenarios. With fewer, the recording would lack calls.
const SHAPES_MIN: usize = 300;

/// Each scenario in one transaction and staged.
const MODES: [usize; 2] = [ACTIONS_MAX, STAGED];

/// The requests of a scenario.
struct Requests {
    given: Vec<String>,
    /// Requests other than reads, each with its expected status, if known.
    requests: Vec<(ApiRequest, Option<u16>)>,
    /// Whether a submission is accepted.
    is_accepted: bool,
}

/// A scenario with the shapes of its deaths and the chosen ones, in each mode.
struct Planned {
    requests: Requests,
    shapes: [Vec<u64>; 2],
    chosen: [BTreeSet<usize>; 2],
}

/// The deaths of a scenario in each mode, all of them tested.
type Tested = OnceLock<[Deaths; 2]>;

/// The chosen deaths of all scenarios, by name.
static PLAN: LazyLock<BTreeMap<&str, Planned>> = LazyLock::new(plan);

/// All deaths of all scenarios, by name. The first test that needs those of a scenario tests them.
static TESTED: LazyLock<BTreeMap<&str, Tested>> =
    LazyLock::new(|| LISTED.iter().map(|name| (*name, Tested::new())).collect());

/// Tests the deaths of a scenario: the chosen ones, or all.
pub(crate) fn scenario(name: &str) {
    if tests_all() {
        for deaths in tested(name) {
            assert_eq!(deaths.tested, deaths.shapes().count(), "{name}: all deaths are tested");
        }
        return;
    }
    let planned = &PLAN[name];
    for (actions_max, chosen) in MODES.into_iter().zip(&planned.chosen) {
        let deaths = planned.requests.sweep(name, actions_max, Chosen::Numbers(chosen.clone()));
        assert_eq!(deaths.tested, chosen.len(), "{name}: the deaths are those of the plan");
    }
}

fn tests_all() -> bool {
    std::env::var("DOVETAIL_TEST_DEATHS").is_ok_and(|deaths| deaths == "all")
}

/// Tests all deaths of a scenario, unless another test did.
fn tested(name: &str) -> &'static [Deaths; 2] {
    TESTED[name].get_or_init(|| {
        let requests = Requests::of(name);
        MODES.map(|actions_max| requests.sweep(name, actions_max, Chosen::All))
    })
}

/// Fails unless each shape dies twice, if it occurs twice, and prints the numbers.
///
/// If all deaths are tested, it also removes the fences.
#[expect(clippy::print_stderr, reason = "what a test counts")]
pub(crate) fn assert_shapes() {
    let mut met: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for planned in PLAN.values() {
        for (shapes, chosen) in planned.shapes.iter().zip(&planned.chosen) {
            for (number, shape) in shapes.iter().enumerate() {
                let (occurs, tested) = met.entry(*shape).or_default();
                *occurs += 1;
                *tested += usize::from(chosen.contains(&number));
            }
        }
    }
    let (all, tested) = met.values().fold((0, 0), |(all, tested), one| (all + one.0, tested + one.1));
    let once = met.values().filter(|(occurs, _)| *occurs < TIMES).count();
    eprintln!("{} shapes, {once} of them once, {tested} deaths, {} left out", met.len(), all - tested);
    assert!(met.len() >= SHAPES_MIN, "{} shapes", met.len());
    assert!(met.values().all(|(occurs, tested)| *tested == TIMES.min(*occurs)));
    if tests_all() {
        assert_fences();
    }
}

/// Removes each fence, and prints the deaths that find it. Fails if only deaths that are not chosen find one.
#[expect(clippy::print_stderr, reason = "what a test counts")]
fn assert_fences() {
    let found = in_each_core(&FENCES, |fence| (fence.name, found_by(*fence)));
    eprintln!("{found:#?}");
    assert!(found.values().flatten().all(|(is_chosen, _)| *is_chosen), "{found:#?}");
    // If no death found any fence, this comparison could not fail.
    assert!(found.values().any(Option::is_some), "{found:#?}");
}

/// Removes a fence, and repeats the deaths that can then have another effect: first the chosen ones.
///
/// Returns whether a chosen death finds the fence, with the first error.
fn found_by(fence: Fence) -> Option<(bool, String)> {
    [true, false].into_iter().find_map(|is_chosen| {
        let error = PLAN.iter().find_map(|(name, planned)| planned.error(name, fence, is_chosen));
        Some((is_chosen, error?))
    })
}

impl Planned {
    /// Returns the error of the chosen deaths, or of the others, without a fence.
    fn error(&self, name: &str, fence: Fence, is_chosen: bool) -> Option<String> {
        let modes = MODES.into_iter().zip(tested(name)).zip(&self.chosen);
        modes.into_iter().find_map(|((actions_max, deaths), chosen)| {
            let mut numbers = deaths.that_need(fence.name);
            numbers.retain(|number| chosen.contains(number) == is_chosen);
            if numbers.is_empty() {
                return None;
            }
            let deaths = self.requests.try_sweep(actions_max, Chosen::Numbers(numbers), Some(fence));
            deaths.err().map(|error| format!("{name}: {}", error.lines().next().unwrap_or_default()))
        })
    }
}

/// Calls a function for each value, on every core. Returns the results by their keys.
fn in_each_core<T: Sync, K: Ord + Send, V: Send>(
    values: &[T],
    call: impl Fn(&T) -> (K, V) + Sync,
) -> BTreeMap<K, V> {
    let next = AtomicUsize::new(0);
    let of_thread = || {
        let taken = std::iter::from_fn(|| values.get(next.fetch_add(1, Ordering::Relaxed)));
        taken.map(&call).collect::<Vec<_>>()
    };
    let threads = std::thread::available_parallelism().unwrap().get();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Records all scenarios, and chooses among their deaths.
fn plan() -> BTreeMap<&'static str, Planned> {
    let scenarios = in_each_core(LISTED, |name| {
        let requests = Requests::of(name);
        let shapes = MODES.map(|mode| requests.sweep(name, mode, Chosen::None).shapes().collect::<Vec<_>>());
        (*name, (requests, shapes))
    });
    let sweeps: Vec<Vec<u64>> = scenarios.values().flat_map(|(_, shapes)| shapes.clone()).collect();
    let mut chosen = choose(&sweeps, TIMES).into_iter();
    let planned = |(name, (requests, shapes))| {
        let chosen = std::array::from_fn(|_| chosen.next().unwrap());
        (name, Planned { requests, shapes, chosen })
    };
    scenarios.into_iter().map(planned).collect()
}

impl Requests {
    /// Plays a scenario and returns its requests.
    fn of(name: &str) -> Self {
        let script = Script::read(&format!("{FOLDER}/{name}.txt"));
        // Generation is never paused here, so later requests of such a scenario can get other statuses.
        let rests = script.steps.iter().any(|step| step.command == "generation rests");
        let calls = played(&script);
        let submits = |request: &ApiRequest| request.path.contains("/submissions/submit/");
        let is_accepted = calls.iter().any(|(request, status)| submits(request) && *status == 201);
        let requests = calls.into_iter().zip(1..).map(|((mut request, status), number)| {
            // After a crash the client sends its request a second time. The idempotency key marks it as the same one.
            let submits = request.path.contains("/submit/") || request.path.contains("/revert/");
            if submits && request.idempotency_key.is_none() {
                request.idempotency_key = Some(format!("request-{number}"));
            }
            (request, (!rests).then_some(status))
        });
        Self { requests: requests.collect(), given: script.given, is_accepted }
    }

    /// Returns the tested deaths in one mode, possibly without a fence, or the error.
    fn try_sweep(
        &self,
        actions_max: usize,
        chosen: Chosen,
        fence_removed: Option<Fence>,
    ) -> Result<Deaths, String> {
        let (world, limits) = (given::world(&self.given), given::limits(&self.given, actions_max));
        crashes::sweep(&world, limits, &self.requests, chosen, fence_removed)
    }

    /// Tests the chosen deaths in one mode.
    #[track_caller]
    fn sweep(&self, name: &str, actions_max: usize, chosen: Chosen) -> Deaths {
        let deaths = self.try_sweep(actions_max, chosen, None);
        let deaths = deaths.unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let is_submitted = self.requests.iter().any(|(request, _)| request.path.contains("/submissions/"));
        assert!(deaths.count(Dying::Api) > 0 || !is_submitted, "{name}: a function can die");
        assert!(deaths.count(Dying::Woken) > 0 || !self.is_accepted, "{name}: the stream wakes a function");
        // Without staging, only dependent teams and references cause pending work for the sweep.
        let is_pending = self.is_accepted && actions_max == STAGED;
        assert!(deaths.count(Dying::Sweep) > 0 || !is_pending, "{name}: the sweep has work");
        deaths
    }
}

/// Returns the requests of a scenario other than reads, each with its status.
fn played(script: &Script) -> Vec<(ApiRequest, u16)> {
    let (system, keys) = given::start(&script.given, ACTIONS_MAX);
    let mut stage = Stage::new(system, keys);
    for step in &script.steps {
        drop(stage.play(step));
        stage.system.wait_idle();
    }
    stage.system.requests.lock().unwrap().clone()
}
