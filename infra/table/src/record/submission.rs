//! Submissions, idempotency keys, pending work and stagings.

use super::charge::PricesPart;
use super::codec::Record;
use super::invalid::Bad;
use super::parts::{
    ActorPart, ReferencePart, ServicePart, TeamPart, VersionPart, at, hash, kind, staging_id, team_id,
};
use crate::key::{self, Key};
use domain::model::declared::{Declared, Identity};
use domain::model::staging::{Staging, StagingId, StagingState};
use domain::model::submission::{IdempotencyRecord, Scope, Submission};
use domain::model::work::{PlannedChange, Share, Work, WorkId};
use domain::{ChangeId, ItemId, SubmissionId, TeamId};
use serde::{Deserialize, Serialize};

/// An accepted submission and its progress.
#[derive(Serialize, Deserialize)]
pub(crate) struct SubmissionRecord {
    /// Id of the submission.
    id: u64,
    /// Consumer team.
    tm: TeamPart,
    /// Scope: `WHOLE` or `PARTIAL`.
    sc: String,
    /// Commit id. Absent if the consumer sent none.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Digest of the whole declaration after the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// Whether the declaration changed.
    chg: bool,
    /// Number of the first change instance.
    c0: u64,
    /// Number of direct change instances.
    cn: u64,
    /// Number of dependent and referenced change instances.
    dn: u64,
    /// Number of these that exist, counted per work record.
    ln: u64,
    /// Id of the staging. Absent for a submission in one transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    stg: Option<u64>,
    /// Number of unfinished work records with direct change instances.
    dl: u64,
    /// Number of all unfinished work records. Fence of the countdown.
    wl: u64,
    /// Progress: `COMMITTED`, `APPLIED` or `SETTLED`. The filters of the stream read it.
    st: String,
    /// Author.
    by: ActorPart,
    /// Id of the request.
    op: String,
    /// Time of acceptance.
    cr: u64,
    /// Time of the last finished work record, or of acceptance.
    mo: u64,
}

impl Record for SubmissionRecord {
    const TYPE: &'static str = "SUBMISSION";
    type Value = Submission;

    fn of(submission: &Submission) -> Self {
        Self {
            id: submission.id.get(),
            tm: TeamPart::of(&submission.team),
            sc: submission.scope.name().to_owned(),
            commit: submission.commit_id.clone(),
            root: submission.root.map(|root| root.to_string()),
            chg: submission.changed,
            c0: submission.first_change,
            cn: submission.direct,
            dn: submission.derived,
            ln: submission.opened,
            stg: submission.staging.map(StagingId::get),
            dl: submission.direct_left,
            st: submission.progress().name().to_owned(),
            wl: submission.work_left,
            by: ActorPart::of(&submission.by),
            op: submission.request.clone(),
            cr: submission.created.micros(),
            mo: submission.modified.micros(),
        }
    }

    fn value(self) -> Result<Submission, Bad> {
        Ok(Submission {
            id: SubmissionId::parse(self.id).ok_or(Bad("submission"))?,
            team: self.tm.value()?,
            scope: Scope::parse(&self.sc).ok_or(Bad("scope"))?,
            commit_id: self.commit,
            root: self.root.as_deref().map(hash).transpose()?,
            changed: self.chg,
            first_change: self.c0,
            direct: self.cn,
            derived: self.dn,
            opened: self.ln,
            staging: self.stg.map(staging_id).transpose()?,
            direct_left: self.dl,
            work_left: self.wl,
            by: self.by.value()?,
            request: self.op,
            created: at(self.cr),
            modified: at(self.mo),
        })
    }

    fn key(submission: &Submission) -> Key {
        key::submission(submission.id)
    }
}

/// An idempotency key.
#[derive(Serialize, Deserialize)]
pub(crate) struct RememberedRecord {
    /// Id of the consumer team.
    tm: u64,
    /// The idempotency key.
    key: String,
    /// Hash of method, route and body. A request with the same key and another hash is rejected.
    fp: String,
    /// Id of the submission.
    sub: u64,
    /// Expiry, in seconds since 1970: DynamoDB removes the record later.
    xp: u64,
}

impl Record for RememberedRecord {
    const TYPE: &'static str = "KEY";
    type Value = (TeamId, IdempotencyRecord);

    fn of((team, remembered): &(TeamId, IdempotencyRecord)) -> Self {
        Self {
            tm: team.get(),
            key: remembered.key.clone(),
            fp: remembered.fingerprint.to_string(),
            sub: remembered.submission.get(),
            xp: remembered.expires.micros() / 1_000_000,
        }
    }

    fn value(self) -> Result<(TeamId, IdempotencyRecord), Bad> {
        let remembered = IdempotencyRecord {
            key: self.key,
            fingerprint: hash(&self.fp)?,
            submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
            expires: at(self.xp.saturating_mul(1_000_000)),
        };
        Ok((team_id(self.tm)?, remembered))
    }

    fn key((team, remembered): &(TeamId, IdempotencyRecord)) -> Key {
        key::remembered(*team, &remembered.key)
    }
}

/// Pending work of a submission: planned change instances. The attribute `tr` (N) counts failures. After ten, the record
/// moves to partition `QUARANTINE` of `gs3`. Staged work is in `gs3` only there.
#[derive(Serialize, Deserialize)]
pub(crate) struct WorkRecord {
    /// Id of the submission.
    sub: u64,
    /// Id of the staging. Absent for work of a submission in one transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    stg: Option<u64>,
    /// Number of the record within the submission.
    no: u64,
    /// Planned change instances. Entries of one item follow each other, a cause before its shares.
    #[serde(rename = "owed")]
    planned: Vec<PlannedChangePart>,
    /// Time of creation.
    cr: u64,
}

/// A planned change instance.
#[derive(Serialize, Deserialize)]
struct PlannedChangePart {
    /// Id of the change instance.
    id: u64,
    /// Id of the service item.
    it: u64,
    /// Owner.
    ow: TeamPart,
    /// Kind: `DIRECT`, `DEPENDENT` or `REFERENCED`.
    kd: String,
    /// Id of the service owner's change instance, for a dependent team's share.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    /// Declaration of the item at the submission, for a referenced change. A share uses that of its cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    ver: Option<VersionPart>,
    /// New declaration, for a direct change.
    #[serde(skip_serializing_if = "Option::is_none")]
    dc: Option<DeclaredPart>,
    /// Whether it starts as PENDING.
    ar: bool,
    /// Prices at the submission. Absent if both are 0, and for a dependent team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<PricesPart>,
}

/// The new declaration of an item.
#[derive(Serialize, Deserialize)]
struct DeclaredPart {
    /// Newest declaration. For a removal, the last one.
    ver: VersionPart,
    /// Whether the item stays declared.
    stays: bool,
    /// References to items of the same application.
    rf: Vec<ReferencePart>,
    /// Schema version of the check. 0 in old records.
    #[serde(default)]
    sv: u64,
    /// Identity of a new item. Absent for an existing one.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<IdentityPart>,
}

/// The identity of a new item.
#[derive(Serialize, Deserialize)]
struct IdentityPart {
    /// Name.
    nm: String,
    /// Name of the application.
    app: String,
    /// Service.
    svc: ServicePart,
}

impl DeclaredPart {
    fn of(declared: &Declared) -> Self {
        Self {
            ver: VersionPart::of(&declared.version),
            stays: declared.stays,
            rf: declared.references.iter().map(ReferencePart::of).collect(),
            sv: declared.schema_version,
            new: declared.new.as_ref().map(IdentityPart::of),
        }
    }

    fn value(self) -> Result<Declared, Bad> {
        Ok(Declared {
            version: self.ver.value(),
            stays: self.stays,
            references: self.rf.into_iter().map(ReferencePart::value).collect(),
            schema_version: self.sv,
            new: self.new.map(IdentityPart::value).transpose()?,
        })
    }
}

impl IdentityPart {
    fn of(identity: &Identity) -> Self {
        Self {
            nm: identity.name.clone(),
            app: identity.application.clone(),
            svc: ServicePart::of(&identity.service),
        }
    }

    fn value(self) -> Result<Identity, Bad> {
        Ok(Identity { name: self.nm, application: self.app, service: self.svc.value()? })
    }
}

impl PlannedChangePart {
    fn of(planned: &PlannedChange) -> Self {
        Self {
            id: planned.id.get(),
            it: planned.item.get(),
            ow: TeamPart::of(&planned.owner),
            kd: planned.kind.name().to_owned(),
            cause: planned.cause.map(ChangeId::get),
            ver: planned.version.as_ref().map(VersionPart::of),
            dc: planned.declared.as_ref().map(DeclaredPart::of),
            ar: planned.approval_required,
            pr: PricesPart::of(planned.prices),
        }
    }

    fn value(self) -> Result<PlannedChange, Bad> {
        let change = |raw: u64| ChangeId::parse(raw).ok_or(Bad("change"));
        Ok(PlannedChange {
            id: change(self.id)?,
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            owner: self.ow.value()?,
            kind: kind(&self.kd)?,
            cause: self.cause.map(change).transpose()?,
            version: self.ver.map(VersionPart::value),
            declared: self.dc.map(DeclaredPart::value).transpose()?,
            approval_required: self.ar,
            prices: PricesPart::value(self.pr)?,
        })
    }
}

impl Record for WorkRecord {
    const TYPE: &'static str = "WORK";
    type Value = Work;

    fn of(work: &Work) -> Self {
        Self {
            sub: work.id.submission.get(),
            stg: work.id.staging.map(StagingId::get),
            no: work.id.number,
            planned: work.entries.iter().map(PlannedChangePart::of).collect(),
            cr: work.created.micros(),
        }
    }

    fn value(self) -> Result<Work, Bad> {
        Ok(Work {
            id: WorkId {
                submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
                staging: self.stg.map(staging_id).transpose()?,
                number: self.no,
            },
            entries: self.planned.into_iter().map(PlannedChangePart::value).collect::<Result<_, _>>()?,
            created: at(self.cr),
        })
    }

    fn key(work: &Work) -> Key {
        key::work(work.id)
    }

    fn indexes(work: &Work) -> Vec<(u8, String, String)> {
        // Staged work is not accepted yet. The sweep finds it through its staging.
        let is_planned = work.id.staging.is_none();
        let entry = || (3, key::ALL_WORK.to_owned(), key::by_age(work.created, work.id.submission.get()));
        is_planned.then(entry).into_iter().collect()
    }
}

/// The staging of a submission that exceeds one transaction.
#[derive(Serialize, Deserialize)]
pub(crate) struct StagingRecord {
    /// Id of the staging.
    id: u64,
    /// Id of the submission after a commit.
    sub: u64,
    /// Number of work records.
    no: u64,
    /// State: `OPEN`, `COMMITTED` or `ABORTED`. Fence of commit and cleanup.
    st: String,
    /// Time of creation.
    cr: u64,
}

impl Record for StagingRecord {
    const TYPE: &'static str = "STAGING";
    type Value = Staging;

    fn of(staging: &Staging) -> Self {
        Self {
            id: staging.id.get(),
            sub: staging.submission.get(),
            no: staging.works,
            st: staging.state.name().to_owned(),
            cr: staging.created.micros(),
        }
    }

    fn value(self) -> Result<Staging, Bad> {
        Ok(Staging {
            id: staging_id(self.id)?,
            submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
            works: self.no,
            state: StagingState::parse(&self.st).ok_or(Bad("state"))?,
            created: at(self.cr),
        })
    }

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
    it: u64,
    /// Id of the dependent team.
    ow: u64,
    /// Time of creation.
    cr: u64,
}

impl Record for ShareRecord {
    const TYPE: &'static str = "SHARE";
    type Value = Share;

    fn of(share: &Share) -> Self {
        Self { it: share.item.get(), ow: share.owner.get(), cr: share.created.micros() }
    }

    fn value(self) -> Result<Share, Bad> {
        Ok(Share {
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            owner: team_id(self.ow)?,
            created: at(self.cr),
        })
    }

    fn key(share: &Share) -> Key {
        key::share(share.item, share.owner)
    }

    fn indexes(share: &Share) -> Vec<(u8, String, String)> {
        vec![(2, key::owner_shares(share.owner), key::by_age(share.created, share.item.get()))]
    }
}
