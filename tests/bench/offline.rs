//! CPU time and memory of `dovetail plan`, compared with a bare parse and with `terraform plan` on the same items.

use crate::Scale;
use crate::built;
use crate::figure::Figure;
use crate::given::{Changed, items};
use crate::process::{Taken, is_there, taken};
use crate::terraform;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const RUNS: u32 = 20;
/// Number of planned items while cachegrind counts instructions.
const COUNTED: usize = 1_000;

/// Measures the ratios with the largest number of items of the scale.
pub fn measure(scale: &Scale) -> Vec<Figure> {
    let count = scale.sizes.iter().copied().max().unwrap();
    let dovetail = built::dovetail();
    let mut figures = measure_plan(&dovetail, count);
    figures.push(Figure::without_goal(
        &format!("instructions of `dovetail plan`, {COUNTED} items, 1 % changed"),
        instructions(&dovetail),
    ));
    figures
}

fn measure_plan(dovetail: &Path, count: usize) -> Vec<Figure> {
    let what = |of: &str| format!("`dovetail plan`, {count} items, 1 % changed: {of}");
    let directory = tempfile::tempdir().unwrap();
    if !is_there("sh") {
        return vec![Figure::without_goal(&what("CPU"), "not measured: `time` is missing")];
    }
    let (old, new) = (items(count, Changed::Nothing), items(count, Changed::OneInHundred));
    let [old_file, new_file] = files(directory.path(), &old, &new);
    let parse = built::parse();
    let bare = taken(RUNS, directory.path(), &[path(&parse), &old_file, &new_file]);
    let own =
        taken(RUNS, directory.path(), &[path(dovetail), "plan", "--old", &old_file, "--new", &new_file]);
    let mut figures =
        vec![Figure::at_most(&what("CPU / CPU of a bare parse of both files"), 2.0, own.cpu / bare.cpu)];
    if is_there("terraform") {
        let terraform = terraform::plan(directory.path(), &old, &new);
        figures.extend([
            Figure::at_least(&what("CPU of `terraform plan` / its own"), 600.0, terraform.cpu / own.cpu),
            Figure::at_least(
                &what("memory of `terraform plan` / its own"),
                30.0,
                terraform.memory / own.memory,
            ),
        ]);
    } else {
        figures.push(Figure::without_goal(
            &what("compared with `terraform plan`"),
            "not measured: terraform is missing",
        ));
    }
    figures.push(Figure::without_goal(&what("CPU and memory"), format_taken(own)));
    figures
}

fn format_taken(taken: Taken) -> String {
    format!("{:.0} ms, {:.0} MB", taken.cpu * 1e3, taken.memory / 1024.0 / 1024.0)
}

fn files(directory: &Path, old: &Map<String, Value>, new: &Map<String, Value>) -> [String; 2] {
    [("old.json", old), ("new.json", new)].map(|(name, items)| {
        let file = directory.join(name);
        fs::write(&file, json!({"items": items}).to_string()).unwrap();
        path(&file).to_owned()
    })
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns cachegrind's count of instructions. Other load of the machine does not change it.
fn instructions(dovetail: &Path) -> String {
    let directory = tempfile::tempdir().unwrap();
    if !is_there("valgrind") {
        return "not counted: valgrind is missing".to_owned();
    }
    let [old, new] = [Changed::Nothing, Changed::OneInHundred].map(|changed| items(COUNTED, changed));
    let [old, new] = files(directory.path(), &old, &new);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let counting = valgrind.arg(dovetail).args(["plan", "--old", &old, "--new", &new]);
    let stderr = String::from_utf8(counting.output().unwrap().stderr).unwrap();
    // `==123== I   refs:      28,670,344`
    let line = stderr.lines().find_map(|line| line.split_once("refs:"));
    line.map_or_else(|| "not counted: valgrind failed".to_owned(), |(_, count)| count.trim().to_owned())
}
