//! Change instances. Module `entry` has their histories.

use super::bytes::ChainPart;
use super::charge::PricesPart;
use super::codec::{FORMAT_BASE, FORMAT_LIFECYCLE, Record, of_checked, of_generation, of_message};
use super::conversion::{Bad, Part};
use super::entry::{self, EntryRecord, Teams};
use super::parts::{ServicePart, TeamPart, VersionPart, WaitPart};
use crate::key::{self, Key};
use domain::base::state::Kind;
use domain::{Change, ChangeId, State, TeamRef};
use serde::{Deserialize, Serialize};

/// A change instance with its history. The record omits the usual values and everything that the history contains:
/// every write pays for each KB, in the table and in `gs1`.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    /// Id of the change instance.
    id: u64,
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Name of the service item.
    #[serde(rename = "nm")]
    item_name: String,
    /// Name of the application.
    #[serde(rename = "app")]
    application: String,
    /// Generation of the application. Absent for generation 0, and known since format 4.
    #[serde(rename = "ag", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Owner: the team that carries the change out.
    #[serde(rename = "ow")]
    owner: TeamPart,
    /// Service owner. Absent if it is also the owner.
    #[serde(rename = "so", skip_serializing_if = "Option::is_none")]
    service_owner: Option<TeamPart>,
    /// Name of the consumer team. The id of the change instance contains the team id.
    #[serde(rename = "cs")]
    consumer: String,
    /// Kind: `DEPENDENT`, `REFERENCED`, `RETRY` or `REPLACEMENT`. Absent for a direct change.
    #[serde(rename = "kd", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Id of the change instance that caused it, for a dependent change or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    /// Ids of the change instances of the modified items, for a referenced change and its retries. Absent otherwise, and
    /// in records of release 0.4 and earlier.
    #[serde(rename = "ca", default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<u64>,
    /// Id of the first attempt, or of the first half before it. Absent if there is none.
    #[serde(rename = "or", default, skip_serializing_if = "Option::is_none")]
    origin: Option<u64>,
    /// What has to happen before. Absent for nothing.
    #[serde(rename = "wf", default, skip_serializing_if = "Vec::is_empty")]
    waits: Vec<WaitPart>,
    /// Number of items of the submission that wait for it, at most 100. Absent for none.
    #[serde(rename = "ub", default, skip_serializing_if = "Option::is_none")]
    unblocks: Option<usize>,
    /// Change type: `CREATE`, `MODIFY` or `DELETE`.
    #[serde(rename = "ct")]
    change_type: String,
    /// State.
    #[serde(rename = "st")]
    state: String,
    /// Id of the submission.
    #[serde(rename = "sub")]
    submission: u64,
    /// Commit id of the submission. Absent if the consumer sent none.
    #[serde(rename = "commit", skip_serializing_if = "Option::is_none")]
    commit_id: Option<String>,
    /// Message of the submission. Absent if there is none, and known since format 7.
    #[serde(rename = "msg", skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Attempt, counted from 1. Absent for the first attempt.
    #[serde(rename = "ap", skip_serializing_if = "Option::is_none")]
    attempt: Option<u64>,
    /// Declaration after the change, also of a DELETE that replaces the item. Absent if the change is a removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<VersionPart>,
    /// Declaration before the change. Absent for a first declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<VersionPart>,
    /// Schema version that checks decisions. Absent for a definition without words, and known since format 6.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
    /// Ids of the open change instances that it closed by displacement. Absent if there are none.
    #[serde(rename = "sup", default, skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<u64>,
    /// Number of `sup` entries at creation. Absent if there were none.
    #[serde(rename = "sb", skip_serializing_if = "Option::is_none")]
    superseded_at_creation: Option<usize>,
    /// True for a DELETE if no CREATE was approved since the last completed DELETE (R5). Absent in all other cases.
    #[serde(rename = "nis", skip_serializing_if = "Option::is_none")]
    never_in_service: Option<bool>,
    /// True if it asked for what its owner had in place. Absent in all other cases, and known since format 9.
    #[serde(rename = "un", skip_serializing_if = "Option::is_none")]
    unneeded: Option<bool>,
    /// True if an API key needs a claim to end the work. Absent if not, and known since format 9.
    #[serde(rename = "cq", skip_serializing_if = "Option::is_none")]
    claim_required: Option<bool>,
    /// Runtime state of the item at creation.
    #[serde(rename = "rs")]
    runtime_state: String,
    /// Id of the newest deployed item at creation. Absent if there was none.
    #[serde(rename = "dp", skip_serializing_if = "Option::is_none")]
    deployed_before: Option<u64>,
    /// Prices at the submission. Absent if both are 0.
    #[serde(rename = "pr", skip_serializing_if = "Option::is_none")]
    prices: Option<PricesPart>,
    /// Number of history entries, and fence of every transition.
    #[serde(rename = "n")]
    entries: u64,
    /// History, oldest entry first.
    #[serde(rename = "hi")]
    history: Vec<EntryRecord>,
    /// Link of the last history entry. The link seals all entries of the history.
    #[serde(rename = "hh")]
    chain: ChainPart,
}

impl Part<Change> for ChangeRecord {
    fn of(change: &Change) -> Self {
        let is_own_service = change.owner == change.service_owner;
        Self {
            id: Part::of(&change.id),
            item: Part::of(&change.item),
            item_name: change.item_name.clone(),
            application: change.application.clone(),
            generation: Part::of(&change.generation),
            service: Part::of(&change.service),
            owner: Part::of(&change.owner),
            service_owner: (!is_own_service).then(|| Part::of(&change.service_owner)),
            consumer: change.consumer.name.clone(),
            kind: Part::of(&change.kind),
            cause: Part::of(&change.cause),
            causes: Part::of(&change.causes),
            origin: (change.origin != change.id).then_some(change.origin.get()),
            waits: Part::of(&change.waits),
            unblocks: Part::of(&change.unblocks),
            change_type: Part::of(&change.change_type),
            state: Part::of(&change.state),
            submission: Part::of(&change.submission),
            commit_id: change.commit_id.clone(),
            message: change.message.clone(),
            attempt: (change.attempt != 1).then_some(change.attempt),
            new: Part::of(&change.new),
            old: Part::of(&change.old),
            schema_version: change.schema_version,
            supersedes: Part::of(&change.supersedes),
            superseded_at_creation: Part::of(&change.superseded_at_creation),
            never_in_service: Part::of(&change.never_in_service),
            unneeded: Part::of(&change.unneeded),
            claim_required: Part::of(&change.claim_required),
            runtime_state: Part::of(&change.runtime_state),
            deployed_before: Part::of(&change.deployed_before),
            prices: Part::of(&change.prices),
            entries: change.chain_head().entries,
            history: entry::records(change),
            chain: Part::of(&change.chain_head().chain),
        }
    }

    fn value(self) -> Result<Change, Bad> {
        let id: ChangeId = self.id.value()?;
        let owner = self.owner.value()?;
        let service_owner = self.service_owner.map_or_else(|| Ok(owner.clone()), Part::value)?;
        let consumer = TeamRef { id: id.team(), name: self.consumer };
        let change_type = self.change_type.value()?;
        let teams = Teams([&owner, &service_owner, &consumer]);
        let history = entry::history(self.history, &teams, change_type, self.chain.value()?)?;
        Ok(Change {
            id,
            item: self.item.value()?,
            item_name: self.item_name,
            application: self.application,
            generation: self.generation.value()?,
            service: self.service.value()?,
            kind: self.kind.value()?,
            cause: self.cause.value()?,
            causes: self.causes.value()?,
            origin: Part::<Option<ChangeId>>::value(self.origin)?.unwrap_or(id),
            waits: self.waits.value()?,
            unblocks: self.unblocks.value()?,
            change_type,
            state: self.state.value()?,
            submission: self.submission.value()?,
            commit_id: self.commit_id,
            message: self.message,
            attempt: self.attempt.unwrap_or(1),
            new: self.new.value()?,
            old: self.old.value()?,
            schema_version: self.schema_version,
            supersedes: self.supersedes.value()?,
            superseded_at_creation: self.superseded_at_creation.value()?,
            never_in_service: self.never_in_service.value()?,
            unneeded: self.unneeded.value()?,
            claim_required: self.claim_required.value()?,
            runtime_state: self.runtime_state.value()?,
            deployed_before: self.deployed_before.value()?,
            prices: self.prices.value()?,
            log: history.iter().rev().find_map(|entry| entry.log.clone()).unwrap_or_default(),
            created: history.first().ok_or(Bad("history"))?.at,
            history,
            owner,
            service_owner,
            consumer,
        })
    }
}

impl Record for ChangeRecord {
    const TYPE: &'static str = "CHANGE";
    type Value = Change;

    fn key(change: &Change) -> Key {
        key::change(change.id)
    }

    fn format(change: &Change) -> u64 {
        let format = of_generation(change.generation).max(of_checked(change.schema_version));
        let is_newer = change.kind == Kind::Replacement
            || change.is_first_half()
            || change.former() != change.old
            || change.claim_required;
        let lifecycle = if is_newer { FORMAT_LIFECYCLE } else { FORMAT_BASE };
        format.max(of_message(change.message.as_deref())).max(lifecycle)
    }

    fn indexes(change: &Change) -> Vec<(u8, String, String)> {
        let age = key::by_age(change.created, change.id.get());
        vec![
            (1, key::owner_queue(change.owner.id, change.state), age.clone()),
            (3, key::item_changes(change.item), age),
        ]
    }
}

/// Returns the partition of `gs1` for closed change instances of an owner.
pub(crate) fn closed_queue(owner: domain::TeamId) -> String {
    key::owner_queue(owner, State::Closed)
}
