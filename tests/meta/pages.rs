//! Pages that a reader can follow: bash runs their commands in order, and their output must match what the page shows.
//!
//! [`support::page`] plays them. `cli/tests/pages.rs` has the pages that use the client.

use support::page::follow;

const TUTORIAL: &str = include_str!("../../docs/tutorial.md");
const DEFINITION: &str = include_str!("../../docs/how-to/write-a-definition.md");
const SECRETS: &str = include_str!("../../docs/how-to/secrets.md");
const LIFECYCLE: &str = include_str!("../../docs/explanation/lifecycle.md");

#[test]
fn the_tutorial_gives_the_output_that_it_shows() {
    follow(TUTORIAL);
}

#[test]
fn the_page_about_definitions_gives_the_output_that_it_shows() {
    follow(DEFINITION);
}

#[test]
fn the_page_about_secrets_gives_the_output_that_it_shows() {
    follow(SECRETS);
}

#[test]
fn the_page_about_the_life_of_an_item_gives_the_output_that_it_shows() {
    follow(LIFECYCLE);
}
