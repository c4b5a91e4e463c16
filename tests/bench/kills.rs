//! Large submissions while the program is killed and while owners decide: a test of `dovetaild` at full size.

use crate::built;
use crate::session::{Page, Session};
use capacity::text::{grouped, markdown};
use std::process::{Command, Stdio};
use support::source::Method;

/// Runs the test, and writes its times into the figures of performance.
pub fn renew(session: &Session) {
    let (program, test) = (built::program("dovetaild"), built::large_test());
    let output = Command::new(test)
        .args(["--nocapture", "--test-threads", "1"])
        .env("DOVETAIL", program)
        .env("ITEMS", session.scale.killed.to_string())
        .stdout(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    session.renew(Page::Performance, "kills", Method::Measured, &body(&text));
}

fn body(text: &str) -> String {
    let phases: Vec<Vec<String>> = text.lines().filter_map(phase).collect();
    assert_eq!(phases.len(), 3, "{text}");
    let both = text.lines().find_map(both).unwrap_or_else(|| panic!("{text}"));
    let table = markdown("phase | change instances | kills | kills on the way | time", phases);
    format!("{table}\n{both}")
}

/// Returns the row of a line such as `create: 10000 change instances, killed 2 times, 1 of them on the way, 28 s`.
fn phase(line: &str) -> Option<Vec<String>> {
    let (name, rest) = line.split_once(": ")?;
    let [changes, kills, on_the_way, time] = rest.split(", ").collect::<Vec<_>>().try_into().ok()?;
    let changes = changes.strip_suffix(" change instances")?.parse().ok()?;
    let kills = kills.strip_prefix("killed ")?.strip_suffix(" times")?;
    let on_the_way = on_the_way.strip_suffix(" of them on the way")?;
    Some([name, &grouped(changes), kills, on_the_way, time].map(str::to_owned).to_vec())
}

/// Returns the sentences of the last line: `2 x 5000 items were applied and decided in 73.1 s; 7148 requests …`.
fn both(line: &str) -> Option<String> {
    let (applied, rest) = line.split_once(" were applied and decided in ")?;
    let (time, rest) = rest.split_once("; ")?;
    let (repeated, rest) = rest.split_once(" requests repeated the stored state, ")?;
    let refused = rest.strip_suffix(" were refused")?;
    let applied = applied.replace(" x ", " × ");
    let [repeated, refused] = [repeated, refused].map(|number| number.parse().map(grouped));
    Some(format!(
        "{applied}, applied and decided at the same time: {time}. Repeated decisions: {}. Refused ones: {}.",
        repeated.ok()?,
        refused.ok()?
    ))
}
