//! Progress of long work: shown on a terminal, absent in a pipe.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod program;
mod terminal;

use program::{finish, program, run};
use std::fs;
use support::Running;
use terminal::Terminal;

#[test]
fn a_terminal_shows_the_progress_of_decisions_and_waits() {
    let system = Running::demo();
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    for (profile, key) in [("vm", "vm-owner-key\n"), ("consumer", "awesome-key\n")] {
        let mut login = program(&["login", "--profile", profile], directory);
        login.env("DOVETAIL_URL", &system.base);
        assert_eq!(finish(login, key).0, 0);
    }
    let items: Vec<String> = (0..25).map(|number| format!("{{name: vm{number}}}")).collect();
    fs::write(directory.join("shop.yaml"), format!("Shop: {{services: {{VM: [{}]}}}}", items.join(", ")))
        .unwrap();
    let (code, out, error) = run(&["apply", "shop.yaml", "--auto-approve"], directory);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    system.wait_idle();

    let wait = ["wait", "137438953473", "--for", "decided", "--timeout", "1"];
    let (code, shown) = Terminal::start(&program(&wait, directory), 80).finish();
    assert_eq!(code, 8, "{shown}");
    assert!(shown.contains("Submission 137438953473: not yet decided: 25"), "{shown}");
    let (code, out, error) = run(&wait, directory);
    assert_eq!((code, out.lines().count(), error.as_str()), (8, 25, ""));

    let decide = |command, profile| [command, "--filter", "service_name=VM", "--profile", profile];
    let approve = program(&decide("approve", "vm"), directory);
    let (code, shown) = Terminal::start(&approve, 80).finish();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("/25"), "{shown}");
    let (code, out, error) = run(&decide("complete", "vm"), directory);
    assert_eq!((code, out.lines().count(), error.as_str()), (0, 25, ""));
}
