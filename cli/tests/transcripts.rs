//! Plays the transcripts in `transcripts/` against the local system and compares every output.
//!
//! `UPDATE_EXPECT=1 cargo test -p dovetail-cli --test transcripts` replaces the outputs.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "test support")]

mod player;
mod program;
mod terminal;

use player::play;
use std::fs;
use std::path::Path;

macro_rules! transcripts {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts/", stringify!($name), ".txt");
                expect_test::expect_file![path].assert_eq(&play(&fs::read_to_string(path).unwrap(), None));
            }
        )*
    };
}

transcripts! {
    apply_the_same_plan_twice
    claim_work
    confirm_a_removal
    decide_as_a_service_owner
    declare_and_apply
    draw_a_graph
    files_and_directories
    filter_with_jq
    open_an_object
    profiles
    publish_a_definition
    pull_what_is_declared
    read_what_exists
    rename_an_item
    replace_an_item
    reports_for_pipelines
    revert_and_compare
    settings_and_docs
    settings_of_a_team
    show_an_object
    show_causes
    show_derived_values
    show_references
    submit_with_a_message
    usual_and_unusual_yaml
    wait_for_the_owners
    write_yaml
}

#[test]
fn every_transcript_is_played() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        names.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, NAMES);
}
