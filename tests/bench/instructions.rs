//! How many instructions the program executes that plans from two files: a figure that other load does not change.

use crate::figure::Figure;
use crate::given::{Changed, declaration};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

const WHAT: &str = "instructions of `dovetail plan`, 1,000 items, 1 % changed";
const ITEMS: usize = 1_000;

/// What cachegrind counts; told in the table where it is missing.
pub fn measure() -> Vec<Figure> {
    let is_there = Command::new("valgrind").arg("--version").output();
    if is_there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return vec![Figure::told(WHAT, "not counted: valgrind is missing")];
    }
    let program = program();
    let files = tempfile::tempdir().unwrap();
    let write = |name: &str, changed| {
        let path = files.path().join(name);
        fs::write(&path, declaration(ITEMS, changed)).unwrap();
        path
    };
    let old = write("old.json", Changed::Nothing);
    let new = write("new.json", Changed::OneInHundred);
    vec![Figure::told(WHAT, counted(&program, &old, &new))]
}

/// The release build of the program.
fn program() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["build", "--release", "--quiet", "--package", "dovetail-local", "--bin", "dovetail"];
    let built = Command::new(cargo).args(arguments).status().unwrap();
    assert!(built.success(), "the program does not build");
    // The benchmark itself is in the directory of that profile, in `deps`.
    let own = env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("dovetail")
}

fn counted(program: &Path, old: &Path, new: &Path) -> String {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    let counting = valgrind.arg(program).arg("plan").arg("--old").arg(old).arg("--new").arg(new);
    let told = String::from_utf8(counting.output().unwrap().stderr).unwrap();
    let line = told.lines().find_map(|line| line.split_once("I refs:"));
    line.map_or_else(|| format!("not counted: {told}"), |(_, count)| count.trim().to_owned())
}
