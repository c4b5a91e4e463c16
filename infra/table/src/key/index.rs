//! Indexes: their attributes, partitions and sort keys.

use domain::base::state::ChargeType;
use domain::{ItemId, State, TeamId, Timestamp};

/// An index with the names of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Index {
    pub(crate) name: &'static str,
    pub(crate) pk: &'static str,
    pub(crate) sk: &'static str,
}

/// All indexes. `gs1` projects all attributes, `gs2` and `gs3` only keys.
pub(crate) const INDEXES: [Index; 3] = [
    Index { name: "gs1", pk: "gs1pk", sk: "gs1sk" },
    Index { name: "gs2", pk: "gs2pk", sk: "gs2sk" },
    Index { name: "gs3", pk: "gs3pk", sk: "gs3sk" },
];

/// Returns the partition of `gs1` with the change instances of an owner in a state: `OWNER#{owner}#{state}`, sorted
/// by `{time}#{id}`.
pub(crate) fn owner_queue(owner: TeamId, state: State) -> String {
    format!("OWNER#{owner}#{state}")
}

/// Returns the partition of `gs2` with the items of an owner's services: `OWNER#{owner}#ITEMS`, sorted by
/// `{time}#{id}`.
pub(crate) fn owner_items(owner: TeamId) -> String {
    format!("OWNER#{owner}#ITEMS")
}

/// Returns the partition of `gs2` with the gone items of an owner's services: `OWNER#{owner}#GONE`, sorted by
/// `{time}#{id}`.
pub(crate) fn owner_gone(owner: TeamId) -> String {
    format!("OWNER#{owner}#GONE")
}

/// Returns the partition of `gs3` with the gone items of a consumer: `TEAM#{team}#REMOVED`, sorted by
/// `{submission}#{id}`. The submission is the one that removed the item.
pub(crate) fn team_removed(team: TeamId) -> String {
    format!("TEAM#{team}#REMOVED")
}

/// Returns the partition of `gs3` with the retired applications of a consumer: `TEAM#{team}#RETIRED`, sorted by
/// `{submission}#{id}`. The submission is the one that retired the application.
pub(crate) fn team_retired(team: TeamId) -> String {
    format!("TEAM#{team}#RETIRED")
}

/// Returns the sort key of a gone item or a retired application by the submission that removed it.
pub(crate) fn by_submission(submission: u64, id: u64) -> String {
    format!("{submission:011}#{id:016}")
}

/// Returns the partition of `gs2` with the deployed items of an owner's services: `OWNER#{owner}#DEPLOYED`, sorted
/// by `{time}#{id}`.
pub(crate) fn owner_deployed(owner: TeamId) -> String {
    format!("OWNER#{owner}#DEPLOYED")
}

/// Returns the partition of `gs2` with an owner's open or processed charges of a type:
/// `OWNER#{owner}#CHARGES#{type}#{processed}`, sorted by `{time}#{id}`.
pub(crate) fn owner_charges(owner: TeamId, charge_type: ChargeType, is_processed: bool) -> String {
    let processed = if is_processed { "PROCESSED" } else { "OPEN" };
    format!("OWNER#{owner}#CHARGES#{}#{processed}", charge_type.name())
}

/// Returns the partition of `gs2` with the services of an owner: `OWNER#{owner}#SERVICES`, sorted by `{time}#{id}`.
pub(crate) fn owner_services(owner: TeamId) -> String {
    format!("OWNER#{owner}#SERVICES")
}

/// Returns the partition of `gs2` with the configs of an owner's services: `OWNER#{owner}#CONFIGS`, sorted by
/// `{time}#{id}`.
pub(crate) fn owner_configs(owner: TeamId) -> String {
    format!("OWNER#{owner}#CONFIGS")
}

/// Returns the partition of `gs3` with the change instances of an item: `ITEM#{item}#CHANGES`, sorted by
/// `{time}#{id}`.
pub(crate) fn item_changes(item: ItemId) -> String {
    format!("ITEM#{item}#CHANGES")
}

/// Returns the partition of `gs3` with the deployed items of an item: `ITEM#{item}#DEPLOYED`, sorted by
/// `{time}#{id}`.
pub(crate) fn item_deployed(item: ItemId) -> String {
    format!("ITEM#{item}#DEPLOYED")
}

/// Partition of `gs3` with all services: `SERVICES`, sorted by `{time}#{id}`.
pub(crate) const ALL_SERVICES: &str = "SERVICES";

/// Partition of `gs3` with the teams that have messages: `MESSAGES`, sorted by `{team}`.
pub(crate) const ALL_MESSAGES: &str = "MESSAGES";

/// Returns the partition of `gs2` with the shares of a dependent team: `OWNER#{owner}#SHARES`, sorted by
/// `{time}#{id}`.
pub(crate) fn owner_shares(owner: TeamId) -> String {
    format!("OWNER#{owner}#SHARES")
}

/// Number of partitions of pending work. DynamoDB writes at most 1,000 units per second to each partition.
const WORK_PARTITIONS: u64 = 16;

/// Returns the partition of `gs3` with the pending work of a team, except staged work: `WORK#{part}`, sorted by
/// `{time}#{id}`.
pub(crate) fn pending_work(team: TeamId) -> String {
    format!("WORK#{}", team.get() % WORK_PARTITIONS)
}

/// Returns all partitions of pending work, and the single one of earlier releases.
pub(crate) fn all_pending_work() -> impl Iterator<Item = String> {
    (0..WORK_PARTITIONS).map(|part| format!("WORK#{part}")).chain([FORMER_WORK.to_owned()])
}

/// Partition of pending work in earlier releases. Readers include it, and the next release of the format drops it.
pub(crate) const FORMER_WORK: &str = "WORK";

/// Partition of `gs3` with all stagings: `STAGING`, sorted by `{time}#{id}`. The work of a staging is not in an index.
pub(crate) const ALL_STAGINGS: &str = "STAGING";

/// Partition of `gs3` with the next runs of healthchecks and the next reminders of webhooks: `DUE`, sorted by
/// `{time}#{id}`.
pub(crate) const ALL_DUE: &str = "DUE";

/// Partition of `gs3` with work that failed ten times: `QUARANTINE`, sorted by `{time}#{id}`.
pub(crate) const QUARANTINE: &str = "QUARANTINE";

/// Returns a sort key by age, which the id makes unique.
pub(crate) fn by_age(created: Timestamp, id: u64) -> String {
    format!("{:016}#{id:016}", created.micros())
}

/// Returns the time in a sort key by age.
pub(crate) fn age_at(sk: &str) -> Option<Timestamp> {
    age_and_id_at(sk).map(|(age, _)| age)
}

/// Returns the time and the id in a sort key by age.
pub(crate) fn age_and_id_at(sk: &str) -> Option<(Timestamp, u64)> {
    let (age, id) = sk.split_once('#')?;
    Some((Timestamp::from_micros(age.parse().ok()?), id.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn teams_spread_over_sixteen_partitions_that_readers_know() {
        let teams = (1..=100).map(|team| TeamId::new(team).unwrap());
        let used: BTreeSet<String> = teams.map(pending_work).collect();
        assert_eq!(used.len(), 16);
        assert_eq!(all_pending_work().collect::<BTreeSet<_>>(), &used | &BTreeSet::from(["WORK".to_owned()]));
    }
}
