//! A world in memory: teams, services and all records, changed only by the writes of the domain.

mod deciding;
mod declared;
mod generating;
mod submitting;
mod writing;

pub(crate) use declared::*;

use domain::audit::invariant;
use domain::audit::invariant::Snapshot;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::base::id::{ChargeId, ServiceId};
use domain::base::money::Prices;
use domain::base::state::{ChangeType, Kind, RuntimeState, Stage};
use domain::catalog::metadata_policy::MetadataPolicy;
use domain::catalog::schema;
use domain::catalog::service::{Service, Settings};
use domain::model::charge::Charge;
use domain::model::declaration;
use domain::model::metadata::{Replaced, Since};
use domain::model::staging::StagingId;
use domain::model::submission::{Scope, Submission};
use domain::model::team::{Application, Head, Team};
use domain::model::work::{PlannedChange, WorkId};
use domain::model::write::Write;
use domain::rules::decide::{Decided, Update};
use domain::rules::finish_work::finish_work;
use domain::rules::generate::generate;
use domain::rules::plan::{
    EarlierValues, Elsewhere, Items, Offer, Offers, Preview, Refused, Request, Staged, Stored, Target,
};
use domain::rules::{charging, decide, plan};
use domain::{Change, ChangeId, Hash, Item, State, TeamId, TeamRef, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
    pub(crate) offers: Offers,
    /// The platform's schemas for metadata.
    pub(crate) metadata_policy: MetadataPolicy,
    /// Number of applications from which numbers are used again.
    pub(crate) reuse_from: usize,
    /// Whether the next submissions confirm their removals.
    pub(crate) is_confirmed: bool,
    /// Microseconds; a test may set it back.
    pub(crate) clock: u64,
    pub(crate) idempotency: Option<(String, Hash)>,
    /// Whether owners decide as persons instead of with keys.
    pub(crate) by_hand: bool,
    /// All declarations so far.
    pub(crate) texts: BTreeMap<Hash, String>,
    /// The later versions of definitions, by title and number.
    pub(crate) definitions: BTreeMap<(String, u64), String>,
    /// All transactions so far.
    pub(crate) written: Vec<Vec<Write>>,
    requests: u64,
}

/// A plan in both packings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) submission: Submission,
    pub(crate) created: Vec<Change>,
    pub(crate) items: Vec<Item>,
    pub(crate) planned: Vec<PlannedChange>,
    /// The plan as one transaction.
    pub(crate) writes: Vec<Write>,
    /// The preview from before the commit.
    pub(crate) preview: Preview,
    /// The replaced metadata.
    pub(crate) replaced: Vec<Replaced>,
    /// The plan as a staging, if items change.
    pub(crate) staged: Option<Staged>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut snapshot = Snapshot::default();
        for name in TEAMS {
            let id = team(name).id;
            let metadata = "{}".to_owned();
            let (name, since) = (name.to_owned(), Since::EVER);
            let team = Team { id, name, metadata, since, confirm_removals: false };
            snapshot.heads.insert(id, team.first_head());
            snapshot.teams.insert(id, team);
        }
        Self {
            snapshot,
            offers: OFFERS.clone(),
            metadata_policy: MetadataPolicy::default(),
            reuse_from: plan::REUSE_FROM,
            clock: 1_000,
            idempotency: None,
            is_confirmed: false,
            by_hand: false,
            texts: BTreeMap::new(),
            definitions: BTreeMap::new(),
            written: Vec::new(),
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

    /// Sets the first of the [`PRICES`] for VMs, and the second for load balancers.
    pub(crate) fn priced(mut self) -> Self {
        self.charge("VM", 0);
        self.charge("LoadBalancer", 1);
        self
    }

    /// Sets the prices in a service's definition to these of the [`PRICES`].
    pub(crate) fn charge(&mut self, service: &str, prices: usize) {
        let offer = self.offers.get_mut(service).unwrap();
        offer.schema = Arc::clone(&PRICED[service][prices]);
    }

    pub(crate) fn redefine(&mut self, service: &str, definition: &Value) {
        let offer = self.offers.get_mut(service).unwrap();
        offer.schema = Arc::new(schema::publish(definition.to_string().as_bytes()).unwrap());
        offer.service.schema_version += 1;
        let version = offer.service.schema_version;
        if offer.schema.has_words {
            offer.service.first_with_words.get_or_insert(version);
        }
        self.definitions.insert((service.to_owned(), version), offer.schema.text.clone());
        let of_audit = Arc::make_mut(&mut self.snapshot.definitions);
        of_audit.insert(service, version, &offer.schema.text);
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
            applications: self.applications().cloned().collect(),
        }
    }

    /// Returns the world with another number of applications from which numbers are used again.
    pub(crate) fn reusing_from(self, reuse_from: usize) -> Self {
        Self { reuse_from, ..self }
    }

    /// Returns the applications that have a number.
    pub(crate) fn applications(&self) -> impl Iterator<Item = &Application> {
        self.snapshot.applications.values().filter(|application| application.retired.is_none())
    }

    pub(crate) fn application(&self, name: &str) -> &Application {
        self.applications().find(|application| application.name == name).unwrap()
    }

    pub(crate) fn items_of(&self, application: &str) -> Vec<Item> {
        let id = self.application(application).id;
        self.snapshot.items.values().filter(|item| item.application_id() == id).cloned().collect()
    }

    /// Returns the item with this name in the application of most tests.
    pub(crate) fn item(&self, name: &str) -> &Item {
        self.item_in(APP, name)
    }

    /// Returns the newest item with this name.
    pub(crate) fn item_in(&self, application: &str, name: &str) -> &Item {
        let mut newest_first = self.snapshot.items.values().rev();
        newest_first.find(|item| item.application == application && item.name == name).unwrap()
    }

    pub(crate) fn runtime_state(&self, name: &str) -> RuntimeState {
        self.item(name).runtime_state
    }

    /// Returns the charges of an item in order of time.
    pub(crate) fn charges(&self, name: &str) -> Vec<Charge> {
        let item = self.item(name).id;
        let charges = self.snapshot.charges.values().filter(|charge| charge.item == item);
        let mut charges: Vec<Charge> = charges.cloned().collect();
        charges.sort_by_key(|charge| charge.start);
        charges
    }

    pub(crate) fn change(&self, id: ChangeId) -> &Change {
        &self.snapshot.changes[&id]
    }

    pub(crate) fn state(&self, id: ChangeId) -> State {
        self.change(id).state
    }

    /// Returns an owner's open change instance on an item in this state.
    pub(crate) fn open(&self, name: &str, owner: &str, state: State) -> ChangeId {
        let stack = &self.item(name).stacks[&team(owner).id];
        let slot = stack.open().find(|slot| slot.state == state);
        slot.unwrap_or_else(|| panic!("{name}: {owner} has nothing {state}: {stack:?}")).change
    }

    pub(crate) fn is_complete(&self, item: &Item) -> bool {
        item.completed_target == Some(item.wanted()) && item.open().next().is_none()
    }

    /// Checks every invariant.
    pub(crate) fn audit(&self) {
        let violations = [invariant::violations(&self.snapshot), invariant::uses(&self.snapshot)].concat();
        assert!(violations.is_empty(), "{violations:#?}");
    }
}
