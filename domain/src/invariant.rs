//! What must hold on any table, as predicates over its records (docs/architecture.md).
//!
//! Used by the tests after every scenario and by the audit. What needs more than one look at a table (I4, I14,
//! I21 to I23) or the indexes themselves is not here.

use crate::attention::Attention;
use crate::change::{Chain, Change, ChangeType, Kind};
use crate::deployed::Deployed;
use crate::digest;
use crate::id::{ApplicationId, ChangeId, ItemId, TeamId};
use crate::item::{Creation, Item, RuntimeState, Slot};
use crate::json::Hash;
use crate::schema::Reference;
use crate::staging::{Staging, StagingState};
use crate::state::{Stage, State, TRANSITIONS};
use crate::submission::{Progress, Submission};
use crate::team::{Application, Head, Team};
use crate::timestamp::Timestamp;
use crate::work::Work;
use std::collections::{BTreeMap, BTreeSet};

/// The records of a table.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Teams.
    pub teams: BTreeMap<TeamId, Team>,
    /// Heads.
    pub heads: BTreeMap<TeamId, Head>,
    /// Applications.
    pub applications: BTreeMap<ApplicationId, Application>,
    /// Items.
    pub items: BTreeMap<ItemId, Item>,
    /// Change instances.
    pub changes: BTreeMap<ChangeId, Change>,
    /// Deployed items.
    pub deployed: Vec<Deployed>,
    /// Submissions.
    pub submissions: Vec<Submission>,
    /// Work that is still owed, and work of stagings.
    pub works: Vec<Work>,
    /// Stagings.
    pub stagings: Vec<Staging>,
    /// Which dependent teams are noted to have a share in which items.
    pub shares: BTreeSet<(ItemId, TeamId)>,
    /// Declarations by team and hash: the hash of what is stored under it.
    pub declarations: BTreeMap<(TeamId, Hash), Hash>,
}

/// One record, or one relation between records, that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant in docs/architecture.md.
    pub rule: &'static str,
    /// The record.
    pub subject: String,
    /// What is wrong.
    pub detail: String,
}

/// Every violation in a snapshot.
pub fn violations(snapshot: &Snapshot) -> Vec<Violation> {
    let mut audit = Audit { snapshot, found: Vec::new() };
    let changes = changes_by_item(snapshot);
    for item in snapshot.items.values() {
        let of_item = changes.get(&item.id).map(Vec::as_slice).unwrap_or_default();
        audit.slots(item, of_item);
        audit.sequence(item, of_item);
        audit.runtime_state(item, of_item);
        audit.item_alone(item);
        audit.deployed(item);
        audit.references(item);
        audit.shares(item);
    }
    for change in snapshot.changes.values() {
        audit.history(change);
        audit.identity(change);
    }
    for head in snapshot.heads.values() {
        audit.head(head);
    }
    for submission in &snapshot.submissions {
        audit.submission(submission);
    }
    for staging in &snapshot.stagings {
        audit.staging(staging);
    }
    for ((team, hash), stored) in &snapshot.declarations {
        audit.require(
            hash == stored,
            "I19",
            format!("declaration {hash} of team {team}"),
            "its hash differs",
        );
    }
    audit.found
}

fn changes_by_item(snapshot: &Snapshot) -> BTreeMap<ItemId, Vec<&Change>> {
    let mut by_item: BTreeMap<ItemId, Vec<&Change>> = BTreeMap::new();
    for change in snapshot.changes.values() {
        by_item.entry(change.item).or_default().push(change);
    }
    by_item
}

struct Audit<'a> {
    snapshot: &'a Snapshot,
    found: Vec<Violation>,
}

impl Audit<'_> {
    fn require(&mut self, holds: bool, rule: &'static str, subject: String, detail: impl Into<String>) {
        if !holds {
            self.found.push(Violation { rule, subject, detail: detail.into() });
        }
    }

    /// I1 and I2: the slots are the open change instances, at most one per owner and stage.
    fn slots(&mut self, item: &Item, changes: &[&Change]) {
        let subject = || format!("item {}", item.id);
        let mut open: BTreeMap<(TeamId, Stage), Vec<ChangeId>> = BTreeMap::new();
        for change in changes.iter().filter(|change| change.state.stage() != Stage::Resolved) {
            open.entry((change.owner.id, change.state.stage())).or_default().push(change.id);
        }
        for ((owner, stage), ids) in &open {
            let detail = format!("{ids:?} are open for team {owner} in {stage:?}");
            self.require(ids.len() == 1, "I1", subject(), detail);
        }
        let open: BTreeSet<ChangeId> = open.into_values().flatten().collect();
        let slots: BTreeSet<ChangeId> = item.open().map(|(_, slot)| slot.change).collect();
        self.require(open == slots, "I2", subject(), format!("open are {open:?}, its slots hold {slots:?}"));
        for (owner, slot) in item.open() {
            let agrees = self.snapshot.changes.get(&slot.change).is_some_and(|c| agrees(c, owner, slot));
            self.require(agrees, "I2", subject(), format!("slot of {} differs from it", slot.change));
        }
    }

    /// I3: the history is a chain of legal moves that ends in the state.
    fn history(&mut self, change: &Change) {
        let subject = || format!("change instance {}", change.id);
        let (mut chain, mut state, mut at) = (Chain::START, None, Timestamp::from_micros(0));
        for entry in &change.history {
            let is_move = TRANSITIONS.iter().any(|t| t.from == entry.from && t.to == entry.to);
            let is_note = entry.from == Some(entry.to) && entry.log.is_some();
            self.require(is_move || is_note, "I3", subject(), "an entry is no legal move");
            self.require(entry.from == state, "I3", subject(), "an entry does not follow the one before");
            self.require(entry.at >= at, "I3", subject(), "time runs backwards");
            self.require(entry.link(chain) == entry.chain, "I3", subject(), "the hash chain is broken");
            (chain, state, at) = (entry.chain, Some(entry.to), entry.at);
        }
        self.require(state == Some(change.state), "I3", subject(), "the history ends in another state");
    }

    /// I5 and I16: keys, ids and names agree along every pointer.
    fn identity(&mut self, change: &Change) {
        let subject = || format!("change instance {}", change.id);
        let Some(item) = self.snapshot.items.get(&change.item) else {
            self.require(false, "I16", subject(), "its item does not exist");
            return;
        };
        let same = item.name == change.item_name
            && item.service == change.service
            && item.service_owner == change.service_owner
            && item.consumer == change.consumer
            && item.application == change.application;
        self.require(same, "I16", subject(), "names or teams differ from its item's");
        let ids = [change.id.team(), change.item.team(), change.submission.team(), change.consumer.id];
        self.require(ids.iter().all(|id| *id == item.consumer.id), "I5", subject(), "ids of several teams");
        for version in change.new.iter().chain(&change.old) {
            let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, version.hash));
            self.require(stored, "I19", subject(), format!("declaration {} is not stored", version.hash));
        }
    }

    /// I6: nothing PENDING is older than what has landed.
    fn sequence(&mut self, item: &Item, changes: &[&Change]) {
        for (owner, stack) in &item.stacks {
            let own = changes.iter().filter(|change| change.owner.id == *owner);
            let landed =
                own.clone().filter(|change| change.history.first().is_some_and(|e| e.closed_by.is_none()));
            let newest = landed.map(|c| (c.submission.number(), c.attempt)).max();
            let detail = format!("team {owner} landed {newest:?} last");
            let agrees = newest == Some((stack.sequence, stack.attempt));
            self.require(agrees, "I6", format!("item {}", item.id), detail);
            let waiting = own.clone().find(|change| change.state == State::Pending);
            let is_newest = waiting.is_none_or(|c| Some((c.submission.number(), c.attempt)) == newest);
            let detail = "a PENDING one is older than what has landed";
            self.require(is_newest, "I6", format!("item {}", item.id), detail);
        }
    }

    /// I7: the runtime state is what the service owner's approvals made of it, in their order.
    fn runtime_state(&mut self, item: &Item, changes: &[&Change]) {
        let mut main: Vec<_> = changes.iter().filter(|change| !change.is_dependant()).collect();
        // What is newer has displaced what was PENDING, so they were approved in the order of landing (I6);
        // no clock is needed to tell it.
        main.sort_by_key(|change| (change.submission, change.attempt));
        let entries = main.into_iter().flat_map(|change| &change.history);
        let made = entries.fold(None, |state, entry| match (entry.from, entry.to, entry.change_type) {
            (None, State::Pending, ChangeType::Create) if state != Some(RuntimeState::InService) => {
                Some(RuntimeState::Requested)
            }
            (None | Some(State::Pending), State::Approved, ChangeType::Create) => {
                Some(RuntimeState::InService)
            }
            (None | Some(State::Pending), State::Approved, ChangeType::Delete) => {
                Some(RuntimeState::Decommissioned)
            }
            _ => state,
        });
        let detail = format!("{} is not what approvals made of it", item.runtime_state.name());
        self.require(made == Some(item.runtime_state), "I7", format!("item {}", item.id), detail);
    }

    /// I12, I13 and I19: what an item says of itself.
    fn item_alone(&mut self, item: &Item) {
        let subject = || format!("item {}", item.id);
        let cared_for = item.settled == Some(item.wanted())
            || item.main().open().next().is_some()
            || item.attention() != Attention::NONE;
        self.require(cared_for, "I12", subject(), "it is forgotten");
        for stack in item.stacks.values() {
            let wrong = stack.creation == Creation::Outstanding
                && stack.validated.is_some_and(|slot| slot.change_type == ChangeType::Modify);
            self.require(!wrong, "I13", subject(), "a MODIFY is validated before the CREATE is completed");
        }
        let stored = self.snapshot.declarations.contains_key(&(item.consumer.id, item.version.hash));
        self.require(stored, "I19", subject(), format!("declaration {} is not stored", item.version.hash));
    }

    /// I15: deployed item versions have no gaps and belong to change instances of the service owner.
    fn deployed(&mut self, item: &Item) {
        let subject = || format!("item {}", item.id);
        let mut of_item: Vec<_> = self.snapshot.deployed.iter().filter(|d| d.item == item.id).collect();
        of_item.sort_by_key(|deployed| deployed.version);
        let gapless = of_item.iter().zip(1..).all(|(deployed, version)| deployed.version == version);
        self.require(gapless, "I15", subject(), "deployed item versions have gaps");
        let newest = of_item.last().map(|deployed| (deployed.id, deployed.hash));
        let known = item.deployed.map(|latest| (latest.id, latest.hash));
        self.require(newest == known, "I15", subject(), "its newest deployed item is another");
        for deployed in of_item {
            let main =
                self.snapshot.changes.get(&deployed.change).is_some_and(|change| {
                    change.item == item.id && change.owner.id == deployed.service_owner.id
                });
            let sound = main && Hash::of(&deployed.data) == deployed.hash;
            self.require(
                sound,
                "I15",
                format!("deployed item {}", deployed.id),
                "it does not fit its source",
            );
        }
    }

    /// Whether the items of a team are still becoming what a submission declares.
    fn is_in_flight(&self, team: TeamId) -> bool {
        self.snapshot.heads.get(&team).is_some_and(|head| head.in_flight.is_some())
    }

    /// I17: every reference of a declared item resolves in its application.
    fn references(&mut self, item: &Item) {
        if self.is_in_flight(item.id.team()) {
            return;
        }
        for reference in item.references.iter().filter(|_| item.declared) {
            let resolves = self.snapshot.items.values().any(|other| {
                other.declared && other.id.application() == item.id.application() && is(other, reference)
            });
            let detail = format!("{} '{}' is not declared", reference.service, reference.name);
            self.require(resolves, "I17", format!("item {}", item.id), detail);
        }
    }

    /// I18: the dependent teams that have a stack on an item are those that find it.
    fn shares(&mut self, item: &Item) {
        let involved: BTreeSet<TeamId> = item.dependents().collect();
        let shares = self.snapshot.shares.iter().filter(|(of, _)| *of == item.id);
        let noted: BTreeSet<TeamId> = shares.map(|(_, owner)| *owner).collect();
        let detail = format!("teams {involved:?} have a share, {noted:?} are noted");
        self.require(involved == noted, "I18", format!("item {}", item.id), detail);
    }

    /// I8, I9 and I20: the head adds up.
    fn head(&mut self, head: &Head) {
        let subject = || format!("head of team {}", head.team);
        let of_team = |id: &ApplicationId| id.team() == head.team;
        for application in self.snapshot.applications.values().filter(|a| of_team(&a.id)) {
            let items: Vec<Item> = self.items_of(application.id).cloned().collect();
            let digest = crate::plan::digest_of_stored(&application.metadata, &items);
            let detail = "its digest is not that of its items";
            self.require(
                digest == application.digest || head.in_flight.is_some(),
                "I8",
                format!("application {}", application.id),
                detail,
            );
        }
        let metadata = self.snapshot.teams.get(&head.team).map_or("", |team| team.metadata.as_str());
        let applications = self.snapshot.applications.values().filter(|a| of_team(&a.id));
        let root = digest::root(metadata, applications);
        self.require(root == head.root, "I8", subject(), "its root is not that of its applications");
        let items = self.snapshot.items.values().filter(|item| item.id.team() == head.team);
        let attention: Attention = items.map(Item::attention).sum();
        self.require(attention == head.attention, "I9", subject(), "its attention is not that of its items");
        let numbers: BTreeSet<u64> = self.submissions_of(head.team).map(|s| s.id.number()).collect();
        let dense = numbers.into_iter().eq(1..=head.submissions);
        self.require(dense, "I20", subject(), "the submissions are not numbered without gaps");
    }

    fn items_of(&self, application: ApplicationId) -> impl Iterator<Item = &Item> {
        self.snapshot.items.values().filter(move |item| item.id.application() == application)
    }

    fn submissions_of(&self, team: TeamId) -> impl Iterator<Item = &Submission> {
        self.snapshot.submissions.iter().filter(move |submission| submission.id.team() == team)
    }

    /// I10 and I11: what a submission planned exists, or is still owed.
    fn submission(&mut self, submission: &Submission) {
        let subject = || format!("submission {}", submission.id);
        let works = self.snapshot.works.iter();
        let works =
            works.filter(|work| work.id.submission == submission.id && work.id.staging == submission.staging);
        let (mut left, mut direct_left) = (0, 0);
        let mut waiting: BTreeSet<ChangeId> = BTreeSet::new();
        for work in works {
            left += 1;
            direct_left += u64::from(work.is_direct());
            waiting.extend(work.entries.iter().map(|owed| owed.id));
        }
        let detail = format!("{left} work records, {} counted", submission.work_left);
        self.require(left == submission.work_left, "I11", subject(), detail);
        let detail = format!("{direct_left} with items of its own, {} counted", submission.direct_left);
        self.require(direct_left == submission.direct_left, "I11", subject(), detail);
        let counted = submission.landed + waiting.iter().fold(0, |count, _| count + 1);
        let detail = format!("{} landed, {counted} with those that wait", submission.landed);
        self.require(counted == submission.planned(), "I11", subject(), detail);
        for id in submission.direct_changes() {
            let exists = self.snapshot.changes.get(&id).is_some_and(|c| c.submission == submission.id);
            let planned = exists || waiting.contains(&id);
            self.require(planned, "I10", subject(), format!("change instance {id} is missing"));
        }
        let holds = self.snapshot.heads.get(&submission.id.team()).and_then(|head| head.in_flight);
        let is_held = submission.progress() == Progress::Committed;
        self.require(
            is_held == (holds == Some(submission.id)),
            "I11",
            subject(),
            "the team's head is not held by it",
        );
        self.generated(submission, &waiting);
    }

    /// I11: what is generated is what was planned, without what is still owed.
    fn generated(&mut self, submission: &Submission, waiting: &BTreeSet<ChangeId>) {
        let of_it = |change: &&Change| {
            change.submission == submission.id && matches!(change.kind, Kind::Dependent | Kind::Referenced)
        };
        let generated = self.snapshot.changes.values().filter(of_it).fold(0, |count: u64, _| count + 1);
        let direct: BTreeSet<ChangeId> = submission.direct_changes().collect();
        // A record stays until all of it is carried out.
        let owed =
            waiting.iter().filter(|id| !self.snapshot.changes.contains_key(*id) && !direct.contains(*id));
        let owed = owed.fold(0, |count, _| count + 1);
        let detail = format!("{owed} owed and {generated} generated, {} planned", submission.derived);
        self.require(
            owed + generated == submission.derived,
            "I11",
            format!("submission {}", submission.id),
            detail,
        );
    }

    /// I11: a staging is a submission's exactly when it is committed, and until all its work is carried out.
    fn staging(&mut self, staging: &Staging) {
        let of_it = |submission: &&Submission| {
            submission.id == staging.submission && submission.staging == Some(staging.id)
        };
        let submission = self.snapshot.submissions.iter().find(of_it);
        let sound = match staging.state {
            StagingState::Open | StagingState::Aborted => submission.is_none(),
            StagingState::Committed => submission.is_some_and(|submission| submission.work_left > 0),
        };
        let detail = format!("it is {}", staging.state.name());
        self.require(sound, "I11", format!("staging {} of {}", staging.id, staging.submission), detail);
    }
}

fn agrees(change: &Change, owner: TeamId, slot: &Slot) -> bool {
    change.owner.id == owner
        && change.state == slot.state
        && change.change_type == slot.change_type
        && change.target() == slot.target
        && change.mark() == slot.mark
        && change.created == slot.created
}

fn is(item: &Item, reference: &Reference) -> bool {
    item.service.title == reference.service && item.name == reference.name
}
