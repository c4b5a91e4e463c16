//! Runs scenarios on deployed stacks, each on a new stack.

use super::given;
use super::play::{Scene, assert_expected};
use super::script::Script;
use super::stage::Stage;
use dovetail_table::ACTIONS_MAX;
use serde_json::json;
use simulation::system::STAGED;
use support::Stack;

/// Runs the scenario of a file.
pub(crate) fn file(path: &str) {
    play(path, ACTIONS_MAX);
}

/// Runs the scenario of a file with every submission staged.
pub(crate) fn staged(path: &str) {
    play(path, STAGED);
}

fn play(path: &str, actions_max: usize) {
    let script = Script::read(path);
    let world = given::world(&script.given);
    let reuse_from = given::limits(&script.given, actions_max).reuse_from;
    let stack = Stack::deploy_limited(&world, (actions_max, reuse_from), &json!({}));
    let mut stage = Stage::new(stack, given::keys(&world));
    for step in &script.steps {
        let _scene = Scene { path, step };
        let actual = stage.play(step);
        stage.system.wait_idle(stage.rests);
        stage.system.assert_sound();
        assert_expected(step, &actual, actions_max == STAGED);
    }
}
