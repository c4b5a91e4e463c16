//! Planning: compares the stored team with a declaration and returns the changes from one to the other.
//!
//! The steps are the same for every submission (docs/explanation/life-of-a-submission.md): read, check that the read is
//! consistent, check the declaration, find the differences. Then a packing writes the changes at once or staged.

mod alike;
mod application;
mod check;
mod elsewhere;
mod in_use;
mod numbers;
mod on_change;
mod order;
mod pack;
mod preview;
mod references;
mod removal;
mod renames;
mod resolver;
mod stored_items;
mod token;
mod uses;

pub use self::alike::Alike;
pub use self::application::digest_of_stored;
use self::application::{AffectedApplication, Comparison, Referenced};
pub use self::elsewhere::{
    Elsewhere, ElsewhereToRead, GRANTED_TEAMS, Target, USES_CHANGED_MAX, elsewhere_to_read,
};
pub use self::in_use::{IN_USE, ItemInUse};
use self::numbers::{Numbers, Reserved};
pub use self::numbers::{REUSE_FROM, to_ask};
pub use self::on_change::{EarlierValues, earlier_to_read, observed_to_read, on_change_values};
pub use self::pack::{AtOnce, Staged};
pub use self::preview::Preview;
pub use self::removal::{ItemRemoval, REMOVAL_NOT_CONFIRMED, Removal, unconfirmed};
pub use self::renames::renamed;
use self::resolver::Resolver;
use self::token::Covered;
use self::uses::Uses;
use crate::base::context::RequestContext;
use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, SubmissionId};
use crate::base::json;
use crate::base::money::Prices;
use crate::base::problem::Problem;
use crate::base::refs::TeamRef;
use crate::base::state::Kind;
use crate::base::timestamp::Timestamp;
use crate::catalog::metadata_policy::MetadataPolicy;
use crate::catalog::schema::Schema;
use crate::catalog::service::{Service, UpdateStrategy};
use crate::model::declaration::{Declaration, DeclaredApplication};
use crate::model::digest;
use crate::model::item::Item;
use crate::model::metadata::{NO_METADATA, Replaced};
use crate::model::secrets::StoredSecrets;
use crate::model::submission::{IDEMPOTENCY_SECONDS, IdempotencyRecord, Scope, Submission};
use crate::model::team::{Application, Head, Team};
use crate::model::work::PlannedChange;
use crate::model::write::Write;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A team as stored, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub team: Team,
    pub head: Head,
    pub applications: Vec<Application>,
}

/// A service with the schema version for the check of submissions.
#[derive(Clone)]
pub struct Offer {
    pub service: Service,
    /// The newest schema version.
    pub schema: Arc<Schema>,
}

/// The services of a plan by title.
pub type Offers = BTreeMap<String, Offer>;

/// The stored items by application, only for the applications that were read.
pub type Items = BTreeMap<ApplicationId, Vec<Item>>;

/// A submission request.
pub struct Request<'a> {
    /// The declaration, with masks in place of secrets (R58), with the stored texts of alike items (R67), and with the
    /// old names of renamed items (R75).
    pub declaration: &'a Declaration,
    /// The problems of the unreadable parts of the document; any of them prevents a plan.
    pub unread: &'a [Problem],
    /// Whole or partial.
    pub scope: Scope,
    /// Whether the caller confirms the removals of [`unconfirmed`], or only looks at them (R57).
    pub is_confirmed: bool,
    /// The commit named by the consumer.
    pub commit_id: Option<String>,
    /// The consumer's message about the submission.
    pub message: Option<String>,
    pub ctx: &'a RequestContext,
    /// The idempotency key and the fingerprint of the request, if the client sent a key.
    pub idempotency: Option<(String, Hash)>,
    /// The platform's schemas for metadata (R42).
    pub metadata_policy: &'a MetadataPolicy,
    /// The values of the declarations in [`earlier_to_read`] (R48, R60).
    pub earlier: &'a EarlierValues,
    /// The records of [`elsewhere_to_read`] (R69, R71).
    pub elsewhere: &'a Elsewhere,
    /// The applications of [`to_ask`] without a live item, in the same order (R45).
    pub vacant: &'a [ApplicationId],
    /// The number of applications from which numbers are used again; [`REUSE_FROM`], or less in tests.
    pub reuse_from: usize,
}

/// The reason for a failed plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The records that were read do not match, because another transaction ran meanwhile: the caller reads them
    /// again.
    Torn,
    /// The items of this earlier submission are not all applied; the caller waits.
    InFlight(SubmissionId),
    /// All problems of the declaration.
    Invalid(Vec<Problem>),
    /// The team has no numbers left for applications, items or change instances.
    OutOfNumbers,
}

/// The changes of a submission, before they are applied to the items.
///
/// A packing then writes them at once or staged.
#[derive(Clone, derive_more::Debug)]
pub struct Plan<'a> {
    /// The items that differ: each one before the submission, and its planned change.
    direct: Vec<(Option<&'a Item>, PlannedChange)>,
    /// The changes to generate later: shares of dependent teams, then referenced items with their shares.
    derived: Vec<PlannedChange>,
    /// The declarations of the new items and change instances by hash.
    #[debug("[hidden]")]
    pub declarations: BTreeMap<Hash, String>,
    /// The secrets of these declarations; a separate write stores them before the commit (R58).
    pub secrets: BTreeMap<Hash, StoredSecrets>,
    /// The submission's record as if all work were done.
    submission: Submission,
    head: (Head, Head),
    /// The references to items of other applications and teams that begin or end (R71).
    uses: Uses,
    /// The parts of the submission that the plan token covers, apart from the change instances.
    covered: Covered,
    /// The metadata that the commit replaces; a separate write stores them before the commit (ADR 21).
    pub replaced: Vec<Replaced>,
    /// The removals and replacements of items that need a confirmation (R62).
    pub removed_items: Vec<ItemRemoval>,
    /// The removed items to which items elsewhere still refer (R71).
    pub items_in_use: Vec<ItemInUse>,
    /// The other writes of the commit, in either packing: the records of the team and its applications.
    pub others: Vec<Write>,
}

/// Returns the applications whose items the plan needs.
///
/// An application with an unchanged declaration is skipped, unless one of its items has drifted (R54). If the team has
/// blockers, no application is skipped, because the sum of the blockers needs all items (ADR 2).
pub fn to_read(stored: &Stored, declaration: &Declaration, scope: Scope) -> BTreeSet<ApplicationId> {
    let all = stored.head.blockers != crate::model::blockers::Blockers::NONE;
    let declared: BTreeMap<&str, &DeclaredApplication> =
        declaration.applications.iter().map(|declared| (declared.name.as_str(), declared)).collect();
    let removed = digest::application(NO_METADATA, []);
    let is_changed = |application: &&Application| match (declared.get(application.name.as_str()), scope) {
        (Some(declared), _) => application.drifted > 0 || !is_as_stored(declared, application),
        (None, Scope::Whole) => removed != application.digest,
        (None, Scope::Partial) => false,
    };
    stored.applications.iter().filter(|application| all || is_changed(application)).map(|a| a.id).collect()
}

/// Plans a submission on the stored team and the items of [`to_read`].
pub fn plan<'a>(
    stored: &'a Stored,
    items: &'a Items,
    offers: &Offers,
    request: &Request<'_>,
) -> Result<Plan<'a>, Refused> {
    check_read(stored, items, offers, request)?;
    if request.elsewhere.begun > USES_CHANGED_MAX {
        return Err(Refused::Invalid(vec![uses::too_many(stored, request.elsewhere.begun)]));
    }
    let affected = application::affected_applications(stored, items, request)?;
    let (reserved, without_number) = reserve_numbers(stored, &affected, request);
    let mut problems = without_number;
    let of_items = removal::of_items(&affected, offers, request.earlier);
    let resolver = Resolver::new(stored, items, &affected, offers, request.elsewhere);
    let in_use = in_use::in_use(&affected, &resolver, offers);
    if !request.is_confirmed {
        problems.extend(removal::problems(stored, items, request));
        let team = request.declaration.team.as_str();
        problems.extend(of_items.iter().flat_map(|removal| removal.problems(team)));
        problems.extend(in_use.iter().map(|item| item.problem(team)));
    }
    let problems = check::problems(&resolver, &affected, offers, request, &problems);
    if !problems.is_empty() {
        return Err(Refused::Invalid(problems));
    }
    // One counter numbers submissions and fences the head (ADR 3), so only one of two plans on the same head commits.
    let id = SubmissionId::new(stored.team.id, stored.head.submissions + 1).ok_or(Refused::OutOfNumbers)?;
    let mut comparison = Comparison {
        submission: id.number(),
        numbers: Numbers::new(&stored.head, reserved),
        consumer: stored.team.to_ref(),
        offers,
        request,
    };
    let mut applications = Vec::new();
    for affected in &affected {
        let mut diff = comparison.diff(affected)?;
        order::set_waits(&mut diff, affected.items, offers);
        applications.push(diff);
    }
    let uses = uses::settle(&mut applications, &affected, &resolver, offers);
    if uses.changed > USES_CHANGED_MAX {
        return Err(Refused::Invalid(vec![uses::too_many(stored, uses.changed)]));
    }
    let metadata = request.declaration.metadata.as_ref().map(json::canonical);
    let draft = Draft {
        id,
        numbers: comparison.numbers,
        applications,
        // A team that sends none keeps its metadata, even in a whole submission.
        metadata: metadata.unwrap_or_else(|| stored.team.metadata.clone()),
    };
    let plan = draft.finish(stored, offers, request)?;
    if let Some(problem) = uses.too_many_writes(stored, plan.others.len()) {
        return Err(Refused::Invalid(vec![problem]));
    }
    Ok(Plan { removed_items: of_items, items_in_use: in_use, uses, ..plan })
}

/// Refuses a submission while another one is in flight, and a read whose records are of different moments.
fn check_read(stored: &Stored, items: &Items, offers: &Offers, request: &Request<'_>) -> Result<(), Refused> {
    if let Some(submission) = stored.head.in_flight {
        // An unreadable document is invalid whatever the head says, so the client need not wait for that answer.
        let is_read = request.unread.is_empty();
        return Err(if is_read {
            Refused::InFlight(submission)
        } else {
            Refused::Invalid(request.unread.to_vec())
        });
    }
    // The consistency comes before the check of the declaration, which would report problems that do not exist on a
    // torn read.
    if is_torn(stored, items) {
        return Err(Refused::Torn);
    }
    // An item has another declaration than at the read of its earlier declaration.
    if !on_change::has_all_values(stored, items, offers, request) {
        return Err(Refused::Torn);
    }
    Ok(())
}

/// Returns whether the read mixes states before and after another transaction (docs/explanation/concurrency.md,
/// torn reads).
fn is_torn(stored: &Stored, items: &Items) -> bool {
    if digest::root(&stored.team.metadata, stored.applications.iter().map(Application::id_and_digest))
        != stored.head.root
    {
        return true;
    }
    let torn_application = |application: &Application| {
        items.get(&application.id).is_some_and(|items| {
            application::digest_of_stored(&application.metadata, items) != application.digest
        })
    };
    if stored.applications.iter().any(torn_application) {
        return true;
    }
    // The item has a change instance above the head's counter. The plan would allot that number as well, and its
    // change instance would displace itself.
    let mut open = items.values().flatten().flat_map(Item::open);
    if open.any(|(_, slot)| slot.change.number() >= stored.head.next_change) {
        return true;
    }
    // `to_read` skips applications only while the team has no blockers, so a blocker in a partial read is new.
    let read_all = stored.applications.iter().all(|application| items.contains_key(&application.id));
    let blockers: crate::model::blockers::Blockers = items.values().flatten().map(Item::blockers).sum();
    if read_all { blockers != stored.head.blockers } else { blockers.count != 0 }
}

/// A plan under construction.
struct Draft<'a> {
    id: SubmissionId,
    numbers: Numbers<'a>,
    applications: Vec<application::Diff<'a>>,
    metadata: String,
}

impl<'a> Draft<'a> {
    fn finish(
        mut self,
        stored: &Stored,
        offers: &Offers,
        request: &Request<'_>,
    ) -> Result<Plan<'a>, Refused> {
        let derived = self.derived(stored, offers)?;
        let covered = Covered::by(&self, stored, request);
        let root =
            digest::root(&self.metadata, self.applications_after(stored).map(Application::id_and_digest));
        let submission = self.submission(stored, request, root, &derived);
        let after = Head {
            submissions: stored.head.submissions + 1,
            root,
            next_application: self.numbers.next_application,
            next_change: self.numbers.next_change,
            ..stored.head
        };
        let (mut others, mut replaced) = (Vec::new(), Vec::new());
        // Unchanged metadata cost no write, and nothing to store before the commit.
        if self.metadata != stored.team.metadata {
            let since = stored.team.since.replaced_by(self.id.number(), request.ctx.now);
            others.push(Write::ReplaceTeam(Team {
                metadata: self.metadata.clone(),
                since,
                ..stored.team.clone()
            }));
            replaced.push(stored.team.replaced());
        }
        replaced.extend(self.applications.iter().filter_map(application::Diff::replaced));
        others.extend(self.applications.iter().flat_map(application::Diff::writes));
        others.extend(remember(request, &submission));
        let mut plan = Plan {
            direct: Vec::new(),
            derived,
            declarations: BTreeMap::new(),
            secrets: BTreeMap::new(),
            submission,
            head: (stored.head, after),
            uses: Uses::default(),
            covered,
            replaced,
            removed_items: Vec::new(),
            items_in_use: Vec::new(),
            others,
        };
        for diff in self.applications {
            plan.declarations.extend(diff.declarations);
            plan.secrets.extend(diff.secrets);
            plan.direct.extend(diff.direct);
        }
        Ok(plan)
    }

    /// Plans the changes to generate later: shares of dependent teams, and referenced items with their shares (R14
    /// to R16, R22).
    fn derived(&mut self, stored: &Stored, offers: &Offers) -> Result<Vec<PlannedChange>, Refused> {
        let mut derived = Vec::new();
        for (before, planned) in self.applications.iter().flat_map(|diff| &diff.direct) {
            let new = planned.declared.as_ref().and_then(|declared| declared.new.as_ref());
            let service = before.map(|item| &item.service).or(new.map(|new| &new.service));
            let title = service.map_or("", |service| &service.title);
            plan_dependents(&mut derived, &mut self.numbers, planned, title, offers)?;
        }
        for Referenced { item, strategy, causes, waits } in
            self.applications.iter().flat_map(|diff| &diff.referenced)
        {
            let referenced = PlannedChange {
                id: self.numbers.change(stored.team.id)?,
                item: item.id,
                owner: item.service_owner.clone(),
                kind: Kind::Referenced,
                cause: None,
                causes: causes.clone(),
                waits: waits.clone(),
                unblocks: 0,
                version: Some(item.version),
                declared: None,
                schema_version: version_for_checks(&item.service.title, item.schema_version, offers),
                spare: None,
                approval_required: approval_required(&item.service.title, offers),
                strategy: strategy.clone(),
                complete_unneeded: false,
                claim_required: claim_required(&item.service.title, offers),
                prices: prices(&item.service.title, offers),
            };
            derived.push(referenced.clone());
            plan_dependents(&mut derived, &mut self.numbers, &referenced, &item.service.title, offers)?;
        }
        Ok(derived)
    }

    fn applications_after<'s>(&'s self, stored: &'s Stored) -> impl Iterator<Item = &'s Application> {
        let changed = self.applications.iter().map(|diff| diff.after.id);
        let retired = self.applications.iter().filter_map(|diff| diff.retired).map(|retired| retired.id);
        let touched: BTreeSet<ApplicationId> = changed.chain(retired).collect();
        let untouched =
            stored.applications.iter().filter(move |application| !touched.contains(&application.id));
        untouched.chain(self.applications.iter().map(|diff| &diff.after))
    }

    fn submission(
        &self,
        stored: &Stored,
        request: &Request<'_>,
        root: Hash,
        derived: &[PlannedChange],
    ) -> Submission {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let direct = self.applications.iter().map(|diff| count(diff.direct.len())).sum();
        Submission {
            id: self.id,
            team: stored.team.to_ref(),
            scope: request.scope,
            commit_id: request.commit_id.clone(),
            message: request.message.clone(),
            root: Some(root),
            // An orphan's new change leaves all declarations, and so the root, unchanged.
            changed: root != stored.head.root || direct > 0,
            first_change: stored.head.next_change,
            direct,
            derived: count(derived.len()),
            opened: 0,
            staging: None,
            direct_left: 0,
            work_left: 0,
            by: request.ctx.by.clone(),
            request: request.ctx.request.clone(),
            created: request.ctx.now,
            modified: request.ctx.now,
        }
    }
}

fn approval_required(service: &str, offers: &Offers) -> bool {
    // If the service is missing, the change starts in PENDING: no change may start in APPROVED by accident.
    offers.get(service).is_none_or(|offer| offer.service.settings.approval_required)
}

fn complete_unneeded(service: &str, offers: &Offers) -> bool {
    let settings = offers.get(service).map(|offer| &offer.service.settings);
    settings.is_some_and(|settings| {
        settings.complete_unneeded || settings.update_strategy == UpdateStrategy::Replace
    })
}

fn claim_required(service: &str, offers: &Offers) -> bool {
    offers.get(service).is_some_and(|offer| offer.service.settings.claim_required)
}

/// Returns the version of a definition if it checks decisions, which it does if its words have a meaning (R49).
fn version_for_checks(service: &str, version: u64, offers: &Offers) -> Option<u64> {
    let first = offers.get(service)?.service.first_with_words?;
    (version >= first).then_some(version)
}

fn prices(service: &str, offers: &Offers) -> Prices {
    offers.get(service).map_or(Prices::NONE, |offer| offer.schema.prices)
}

/// Returns whether a declared application is the stored one, so that nothing in it changes.
pub fn is_as_stored(declared: &DeclaredApplication, stored: &Application) -> bool {
    application::digest_of(declared) == stored.digest
}

/// Reserves an id for each new application. Returns the ids, with a problem for each application without an id.
fn reserve_numbers<'a>(
    stored: &'a Stored,
    affected: &[AffectedApplication<'_, '_>],
    request: &Request<'_>,
) -> (VecDeque<Reserved<'a>>, Vec<Problem>) {
    let changed = affected.iter().filter(|application| application.is_changed()).count();
    let new = affected.iter().filter(|application| application.stored.is_none());
    let names = new.filter_map(|application| Some(application.declared?.name.as_str()));
    numbers::reserve(stored, names, changed, request)
}

/// Plans a share for each dependent team of a service in a change instance of the service owner.
fn plan_dependents(
    planned: &mut Vec<PlannedChange>,
    numbers: &mut Numbers<'_>,
    main: &PlannedChange,
    service: &str,
    offers: &Offers,
) -> Result<(), Refused> {
    let none: &[TeamRef] = &[];
    let dependents = offers.get(service).map_or(none, |offer| &offer.service.settings.dependent_teams);
    // An owner that lists itself as a dependent team has the main change instance already. A second change instance
    // would displace the first one in the same stack.
    for team in dependents.iter().filter(|team| team.id != main.owner.id) {
        planned.push(PlannedChange {
            id: numbers.change(main.item.team())?,
            owner: team.clone(),
            kind: Kind::Dependent,
            cause: Some(main.id),
            causes: Vec::new(),
            unblocks: 0,
            version: None,
            declared: None,
            spare: None,
            prices: Prices::NONE,
            ..main.clone()
        });
    }
    Ok(())
}

fn remember(request: &Request<'_>, submission: &Submission) -> Option<Write> {
    let (key, fingerprint) = request.idempotency.clone()?;
    let now = request.ctx.now;
    let expires = Timestamp::from_micros(now.micros() + IDEMPOTENCY_SECONDS * 1_000_000);
    let remembered = IdempotencyRecord { key, fingerprint, submission: submission.id, expires };
    Some(Write::StoreIdempotencyKey { team: submission.team.id, remembered, now })
}
