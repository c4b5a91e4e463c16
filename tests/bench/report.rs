//! Writes the plots and the block of time by the number of items in docs/reference/figures/performance.md.

use crate::figure;
use crate::given::Changed;
use crate::growth::{self, NEW, Point};
use crate::plot::Chart;
use crate::session::{Mode, Page, Session, docs};
use std::fs;
use std::path::{Path, PathBuf};
use support::source::Method;

const ACROSS: &str = "declared items";

/// A plot: file name, title, label of the vertical axis, and value of a point.
type Plot = (&'static str, &'static str, &'static str, fn(&Point) -> Option<f64>);

const PLOTS: [Plot; 3] = [
    ("settled", "Time from a submission until SETTLED", "seconds", |point| Some(point.completion)),
    ("reply", "Time from a submission to its response", "seconds", |point| Some(point.reply)),
    ("write-units", "Write units in the response", "write units per item", Point::units_an_item),
];

/// Measures the growth, and writes the plots and the block.
pub fn renew(session: &Session) {
    let points = growth::measure(&session.scale);
    let figures = growth::figures(&points);
    let links = if session.mode == Mode::Write { plots(&docs(), &points) } else { String::new() };
    let body = format!("{}\n{}\n{links}", growth::table(&points), figure::table(&figures));
    session.renew(Page::Performance, "growth", Method::Measured, &body);
}

/// Draws each plot with points, and returns the links to them.
fn plots(docs: &Path, points: &[Point]) -> String {
    let directory: PathBuf = docs.join("reference/plots");
    fs::create_dir_all(&directory).unwrap();
    let mut links = String::new();
    for (name, title, up, value) in PLOTS {
        let lines = lines(points, value);
        if !lines.is_empty() {
            let chart = Chart { title, across: ACROSS, up, lines };
            fs::write(directory.join(format!("{name}.svg")), chart.svg()).unwrap();
            links.extend(["![", title, "](../plots/", name, ".svg)\n\n"]);
        }
    }
    links
}

/// Returns a line for each kind of submission with values.
fn lines(points: &[Point], value: fn(&Point) -> Option<f64>) -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let kinds = [NEW].into_iter().chain(Changed::EACH.map(Changed::name));
    let lines = kinds.map(|kind| {
        let of_kind = points.iter().filter(|point| point.kind == kind);
        let values =
            of_kind.filter_map(|point| Some((point.items as f64, value(point).filter(|v| *v > 0.0)?)));
        (kind, values.collect::<Vec<_>>())
    });
    lines.filter(|(_, points)| !points.is_empty()).collect()
}
