//! Submissions, idempotency keys, pending work and stagings.

use super::bytes::HashPart;
use super::charge::PricesPart;
use super::codec::{
    FORMAT_BASE, FORMAT_GENERATIONS, FORMAT_GONE, Record, of_checked, of_generation, of_message, of_planned,
};
use super::conversion::{Bad, Part, mirrors};
use super::packed::Packed;
use super::parts::{ActorPart, ReferencePart, ServicePart, TeamPart, VersionPart, WaitPart, seconds_after};
use crate::key::{self, Key};
use domain::Hash;
use domain::TeamId;
use domain::model::declared::{Declared, Identity};
use domain::model::staging::Staging;
use domain::model::strategy::Strategy;
use domain::model::submission::{IdempotencyRecord, Submission};
use domain::model::work::{PlannedChange, Share, Spare, Work, WorkId};
use serde::{Deserialize, Serialize};

/// An accepted submission and its progress.
#[derive(Serialize, Deserialize)]
pub(crate) struct SubmissionRecord {
    /// Id of the submission.
    id: u64,
    /// Consumer team.
    #[serde(rename = "tm")]
    team: TeamPart,
    /// Scope: `WHOLE` or `PARTIAL`.
    #[serde(rename = "sc")]
    scope: String,
    /// Commit id. Absent if the consumer sent none.
    #[serde(rename = "commit", skip_serializing_if = "Option::is_none")]
    commit_id: Option<String>,
    /// Message of the consumer. Absent if there is none, and known since format 7.
    #[serde(rename = "msg", skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Digest of the whole declaration after the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// Whether the declaration changed.
    #[serde(rename = "chg")]
    changed: bool,
    /// Number of the first change instance.
    #[serde(rename = "c0")]
    first_change: u64,
    /// Number of direct change instances.
    #[serde(rename = "cn")]
    direct: u64,
    /// Number of dependent and referenced change instances.
    #[serde(rename = "dn")]
    derived: u64,
    /// Number of existing change instances of the submission, counted per work record.
    #[serde(rename = "ln")]
    opened: u64,
    /// Id of the staging. Absent for a submission in one transaction.
    #[serde(rename = "stg", skip_serializing_if = "Option::is_none")]
    staging: Option<u64>,
    /// Number of unfinished work records with direct change instances.
    #[serde(rename = "dl")]
    direct_left: u64,
    /// Number of all unfinished work records, and fence of the countdown.
    #[serde(rename = "wl")]
    work_left: u64,
    /// Progress: `COMMITTED`, `APPLIED` or `SETTLED`. The filters of the stream read it.
    #[serde(rename = "st")]
    progress: String,
    /// Author.
    by: ActorPart,
    /// Id of the request.
    #[serde(rename = "op")]
    request: String,
    /// Time of acceptance.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last finished work record, or of acceptance.
    #[serde(rename = "mo")]
    modified: u64,
}

mirrors! {
    SubmissionRecord = Submission {
        id, team, scope, commit_id, message, root, changed, first_change, direct, derived, opened, staging,
        direct_left, work_left, by, request, created, modified,
    }, progress = |submission| submission.progress().name().to_owned()
}

impl Record for SubmissionRecord {
    const TYPE: &'static str = "SUBMISSION";
    type Value = Submission;

    fn key(submission: &Submission) -> Key {
        key::submission(submission.id)
    }

    fn format(submission: &Submission) -> u64 {
        of_message(submission.message.as_deref())
    }
}

/// An idempotency key.
#[derive(Serialize, Deserialize)]
pub(crate) struct RememberedRecord {
    /// Id of the consumer team.
    #[serde(rename = "tm")]
    team: u64,
    /// The idempotency key.
    key: String,
    /// Hash of method, route and body. A request with the same key and another hash is rejected.
    #[serde(rename = "fp")]
    fingerprint: String,
    /// Id of the submission.
    #[serde(rename = "sub")]
    submission: u64,
    /// Expiry, in seconds since 1970: DynamoDB removes the record later.
    #[serde(rename = "xp")]
    expires_seconds: u64,
}

impl Part<(TeamId, IdempotencyRecord)> for RememberedRecord {
    fn of((team, remembered): &(TeamId, IdempotencyRecord)) -> Self {
        Self {
            team: Part::of(team),
            key: remembered.key.clone(),
            fingerprint: Part::of(&remembered.fingerprint),
            submission: Part::of(&remembered.submission),
            expires_seconds: seconds_after(remembered.expires, 0),
        }
    }

    fn value(self) -> Result<(TeamId, IdempotencyRecord), Bad> {
        let remembered = IdempotencyRecord {
            key: self.key,
            fingerprint: self.fingerprint.value()?,
            submission: self.submission.value()?,
            expires: self.expires_seconds.saturating_mul(1_000_000).value()?,
        };
        Ok((self.team.value()?, remembered))
    }
}

impl Record for RememberedRecord {
    const TYPE: &'static str = "KEY";
    type Value = (TeamId, IdempotencyRecord);

    fn key((team, remembered): &(TeamId, IdempotencyRecord)) -> Key {
        key::remembered(*team, &remembered.key)
    }
}

/// Pending work of a submission: planned change instances. The attribute `tr` (N) counts failures. After ten failures,
/// the record moves to partition `QUARANTINE` of `gs3`. Staged work is in `gs3` only in this partition.
#[derive(Serialize, Deserialize)]
pub(crate) struct WorkRecord {
    /// Id of the submission.
    #[serde(rename = "sub")]
    submission: u64,
    /// Id of the staging. Absent for work of a submission in one transaction.
    #[serde(rename = "stg", skip_serializing_if = "Option::is_none")]
    staging: Option<u64>,
    /// Number of the record within the submission.
    #[serde(rename = "no")]
    number: u64,
    /// Planned change instances. Entries of one item follow each other, a cause before its shares. Absent in the work
    /// of a staged submission.
    #[serde(rename = "owed", default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<PlannedChangePart>,
    /// Planned change instances and new declarations of staged work, as JSON compressed with gzip. Absent in other work
    /// and in staged work of old records, and known since format 4.
    #[serde(rename = "gz", skip_serializing_if = "Option::is_none")]
    packed: Option<Packed<PackedWork>>,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

/// The content of staged work: nothing in the table reads it before it is carried out, so it is stored compressed.
#[derive(Serialize, Deserialize)]
struct PackedWork {
    entries: Vec<PlannedChangePart>,
    /// The texts alone: their hashes follow from them.
    declarations: Vec<String>,
}

impl Part<Work> for WorkRecord {
    fn of(work: &Work) -> Self {
        let WorkId { submission, staging, number } = &work.id;
        let entries: Vec<PlannedChangePart> = Part::of(&work.entries);
        let declarations = work.declarations.values().cloned().collect();
        let (entries, packed) = match staging {
            Some(_) => (Vec::new(), Some(Packed(PackedWork { entries, declarations }))),
            None => (entries, None),
        };
        let [submission, number] = [submission.get(), *number];
        Self {
            submission,
            staging: Part::of(staging),
            number,
            entries,
            packed,
            created: Part::of(&work.created),
        }
    }

    fn value(self) -> Result<Work, Bad> {
        let unpacked = PackedWork { entries: self.entries, declarations: Vec::new() };
        let PackedWork { entries, declarations } = self.packed.map_or(unpacked, |packed| packed.0);
        Ok(Work {
            id: WorkId {
                submission: self.submission.value()?,
                staging: self.staging.value()?,
                number: self.number,
            },
            entries: entries.value()?,
            declarations: declarations.into_iter().map(|text| (Hash::of(&text), text)).collect(),
            created: self.created.value()?,
        })
    }
}

/// A planned change instance.
#[derive(Serialize, Deserialize)]
struct PlannedChangePart {
    /// Id of the change instance.
    id: u64,
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Owner.
    #[serde(rename = "ow")]
    owner: TeamPart,
    /// Kind: `DIRECT`, `DEPENDENT` or `REFERENCED`.
    #[serde(rename = "kd")]
    kind: String,
    /// Id of the service owner's change instance, for a dependent team's share.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    /// Ids of the change instances of the modified items, for a referenced change. Absent otherwise.
    #[serde(rename = "ca", default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<u64>,
    /// What has to happen before. Absent for nothing.
    #[serde(rename = "wf", default, skip_serializing_if = "Vec::is_empty")]
    waits: Vec<WaitPart>,
    /// Number of items of the submission that wait for it, at most 100. Absent for none.
    #[serde(rename = "ub", default, skip_serializing_if = "Option::is_none")]
    unblocks: Option<usize>,
    /// Declaration of the item at the submission, for a referenced change. A share uses the declaration of its cause.
    #[serde(rename = "ver", skip_serializing_if = "Option::is_none")]
    version: Option<VersionPart>,
    /// New declaration, for a direct change.
    #[serde(rename = "dc", skip_serializing_if = "Option::is_none")]
    declared: Option<DeclaredPart>,
    /// Schema version that checks decisions. Absent for a definition without words, and known since format 6.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
    /// New item in reserve, for an undeclared item that is declared again. The attribute is known since format 3.
    #[serde(rename = "sp", skip_serializing_if = "Option::is_none")]
    spare: Option<SparePart>,
    /// Whether the change instance starts as PENDING.
    #[serde(rename = "ar")]
    approval_required: bool,
    /// True if the change instance replaces what its owner has in place, or the hashes of the declarations in place that
    /// it modifies. Absent if it always modifies, and known since format 9.
    #[serde(rename = "up", skip_serializing_if = "Option::is_none")]
    strategy: Option<StrategyPart>,
    /// True if the change instance starts as COMPLETED in case it asks for what is in place. Absent if not, and known since
    /// format 9.
    #[serde(rename = "cu", skip_serializing_if = "Option::is_none")]
    complete_unneeded: Option<bool>,
    /// True if the change instance requires a claim. Absent if not, and known since format 9.
    #[serde(rename = "cq", skip_serializing_if = "Option::is_none")]
    claim_required: Option<bool>,
    /// Prices at the submission. Absent if both are 0, and for a dependent team.
    #[serde(rename = "pr", skip_serializing_if = "Option::is_none")]
    prices: Option<PricesPart>,
}

mirrors! {
    PlannedChangePart = PlannedChange {
        id, item, owner, kind, cause, causes, waits, unblocks, version, declared, schema_version, spare,
        approval_required, strategy, complete_unneeded, claim_required, prices,
    }
}

/// How a planned change instance treats what its owner has in place.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StrategyPart {
    /// True if it always replaces.
    Replaces(bool),
    Modifies(Vec<HashPart>),
}

impl Part<Strategy> for StrategyPart {
    fn of(strategy: &Strategy) -> Self {
        match strategy {
            Strategy::Modify => Self::Replaces(false),
            Strategy::Replace => Self::Replaces(true),
            Strategy::Unless(modified) => Self::Modifies(Part::of(modified)),
        }
    }

    fn value(self) -> Result<Strategy, Bad> {
        match self {
            Self::Replaces(false) => Ok(Strategy::Modify),
            Self::Replaces(true) => Ok(Strategy::Replace),
            Self::Modifies(modified) => Ok(Strategy::Unless(modified.value()?)),
        }
    }
}

/// The new declaration of an item.
#[derive(Serialize, Deserialize)]
struct DeclaredPart {
    /// Newest declaration, or for a removal the last one.
    #[serde(rename = "ver")]
    version: VersionPart,
    /// Whether the item stays declared.
    stays: bool,
    /// References to items of the same application.
    #[serde(rename = "rf")]
    references: Vec<ReferencePart>,
    /// Ids of referenced items of other applications and teams. Absent if there are none, and known since format 10.
    #[serde(rename = "ue", default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<u64>,
    /// Schema version of the check, or 0 in old records.
    #[serde(rename = "sv", default)]
    schema_version: u64,
    /// Identity of a new item. Absent for an existing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<IdentityPart>,
    /// New name of an existing item. Absent if its name stays, and known since format 10.
    #[serde(rename = "nn", default, skip_serializing_if = "Option::is_none")]
    new_name: Option<String>,
}

mirrors! { DeclaredPart = Declared { version, stays, references, uses, schema_version, new, new_name } }

/// A new item in reserve.
#[derive(Serialize, Deserialize)]
struct SparePart {
    /// Id of the new item.
    #[serde(rename = "it")]
    item: u64,
    /// Identity of the new item.
    #[serde(rename = "new")]
    identity: IdentityPart,
}

mirrors! { SparePart = Spare { item, identity } }

/// The identity of a new item.
#[derive(Serialize, Deserialize)]
struct IdentityPart {
    /// Name.
    #[serde(rename = "nm")]
    name: String,
    /// Name of the application.
    #[serde(rename = "app")]
    application: String,
    /// Generation of the application. Absent for generation 0, and known since format 4.
    #[serde(rename = "ag", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Number of uses by items of other applications, from the same submission. Absent if there are none, and known since
    /// format 10.
    #[serde(rename = "us", skip_serializing_if = "Option::is_none")]
    used_by: Option<u64>,
}

mirrors! { IdentityPart = Identity { name, application, generation, service, used_by } }

impl Record for WorkRecord {
    const TYPE: &'static str = "WORK";
    type Value = Work;

    fn key(work: &Work) -> Key {
        key::work(work.id)
    }

    fn format(work: &Work) -> u64 {
        let format = |planned: &PlannedChange| {
            let spare = planned.spare.as_ref().map(|spare| &spare.identity);
            let new = planned.declared.as_ref().and_then(|declared| declared.new.as_ref());
            let identities = spare.iter().chain(&new).map(|identity| of_generation(identity.generation));
            let gone = if spare.is_some() { FORMAT_GONE } else { FORMAT_BASE };
            let checked = of_checked(planned.schema_version).max(of_planned(planned));
            identities.max().unwrap_or(FORMAT_BASE).max(gone).max(checked)
        };
        let packed = if work.id.staging.is_some() { FORMAT_GENERATIONS } else { FORMAT_BASE };
        work.entries.iter().map(format).max().unwrap_or(FORMAT_BASE).max(packed)
    }

    fn indexes(work: &Work) -> Vec<(u8, String, String)> {
        // Staged work is not accepted yet. The sweep finds it through its staging.
        let is_planned = work.id.staging.is_none();
        let entry = || {
            (
                3,
                key::pending_work(work.id.submission.team()),
                key::by_age(work.created, work.id.submission.get()),
            )
        };
        is_planned.then(entry).into_iter().collect()
    }
}

/// The staging of a submission that exceeds one transaction.
#[derive(Serialize, Deserialize)]
pub(crate) struct StagingRecord {
    /// Id of the staging.
    id: u64,
    /// Id of the submission after a commit.
    #[serde(rename = "sub")]
    submission: u64,
    /// Number of work records.
    #[serde(rename = "no")]
    works: u64,
    /// State: `OPEN`, `COMMITTED` or `ABORTED`, as the fence of commit and cleanup.
    #[serde(rename = "st")]
    state: String,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! { StagingRecord = Staging { id, submission, works, state, created } }

impl Record for StagingRecord {
    const TYPE: &'static str = "STAGING";
    type Value = Staging;

    fn key(staging: &Staging) -> Key {
        key::staging(staging.team(), staging.id)
    }

    fn indexes(staging: &Staging) -> Vec<(u8, String, String)> {
        let age = key::by_age(staging.created, staging.submission.get());
        vec![(3, key::ALL_STAGINGS.to_owned(), age)]
    }
}

/// The share of a dependent team in an item: an index entry that leads to the item.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShareRecord {
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Id of the dependent team.
    #[serde(rename = "ow")]
    owner: u64,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! { ShareRecord = Share { item, owner, created } }

impl Record for ShareRecord {
    const TYPE: &'static str = "SHARE";
    type Value = Share;

    fn key(share: &Share) -> Key {
        key::share(share.item, share.owner)
    }

    fn indexes(share: &Share) -> Vec<(u8, String, String)> {
        vec![(2, key::owner_shares(share.owner), key::by_age(share.created, share.item.get()))]
    }
}
