//! The manual pages: one for each command.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::run;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_command_has_a_manual_page() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, error) = run(&["man", "--directory", "man1"], directory.path());
    assert_eq!((code, out.as_str(), error.as_str()), (0, "", ""));
    let pages = fs::read_dir(directory.path().join("man1")).unwrap();
    let names: BTreeSet<String> =
        pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    let (_, help, _) = run(&["--help"], Path::new("."));
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    for line in commands.lines().take_while(|line| line.starts_with("  ")) {
        let name = format!("dovetail-{}.1", line.split_whitespace().next().unwrap_or_default());
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let plan = fs::read_to_string(directory.path().join("man1/dovetail-plan.1")).unwrap();
    assert!(plan.contains(".TH"), "{plan}");
    assert!(plan.contains("Shows the changes that `apply` would make"), "{plan}");
}

#[test]
fn the_first_page_has_all_exit_codes() {
    let (code, page, _) = run(&["man"], Path::new("."));
    assert_eq!(code, 0);
    assert!(page.contains("the plan has changed since it was shown"), "{page}");
}
