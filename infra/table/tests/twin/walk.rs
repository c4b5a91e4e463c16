//! Random walks: the table takes every action of consumers and owners as the world does; then reads compare.
#![expect(clippy::print_stdout, reason = "a failed walk prints its seed")]

use crate::twin::{Twin, run};
use crate::world::{LB_OWNER, NP_OWNER, VM_OWNER, World, application, document, lb, storable, vm};
use crate::{audited, lists, reads, related};
use domain::model::submission::Scope;
use domain::rules::decide::Update;
use domain::{Change, Hash, State};
use fastrand::Rng;
use serde_json::{Value, json};
use std::panic::resume_unwind;
use std::thread;

const WALKS: u64 = 3;
const STEPS: u32 = 20;

#[test]
fn a_table_takes_what_the_domain_writes_and_gives_it_back() {
    let walks: Vec<_> = (1..=WALKS).map(|seed| (seed, thread::spawn(move || walk(seed)))).collect();
    for (seed, walk) in walks {
        walk.join().unwrap_or_else(|panic| {
            println!("seed {seed}");
            resume_unwind(panic)
        });
    }
}

fn walk(seed: u64) {
    run(move || async move {
        let mut walk = Walk::of(seed).await;
        for step in 0..STEPS {
            walk.step().await;
            if step == STEPS / 2 {
                walk.look().await;
            }
        }
        walk.world().generate();
        walk.twin.follow().await;
        walk.look().await;
    });
}

struct Walk {
    dice: Rng,
    twin: Twin,
}

impl Walk {
    async fn of(seed: u64) -> Self {
        let world = World::new().priced().with_dependent("VM").with_dependent("LoadBalancer");
        let world = if seed.is_multiple_of(3) { world.without_approval() } else { world };
        Self { dice: Rng::with_seed(seed), twin: Twin::of(world).await }
    }

    fn world(&mut self) -> &mut World {
        &mut self.twin.world
    }

    async fn look(&self) {
        reads::all(&self.twin).await;
        related::all(&self.twin).await;
        lists::all(&self.twin).await;
        lists::queues_are_read_alone(&self.twin).await;
        lists::pages_have_the_requested_length(&self.twin).await;
        audited::nothing_is_wrong(&self.twin).await;
    }

    async fn step(&mut self) {
        match self.dice.u32(0..100) {
            0..25 => self.submit().await,
            25..75 => self.update().await,
            75..82 => self.retry(),
            82..87 => self.mark_charge(),
            _ => self.generate(),
        }
        self.twin.follow().await;
    }

    fn declared(&mut self) -> Value {
        let mut contents = Vec::new();
        for app in ["NewApp1", "NewApp2"] {
            let vms: Vec<&str> = ["a", "b", "c"].into_iter().filter(|_| self.dice.u32(0..10) < 7).collect();
            let mut items: Vec<_> = vms.iter().map(|name| vm(name, self.dice.u64(1..3))).collect();
            items.push(lb("lb", &vms, if self.dice.bool() { "a" } else { "b" }));
            let mut content = application(&items);
            content["metadata"] = json!({"round": self.dice.u32(0..2)});
            contents.push((app, content));
        }
        document(&contents)
    }

    async fn submit(&mut self) {
        let body = self.declared();
        if self.dice.u32(0..3) == 0 {
            return self.twin.submit_staged(&body).await;
        }
        let scope = if self.dice.bool() { Scope::Whole } else { Scope::Partial };
        let key = format!("key-{}", self.twin.world.snapshot.remembered.len());
        self.world().idempotency = Some((key.clone(), Hash::of(&key)));
        drop(self.world().submit(&body, scope));
        self.world().idempotency = None;
    }

    /// Returns a random change instance, mostly an open one.
    fn some(&mut self) -> Option<Change> {
        let any = self.dice.u32(0..10) == 0;
        let changes = self.twin.world.snapshot.changes.values();
        let of = changes.filter(|one| any || !matches!(one.state, State::Completed | State::Closed));
        let of: Vec<&Change> = of.collect();
        self.dice.choice(of).cloned()
    }

    async fn update(&mut self) {
        let Some(change) = self.some() else { return };
        let states = [State::Approved, State::Approved, State::Completed, State::Completed];
        let seldom = [State::Rejected, State::Errored, State::Closed];
        let from = if self.dice.u32(0..4) == 0 { &seldom[..] } else { &states };
        let state = if self.dice.u32(0..8) == 0 { None } else { self.dice.choice(from.iter().copied()) };
        let log = (self.dice.u32(0..3) == 0).then(|| format!("log {}", self.dice.u32(0..100)));
        let deployed_item = self.dice.bool().then(|| storable(json!({"v": self.dice.u32(0..9)})));
        let update = Update { state, log, deployed_item, ..Update::default() };
        self.twin.follow().await;
        let decided = self.world().update(change.id, &change.owner.name, &update);
        self.twin.follow().await;
        if let Ok(decided) = decided {
            related::decided(&self.twin, &decided).await;
        }
    }

    fn retry(&mut self) {
        for owner in [VM_OWNER, LB_OWNER, NP_OWNER] {
            let changes = self.twin.world.snapshot.changes.values();
            let blocked = changes.filter(|one| one.owner.name == owner && one.state.is_blocked());
            let blocked: Vec<_> = blocked.map(|change| change.id).collect();
            if let Some(id) = self.dice.choice(blocked) {
                drop(self.world().retry(id, owner));
            }
        }
    }

    fn mark_charge(&mut self) {
        let charges: Vec<_> = self.twin.world.snapshot.charges.values().cloned().collect();
        if let Some(charge) = self.dice.choice(charges) {
            drop(self.world().mark_charge(charge.id, &charge.service_owner.name, true));
        }
    }

    fn generate(&mut self) {
        let ready = self.twin.world.ready();
        if let Some(id) = self.dice.choice(ready) {
            self.world().generate_one(id);
        }
    }
}
