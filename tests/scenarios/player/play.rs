//! Runs a scenario: each response becomes text and must equal the text in the file.

use super::given;
use super::script::{Outcome, Script, Step};
use super::stage::Stage;
use dovetail_table::ACTIONS_MAX;
use serde_json::Value;
use std::fs;
use support::{Redelivery, Running};

/// The mechanism that processes the pending work of submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The functions behind the stream. Each stream record arrives several times.
    Stream,
    /// Only the sweep, because the stream delivers nothing.
    Sweep,
    /// The stream, with every submission staged: a transaction takes one write.
    ///
    /// Then the change instances of a submission are created concurrently, so lists can have any order.
    Staged,
}

/// Runs the scenario of a file. With `UPDATE_EXPECT` in the environment, writes the results into the file.
pub(crate) fn file(path: &str) {
    drop(rows_after(path, By::Stream));
}

/// Runs the scenario of a file with every submission staged. Skips scenarios about the stream itself.
pub(crate) fn staged(path: &str) {
    let text = fs::read_to_string(path).unwrap();
    if !text.contains("\ngeneration rests") && !text.contains("\nevents ->") {
        drop(rows_after(path, By::Staged));
    }
}

/// Runs the scenario of a file. Returns the rows of the table at the end.
pub(crate) fn rows_after(path: &str, by: By) -> Vec<Value> {
    let script = Script::read(path);
    let actions_max = if by == By::Staged { 1 } else { ACTIONS_MAX };
    let (system, keys) = given::start(&script.given, actions_max);
    played(path, &script, Stage::new(system, keys), by)
}

/// Runs the scenario of a file with people in addition to API keys.
pub(crate) fn with_people(path: &str) {
    let script = Script::read(path);
    let (system, keys, issuer) = given::start_with_people(&script.given);
    let tokens = keys.keys().map(|team| (team.clone(), issuer.token(team))).collect();
    drop(played(path, &script, Stage { tokens, ..Stage::new(system, keys) }, By::Stream));
}

fn played(path: &str, script: &Script, mut stage: Stage<Running>, by: By) -> Vec<Value> {
    let mut stream = Redelivery::new();
    if by == By::Sweep {
        stage.system.enable("generate", false);
        stage.system.enable("notify", false);
    }
    let update = by == By::Stream && std::env::var_os("UPDATE_EXPECT").is_some();
    let mut results = Vec::new();
    for step in &script.steps {
        let _scene = Scene { path, step };
        let actual = stage.play(step);
        if by == By::Sweep {
            stage.system.sweep();
        }
        stage.system.wait_idle();
        if stream.read_new(&stage.system) {
            stage.system.assert_sound();
        }
        if by != By::Sweep && !stage.rests {
            stream.redeliver_now(&stage.system);
        }
        if !update {
            assert_expected(step, &actual, by == By::Staged);
        }
        results.push(actual);
    }
    if by != By::Sweep {
        stream.redeliver_all(&stage.system);
        stage.system.assert_published();
    }
    if update {
        fs::write(path, script.with_results(&results)).unwrap();
    }
    stage.system.rows()
}

/// Fails unless a step has its expected result. With staged submissions, lists can have any order.
#[track_caller]
pub(super) fn assert_expected(step: &Step, actual: &Outcome, is_staged: bool) {
    let expected = &step.expected;
    let is_same = if is_staged && step.command.contains(" lists ") {
        expected.in_any_order() == actual.in_any_order()
    } else {
        expected.written() == actual.written()
    };
    assert!(is_same, "expected:\n{}\nactual:\n{}\n", expected.written(), actual.written());
}

/// Prints the current step if the test panics.
pub(super) struct Scene<'a> {
    pub(super) path: &'a str,
    pub(super) step: &'a Step,
}

impl Drop for Scene<'_> {
    #[expect(clippy::print_stderr, reason = "what a failed test says")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}:{}: {}", self.path, self.step.line, self.step.command);
        }
    }
}
