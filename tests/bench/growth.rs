//! Time of a submission, by the number of declared and of changed items.

use crate::client::{Call, Connection, Got, runtime};
use crate::figure::{Figure, time};
use crate::given::{self, CONSUMER_KEY, Changed};
use crate::rates::SUBMIT;
use crate::{Scale, wait_idle};
use hyper::Method;
use std::time::{Duration, Instant};
use support::Running;

/// Maximum time of a point, in seconds. A longer point is the last one.
const LONGEST: f64 = 60.0;

/// Interval between two reads of the submission's state.
const ASKING: Duration = Duration::from_millis(10);

/// Name of a team's first submission in the figures.
pub const NEW: &str = "new";

/// Measurements of one submission.
#[derive(Clone, Debug)]
pub struct Point {
    /// Number of declared items.
    pub items: usize,
    /// Name of the share of changed items.
    pub kind: &'static str,
    /// Seconds until the response.
    pub reply: f64,
    /// Seconds until the submission is SETTLED.
    pub completion: f64,
    /// Write units in the response, if it has them.
    pub write_units: Option<f64>,
}

impl Point {
    /// Returns the write units per item, if the response has them.
    pub fn units_an_item(&self) -> Option<f64> {
        self.write_units.map(|units| units / self.items as f64)
    }
}

/// Measures submissions of increasing size, until one takes longer than `LONGEST`.
pub fn measure(scale: &Scale) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for items in &scale.sizes {
        points.extend(submissions(*items));
        if points.iter().any(|point| point.completion > LONGEST) {
            println!("{items} items took longer than {}: no more are tried", time(LONGEST));
            break;
        }
    }
    points
}

/// Measures the submissions of a team with this number of items.
fn submissions(items: usize) -> Vec<Point> {
    let system = Running::start(&given::world(0));
    let kinds =
        [(NEW, Changed::Nothing)].into_iter().chain(Changed::EACH.map(|changed| (changed.name(), changed)));
    let mut points = Vec::new();
    for (kind, changed) in kinds {
        let call = Call::new(Method::POST, SUBMIT, CONSUMER_KEY, given::declaration(items, changed));
        let (reply, completion, got) = runtime().block_on(submitted(&system, &call));
        points.push(Point { items, kind, reply, completion, write_units: write_units(&got) });
        println!("{:?}", points.last());
        wait_idle(&system);
    }
    points
}

/// Submits and waits until SETTLED. Returns the seconds until the response and until SETTLED, and the response.
async fn submitted(system: &Running, call: &Call) -> (f64, f64, Got) {
    let mut connection = Connection::open(&system.base).await;
    let began = Instant::now();
    let got = connection.send(call).await;
    let reply = began.elapsed().as_secs_f64();
    let mut submission = got.json();
    let path = format!("/v1/orcabase/consumer/submissions/{}/", submission["id"]);
    let look = Call::get(&path, CONSUMER_KEY);
    while submission["state"] != "SETTLED" {
        tokio::time::sleep(ASKING).await;
        submission = connection.send(&look).await.json();
    }
    (reply, began.elapsed().as_secs_f64(), got)
}

/// Returns the write units of `Server-Timing`: `write_units;desc="19", …`.
fn write_units(got: &Got) -> Option<f64> {
    let header = got.headers.get("server-timing")?.to_str().ok()?;
    let metric = header.split(',').find_map(|metric| metric.trim().strip_prefix("write_units;desc="))?;
    metric.trim_matches('"').parse().ok()
}

/// Returns the growth of the time per item.
pub fn figures(points: &[Point]) -> Vec<Figure> {
    let kinds = [NEW, Changed::All.name()];
    kinds.into_iter().filter_map(|kind| grown(points, kind)).collect()
}

/// Compares the time per item of the largest submission with that of a submission with a tenth of its items.
fn grown(points: &[Point], kind: &str) -> Option<Figure> {
    let of_kind: Vec<&Point> = points.iter().filter(|point| point.kind == kind).collect();
    let most = of_kind.last()?;
    let fewer = of_kind.iter().find(|point| point.items * 10 == most.items)?;
    let an_item = |point: &Point| point.completion / point.items as f64;
    let what = format!("time per item until SETTLED, {kind}: {} items / {} items", most.items, fewer.items);
    Some(Figure::without_goal(&what, format!("{:.2}", an_item(most) / an_item(fewer))))
}

pub fn table(points: &[Point]) -> String {
    let row = |point: &Point| {
        let units = point.units_an_item().map_or_else(String::new, |units| format!("{units:.2}"));
        let an_item = time(point.completion / point.items as f64);
        let (reply, completion) = (time(point.reply), time(point.completion));
        format!("| {} | {} | {reply} | {completion} | {an_item} | {units} |\n", point.items, point.kind)
    };
    let head = "| items | change | until the response | until SETTLED | per item | write units per item |";
    format!("{head}\n|---|---|---|---|---|---|\n{}", points.iter().map(row).collect::<String>())
}
