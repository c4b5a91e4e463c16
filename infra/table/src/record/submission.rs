//! Submissions, remembered idempotency keys, the work that submissions leave, and how it is staged.

use super::Record;
use super::charge::PricesPart;
use super::parts::{
    ActorPart, Bad, ReferencePart, ServicePart, TeamPart, VersionPart, at, hash, kind, staging_id, team_id,
};
use crate::key::{self, Key};
use domain::declared::{Declared, Identity};
use domain::id::{ChangeId, ItemId, SubmissionId, TeamId};
use domain::staging::{Staging, StagingId, StagingState};
use domain::submission::{Remembered, Scope, Submission};
use domain::work::{Owed, Share, Work, WorkId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct SubmissionRecord {
    id: u64,
    tm: TeamPart,
    sc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The digest of everything that was declared then.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    chg: bool,
    c0: u64,
    cn: u64,
    dn: u64,
    /// How many of all these exist.
    ln: u64,
    /// The staging that became it.
    #[serde(skip_serializing_if = "Option::is_none")]
    stg: Option<u64>,
    /// Work records with items of its own still to be carried out.
    dl: u64,
    /// Work records in all still to be carried out.
    wl: u64,
    /// How far it has come: what the stream's filters look at.
    st: String,
    by: ActorPart,
    op: String,
    cr: u64,
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
            ln: submission.landed,
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
            landed: self.ln,
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

#[derive(Serialize, Deserialize)]
pub(crate) struct RememberedRecord {
    tm: u64,
    key: String,
    fp: String,
    sub: u64,
    /// When the key is forgotten, in seconds: what the table's time to live reads.
    xp: u64,
}

impl Record for RememberedRecord {
    const TYPE: &'static str = "KEY";
    type Value = (TeamId, Remembered);

    fn of((team, remembered): &(TeamId, Remembered)) -> Self {
        Self {
            tm: team.get(),
            key: remembered.key.clone(),
            fp: remembered.fingerprint.to_string(),
            sub: remembered.submission.get(),
            xp: remembered.expires.micros() / 1_000_000,
        }
    }

    fn value(self) -> Result<(TeamId, Remembered), Bad> {
        let remembered = Remembered {
            key: self.key,
            fingerprint: hash(&self.fp)?,
            submission: SubmissionId::parse(self.sub).ok_or(Bad("submission"))?,
            expires: at(self.xp.saturating_mul(1_000_000)),
        };
        Ok((team_id(self.tm)?, remembered))
    }

    fn key((team, remembered): &(TeamId, Remembered)) -> Key {
        key::remembered(*team, &remembered.key)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WorkRecord {
    sub: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stg: Option<u64>,
    no: u64,
    owed: Vec<OwedPart>,
    cr: u64,
}

#[derive(Serialize, Deserialize)]
struct OwedPart {
    id: u64,
    it: u64,
    ow: TeamPart,
    kd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ver: Option<VersionPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dc: Option<DeclaredPart>,
    ar: bool,
    /// Absent for one that is free of charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pr: Option<PricesPart>,
}

/// What becomes of an item's declaration.
#[derive(Serialize, Deserialize)]
struct DeclaredPart {
    ver: VersionPart,
    stays: bool,
    rf: Vec<ReferencePart>,
    #[serde(default)]
    sv: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<IdentityPart>,
}

#[derive(Serialize, Deserialize)]
struct IdentityPart {
    nm: String,
    app: String,
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

impl OwedPart {
    fn of(owed: &Owed) -> Self {
        Self {
            id: owed.id.get(),
            it: owed.item.get(),
            ow: TeamPart::of(&owed.owner),
            kd: owed.kind.name().to_owned(),
            cause: owed.cause.map(ChangeId::get),
            ver: owed.version.as_ref().map(VersionPart::of),
            dc: owed.declared.as_ref().map(DeclaredPart::of),
            ar: owed.approval_required,
            pr: PricesPart::of(owed.prices),
        }
    }

    fn value(self) -> Result<Owed, Bad> {
        let change = |raw: u64| ChangeId::parse(raw).ok_or(Bad("change"));
        Ok(Owed {
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
            owed: work.entries.iter().map(OwedPart::of).collect(),
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
            entries: self.owed.into_iter().map(OwedPart::value).collect::<Result<_, _>>()?,
            created: at(self.cr),
        })
    }

    fn key(work: &Work) -> Key {
        key::work(work.id)
    }

    fn indexes(work: &Work) -> Vec<(u8, String, String)> {
        // What is staged is nobody's work yet; it is found through its staging.
        let is_owed = work.id.staging.is_none();
        let place = || (3, key::ALL_WORK.to_owned(), key::by_age(work.created, work.id.submission.get()));
        is_owed.then(place).into_iter().collect()
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StagingRecord {
    id: u64,
    sub: u64,
    /// How many work records it has.
    no: u64,
    st: String,
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

/// A dependent team's share in an item: nothing but a place in an index, and the way back to the item.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShareRecord {
    it: u64,
    ow: u64,
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
