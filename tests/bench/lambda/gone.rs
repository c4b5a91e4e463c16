//! Memory of `submit` in an application with many gone items.

use super::events::{OWNER, assert_answered, request};
use super::function::Function;
use super::{mb, ratio};
use crate::built::Built;
use crate::figure::Figure;
use crate::rates::SUBMIT;
use capacity::measured::GONE;
use serde_json::{Value, json};
use support::Running;

/// Name of the figure.
const MEMORY: &str = "memory of `submit`, one CREATE in an application with 40,000 gone items";
/// Maximum, in MB.
const MEGABYTES_MAX: f64 = 20.0;

/// Measures the peak memory of one submission.
pub fn measure(built: &Built) -> Figure {
    let system = Running::demo();
    let declared = |name: &[&str]| {
        let items: Vec<Value> = name.iter().map(|name| json!({"name": name, "cpu": 8})).collect();
        json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}})
    };
    for items in [&["first"][..], &[]] {
        let submitted = system.call("POST", SUBMIT, "awesome-key", &declared(items));
        let change = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
        for state in ["APPROVED", "COMPLETED"] {
            let decided = system.call("PATCH", &change, "vm-owner-key", &json!({"state": state}));
            assert_eq!(decided.status, 200, "{decided:?}");
        }
    }
    multiply(&system);
    let event = request(&system, "POST", SUBMIT, "awesome-key", &declared(&["new"]));
    let mut function = Function::start(built.program("submit"), &system.environment);
    assert_answered("submit", &function.invoke(&event));
    let bytes = function.memory_peak();
    let passes = ratio(bytes, 1024 * 1024) <= MEGABYTES_MAX;
    Figure::with_goal(MEMORY, format!("≤ {MEGABYTES_MAX:.0} MB"), mb(bytes), passes)
}

/// Copies the gone item of a system under other numbers.
fn multiply(system: &Running) {
    let is_gone = |row: &Value| row["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("GONE#"));
    let gone = system.rows().into_iter().find(is_gone).unwrap();
    let (application, _) = gone["sk"]["S"].as_str().unwrap().split_once('#').unwrap();
    for number in 0..GONE {
        let mut copy = gone.clone();
        copy["sk"]["S"] = json!(format!("{application}#{:07}", 1_000_000 + number));
        system.put_row(&copy);
    }
}
