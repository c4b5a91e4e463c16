//! Writes the plots and the block of figures in docs/explanation/performance.md.

use crate::figure::{self, Figure};
use crate::given::Changed;
use crate::growth::{self, NEW, Point};
use crate::plot::Chart;
use std::fs;
use std::path::{Path, PathBuf};
use support::blocks;

const ACROSS: &str = "declared items";

/// A plot: file name, title, label of the vertical axis, and value of a point.
type Plot = (&'static str, &'static str, &'static str, fn(&Point) -> Option<f64>);

const PLOTS: [Plot; 3] = [
    ("settled", "Time from a submission until SETTLED", "seconds", |point| Some(point.completion)),
    ("reply", "Time from a submission to its response", "seconds", |point| Some(point.reply)),
    ("write-units", "Write units in the response", "write units per item", Point::units_an_item),
];

/// Writes the plots and the block.
pub fn write(figures: &[Figure], points: &[Point]) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let plots = plots(&docs, points);
    let page = docs.join("explanation/performance.md");
    let text = fs::read_to_string(&page).unwrap();
    let block = block(figures, points, &plots);
    fs::write(&page, blocks::replaced(&text, "", &block)).unwrap();
    println!("docs/explanation/performance.md and docs/plots are written.");
}

fn block(figures: &[Figure], points: &[Point], plots: &str) -> String {
    format!(
        "\n{}\nMachine: {}.\nOne process runs the whole system and the client. Its database is a file, in shared memory \
         if the machine has some.\nThe client has {} open connections.\n\n{}\n{plots}",
        figure::table(figures),
        machine(),
        crate::client::CONCURRENCY,
        growth::table(points),
    )
}

/// Returns the number of cores and the model of the processor.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu_info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{cores} cores, {}", model.map_or("of an unknown model", |(_, model)| model.trim()))
}

/// Draws each plot with points, and returns the links to them.
fn plots(docs: &Path, points: &[Point]) -> String {
    let directory: PathBuf = docs.join("plots");
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
