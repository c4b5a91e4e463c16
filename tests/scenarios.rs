//! Scenarios: each file of `scenarios/` is a specification, played over HTTP on a system of its own.
//!
//! ```text
//! # What it shows.
//! given service VM approval not required
//!
//! AwesomeConsumer submits
//!   NewApp1 VM CoreVM1 cpu=8 memory=2
//! -> 201
//!   CoreVM1#1 CREATE APPROVED of AwesomeConsumer for VMOwnerTeam
//! item CoreVM1 -> IN_SERVICE CHANGES_APPROVED
//! ```
//!
//! A step is a command, lines below it, and behind `->` its result: one line, and lines below that. The world is
//! the demo world with what is `given`. `CoreVM1#1` is the first change instance of the item `CoreVM1`, in the
//! order of ids. After every step what follows from it is waited for, every invariant is audited, and what is new in the
//! stream is delivered again; in the end all of it is. `UPDATE_EXPECT=1` writes the results into the files.
//!
//! | Command | Request |
//! |---|---|
//! | `T submits`, `T submits nothing`, `T submits with commit C with key K` | the lines below as T's whole declaration |
//! | `T patches`, `T validates` | as a part of it; only to be previewed |
//! | `T submits as previewed` | the same with the plan of T's last preview in `If-Match` |
//! | `T moves X#1 to S`, `T updates X#1`, each `with log "…"`, `with deployed {…}` | a decision |
//! | `a person of T moves X#1 to S` | the same by somebody with a token, in the files of `people/` |
//! | `T retries X#1` | another attempt |
//! | `T deploys {…} for X`, `… with X#1`, `… onto X v1` | a deployed item, alone or patched onto a version |
//! | `T tells "…" to VM until 2030-01-01`, `T tells "…" to all`, `T withdraws "…"` | a message of an owner |
//! | `T sets VM name=value`, `T publishes` | a service's settings, its definition |
//! | `change X#1`, `item X`, `application A`, `service VM`, `submission T#1`, `team T`, with or without fields | as it is now |
//! | `item X as of T#1`, with or without fields, `application A as of T#1`, `team T as of T#1` | as it was after T's first submission |
//! | `T reverts to T#1`, with a key, a commit, as previewed; `T validates reverting to T#1` | what was declared then is declared again |
//! | `T reads change X#1` and so on | the same, as a team that may have no business with it |
//! | `T lists changes state=PENDING`, `T lists items as consumer` and so on | a list |
//! | `history X#1`, `deployed X`, `charges X` | oldest first |
//! | `T bills X 2` | T marks the second of the item's charges as processed |
//! | `generation rests`, `generation goes on` | what the stream tells of waits, and is carried out later |
//! | `events` | what was published since the last look at it, by subject |

#![cfg(test)]

#[path = "scenario/consumer.rs"]
mod consumer;
#[path = "scenario/given.rs"]
mod given;
#[path = "scenario/look.rs"]
mod look;
#[path = "scenario/names.rs"]
mod names;
#[cfg(feature = "deployed")]
#[path = "scenario/on_a_stack.rs"]
pub(crate) mod on_a_stack;
#[path = "scenario/owner.rs"]
mod owner;
#[path = "scenario/play.rs"]
pub(crate) mod play;
#[path = "scenario/reply.rs"]
mod reply;
#[path = "scenario/script.rs"]
mod script;
#[path = "scenario/stage.rs"]
mod stage;
#[path = "scenario/text.rs"]
mod text;

use std::collections::BTreeSet;
use std::fs;

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");

/// Four tests for each file, and the list of them.
macro_rules! scenarios {
    ($($name:ident)*) => {
        pub(crate) const LISTED: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                play::file(&format!("{FOLDER}/{}.txt", stringify!($name)));
            }
        )*

        /// The same, when a transaction takes so little that every submission is staged.
        mod staged {
            use super::play;

            $(
                #[test]
                fn $name() {
                    play::staged(&format!("{}/{}.txt", super::FOLDER, stringify!($name)));
                }
            )*
        }

        /// The same, on stacks that are deployed.
        #[cfg(feature = "deployed")]
        mod deployed {
            use super::on_a_stack;

            $(
                #[test]
                fn $name() {
                    on_a_stack::file(&format!("{}/{}.txt", super::FOLDER, stringify!($name)));
                }
            )*
        }

        /// The same requests, while functions die at each of their calls.
        mod crashing {
            use super::play;

            $(
                #[test]
                fn $name() {
                    play::crashing(&format!("{}/{}.txt", super::FOLDER, stringify!($name)));
                }
            )*
        }
    };
}

scenarios! {
    a_direct_change_and_a_generated_one_share_a_stack
    a_failed_creation_is_created_anew
    a_failed_deletion_waits_for_an_answer
    a_former_dependent_has_rejected
    a_generated_one_meets_a_rejection
    a_later_submission_overtakes_generation
    a_minimum_schema_version
    a_private_service
    a_reference_to_itself_is_refused
    a_removal_is_withdrawn_after_the_schema_was_tightened
    a_removal_is_withdrawn_from_a_private_service
    a_removal_is_withdrawn_in_every_state_of_the_service
    a_schema_is_tightened_later
    a_service_is_decommissioned
    a_service_takes_no_changes
    a_service_takes_no_new_items
    a_submission_without_changes_is_recorded
    a_team_is_a_dependent_and_an_owner_at_once
    a_price_per_change
    a_preview_tells_what_a_submission_would_do
    a_submission_as_previewed_does_that_or_nothing
    a_validation_changes_nothing
    an_item_as_it_was
    an_owner_tries_again
    approval_in_the_metadata_of_a_definition
    approval_not_required
    approval_not_required_for_generated_ones
    approval_required_changes_in_flight
    declared_again_after_the_deletion_is_approved
    declared_again_while_the_deletion_is_pending
    declared_then_is_declared_again
    dependent_teams
    deployed_items_are_versioned
    each_team_sees_and_decides_its_own
    events_tell_what_happened
    generation_create_modify_delete
    history_tells_who_when_and_why
    idempotency_keys
    mandatory_metadata
    messages_of_owners
    metadata_as_they_were
    metadata_of_the_team_and_its_applications
    more_deployed_items_than_one_change_instance_has_numbers_for
    names_are_unique_per_application_and_service
    partial_submissions
    prices_for_time_in_service
    references
    references_generate_for_the_main_item
    removal_while_the_creation_is_pending
    runtime_state_through_a_whole_life
    stack_exception_a_modification_becomes_a_creation
    stack_rule_1_a_newer_pending_displaces_the_older
    stack_rule_2_an_approval_closes_the_approved_one
    stack_rule_3_a_rejection_is_answered_by_a_modification
    stack_rule_3_an_error_is_answered_by_a_modification
    tags_in_the_catalogue
    what_nobody_works_on_is_asked_for_again
}

/// What is different for people and for keys.
mod people {
    use super::play;

    #[test]
    fn approval_by_keys_alone() {
        play::with_people(&format!("{}/people/approval_by_keys_alone.txt", super::FOLDER));
    }

    #[test]
    fn completion_by_keys_alone() {
        play::with_people(&format!("{}/people/completion_by_keys_alone.txt", super::FOLDER));
    }
}

#[test]
fn every_file_is_listed() {
    let files = fs::read_dir(FOLDER).unwrap().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().unwrap().is_file());
    let files = files.map(|entry| entry.file_name().into_string().unwrap());
    let listed = LISTED.iter().map(|name| format!("{name}.txt"));
    assert_eq!(files.collect::<BTreeSet<_>>(), listed.collect::<BTreeSet<_>>());
}
