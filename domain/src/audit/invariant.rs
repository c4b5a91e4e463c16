//! The invariants of the data, as predicates over the records of a table (docs/explanation/audit.md).
//!
//! The tests run them after every scenario, and the audit on a live table. Other modules check the invariants that
//! need several looks at a table (I4, I14, I21 to I23) or the stored form of a record (I18's index keys, I25).

mod age;
mod answered;
mod catalogue;
mod change;
mod charge;
mod definitions;
mod fit;
mod gone;
mod head;
mod history;
mod item;
mod metadata_history;
mod number;
mod retired;
mod size;
mod subject;
mod submission;
mod uses;

pub use age::ages;
pub use catalogue::{Catalogue, catalogue};
pub use definitions::Definitions;
pub(crate) use head::{applications, blockers, root};
pub(crate) use item::noted;
pub use subject::Subject;
pub use uses::{users, uses};

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, ChargeId, ItemId, SubmissionId, TeamId};
use crate::model::change::Change;
use crate::model::charge::Charge;
use crate::model::claim::Claim;
use crate::model::deployed::Deployed;
use crate::model::item::Item;
use crate::model::metadata::{Of, Replaced};
use crate::model::secrets::StoredSecrets;
use crate::model::staging::{Staging, StagingId};
use crate::model::submission::{IdempotencyRecord, Submission};
use crate::model::team::{Application, Head, Team};
use crate::model::work::Work;
use crate::model::write::Use;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The rule for work that failed too often and waits for an operator; it breaks no invariant.
pub const SET_ASIDE: &str = "SET_ASIDE";

/// The records of a table.
#[derive(Clone, derive_more::Debug, Default)]
pub struct Snapshot {
    pub teams: BTreeMap<TeamId, Team>,
    pub heads: BTreeMap<TeamId, Head>,
    /// The applications, retired ones included.
    pub applications: BTreeMap<ApplicationId, Application>,
    pub items: BTreeMap<ItemId, Item>,
    /// The items with a live and a gone record.
    pub doubled: BTreeSet<ItemId>,
    pub changes: BTreeMap<ChangeId, Change>,
    pub charges: BTreeMap<ChargeId, Charge>,
    pub deployed: Vec<Deployed>,
    pub submissions: Vec<Submission>,
    /// Pending work, and work of stagings.
    pub works: Vec<Work>,
    pub stagings: Vec<Staging>,
    /// The recorded shares of dependent teams in items.
    pub shares: BTreeSet<(ItemId, TeamId)>,
    /// The claims on the work of owners.
    pub claims: BTreeMap<(ItemId, TeamId), Claim>,
    /// The recorded uses of items by items of other applications and teams.
    pub uses: BTreeSet<Use>,
    /// The declarations and plans as canonical JSON, by team and the hash in the key.
    #[debug("[hidden]")]
    pub declarations: BTreeMap<(TeamId, Hash), Arc<str>>,
    /// The secrets of declarations by team and hash (R58).
    pub secrets: BTreeMap<(TeamId, Hash), StoredSecrets>,
    /// The definitions that check decisions.
    pub definitions: Arc<Definitions>,
    /// The replaced metadata, by their owner and the submission that declared them.
    pub replaced: BTreeMap<(Of, u64), Replaced>,
    pub remembered: Vec<(TeamId, IdempotencyRecord)>,
    /// The records that all teams share.
    pub catalogue: Catalogue,
}

/// A record, or a relation between records, that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The number of the invariant in docs/explanation/audit.md.
    pub rule: &'static str,
    pub subject: Subject,
    /// The problem, without the content of a record.
    pub detail: String,
}

/// Returns all violations among the records of teams; [`catalogue()`] and [`uses()`] check the relations between teams.
pub fn violations(snapshot: &Snapshot) -> Vec<Violation> {
    let mut audit = Audit::new(snapshot);
    let mut names = BTreeSet::new();
    for item in snapshot.items.values() {
        audit.item(item);
        let name = (item.application_id(), &item.service.title, &item.name);
        let is_unique = item.is_dead() || names.insert(name);
        audit.require(is_unique, "I16", Subject::Item(item.id), "another item has the same name");
    }
    for change in snapshot.changes.values() {
        audit.change(change);
    }
    for charge in snapshot.charges.values() {
        audit.charge(charge);
    }
    for deployed in &snapshot.deployed {
        audit.deployed_item(deployed);
    }
    for head in snapshot.heads.values() {
        audit.head(head);
    }
    for application in snapshot.applications.values() {
        audit.application(application);
    }
    for team in snapshot.teams.values() {
        audit.team(team);
    }
    for submission in &snapshot.submissions {
        audit.submission(submission);
    }
    for staging in &snapshot.stagings {
        audit.staging(staging);
    }
    for work in &snapshot.works {
        audit.work(work);
    }
    audit.numbers();
    audit.generations();
    audit.shares_without_item();
    audit.claims();
    audit.declarations();
    audit.replaced();
    audit.remembered();
    audit.violations
}

/// A snapshot under audit: its records by parent, and the violations so far.
struct Audit<'a> {
    snapshot: &'a Snapshot,
    changes_of_item: BTreeMap<ItemId, Vec<&'a Change>>,
    changes_of_submission: BTreeMap<SubmissionId, Vec<&'a Change>>,
    charges_of_item: BTreeMap<ItemId, Vec<&'a Charge>>,
    deployed_of_item: BTreeMap<ItemId, Vec<&'a Deployed>>,
    items_of_application: BTreeMap<ApplicationId, Vec<&'a Item>>,
    declared_names: BTreeSet<(ApplicationId, &'a str, &'a str)>,
    submissions: BTreeMap<SubmissionId, &'a Submission>,
    stagings: BTreeMap<(TeamId, StagingId), &'a Staging>,
    works: BTreeMap<(SubmissionId, Option<StagingId>), Vec<&'a Work>>,
    /// The number of work records with shares alone, by item.
    shares_due: BTreeMap<ItemId, u64>,
    violations: Vec<Violation>,
}

impl<'a> Audit<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let declared = snapshot.items.values().filter(|item| item.declared);
        let name = |item: &'a Item| (item.application_id(), item.service.title.as_str(), item.name.as_str());
        Self {
            snapshot,
            changes_of_item: grouped(snapshot.changes.values(), |change| change.item),
            changes_of_submission: grouped(snapshot.changes.values(), |change| change.submission),
            charges_of_item: grouped(snapshot.charges.values(), |charge| charge.item),
            deployed_of_item: grouped(&snapshot.deployed, |deployed| deployed.item),
            items_of_application: grouped(snapshot.items.values(), |item| item.application_id()),
            declared_names: declared.map(name).collect(),
            submissions: snapshot.submissions.iter().map(|one| (one.id, one)).collect(),
            stagings: snapshot.stagings.iter().map(|one| ((one.team(), one.id), one)).collect(),
            works: grouped(&snapshot.works, |work| (work.id.submission, work.id.staging)),
            shares_due: gone::shares_due(snapshot),
            violations: Vec::new(),
        }
    }

    fn require(&mut self, holds: bool, rule: &'static str, subject: Subject, detail: impl Into<String>) {
        if !holds {
            self.violations.push(Violation { rule, subject, detail: detail.into() });
        }
    }

    /// Returns whether a submission of the team is in flight.
    fn is_in_flight(&self, team: TeamId) -> bool {
        self.snapshot.heads.get(&team).is_some_and(|head| head.in_flight.is_some())
    }

    /// Returns whether a submission has committed this work; other work is only staged.
    fn is_claimed(&self, work: &Work) -> bool {
        self.submissions.get(&work.id.submission).is_some_and(|one| one.staging == work.id.staging)
    }

    /// I19: every stored declaration has the hash in its key.
    fn declarations(&mut self) {
        for ((team, hash), text) in &self.snapshot.declarations {
            let subject = Subject::Declaration(*team, *hash);
            self.require(*hash == Hash::of(text), "I19", subject, "the hash of its text is another one");
        }
    }
}

/// Groups values by key.
fn grouped<'a, K: Ord, V>(
    all: impl IntoIterator<Item = &'a V>,
    key: impl Fn(&V) -> K,
) -> BTreeMap<K, Vec<&'a V>> {
    let mut groups: BTreeMap<K, Vec<&V>> = BTreeMap::new();
    for one in all {
        groups.entry(key(one)).or_default().push(one);
    }
    groups
}

/// Counts values as `u64`, the type of counters in records.
fn count<T>(all: impl IntoIterator<Item = T>) -> u64 {
    all.into_iter().fold(0, |count, _| count + 1)
}
