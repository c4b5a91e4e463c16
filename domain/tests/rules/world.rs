//! A world in memory: teams, services and every record, moved only by the writes of the domain.

use domain::actor::{Actor, TeamRef};
use domain::attention::Attention;
use domain::change::{Change, ChangeType, Kind};
use domain::decide::{self, Decided, Update};
use domain::declaration;
use domain::digest;
use domain::generate::generate;
use domain::id::{ChangeId, ServiceId, TeamId};
use domain::invariant::{self, Snapshot};
use domain::item::{Item, RuntimeState};
use domain::json::Hash;
use domain::land::Stamp;
use domain::plan::{self, Items, Offer, Offers, Refused, Request, Staged, Stored};
use domain::schema;
use domain::service::{Service, Settings};
use domain::staging::{Staging, StagingId};
use domain::state::{Stage, State};
use domain::submission::{Remembered, Scope, Submission};
use domain::team::{Application, Head, Team};
use domain::timestamp::Timestamp;
use domain::work::{Owed, WorkId};
use domain::write::{Closing, Write};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

pub(crate) const VM_OWNER: &str = "VMOwnerTeam";
pub(crate) const LB_OWNER: &str = "LBOwnerTeam";
pub(crate) const NP_OWNER: &str = "NPOwnerTeam";
pub(crate) const CONSUMER: &str = "AwesomeConsumer";
pub(crate) const STRANGER: &str = "Stranger";
pub(crate) const APP: &str = "NewApp1";

const TEAMS: [&str; 5] = [VM_OWNER, LB_OWNER, NP_OWNER, CONSUMER, STRANGER];

// Compiling a schema takes longer than a whole scenario.
static OFFERS: LazyLock<Offers> = LazyLock::new(|| {
    let integer = json!({"type": "integer"});
    let vm = json!({"title": "VM", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "cpu": integer, "memory": integer, "tags": {"type": "array"}}});
    let lb = json!({"title": "LoadBalancer", "type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "algorithm": {"type": "string"},
        "related_vms": {"type": "array", "format": "reference_list", "service_reference": "VM"}}});
    [(1, VM_OWNER, vm), (2, LB_OWNER, lb)]
        .into_iter()
        .map(|(id, owner, definition)| offer(id, owner, &definition))
        .collect()
});

/// A service item as it is declared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    service: &'static str,
    body: Value,
}

pub(crate) fn vm(name: &str, cpu: u64) -> Declared {
    Declared { service: "VM", body: json!({"name": name, "cpu": cpu, "memory": 4}) }
}

pub(crate) fn lb(name: &str, related_vms: &[&str], algorithm: &str) -> Declared {
    let body = json!({"name": name, "related_vms": related_vms, "algorithm": algorithm});
    Declared { service: "LoadBalancer", body }
}

pub(crate) fn item_of(service: &'static str, body: Value) -> Declared {
    Declared { service, body }
}

/// The content of one application.
pub(crate) fn application(items: &[Declared]) -> Value {
    let mut services = serde_json::Map::new();
    for item in items {
        let of_service = services.entry(item.service).or_insert_with(|| json!([]));
        of_service.as_array_mut().unwrap().push(item.body.clone());
    }
    json!({"services": services})
}

/// The document of the consumer with these applications.
pub(crate) fn document(applications: &[(&str, Value)]) -> Value {
    let applications: serde_json::Map<_, _> =
        applications.iter().map(|(name, content)| ((*name).to_owned(), content.clone())).collect();
    json!({CONSUMER: applications})
}

pub(crate) fn team(name: &str) -> TeamRef {
    let number = TEAMS.iter().zip(1..).find(|(team, _)| **team == name).unwrap().1;
    TeamRef { id: TeamId::new(number).unwrap(), name: name.to_owned() }
}

pub(crate) fn offer(id: u64, owner: &str, definition: &Value) -> (String, Offer) {
    let schema = schema::publish(definition.to_string().as_bytes()).unwrap();
    let service = Service {
        id: ServiceId::new(id).unwrap(),
        title: schema.title.clone(),
        owner: team(owner),
        settings: Settings::default(),
        schema_version: 1,
        revision: 1,
        created: Timestamp::from_micros(0),
        modified: Timestamp::from_micros(0),
    };
    (schema.title.clone(), Offer { service, schema: Arc::new(schema) })
}

pub(crate) fn to(state: State) -> Update {
    Update { state: Some(state), ..Update::default() }
}

/// The rules that a refused submission breaks.
pub(crate) fn broken(refused: Refused) -> Vec<&'static str> {
    match refused {
        Refused::Invalid(problems) => problems.into_iter().map(|problem| problem.rule).collect(),
        Refused::Torn | Refused::InFlight(_) | Refused::OutOfNumbers => panic!("{refused:?}"),
    }
}

/// What was born, for comparison with the guide's tables: item, type, owner.
pub(crate) fn table<'a>(
    changes: impl IntoIterator<Item = &'a Change>,
) -> Vec<(&'a str, ChangeType, &'a str)> {
    changes.into_iter().map(|c| (c.item_name.as_str(), c.change_type, c.owner.name.as_str())).collect()
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) offers: Offers,
    /// Microseconds; a test may set it back.
    pub(crate) clock: u64,
    pub(crate) idempotency: Option<(String, Hash)>,
    pub(crate) remembered: BTreeMap<String, Remembered>,
    requests: u64,
}

/// A plan in both packings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) submission: Submission,
    pub(crate) born: Vec<Change>,
    pub(crate) items: Vec<Item>,
    pub(crate) owed: Vec<Owed>,
    /// As one transaction.
    pub(crate) writes: Vec<Write>,
    /// To be carried out later, if items change.
    pub(crate) staged: Option<Staged>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut snapshot = Snapshot::default();
        for name in TEAMS {
            let id = team(name).id;
            let metadata = "{}".to_owned();
            let root = digest::root(&metadata, []);
            snapshot.teams.insert(id, Team { id, name: name.to_owned(), metadata });
            let head = Head {
                team: id,
                submissions: 0,
                root,
                attention: Attention::NONE,
                next_application: 1,
                next_change: 16,
                in_flight: None,
            };
            snapshot.heads.insert(id, head);
        }
        Self {
            snapshot,
            offers: OFFERS.clone(),
            clock: 1_000,
            idempotency: None,
            remembered: BTreeMap::new(),
            requests: 0,
        }
    }

    // Settings.

    pub(crate) fn settings(&mut self, service: &str) -> &mut Settings {
        &mut self.offers.get_mut(service).unwrap().service.settings
    }

    pub(crate) fn without_approval(mut self) -> Self {
        self.settings("VM").approval_required = false;
        self.settings("LoadBalancer").approval_required = false;
        self
    }

    pub(crate) fn with_dependent(mut self, service: &str) -> Self {
        self.settings(service).dependent_teams = vec![team(NP_OWNER)];
        self
    }

    pub(crate) fn redefine(&mut self, service: &str, definition: &Value) {
        let offer = self.offers.get_mut(service).unwrap();
        offer.schema = Arc::new(schema::publish(definition.to_string().as_bytes()).unwrap());
        offer.service.schema_version += 1;
    }

    // Reading.

    pub(crate) fn head(&self) -> Head {
        self.snapshot.heads[&team(CONSUMER).id]
    }

    pub(crate) fn stored(&self) -> Stored {
        let consumer = team(CONSUMER).id;
        Stored {
            team: self.snapshot.teams[&consumer].clone(),
            head: self.head(),
            applications: self.snapshot.applications.values().cloned().collect(),
        }
    }

    pub(crate) fn application(&self, name: &str) -> &Application {
        self.snapshot.applications.values().find(|application| application.name == name).unwrap()
    }

    pub(crate) fn items_of(&self, application: &str) -> Vec<Item> {
        let id = self.application(application).id;
        self.snapshot.items.values().filter(|item| item.id.application() == id).cloned().collect()
    }

    /// The item of this name in the application that most tests use.
    pub(crate) fn item(&self, name: &str) -> &Item {
        self.item_in(APP, name)
    }

    pub(crate) fn item_in(&self, application: &str, name: &str) -> &Item {
        self.snapshot
            .items
            .values()
            .find(|item| item.application == application && item.name == name)
            .unwrap()
    }

    pub(crate) fn runtime_state(&self, name: &str) -> RuntimeState {
        self.item(name).runtime_state
    }

    pub(crate) fn change(&self, id: ChangeId) -> &Change {
        &self.snapshot.changes[&id]
    }

    pub(crate) fn state(&self, id: ChangeId) -> State {
        self.change(id).state
    }

    /// The open change instance of an owner on an item in this state.
    pub(crate) fn open(&self, name: &str, owner: &str, state: State) -> ChangeId {
        let stack = &self.item(name).stacks[&team(owner).id];
        let slot = stack.open().find(|slot| slot.state == state);
        slot.unwrap_or_else(|| panic!("{name}: {owner} has nothing {state}: {stack:?}")).change
    }

    pub(crate) fn is_settled(&self, item: &Item) -> bool {
        item.settled == Some(item.wanted()) && item.open().next().is_none()
    }

    // Submitting.

    fn stamp(&mut self, by: Actor) -> Stamp {
        self.requests += 1;
        self.clock += 1;
        Stamp { by, request: format!("r{}", self.requests), now: Timestamp::from_micros(self.clock) }
    }

    pub(crate) fn key_of(name: &str) -> Actor {
        Actor::Key { name: format!("key of {name}"), team: team(name) }
    }

    /// Reads what a plan has to know.
    pub(crate) fn read(&self, body: &Value, scope: Scope) -> (Stored, Items) {
        let declaration = declaration::parse(body.to_string().as_bytes()).unwrap();
        let stored = self.stored();
        let items = plan::to_read(&stored, &declaration, scope).into_iter().map(|id| {
            let of_application = self.snapshot.items.values().filter(move |item| item.id.application() == id);
            (id, of_application.cloned().collect())
        });
        let items = items.collect();
        (stored, items)
    }

    /// Plans over what was read, whenever that was.
    pub(crate) fn plan(
        &mut self,
        read: &(Stored, Items),
        body: &Value,
        scope: Scope,
    ) -> Result<Plan, Refused> {
        let declaration = declaration::parse(body.to_string().as_bytes()).map_err(Refused::Invalid)?;
        let stamp = self.stamp(Self::key_of(CONSUMER));
        let request = Request {
            declaration: &declaration,
            scope,
            commit_id: Some("c0ffee".to_owned()),
            stamp: &stamp,
            idempotency: self.idempotency.clone(),
        };
        let plan = plan::plan(&read.0, &read.1, &self.offers, &request)?;
        let at_once = plan.at_once(&stamp).unwrap();
        Ok(Plan {
            owed: plan.derived().to_vec(),
            staged: plan.staged(StagingId::of(&stamp.request, 0)),
            submission: at_once.submission,
            born: at_once.born,
            items: at_once.items,
            writes: at_once.writes,
        })
    }

    pub(crate) fn submit(&mut self, body: &Value, scope: Scope) -> Result<Plan, Refused> {
        let read = match declaration::parse(body.to_string().as_bytes()) {
            Ok(_) => self.read(body, scope),
            Err(problems) => return Err(Refused::Invalid(problems)),
        };
        let plan = self.plan(&read, body, scope)?;
        self.commit(&plan);
        Ok(plan)
    }

    pub(crate) fn commit(&mut self, plan: &Plan) {
        self.apply(&plan.writes);
        self.audit();
    }

    /// Lays a plan out, unseen.
    pub(crate) fn stage(&mut self, plan: &Plan) {
        let Some(Staged { staging, works, .. }) = &plan.staged else { panic!("no item changes") };
        let declarations = plan.writes.iter().filter(|write| matches!(write, Write::Declaration { .. }));
        self.apply(&declarations.cloned().collect::<Vec<_>>());
        self.apply(&[Write::Staging(*staging)]);
        self.snapshot.works.extend(works.iter().cloned());
        self.audit();
    }

    /// Submits by laying the plan out and committing it; its items land when they are generated.
    pub(crate) fn submit_staged(&mut self, body: &Value, scope: Scope) -> Result<Plan, Refused> {
        let read = self.read(body, scope);
        let plan = self.plan(&read, body, scope)?;
        let Some(staged) = &plan.staged else {
            self.commit(&plan);
            return Ok(plan);
        };
        self.stage(&plan);
        self.apply(&staged.commit);
        self.audit();
        Ok(plan)
    }

    pub(crate) fn is_in_flight(&self) -> bool {
        self.head().in_flight.is_some()
    }

    /// Submits one application with these items as all that there is.
    pub(crate) fn declare(&mut self, items: &[Declared]) -> Plan {
        self.submit(&document(&[(APP, application(items))]), Scope::Whole).unwrap()
    }

    /// The rules that such a submission breaks.
    pub(crate) fn refused(&mut self, items: &[Declared]) -> Vec<&'static str> {
        let before = self.snapshot.heads.clone();
        let refused = self.submit(&document(&[(APP, application(items))]), Scope::Whole).unwrap_err();
        assert_eq!(before, self.snapshot.heads, "a refusal writes nothing");
        broken(refused)
    }

    /// Declares and generates at once, as if nothing ever came in between.
    pub(crate) fn declare_and_generate(&mut self, items: &[Declared]) -> (Plan, Vec<Change>) {
        let plan = self.declare(items);
        (plan, self.generate())
    }

    // Deciding.

    pub(crate) fn update(
        &mut self,
        id: ChangeId,
        caller: &str,
        update: &Update,
    ) -> Result<Decided, decide::Refused> {
        let change = self.change(id).clone();
        let item = self.snapshot.items[&change.item].clone();
        let stamp = self.stamp(Self::key_of(caller));
        // As a function has it: the head is read only where it is needed.
        let head = decide::takes_numbers(&item, update).then(|| self.head());
        let decided = decide::update(&change, &item, head.as_ref(), update, &team(caller), &stamp)?;
        self.apply(&decided.writes);
        assert_eq!(self.change(id), &decided.change, "the answer shows what is stored");
        assert_eq!(self.snapshot.items[&item.id], decided.item, "the answer shows what is stored");
        self.audit();
        Ok(decided)
    }

    pub(crate) fn retry(&mut self, id: ChangeId, caller: &str) -> Result<Decided, decide::Refused> {
        let change = self.change(id).clone();
        let item = self.snapshot.items[&change.item].clone();
        let stamp = self.stamp(Self::key_of(caller));
        let decided = decide::retry(&change, &item, &self.head(), &team(caller), &stamp)?;
        self.apply(&decided.writes);
        self.audit();
        Ok(decided)
    }

    /// Moves a change instance as its owner.
    pub(crate) fn decide(&mut self, id: ChangeId, state: State) -> Change {
        let owner = self.change(id).owner.name.clone();
        self.update(id, &owner, &to(state)).unwrap().change
    }

    /// Moves the one open change instance that an owner has on an item in the first state.
    pub(crate) fn step(&mut self, name: &str, owner: &str, from: State, state: State) -> ChangeId {
        let id = self.open(name, owner, from);
        self.decide(id, state);
        id
    }

    pub(crate) fn approve(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Pending, State::Approved)
    }

    pub(crate) fn reject(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Pending, State::Rejected)
    }

    pub(crate) fn complete(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Approved, State::Completed)
    }

    pub(crate) fn error(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Approved, State::Errored)
    }

    pub(crate) fn finish(&mut self, name: &str, owner: &str) -> ChangeId {
        self.approve(name, owner);
        self.complete(name, owner)
    }

    /// Brings a deployed item with the state that the change instance is in.
    pub(crate) fn deploy(
        &mut self,
        id: ChangeId,
        caller: &str,
        data: &Value,
    ) -> Result<Decided, decide::Refused> {
        let deployed_item = Some(domain::json::canonical(data));
        self.update(id, caller, &Update { deployed_item, ..Update::default() })
    }

    // Generating.

    /// What is owed and can be generated now: a dependent's share needs its cause.
    pub(crate) fn ready(&self) -> Vec<ChangeId> {
        let owed = self.snapshot.works.iter().flat_map(|work| &work.entries);
        let ready = owed.filter(|owed| {
            let is_new = !self.snapshot.changes.contains_key(&owed.id);
            is_new && owed.cause.is_none_or(|cause| self.snapshot.changes.contains_key(&cause))
        });
        ready.map(|owed| owed.id).collect()
    }

    /// Generates everything that is owed, oldest first.
    pub(crate) fn generate(&mut self) -> Vec<Change> {
        let mut generated = Vec::new();
        while let Some(id) = self.ready().first().copied() {
            generated.push(self.generate_one(id));
        }
        assert!(self.snapshot.works.is_empty(), "nothing is owed any more");
        generated
    }

    /// Generates one thing that is owed; of a staged item, all of it.
    pub(crate) fn generate_one(&mut self, id: ChangeId) -> Change {
        let entries = self.snapshot.works.iter().map(|work| (work.id, work.entries.clone()));
        let (work, entries) = entries
            .into_iter()
            .find(|(_, entries)| entries.iter().any(|owed| owed.id == id))
            .expect("it is owed");
        let of_item = |one: &Owed| {
            let first = entries.iter().find(|owed| owed.id == id).unwrap();
            if first.kind == Kind::Direct { one.item == first.item } else { one.id == id }
        };
        let owed: Vec<Owed> = entries.iter().filter(|one| of_item(one)).cloned().collect();
        self.born_of(work, &owed);
        self.finish_work();
        self.audit();
        self.change(id).clone()
    }

    /// Generates everything that is owed as the function does: item by item, record by record.
    pub(crate) fn generate_records(&mut self) -> Vec<Change> {
        let mut generated = Vec::new();
        for work in self.snapshot.works.clone() {
            for owed in work.entries.chunk_by(|a, b| a.item == b.item) {
                generated.extend(self.born_of(work.id, owed));
            }
            self.finish_work();
        }
        self.audit();
        generated
    }

    fn born_of(&mut self, work: WorkId, owed: &[Owed]) -> Vec<Change> {
        assert!(owed.iter().all(|owed| (owed.kind == Kind::Dependent) == owed.cause.is_some()));
        let recorded = self.snapshot.submissions.iter().find(|known| known.id == work.submission);
        let recorded = recorded.unwrap().clone();
        let item = self.snapshot.items.get(&owed[0].item).cloned();
        let stamp = self.stamp(Actor::System);
        let generated = generate(owed, &recorded, item.as_ref(), &self.snapshot.changes, &stamp).unwrap();
        self.apply(&generated.writes);
        generated.born
    }

    /// Removes the work records of which everything exists.
    pub(crate) fn finish_work(&mut self) {
        let now = Timestamp::from_micros(self.clock);
        loop {
            let exists = |owed: &Owed| self.snapshot.changes.contains_key(&owed.id);
            let finished = self.snapshot.works.iter().find(|work| work.entries.iter().all(exists));
            let Some(work) = finished.cloned() else { return };
            let recorded = self.snapshot.submissions.iter().find(|known| known.id == work.id.submission);
            let (_, done) = recorded.unwrap().without(&work, now);
            self.apply(&done);
        }
    }

    // Writing.

    /// Carries out one transaction; panics where a storage would cancel it.
    pub(crate) fn apply(&mut self, writes: &[Write]) {
        let mut keys = BTreeSet::new();
        for write in writes {
            // A transaction may touch a record only once.
            let key = key(write);
            assert!(keys.insert(key.clone()), "{key} is written twice");
            self.write(write);
        }
    }

    fn write(&mut self, write: &Write) {
        let snapshot = &mut self.snapshot;
        match write {
            Write::Head { before, after } => {
                let stored = snapshot.heads.insert(after.team, *after);
                assert_eq!(stored.as_ref(), Some(before), "the head has moved");
            }
            Write::Attention { team, delta } => {
                let head = snapshot.heads.get_mut(team).unwrap();
                head.attention = head.attention + *delta;
            }
            Write::Team(after) => assert!(snapshot.teams.insert(after.id, after.clone()).is_some()),
            Write::Application { before, after } => {
                let stored = snapshot.applications.insert(after.id, after.clone());
                assert_eq!(stored, *before, "the application has moved");
            }
            Write::Item { before, after } => {
                let stored = snapshot.items.insert(after.id, after.clone());
                assert_eq!(stored.map(|stored| stored.revision), *before, "the item has moved");
                assert_eq!(after.revision, before.unwrap_or(0) + 1, "each write counts once");
            }
            Write::Born(born) => {
                assert_eq!(born.history.len(), 1);
                assert!(snapshot.changes.insert(born.id, born.clone()).is_none(), "the key is taken");
            }
            Write::Moved { before, from, after } => {
                let stored = snapshot.changes.insert(after.id, after.clone()).unwrap();
                assert_eq!((stored.mark(), stored.state), (*before, *from), "the change instance has moved");
                assert!(after.history.starts_with(&stored.history), "history is only appended to");
                // I4.
                assert!(
                    stored.state.stage() != Stage::Resolved || after.state == stored.state,
                    "it was resolved"
                );
            }
            Write::Closed(closing) => close(snapshot, closing),
            Write::Deployed(deployed) => {
                let taken = snapshot.deployed.iter().any(|known| known.id == deployed.id);
                assert!(
                    !taken && !deployed.id.number().is_multiple_of(domain::id::CHANGE_STRIDE),
                    "the key is taken"
                );
                snapshot.deployed.push(deployed.clone());
            }
            Write::Submission(submission) => {
                assert!(
                    snapshot.submissions.iter().all(|known| known.id != submission.id),
                    "the key is taken"
                );
                snapshot.submissions.push(submission.clone());
            }
            Write::Remember { remembered, now, .. } => {
                let known = self.remembered.insert(remembered.key.clone(), remembered.clone());
                assert!(known.is_none_or(|known| known.expires < *now), "the key is remembered");
            }
            Write::Work(work) => {
                assert!(snapshot.works.iter().all(|known| known.id != work.id), "the key is taken");
                snapshot.works.push(work.clone());
            }
            Write::ItemStays { item, revision } => {
                assert_eq!(snapshot.items[item].revision, *revision, "the item has moved");
            }
            Write::WorkDone(id) => {
                let known = snapshot.works.iter().position(|work| work.id == *id);
                snapshot.works.remove(known.expect("the work is gone"));
            }
            Write::Progress { work_left, after } => {
                let known = snapshot.submissions.iter_mut();
                let recorded = known.into_iter().find(|known| known.id == after.id).unwrap();
                assert_eq!(recorded.work_left, *work_left, "the submission has come further");
                *recorded = after.clone();
            }
            Write::Landed(submission) => {
                let head = snapshot.heads.get_mut(&submission.team()).unwrap();
                assert_eq!(head.in_flight, Some(*submission), "another one holds the head");
                head.in_flight = None;
            }
            Write::Staging(staging) => {
                assert!(staging_of(snapshot, staging.id).is_none(), "the key is taken");
                snapshot.stagings.push(*staging);
            }
            Write::StagingMoved { staging, from, to, .. } => {
                let known = staging_of(snapshot, *staging).expect("the staging is gone");
                assert_eq!(known.state, *from, "the staging has moved");
                known.state = *to;
            }
            Write::StagingDone { staging, .. } => {
                assert!(staging_of(snapshot, *staging).is_some(), "the staging is gone");
                snapshot.stagings.retain(|known| known.id != *staging);
            }
            Write::Declaration { team, hash, text } => {
                snapshot.declarations.insert((*team, *hash), Hash::of(text));
            }
            Write::Share(share) => {
                assert!(snapshot.shares.insert((share.item, share.owner)), "the share is noted");
            }
        }
    }

    /// Every invariant holds.
    pub(crate) fn audit(&self) {
        let violations = invariant::violations(&self.snapshot);
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

fn staging_of(snapshot: &mut Snapshot, id: StagingId) -> Option<&mut Staging> {
    snapshot.stagings.iter_mut().find(|known| known.id == id)
}

fn close(snapshot: &mut Snapshot, closing: &Closing) {
    let change = snapshot.changes.get_mut(&closing.change).unwrap();
    let known = (closing.item, closing.owner, closing.created, closing.from, closing.mark);
    let stored = (change.item, change.owner.id, change.created, change.state, change.mark());
    assert_eq!(known, stored, "the change instance has moved");
    assert!(change.state.stage() != Stage::Resolved, "it was resolved");
    change.state = closing.entry.to;
    change.history.push(closing.entry.clone());
}

fn key(write: &Write) -> String {
    match write {
        Write::Head { after, .. } => format!("head {}", after.team),
        Write::Attention { team, .. } => format!("head {team}"),
        Write::Team(after) => format!("team {}", after.id),
        Write::Application { after, .. } => format!("application {}", after.id),
        Write::Item { after, .. } => format!("item {}", after.id),
        Write::Born(born) => format!("change {}", born.id),
        Write::Moved { after, .. } => format!("change {}", after.id),
        Write::Closed(closing) => format!("change {}", closing.change),
        Write::Deployed(deployed) => format!("deployed {}", deployed.id),
        Write::Submission(submission) => format!("submission {}", submission.id),
        Write::Remember { remembered, .. } => format!("key {}", remembered.key),
        Write::Work(work) => work.id.to_string(),
        Write::WorkDone(id) => id.to_string(),
        Write::Progress { after, .. } => format!("submission {}", after.id),
        Write::Landed(submission) => format!("head {}", submission.team()),
        Write::Staging(staging) => format!("staging {}", staging.id),
        Write::StagingMoved { staging, .. } | Write::StagingDone { staging, .. } => {
            format!("staging {staging}")
        }
        Write::Declaration { hash, .. } => format!("declaration {hash}"),
        Write::ItemStays { item, .. } => format!("item {item}"),
        Write::Share(share) => format!("share {} {}", share.item, share.owner),
    }
}
