//! The history of a change instance.

use crate::api::demo::OWNER;
use crate::api::example::SHARED;

/// The Go client's type has the team's name as a string. The id is an additional field.
#[test]
fn a_history_names_the_team_as_a_string() {
    let path = format!("{OWNER}/change_instances/{}/history/", SHARED.change);
    let history = SHARED.system.get(&path, "vm-owner-key");
    let teams: Vec<_> = history
        .rows()
        .iter()
        .map(|entry| (entry["changed_by_team"].as_str(), entry["changed_by_team_id"].is_u64()))
        .collect();
    assert_eq!(teams, [(Some("VMOwnerTeam"), true), (Some("AwesomeConsumer"), true)], "{history:?}");
}
