//! Scenarios: each file of `scenarios/` specifies behavior in a small language. A test runs it over HTTP on a new
//! system.
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
//! The first line is a comment with the subject of the scenario. Further comments start with `#`. `given` lines
//! change the demo world, and the steps follow. A step has:
//!
//! - a command,
//! - indented lines, if the command needs them,
//! - after `->` the expected result: one line, and indented lines for lists. It can start on the command's own line.
//!
//! `CoreVM1` is an item, and `CoreVM1#1` its first change instance in the order of ids. `T#1` is the first submission
//! of team T. An ambiguous item name gets more of `team/application/service/name` in front.
//!
//! After every step, the test waits for generation and events, audits every invariant, and delivers the new stream
//! records again. At the end it delivers all of them again. `UPDATE_EXPECT=1` writes the results into the files.
//!
//! | Change of the world | Meaning |
//! |---|---|
//! | `given service VM approval not required` | change instances start as APPROVED |
//! | `given service VM dependents A B`, `… without dependents` | the dependent teams of the service |
//! | `given service VM allows A B` | a private service for these teams |
//! | `given team T confirms removals` | the team has `confirm_removals` |
//! | `given metadata of application {…}`, `… of team {…}` | a schema for metadata |
//!
//! | Line of a declaration | Meaning |
//! |---|---|
//! | `NewApp1 VM CoreVM1 cpu=8 related_vms=[A,B]` | an item with its properties |
//! | `NewApp1 nothing` | an application without items |
//! | `NewApp1 metadata env=dev`, `metadata budget=1` | metadata of an application, of the team |
//! | `{…}` | the whole body as JSON, with `"id of CoreVM1"` for the id of an item |
//!
//! | Command | Request |
//! |---|---|
//! | `T submits`, `T submits nothing` | submits the lines below, or nothing, as T's whole declaration |
//! | `T patches`, `T validates` | submits them as a partial declaration; previews them |
//! | `T submits with commit C with key K` | submits with a commit id and an idempotency key |
//! | `T submits its declaration` | submits what the export returns as T's declaration |
//! | `T submits allowing removal` | submits with `allow_removal=true` |
//! | `T submits as previewed` | submits with the plan of T's last preview in `If-Match` |
//! | `T reverts to T#1`, with the same options | declares the state after T's first submission |
//! | `T validates reverting to T#1` | previews that revert |
//! | `T moves X#1 to S`, `T updates X#1` | sends a decision, also `with log "…"`, `with deployed {…}`, `with claim 1` |
//! | `a person of T moves X#1 to S` | sends it with the token of a person, in files of `people/` |
//! | `T retries X#1` | opens another attempt |
//! | `T claims 5 as w-7`, `T claims 5 PENDING as w-7` | claims the oldest free work for a worker |
//! | `T claims X#1 as w-7`, `… with 1` | takes the work of a change instance, extends the claim 1 |
//! | `T releases X#1 as w-7 with 1` | releases the claim 1 |
//! | `T deploys {…} for X`, `… with X#1` | creates a deployed item for an item, for a change instance |
//! | `T deploys {…} onto X v1` | merges the data into a version of the deployed item |
//! | `T sets VM name=value`, `T publishes` | changes settings of a service; publishes the definition below |
//! | `T tells "…" to all`, `… to VM,LoadBalancer` | creates a message, also `until 2030-01-01` |
//! | `T withdraws "…"` | removes the message |
//! | `T bills X 2` | marks the second charge of an item as processed |
//! | `change X#1`, `item X` | reads an object as its consumer: its state, or the fields after its name |
//! | `application A`, `service VM`, `submission T#1`, `team T` | reads the fields after its name |
//! | `item X as of T#1`, the same for `application`, `team` | reads it as of T's first submission |
//! | `T reads change X#1`, the same for other objects | reads it as team T |
//! | `T lists changes state=PENDING` | lists rows in the owner role; also `items`, `deployed`, `services`, … |
//! | `T lists items as consumer` | lists rows in the consumer role |
//! | `T lists dependant changes`, `T lists referenced changes` | lists rows of the dependent or referenced view |
//! | `declaration of T`, `declaration of T as of T#1` | reads the export of T's declaration |
//! | `history X#1`, `deployed X`, `charges X` | lists entries, versions or charges, oldest first |
//! | `generation rests`, `generation goes on` | pauses generation; resumes it |
//! | `events` | lists the events since the last `events`, by subject |

pub(crate) mod player {
    mod consumer;
    pub(crate) mod crashing;
    mod given;
    mod look;
    mod names;
    pub(crate) mod on_a_stack;
    mod owner;
    pub(crate) mod play;
    mod reply;
    mod script;
    mod stage;
    mod text;
}

use player::play;
use std::collections::BTreeSet;
use std::fs;

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");

/// Defines four tests for each file, and the list of the files.
macro_rules! scenarios {
    ($($name:ident)*) => {
        pub(crate) const LISTED: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                play::file(&format!("{FOLDER}/{}.txt", stringify!($name)));
            }
        )*

        /// The scenarios with every submission staged: a transaction takes one write.
        mod staged {
            use super::player::play;

            $(
                #[test]
                fn $name() {
                    play::staged(&format!("{}/{}.txt", super::FOLDER, stringify!($name)));
                }
            )*
        }

        /// The scenarios on deployed stacks.
        mod deployed {
            use super::player::on_a_stack;

            $(
                #[test]
                #[ignore = "runs on deployed stacks: tests/deploy/run"]
                fn $name() {
                    on_a_stack::file(&format!("{}/{}.txt", super::FOLDER, stringify!($name)));
                }
            )*
        }

        /// The requests of the scenarios, while functions die at their calls.
        mod crashing {
            use super::player::crashing;

            #[test]
            fn each_shape_of_a_death_is_tested_twice() {
                crashing::assert_shapes();
            }

            $(
                #[test]
                fn $name() {
                    crashing::scenario(stringify!($name));
                }
            )*
        }
    };
}

scenarios! {
    a_claim_of_a_worker
    a_claim_that_a_service_requires
    a_claimed_change_is_displaced
    a_dependent_team_retries_the_last_removal
    a_direct_change_and_a_generated_one_share_a_stack
    a_failed_change_may_lack_values
    a_failed_creation_is_created_again
    a_failed_deletion_waits_for_an_answer
    a_fixed_property
    a_former_dependent_has_rejected
    a_generated_one_meets_a_rejection
    a_gone_item_and_its_name
    a_later_submission_overtakes_generation
    a_minimum_schema_version
    a_plan_of_the_owner
    a_preview_shows_the_effects_of_a_submission
    a_price_per_change
    a_private_service
    a_property_whose_change_replaces
    a_reference_to_itself_is_refused
    a_removal_is_withdrawn_after_the_schema_was_tightened
    a_removal_is_withdrawn_from_a_private_service
    a_removal_is_withdrawn_in_every_state_of_the_service
    a_removal_of_an_application_is_confirmed
    a_removal_of_an_item_is_confirmed
    a_replaced_declaration_returns
    a_replaced_item_is_referenced
    a_replacement_before_anything_is_in_place
    a_replacement_in_a_verified_service
    a_replacement_meets_another_declaration
    a_replacement_with_a_dependent_team
    a_replacement_without_an_approval
    a_schema_is_tightened_later
    a_service_is_decommissioned
    a_service_replaces_its_items
    a_service_takes_no_changes
    a_service_takes_no_new_items
    a_submission_as_previewed_does_that_or_nothing
    a_submission_without_changes_is_recorded
    a_team_is_a_dependent_and_an_owner_at_once
    a_validation_changes_nothing
    a_verified_service
    an_array_without_an_order
    an_array_without_an_order_is_verified
    an_empty_application_gives_its_number_away
    an_item_as_it_was
    an_item_of_an_earlier_definition
    an_object_is_adopted
    an_observed_value_of_a_fixed_property
    an_older_replacement_creates_nothing
    an_orphan_gets_another_change_instance
    an_owner_observes_an_item
    an_owner_tries_again
    an_unneeded_change_is_completed
    an_unneeded_change_without_the_setting
    an_unneeded_share
    approval_in_the_metadata_of_a_definition
    approval_not_required
    approval_not_required_for_generated_ones
    approval_required_changes_in_flight
    declared_again_after_the_deletion_is_approved
    declared_again_while_the_deletion_is_pending
    declared_then_is_declared_again
    dependent_teams
    deployed_items_are_versioned
    drift_at_a_property_that_replaces
    each_team_sees_and_decides_its_own
    events_describe_every_change
    generation_create_modify_delete
    history_has_actor_time_and_reason
    idempotency_keys
    mandatory_metadata
    messages_of_owners
    metadata_as_they_were
    metadata_of_the_team_and_its_applications
    more_deployed_items_than_one_change_instance_has_numbers_for
    names_are_unique_per_application_and_service
    p51_missing_members_come_from_metadata
    p52_metadata_generate_an_item_for_each_of_a_service
    p53_a_written_item_wins_and_problems_are_at_the_entry
    p54_what_is_declared_declares_the_same_again
    p55_a_generated_item_follows_its_target
    p56_generated_items_count_for_every_limit
    p57_a_definition_copies_a_part_of_another
    p58_a_copy_stays_until_its_definition_is_published
    p59_a_reference_stands_at_any_path
    p60_a_reference_to_another_application
    p61_a_reference_to_an_item_of_another_team
    p63_uses_are_exact
    p64_a_value_derives_from_others
    p65_derived_values_join_and_end
    p71_what_a_reference_shows
    p72_a_reference_shows_no_secret
    p73_a_referenced_change_names_its_causes
    p75_a_derived_value_shows_what_a_reference_shows
    p76_a_change_waits_for_a_new_item
    p77_a_completion_unblocks_others
    p78_a_referenced_change_waits_for_its_causes
    p79_a_removal_waits_for_the_dropped_reference
    p80_items_in_a_circle_do_not_wait
    p83_another_attempt_waits_for_the_same
    p84_a_chain_has_waves
    p86_an_item_gets_another_name
    p87_an_entry_without_an_effect
    p88_references_have_the_new_name
    p89_the_past_of_an_item_with_another_name
    p91_what_looks_like_another_name
    p92_names_are_not_exchanged
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
    the_charges_and_the_past_of_a_replacement
    the_state_of_an_application
    what_a_state_requires
    what_a_state_requires_of_parts
    who_fills_a_property
    without_an_approval_no_value_of_the_owner
    words_of_a_definition
    work_that_awaits_a_claim
}

/// Scenarios with people in addition to API keys.
mod people {
    use super::player::play;

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
