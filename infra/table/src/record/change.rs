//! Change instances. Module `entry` has their histories.

use super::bytes::ChainPart;
use super::charge::PricesPart;
use super::codec::Record;
use super::entry::{self, EntryRecord, Teams};
use super::invalid::Bad;
use super::parts::{ServicePart, TeamPart, VersionPart, change_type, kind, runtime_state, state};
use crate::key::{self, Key};
use domain::base::id::DeployedId;
use domain::base::state::Kind;
use domain::{Change, ChangeId, ItemId, State, SubmissionId, TeamRef};
use serde::{Deserialize, Serialize};

/// A change instance with its history. The record omits the usual values and everything that the history contains:
/// every write pays for each KB, in the table and in `gs1`.
#[derive(Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    /// Id of the change instance.
    id: u64,
    /// Id of the service item.
    it: u64,
    /// Name of the service item.
    nm: String,
    /// Name of the application.
    app: String,
    /// Service.
    svc: ServicePart,
    /// Owner: the team that carries the change out.
    ow: TeamPart,
    /// Service owner. Absent if it is also the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    so: Option<TeamPart>,
    /// Name of the consumer team. The id of the change instance contains the team id.
    cs: String,
    /// Kind: `DEPENDENT`, `REFERENCED` or `RETRY`. Absent for a direct change.
    #[serde(skip_serializing_if = "Option::is_none")]
    kd: Option<String>,
    /// Id of the change instance that caused it, for a dependent change or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    /// Change type: `CREATE`, `MODIFY` or `DELETE`.
    ct: String,
    /// State.
    st: String,
    /// Id of the submission.
    sub: u64,
    /// Commit id of the submission. Absent if the consumer sent none.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Attempt, counted from 1. Absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    ap: Option<u64>,
    /// Declaration after the change. Absent for a removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<VersionPart>,
    /// Declaration before the change. Absent for a first declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<VersionPart>,
    /// Ids of the open change instances that it closed by displacement. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sup: Vec<u64>,
    /// Number of `sup` entries at creation. Absent for 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    sb: Option<usize>,
    /// True for a DELETE if no CREATE was approved since the last completed DELETE (R5). Absent if false.
    #[serde(skip_serializing_if = "Option::is_none")]
    nis: Option<bool>,
    /// Runtime state of the item at creation.
    rs: String,
    /// Id of the newest deployed item at creation. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    dp: Option<u64>,
    /// Prices at the submission. Absent if both are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<PricesPart>,
    /// Number of history entries. Fence of every transition.
    n: u64,
    /// History, oldest entry first.
    hi: Vec<EntryRecord>,
    /// Link of the last history entry. It seals all entries.
    hh: ChainPart,
}

impl Record for ChangeRecord {
    const TYPE: &'static str = "CHANGE";
    type Value = Change;

    fn of(change: &Change) -> Self {
        let is_own_service = change.owner == change.service_owner;
        Self {
            id: change.id.get(),
            it: change.item.get(),
            nm: change.item_name.clone(),
            app: change.application.clone(),
            svc: ServicePart::of(&change.service),
            ow: TeamPart::of(&change.owner),
            so: (!is_own_service).then(|| TeamPart::of(&change.service_owner)),
            cs: change.consumer.name.clone(),
            kd: (change.kind != Kind::Direct).then(|| change.kind.name().to_owned()),
            cause: change.cause.map(ChangeId::get),
            ct: change.change_type.name().to_owned(),
            st: change.state.name().to_owned(),
            sub: change.submission.get(),
            commit: change.commit_id.clone(),
            ap: (change.attempt != 1).then_some(change.attempt),
            new: change.new.as_ref().map(VersionPart::of),
            old: change.old.as_ref().map(VersionPart::of),
            sup: change.supersedes.iter().map(|id| id.get()).collect(),
            sb: (change.superseded_at_creation > 0).then_some(change.superseded_at_creation),
            nis: change.never_in_service.then_some(true),
            rs: change.runtime_state.name().to_owned(),
            dp: change.deployed_before.map(DeployedId::get),
            pr: PricesPart::of(change.prices),
            n: change.chain_head().entries,
            hi: entry::records(change),
            hh: ChainPart::of(change.chain_head().chain),
        }
    }

    fn value(self) -> Result<Change, Bad> {
        let other = |raw: u64| ChangeId::parse(raw).ok_or(Bad("change"));
        let id = other(self.id)?;
        let owner = self.ow.value()?;
        let service_owner = self.so.map(TeamPart::value).transpose()?.unwrap_or_else(|| owner.clone());
        let consumer = TeamRef { id: id.team(), name: self.cs };
        let change_type = change_type(&self.ct)?;
        let teams = Teams([&owner, &service_owner, &consumer]);
        let history = entry::history(self.hi, &teams, change_type, self.hh.value())?;
        Ok(Change {
            id,
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            item_name: self.nm,
            application: self.app,
            service: self.svc.value()?,
            kind: self.kd.as_deref().map_or(Ok(Kind::Direct), kind)?,
            cause: self.cause.map(other).transpose()?,
            change_type,
            state: state(&self.st)?,
            submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
            commit_id: self.commit,
            attempt: self.ap.unwrap_or(1),
            new: self.new.map(VersionPart::value),
            old: self.old.map(VersionPart::value),
            supersedes: self.sup.into_iter().map(other).collect::<Result<_, _>>()?,
            superseded_at_creation: self.sb.unwrap_or(0),
            never_in_service: self.nis.unwrap_or(false),
            runtime_state: runtime_state(&self.rs)?,
            deployed_before: match self.dp {
                Some(raw) => Some(DeployedId::parse(raw).ok_or(Bad("deployed item"))?),
                None => None,
            },
            prices: PricesPart::value(self.pr)?,
            log: history.iter().rev().find_map(|entry| entry.log.clone()).unwrap_or_default(),
            created: history.first().ok_or(Bad("history"))?.at,
            history,
            owner,
            service_owner,
            consumer,
        })
    }

    fn key(change: &Change) -> Key {
        key::change(change.id)
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
