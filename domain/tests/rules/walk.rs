//! Random walks: the rules hold for any order of submissions, decisions and generation.
//!
//! A small model predicts the refusals. The audit after each step checks the rest.

use crate::preview;
use crate::world::{
    Declared, LB_OWNER, NP_OWNER, Plan, STRANGER, VM_OWNER, World, application, broken, document, lb,
    storable, vm,
};
use domain::base::state::{By, is_legal};
use domain::catalog::service::UpdateStrategy;
use domain::model::change::Target;
use domain::model::declaration;
use domain::model::declaration::Declaration;
use domain::model::submission::Scope;
use domain::rules::charging;
use domain::rules::decide::{Refused, Update};
use domain::rules::plan::Refused as NotPlanned;
use domain::{Change, ChangeId, Item, State};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of walks per configuration.
const WALKS: u64 = 40;
const STEPS: usize = 30;
const APPS: [&str; 2] = ["NewApp1", "NewApp2"];
const VMS: [&str; 3] = ["CoreVM1", "CoreVM2", "CoreVM3"];
const LBS: [&str; 2] = ["CoreLB1", "CoreLB2"];

/// `SplitMix64`: a seed gives the same walk on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let len = u64::try_from(from.len()).unwrap();
        if len == 0 { None } else { Some(from[usize::try_from(self.below(len)).unwrap()]) }
    }
}

pub(crate) struct Walk {
    random: Random,
    pub(crate) world: World,
    /// The accepted declarations by application.
    declared: BTreeMap<&'static str, Value>,
    changing_settings: bool,
    staged: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub(crate) approval: bool,
    pub(crate) dependents: bool,
    pub(crate) changing_settings: bool,
    /// Percentage of staged submissions.
    pub(crate) staged: u64,
}

impl Config {
    /// Derives a configuration of any kind from a seed.
    pub(crate) const fn of(seed: u64) -> Self {
        let (approval, dependents) = (seed.is_multiple_of(2), !seed.is_multiple_of(3));
        Self { approval, dependents, changing_settings: true, staged: seed % 3 * 50 }
    }
}

fn walks(count: u64, config: Config) {
    for seed in 0..count {
        let walked = catch_unwind(AssertUnwindSafe(|| {
            let mut walk = Walk::new(seed, config);
            for _ in 0..STEPS {
                walk.step();
            }
            walk.resolve();
        }));
        assert!(walked.is_ok(), "the walk with seed {seed} failed, see above");
    }
}

impl Walk {
    pub(crate) fn new(seed: u64, config: Config) -> Self {
        let mut world = World::new().priced();
        if !config.approval {
            world = world.without_approval();
        }
        if config.dependents {
            world = world.with_dependent("VM").with_dependent("LoadBalancer");
        }
        let (random, declared) = (Random(seed), BTreeMap::new());
        let Config { changing_settings, staged, .. } = config;
        Self { random, world, declared, changing_settings, staged }
    }

    pub(crate) fn step(&mut self) {
        match self.random.below(100) {
            0..40 => self.submit(),
            40..80 => self.update(),
            80..86 => self.retry(),
            88..92 => self.mark_charge(),
            86..88 if self.changing_settings => self.change_settings(),
            _ => self.generate(),
        }
    }

    // The consumer.

    fn content(&mut self) -> Value {
        let mut items: Vec<Declared> = Vec::new();
        let mut vms = Vec::new();
        for name in VMS {
            if self.random.percent(70) {
                vms.push(name);
                items.push(vm(name, self.random.below(2)));
            }
        }
        for name in LBS {
            if self.random.percent(60) {
                // Mostly references to declared items, rarely dangling ones.
                let from = if self.random.percent(5) { &VMS[..] } else { &vms[..] };
                let named: BTreeSet<_> = (0..2).filter_map(|_| self.random.pick(from)).collect();
                let named: Vec<_> = named.into_iter().collect();
                items.push(lb(name, &named, if self.random.percent(80) { "a" } else { "b" }));
            }
        }
        let mut content = application(&items);
        if self.random.percent(10) {
            content["metadata"] = json!({"round": self.random.below(2)});
        }
        content
    }

    /// Returns the next declaration: by application, as a document, whole or partial.
    fn some_submission(&mut self) -> (BTreeMap<&'static str, Value>, Value, Scope) {
        let scope = if self.random.percent(50) { Scope::Whole } else { Scope::Partial };
        let mut contents = BTreeMap::new();
        for app in APPS {
            if self.random.percent(65) {
                contents.insert(app, self.content());
            } else if let Some(as_before) = self.declared.get(app).filter(|_| scope == Scope::Whole)
                && self.random.percent(80)
            {
                contents.insert(app, as_before.clone());
            }
        }
        let contents_of: Vec<_> = contents.iter().map(|(app, content)| (*app, content.clone())).collect();
        let body = document(&contents_of);
        (contents, body, scope)
    }

    fn submit(&mut self) {
        let (contents, body, scope) = self.some_submission();
        let due = self.due(&body, scope);
        let heads = self.world.snapshot.heads.clone();
        let staged = self.random.percent(self.staged);
        let (in_flight, world) = (self.world.is_in_flight(), &mut self.world);
        match if staged { world.submit_staged(&body, scope) } else { world.submit(&body, scope) } {
            Err(NotPlanned::InFlight(_)) => {
                assert!(in_flight);
                assert_eq!(self.world.snapshot.heads, heads, "what waits writes nothing");
            }
            Ok(plan) => {
                assert!(!in_flight, "accepted while another one is in flight");
                assert!(due.is_empty(), "accepted, though due was {due:?}");
                if scope == Scope::Whole {
                    self.declared.clear();
                }
                self.declared.extend(contents);
                assert!(plan.submission.changed || plan.created.is_empty());
                if !self.world.is_in_flight() {
                    self.is_declared(&body);
                    self.repetition_is_no_change(&body, scope);
                }
            }
            Err(refused) => {
                let rules: BTreeSet<_> = broken(refused).into_iter().collect();
                assert_eq!(rules, due);
                assert_eq!(self.world.snapshot.heads, heads, "a refusal writes nothing");
            }
        }
    }

    /// Runs a history of previewed submissions, and returns the number of accepted and refused ones.
    ///
    /// A submission counts as accepted only if its plan is still the previewed one.
    pub(crate) fn previews(&mut self, steps: usize) -> (u64, u64) {
        let (mut accepted, mut refused) = (Vec::new(), 0);
        for _ in 0..steps {
            if self.random.percent(40) {
                self.step();
                continue;
            }
            let (contents, body, scope) = self.some_submission();
            let Ok(previewed) = self.world.planned(&body, scope) else { continue };
            let (_, other_body, other_scope) = self.some_submission();
            if let Ok(other) = self.world.planned(&other_body, other_scope) {
                preview::same_token_same_effect(&previewed, &other);
            }
            for _ in 0..self.random.below(3) {
                self.step();
            }
            // Pending work comes first: this submission could close its change instances, or change their types.
            self.world.generate();
            let Ok(plan) = self.world.planned(&body, scope) else { continue };
            if plan.preview.plan != previewed.preview.plan {
                refused += 1;
                continue;
            }
            let staged = self.random.percent(self.staged);
            preview::comes_true(&plan, &previewed.preview, &self.world, staged);
            if staged {
                self.world.commit_staged(&plan);
            } else {
                self.world.commit(&plan);
            }
            if scope == Scope::Whole {
                self.declared.clear();
            }
            self.declared.extend(contents);
            accepted.push(plan);
        }
        self.world.generate();
        for plan in &accepted {
            preview::came_true(plan, &self.world);
        }
        (u64::try_from(accepted.len()).unwrap(), refused)
    }

    /// Predicts the broken rules of a submission from the records alone (I14).
    fn due(&self, body: &Value, scope: Scope) -> BTreeSet<&'static str> {
        let declaration = parse(body);
        let mut due = BTreeSet::new();
        for application in &declaration.applications {
            let names: BTreeSet<_> =
                application.items.iter().filter(|i| i.service == "VM").map(|i| i.name.as_str()).collect();
            let referenced = application.items.iter().filter_map(|item| item.body["related_vms"].as_array());
            if !referenced.flatten().all(|name| names.contains(name.as_str().unwrap())) {
                due.insert("dangling_reference");
            }
        }
        for item in self.world.snapshot.items.values() {
            let application = declaration.applications.iter().find(|a| a.name == item.application);
            if application.is_none() && scope == Scope::Partial {
                continue;
            }
            let declared = application.iter().flat_map(|application| &application.items);
            let same = declared.into_iter().find(|i| i.service == item.service.title && i.name == item.name);
            let Some(target) = same.map(|same| Target::Declared(same.hash)) else { continue };
            if item.open().any(|(_, slot)| slot.state.is_blocked() && slot.target == target) {
                due.insert("blocked");
            }
        }
        due
    }

    /// Checks that the declarations are the accepted ones, in every application of the submission.
    fn is_declared(&self, body: &Value) {
        for application in parse(body).applications {
            let wanted: BTreeSet<_> =
                application.items.iter().map(|i| (i.service.clone(), i.name.clone(), i.hash)).collect();
            let items = self.world.items_of(&application.name);
            let stored: BTreeSet<_> = items
                .iter()
                .filter(|item| item.declared)
                .map(|item| (item.service.title.clone(), item.name.clone(), item.version.hash))
                .collect();
            assert_eq!(stored, wanted);
        }
    }

    fn repetition_is_no_change(&mut self, body: &Value, scope: Scope) {
        let read = self.world.read(body, scope);
        let repeated = self.world.plan(&read, body, scope).unwrap();
        assert!(!repeated.submission.changed && repeated.created.is_empty() && repeated.planned.is_empty());
        assert_eq!(repeated.submission.id.number(), self.world.head().submissions + 1);
    }

    fn change_settings(&mut self) {
        let service = self.random.pick(&["VM", "LoadBalancer"]).unwrap();
        let approval_required = self.random.percent(50);
        let dependents = if self.random.percent(50) { vec![crate::world::team(NP_OWNER)] } else { vec![] };
        let settings = self.world.settings(service);
        settings.approval_required = approval_required;
        settings.dependent_teams = dependents;
        let strategies = [UpdateStrategy::Modify, UpdateStrategy::Replace];
        settings.update_strategy = self.random.pick(&strategies).unwrap();
        settings.complete_unneeded = self.random.percent(50);
        if self.random.percent(50) {
            self.world.charge(service, self.random.pick(&[0, 1, 2]).unwrap());
        }
    }

    // The owners.

    /// Returns mostly an open change instance, sometimes any.
    fn some_change(&mut self) -> Option<ChangeId> {
        let any = self.random.percent(10);
        let changes = self.world.snapshot.changes.values();
        let ids = changes.filter(|change| any || !change_is_resolved(change)).map(|change| change.id);
        let ids: Vec<_> = ids.collect();
        self.random.pick(&ids)
    }

    fn some_caller(&mut self, change: &Change) -> String {
        if self.random.percent(93) {
            return change.owner.name.clone();
        }
        self.random.pick(&[VM_OWNER, LB_OWNER, NP_OWNER, STRANGER]).unwrap().to_owned()
    }

    fn some_update(&mut self, change: &Change) -> Update {
        let legal = State::ALL.into_iter().filter(|to| is_legal(Some(change.state), *to, By::Owner));
        let legal: Vec<_> = legal.collect();
        let state = match self.random.below(10) {
            0 => None,
            1 => self.random.pick(&State::ALL),
            _ => self.random.pick(&legal),
        };
        let log = self.random.percent(20).then(|| format!("log {}", self.random.below(3)));
        let deployed_item = self.random.percent(25).then(|| storable(json!({"v": self.random.below(3)})));
        Update { state, log, deployed_item, ..Update::default() }
    }

    fn update(&mut self) {
        let Some(id) = self.some_change() else { return };
        let change = self.world.change(id).clone();
        let caller = self.some_caller(&change);
        let update = self.some_update(&change);
        let versions = self.world.snapshot.deployed.len();
        let answer = self.world.update(id, &caller, &update);
        let state = update.state.unwrap_or(change.state);
        match answer {
            Ok(decided) => {
                assert_eq!(decided.change.state, state);
                assert!(state == change.state || is_legal(Some(change.state), state, By::Owner));
                let brought = usize::from(decided.deployed.is_some());
                assert_eq!(self.world.snapshot.deployed.len(), versions + brought);
            }
            Err(refused) => assert_eq!(refused, refusal_due(&change, &caller, state, &update)),
        }
    }

    fn retry(&mut self) {
        let blocked: Vec<_> = self.all_open(State::is_blocked);
        let Some(id) = self.random.pick(&blocked) else { return };
        let change = self.world.change(id).clone();
        let caller = self.some_caller(&change);
        let newest = self.is_newest(&change);
        match self.world.retry(id, &caller) {
            Ok(decided) => assert_eq!(decided.change.attempt, change.attempt + 1),
            Err(Refused::NotOwner) => assert_ne!(caller, change.owner.name),
            Err(refused) => assert_eq!((refused, newest), (Refused::Overtaken, false)),
        }
    }

    fn mark_charge(&mut self) {
        let ids: Vec<_> = self.world.snapshot.charges.keys().copied().collect();
        let Some(id) = self.random.pick(&ids) else { return };
        let charge = self.world.snapshot.charges[&id].clone();
        let caller = self.random.pick(&[VM_OWNER, LB_OWNER]).unwrap();
        let processed = self.random.percent(80);
        let is_processed = charge.processed.is_some();
        match self.world.mark_charge(id, caller, processed) {
            Ok(marked) => {
                assert_eq!(marked.charge.processed.is_some(), processed);
                assert_eq!(marked.writes.is_empty(), processed == is_processed);
            }
            Err(charging::Refused::NotOwner) => assert_ne!(caller, charge.service_owner.name),
            Err(charging::Refused::DividedJustNow(earliest)) => {
                assert_eq!((charge.end, processed), (None, true));
                assert_eq!(earliest.micros() - charge.start.micros(), charging::DIVISION_MICROS_MIN);
            }
            Err(refused) => {
                assert_eq!((refused, is_processed, processed), (charging::Refused::Processed, true, false));
            }
        }
    }

    fn is_newest(&self, change: &Change) -> bool {
        let stack = &self.world.snapshot.items[&change.item].stacks[&change.owner.id];
        (change.submission.number(), change.attempt) == (stack.sequence, stack.attempt)
    }

    fn all_open(&self, of: fn(State) -> bool) -> Vec<ChangeId> {
        let open = self.world.snapshot.items.values().flat_map(Item::open);
        open.filter(|(_, slot)| of(slot.state)).map(|(_, slot)| slot.change).collect()
    }

    // The generation, in any order.

    fn generate(&mut self) {
        let ready = self.world.ready();
        if let Some(id) = self.random.pick(&ready) {
            self.world.generate_one(id);
        }
    }

    // The end.

    /// Checks that every item matches its declaration after all owners have finished (I12, I23).
    fn resolve(&mut self) {
        for _ in 0..4 {
            while !self.world.ready().is_empty() {
                self.generate();
            }
            self.owners_finish();
            if self.world.snapshot.items.values().all(|item| self.world.is_complete(item)) {
                assert_eq!(self.world.head().blockers, domain::model::blockers::Blockers::NONE);
                assert!(!self.submit_as_declared().submission.changed);
                return;
            }
            assert!(self.submit_as_declared().submission.changed, "what is not settled is asked for again");
        }
        panic!("not settled: {:#?}", self.world.snapshot.items);
    }

    fn submit_as_declared(&mut self) -> Plan {
        let contents: Vec<_> = self.declared.iter().map(|(app, content)| (*app, content.clone())).collect();
        self.world.submit(&document(&contents), Scope::Whole).unwrap()
    }

    /// Lets owners retry or close blocked changes, and approve and complete all others.
    fn owners_finish(&mut self) {
        while let Some(id) = self.random_open() {
            let change = self.world.change(id).clone();
            match change.state {
                State::Pending => drop(self.world.decide(id, State::Approved)),
                State::Approved => drop(self.world.decide(id, State::Completed)),
                State::Rejected | State::Errored if self.is_newest(&change) && self.random.percent(50) => {
                    self.world.retry(id, &change.owner.name).unwrap();
                }
                State::Rejected | State::Errored => drop(self.world.decide(id, State::Closed)),
                State::Completed | State::Closed => panic!("{id} is not open"),
            }
        }
    }

    fn random_open(&mut self) -> Option<ChangeId> {
        let open = self.all_open(|_| true);
        self.random.pick(&open)
    }
}

fn parse(body: &Value) -> Declaration {
    declaration::parse(body.to_string().as_bytes()).unwrap()
}

fn change_is_resolved(change: &Change) -> bool {
    matches!(change.state, State::Completed | State::Closed)
}

/// Returns the one expected refusal, in the documented order.
fn refusal_due(change: &Change, caller: &str, state: State, update: &Update) -> Refused {
    if caller != change.owner.name {
        return Refused::NotOwner;
    }
    if state != change.state && !is_legal(Some(change.state), state, By::Owner) {
        return Refused::IllegalTransition { from: change.state, to: state };
    }
    assert!(update.deployed_item.is_some(), "nothing else is refused here");
    if change.is_dependant() { Refused::DeployedItemNotMain } else { Refused::DeployedItemTooEarly(state) }
}

const WITH_APPROVAL: Config =
    Config { approval: true, dependents: false, changing_settings: false, staged: 0 };
const WITHOUT_APPROVAL: Config = Config { approval: false, ..WITH_APPROVAL };

#[test]
fn walks_where_approval_is_required() {
    walks(WALKS, WITH_APPROVAL);
}

#[test]
fn walks_where_approval_is_required_and_teams_depend() {
    walks(WALKS, Config { dependents: true, ..WITH_APPROVAL });
}

#[test]
fn walks_where_approval_is_not_required() {
    walks(WALKS, WITHOUT_APPROVAL);
}

#[test]
fn walks_where_approval_is_not_required_and_teams_depend() {
    walks(WALKS, Config { dependents: true, ..WITHOUT_APPROVAL });
}

#[test]
fn walks_with_changing_settings_of_owners() {
    walks(WALKS, Config { dependents: true, changing_settings: true, ..WITH_APPROVAL });
}

#[test]
fn walks_where_some_submissions_are_staged() {
    for config in [WITH_APPROVAL, WITHOUT_APPROVAL] {
        walks(WALKS, Config { dependents: true, changing_settings: true, staged: 50, ..config });
        walks(WALKS, Config { staged: 100, ..config });
    }
}
