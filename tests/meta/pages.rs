//! Pages that a reader can follow: bash runs their commands in order, and their output must match what the page shows.
//!
//! [`support::page`] plays them. `cli/tests/pages.rs` has the pages that use the client.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use support::page::{follow, follow_in};

const WORKERS: &str = include_str!("../../docs/how-to/workers.md");

/// Defines a test for each page.
macro_rules! pages {
    ($($test:ident: $page:literal;)*) => {
        $(
            #[test]
            fn $test() {
                follow(include_str!($page));
            }
        )*
    };
}

pages! {
    the_tutorial_gives_the_output_that_it_shows: "../../docs/tutorial.md";
    the_page_about_definitions_gives_the_output_that_it_shows: "../../docs/how-to/write-a-definition.md";
    the_page_about_secrets_gives_the_output_that_it_shows: "../../docs/how-to/secrets.md";
    the_page_about_references_gives_the_output_that_it_shows: "../../docs/how-to/references.md";
    the_page_about_removal_gives_the_output_that_it_shows: "../../docs/how-to/remove-rename-move.md";
    the_page_about_replacement_gives_the_output_that_it_shows: "../../docs/how-to/replace-or-modify.md";
    the_page_about_the_life_of_an_item_gives_the_output_that_it_shows: "../../docs/explanation/lifecycle.md";
}

/// Returns a shell in a directory with the examples of the repository.
fn with_examples(directory: &Path, _: &str) -> Command {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    symlink(examples, directory.join("examples")).unwrap();
    Command::new("bash")
}

#[test]
fn the_page_about_workers_gives_the_output_that_it_shows() {
    follow_in(WORKERS, with_examples);
}

#[test]
fn the_example_of_a_network_gives_the_output_that_it_shows() {
    follow_in(include_str!("../../examples/network/README.md"), with_examples);
}
