//! Change instances and their histories.

use super::Record;
use super::parts::{
    ActorPart, Bad, ServicePart, TeamPart, VersionPart, at, chain, chain_text, change_type, kind,
    runtime_state, state,
};
use crate::key::{self, Key};
use domain::change::{Change, ClosedBy, Entry, Reason};
use domain::id::{ChangeId, DeployedId, ItemId, SubmissionId};
use domain::state::State;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    id: u64,
    it: u64,
    nm: String,
    app: String,
    svc: ServicePart,
    ow: TeamPart,
    so: TeamPart,
    cs: TeamPart,
    kd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    ct: String,
    st: String,
    sub: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    ap: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<VersionPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<VersionPart>,
    sup: Vec<u64>,
    sb: usize,
    nis: bool,
    rs: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    dp: Option<u64>,
    log: String,
    cr: u64,
    /// How many entries the history has: the fence of every move.
    n: u64,
    hi: Vec<EntryRecord>,
}

/// One history entry.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<String>,
    t: String,
    a: u64,
    by: ActorPart,
    op: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cb: Option<ClosedPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
    #[serde(rename = "r")]
    reason: String,
    ct: String,
    hh: String,
}

/// Which rule closed a change instance, and for which other one.
#[derive(Serialize, Deserialize)]
struct ClosedPart {
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci: Option<u64>,
}

impl ClosedPart {
    fn of(closed: ClosedBy) -> Self {
        let (why, ci) = match closed {
            ClosedBy::Displaced(by) => ("DISPLACED", Some(by)),
            ClosedBy::Answered(by) => ("ANSWERED", Some(by)),
            ClosedBy::Overtaken => ("OVERTAKEN", None),
            ClosedBy::Blocked => ("BLOCKED", None),
            ClosedBy::Retried(by) => ("RETRIED", Some(by)),
        };
        Self { why: why.to_owned(), ci: ci.map(ChangeId::get) }
    }

    fn value(self) -> Result<ClosedBy, Bad> {
        let by = self.ci.and_then(ChangeId::parse);
        match (self.why.as_str(), by) {
            ("DISPLACED", Some(by)) => Ok(ClosedBy::Displaced(by)),
            ("ANSWERED", Some(by)) => Ok(ClosedBy::Answered(by)),
            ("OVERTAKEN", None) => Ok(ClosedBy::Overtaken),
            ("BLOCKED", None) => Ok(ClosedBy::Blocked),
            ("RETRIED", Some(by)) => Ok(ClosedBy::Retried(by)),
            _ => Err(Bad("closed by")),
        }
    }
}

const STATE: &str = "STATE";
const LOG: &str = "LOG";

impl EntryRecord {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            f: entry.from.map(|state| state.name().to_owned()),
            t: entry.to.name().to_owned(),
            a: entry.at.micros(),
            by: ActorPart::of(&entry.by),
            op: entry.request.clone(),
            cb: entry.closed_by.map(ClosedPart::of),
            log: entry.log.clone(),
            reason: match entry.reason {
                Reason::State => STATE,
                Reason::Log => LOG,
            }
            .to_owned(),
            ct: entry.change_type.name().to_owned(),
            hh: chain_text(entry.chain),
        }
    }

    fn value(self) -> Result<Entry, Bad> {
        Ok(Entry {
            from: self.f.as_deref().map(state).transpose()?,
            to: state(&self.t)?,
            at: at(self.a),
            by: self.by.value()?,
            request: self.op,
            closed_by: self.cb.map(ClosedPart::value).transpose()?,
            log: self.log,
            reason: match self.reason.as_str() {
                STATE => Reason::State,
                LOG => Reason::Log,
                _ => return Err(Bad("reason")),
            },
            change_type: change_type(&self.ct)?,
            chain: chain(&self.hh)?,
        })
    }
}

impl Record for ChangeRecord {
    const TYPE: &'static str = "CHANGE";
    type Value = Change;

    fn of(change: &Change) -> Self {
        Self {
            id: change.id.get(),
            it: change.item.get(),
            nm: change.item_name.clone(),
            app: change.application.clone(),
            svc: ServicePart::of(&change.service),
            ow: TeamPart::of(&change.owner),
            so: TeamPart::of(&change.service_owner),
            cs: TeamPart::of(&change.consumer),
            kd: change.kind.name().to_owned(),
            cause: change.cause.map(ChangeId::get),
            ct: change.change_type.name().to_owned(),
            st: change.state.name().to_owned(),
            sub: change.submission.get(),
            commit: change.commit_id.clone(),
            ap: change.attempt,
            new: change.new.as_ref().map(VersionPart::of),
            old: change.old.as_ref().map(VersionPart::of),
            sup: change.supersedes.iter().map(|id| id.get()).collect(),
            sb: change.superseded_at_birth,
            nis: change.never_in_service,
            rs: change.runtime_state.name().to_owned(),
            dp: change.deployed_before.map(DeployedId::get),
            log: change.log.clone(),
            cr: change.created.micros(),
            n: change.mark().entries,
            hi: change.history.iter().map(EntryRecord::of).collect(),
        }
    }

    fn value(self) -> Result<Change, Bad> {
        let id = |raw: u64| ChangeId::parse(raw).ok_or(Bad("change"));
        Ok(Change {
            id: id(self.id)?,
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            item_name: self.nm,
            application: self.app,
            service: self.svc.value()?,
            owner: self.ow.value()?,
            service_owner: self.so.value()?,
            consumer: self.cs.value()?,
            kind: kind(&self.kd)?,
            cause: self.cause.map(id).transpose()?,
            change_type: change_type(&self.ct)?,
            state: state(&self.st)?,
            submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
            commit_id: self.commit,
            attempt: self.ap,
            new: self.new.map(VersionPart::value).transpose()?,
            old: self.old.map(VersionPart::value).transpose()?,
            supersedes: self.sup.into_iter().map(id).collect::<Result<_, _>>()?,
            superseded_at_birth: self.sb,
            never_in_service: self.nis,
            runtime_state: runtime_state(&self.rs)?,
            deployed_before: match self.dp {
                Some(raw) => Some(DeployedId::parse(raw).ok_or(Bad("deployed item"))?),
                None => None,
            },
            log: self.log,
            created: at(self.cr),
            history: self.hi.into_iter().map(EntryRecord::value).collect::<Result<_, _>>()?,
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

/// The partition of the owner's queue that a closed change instance moves to.
pub(crate) fn closed_queue(owner: domain::id::TeamId) -> String {
    key::owner_queue(owner, State::Closed)
}
