//! CPU time and memory of `dovetail plan`, compared with a bare parse and with `terraform plan` on the same items.

use crate::built;
use crate::figure::{Figure, table};
use crate::given::{Changed, items};
use crate::lambda::instructions::summary;
use crate::process::{Taken, is_there, taken};
use crate::session::{Page, Session};
use crate::terraform;
use capacity::text::{grouped, markdown};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use support::source::Method;

/// Numbers of planned items.
const SIZES: [usize; 3] = [100, 1_000, 10_000];
const RUNS: u32 = 20;
/// Number of planned items while cachegrind counts instructions.
const COUNTED: usize = 1_000;

/// The three programs at one number of items.
struct Compared {
    items: usize,
    own: Taken,
    bare: Taken,
    terraform: Taken,
}

impl Compared {
    fn with(items: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [old, new] = documents(items);
        let [old_file, new_file] = files(directory.path(), &old, &new);
        let [parse, dovetail] = ["parse", "dovetail"].map(built::program);
        let bare = taken(RUNS, directory.path(), &[path(&parse), &old_file, &new_file]);
        let plan = [path(&dovetail), "plan", "--old", &old_file, "--new", &new_file];
        let own = taken(RUNS, directory.path(), &plan);
        Self { items, own, bare, terraform: terraform::plan(directory.path(), &old, &new) }
    }

    fn row(&self) -> Vec<String> {
        let Self { items, own, bare, terraform } = self;
        vec![
            grouped(u128::try_from(*items).unwrap()),
            text(*own),
            text(*bare),
            text(*terraform),
            format!("{:.2}", own.cpu / bare.cpu),
            format!("{:.0}", terraform.cpu / own.cpu),
            format!("{:.0}", terraform.memory / own.memory),
        ]
    }

    fn goals(&self) -> [Figure; 3] {
        let Self { items, own, bare, terraform } = self;
        let what = |of: &str| format!("{} items: {of}", grouped(u128::try_from(*items).unwrap()));
        [
            Figure::at_most(&what("CPU, `plan` / bare parse"), 2.0, own.cpu / bare.cpu),
            Figure::at_least(&what("CPU, terraform / `plan`"), 600.0, terraform.cpu / own.cpu),
            Figure::at_least(&what("memory, terraform / `plan`"), 30.0, terraform.memory / own.memory),
        ]
    }
}

/// Compares the programs, and writes their block. The goals are those of the largest number of items.
pub fn renew(session: &Session) {
    for program in ["sh", "terraform"] {
        assert!(is_there(program), "{program} or /usr/bin/time is missing");
    }
    let largest = session.scale.sizes.iter().max().unwrap();
    let compared: Vec<Compared> =
        SIZES.into_iter().filter(|items| items <= largest).map(Compared::with).collect();
    let head = "items | `plan` | bare parse | `terraform plan` | CPU, `plan` / bare parse | \
        CPU, terraform / `plan` | memory, terraform / `plan`";
    let rows = markdown(head, compared.iter().map(Compared::row));
    let goals = table(&compared[compared.len() - 1].goals());
    session.renew(Page::Performance, "plan", Method::Measured, &format!("{rows}{goals}"));
}

fn text(taken: Taken) -> String {
    let megabytes = format!("{:.0} MB", taken.memory / 1024.0 / 1024.0);
    format!("{}, {megabytes}", crate::figure::time(taken.cpu))
}

/// Returns this number of items before and after a change of one item in a hundred.
fn documents(count: usize) -> [Map<String, Value>; 2] {
    [Changed::Nothing, Changed::OneInHundred].map(|changed| items(count, changed))
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

/// Returns cachegrind's count of the instructions of a plan.
pub fn instructions() -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let [old, new] = documents(COUNTED);
    let [old, new] = files(directory.path(), &old, &new);
    let counts = directory.path().join("counts");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--log-file=/dev/null"]);
    valgrind.arg(format!("--cachegrind-out-file={}", counts.display()));
    let counting = valgrind.arg(built::program("dovetail")).args(["plan", "--old", &old, "--new", &new]);
    counting.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    summary(&counts)
}
