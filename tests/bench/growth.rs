//! How the time of a submission grows with the items that are declared, and with those that change.

use crate::client::{Call, Connection, Got, runtime};
use crate::figure::{Figure, time};
use crate::given::{self, CONSUMER_KEY, Changed};
use crate::rates::SUBMIT;
use crate::{Scale, settle};
use hyper::Method;
use std::time::{Duration, Instant};
use tests::Running;

/// A point that takes longer is the last one.
const LONGEST: f64 = 60.0;

/// How often it is asked whether a submission has settled.
const ASKING: Duration = Duration::from_millis(10);

/// What the first submission of a team is called.
pub const NEW: &str = "new";

/// One submission.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many items it declares.
    pub items: usize,
    /// How many of them changed.
    pub kind: &'static str,
    /// How many seconds it took until the reply.
    pub reply: f64,
    /// How many seconds it took until all that it causes was there.
    pub settled: f64,
    /// Write units in the response, if it has them.
    pub write_units: Option<f64>,
}

impl Point {
    /// The write units of an item, where they are known.
    pub fn units_an_item(&self) -> Option<f64> {
        self.write_units.map(|units| units / self.items as f64)
    }
}

/// Submissions of more and more items, until they take too long.
pub fn measure(scale: &Scale) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for items in &scale.sizes {
        points.extend(submissions(*items));
        if points.iter().any(|point| point.settled > LONGEST) {
            println!("{items} items took longer than {}: no more are tried", time(LONGEST));
            break;
        }
    }
    points
}

/// Submissions of a team that declares so many items.
fn submissions(items: usize) -> Vec<Point> {
    let system = Running::start(&given::world(0));
    let kinds =
        [(NEW, Changed::Nothing)].into_iter().chain(Changed::EACH.map(|changed| (changed.name(), changed)));
    let mut points = Vec::new();
    for (kind, changed) in kinds {
        let call = Call::new(Method::POST, SUBMIT, CONSUMER_KEY, given::declaration(items, changed));
        let (reply, settled, got) = runtime().block_on(submitted(&system, &call));
        points.push(Point { items, kind, reply, settled, write_units: write_units(&got) });
        println!("{:?}", points.last());
        settle(&system);
    }
    points
}

/// Submits, and waits until it has settled.
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

/// Returns the write units in `Server-Timing`: `write_units;desc="19", …`.
fn write_units(got: &Got) -> Option<f64> {
    let told = got.headers.get("server-timing")?.to_str().ok()?;
    let metric = told.split(',').find_map(|metric| metric.trim().strip_prefix("write_units;desc="))?;
    metric.trim_matches('"').parse().ok()
}

/// How an item's time grows with the number of items.
pub fn figures(points: &[Point]) -> Vec<Figure> {
    let kinds = [NEW, Changed::All.name()];
    kinds.into_iter().filter_map(|kind| grown(points, kind)).collect()
}

/// Compares the time per item of the most items with that of a tenth of them.
fn grown(points: &[Point], kind: &str) -> Option<Figure> {
    let of_kind: Vec<&Point> = points.iter().filter(|point| point.kind == kind).collect();
    let most = of_kind.last()?;
    let fewer = of_kind.iter().find(|point| point.items * 10 == most.items)?;
    let an_item = |point: &Point| point.settled / point.items as f64;
    let what = format!("time per item until SETTLED, {kind}: {} items / {} items", most.items, fewer.items);
    Some(Figure::told(&what, format!("{:.2}", an_item(most) / an_item(fewer))))
}

/// All points as a table in Markdown.
pub fn table(points: &[Point]) -> String {
    let row = |point: &Point| {
        let units = point.units_an_item().map_or_else(String::new, |units| format!("{units:.2}"));
        let an_item = time(point.settled / point.items as f64);
        let (reply, settled) = (time(point.reply), time(point.settled));
        format!("| {} | {} | {reply} | {settled} | {an_item} | {units} |\n", point.items, point.kind)
    };
    let head = "| items | change | until the response | until SETTLED | per item | write units per item |";
    format!("{head}\n|---|---|---|---|---|---|\n{}", points.iter().map(row).collect::<String>())
}
