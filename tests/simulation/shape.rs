//! The world of a run: the teams and services of the demo world, with drawn settings.

use crate::references;
use crate::system::{Limits, STAGED};
use domain::rules::plan::REUSE_FROM;
use dovetail_daemon::world;
use fastrand::Rng;
use serde_json::{Value, json};

/// Names and API keys of the consumer teams.
pub const CONSUMERS: [(&str, &str); 2] =
    [("AwesomeConsumer", "awesome-key"), ("AwesomeConsumer2", "awesome2-key")];

/// Names and API keys of the service owners and dependent teams.
pub const OWNERS: [(&str, &str); 3] =
    [("VMOwnerTeam", "vm-owner-key"), ("LBOwnerTeam", "lb-owner-key"), ("NPOwnerTeam", "np-owner-key")];

/// Returns the demo world with its first services.
pub fn demo(services: usize) -> Value {
    let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
    for team in world["teams"].as_array_mut().unwrap() {
        team.as_object_mut().unwrap().remove("notify");
        // The consumers remove applications and items without a look at them before.
        team["confirm_removals"] = json!(false);
    }
    world["services"].as_array_mut().unwrap().truncate(services);
    world
}

/// One in this number of seeds has a verified service.
const VERIFIED: u64 = 3;

/// One in this number of seeds has metadata that complete and generate items.
const EXPANDED: u64 = 4;

/// One in this number of seeds has references between applications and teams (R69, R71).
const REFERENCES: u64 = 4;

/// One in this number of seeds has services with settings of their life cycle (R60 to R64).
const LIFE: u64 = 3;

/// How the changes of a service treat what their owner has in place (R60).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Modify,
    /// They replace every declaration.
    Replace,
    /// They replace a declaration with another value at this property.
    At(&'static str),
}

impl Strategy {
    /// Returns whether the service may replace items.
    pub const fn may_replace(self) -> bool {
        !matches!(self, Self::Modify)
    }

    /// Returns whether a change from one declaration to the other replaces.
    pub fn replaces(self, old: &Value, new: &Value) -> bool {
        match self {
            Self::Modify => false,
            Self::Replace => true,
            // The property is free if the declaration in place lacks it.
            Self::At(property) => old.get(property).is_some_and(|old| new.get(property) != Some(old)),
        }
    }
}

/// The settings of a service's life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    pub strategy: Strategy,
    /// `complete_unneeded` (R63).
    complete_unneeded: bool,
    /// `claim_required` (R64).
    pub claim_required: bool,
}

impl Life {
    const DEFAULT: Self =
        Self { strategy: Strategy::Modify, complete_unneeded: false, claim_required: false };

    /// Draws the settings of a service with this property.
    fn drawn(dice: &mut Rng, property: &'static str) -> Self {
        let strategy = [Strategy::Modify, Strategy::Replace, Strategy::At(property)];
        let strategy = strategy[dice.usize(0..strategy.len())];
        Self { strategy, complete_unneeded: dice.bool(), claim_required: dice.bool() }
    }

    /// Adds the settings to a service of a world file.
    fn write(self, service: &mut Value) {
        match self.strategy {
            Strategy::Modify => {}
            Strategy::Replace => service["update_strategy"] = json!("REPLACE"),
            Strategy::At(property) => {
                service["schema"]["properties"][property]["x-on-change"] = json!("replace");
            }
        }
        if self.complete_unneeded {
            service["complete_unneeded"] = json!(true);
        }
        if self.claim_required {
            service["claim_required"] = json!(true);
        }
    }

    /// Returns whether unneeded changes are completed at once (R63).
    pub fn completes_unneeded(self) -> bool {
        self.complete_unneeded || self.strategy == Strategy::Replace
    }
}

/// The differences from the demo world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    vm: Service,
    load_balancer: Service,
    /// Whether the service of virtual machines is verified: its owner plans, observes and adopts items (R51 to R55).
    pub is_verified: bool,
    /// Whether declarations have metadata that complete and generate items (R66).
    pub has_metadata: bool,
    /// Whether load balancers refer to machines of other applications and of the other consumer (R69, R71).
    pub has_references: bool,
    /// With [`STAGED`] writes in one transaction, every submission is staged.
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Service {
    approval_required: bool,
    dependents: Vec<&'static str>,
    life: Life,
}

impl Shape {
    /// Draws a world. Some seeds have a verified service.
    pub fn drawn(seed: u64, dice: &mut Rng) -> Self {
        let mut service = |dependents: &[&'static str]| Service {
            approval_required: dice.u32(0..4) > 0,
            dependents: dependents.iter().copied().filter(|_| dice.bool()).collect(),
            life: Life::DEFAULT,
        };
        let (mut vm, mut load_balancer) =
            (service(&["NPOwnerTeam", "LBOwnerTeam"]), service(&["NPOwnerTeam"]));
        let actions_max = if dice.u32(0..3) == 0 { STAGED } else { 100 };
        // The dice stay as they are, so the worlds of all other seeds stay, too.
        let is_verified = seed % VERIFIED == 2;
        let has_metadata = seed % EXPANDED == 3;
        let has_references = seed % REFERENCES == 2;
        // No seed has a verified service as well: the oracle knows no replacement of a drifted object.
        if seed.is_multiple_of(LIFE) {
            let mut dice = Rng::with_seed(seed);
            vm.life = Life::drawn(&mut dice, "cpu");
            load_balancer.life = Life::drawn(&mut dice, "algorithm");
        }
        let limits = Limits { actions_max, reuse_from: REUSE_FROM };
        Self { vm, load_balancer, is_verified, has_metadata, has_references, limits }
    }

    fn service(&self, title: &str) -> &Service {
        if title == "VM" { &self.vm } else { &self.load_balancer }
    }

    pub fn owner(&self, service: &str) -> &'static str {
        if service == "VM" { "VMOwnerTeam" } else { "LBOwnerTeam" }
    }

    pub fn dependents(&self, service: &str) -> Vec<&'static str> {
        self.service(service).dependents.clone()
    }

    pub fn approval_required(&self, service: &str) -> bool {
        self.service(service).approval_required
    }

    pub fn life(&self, service: &str) -> Life {
        self.service(service).life
    }

    /// Returns whether a service requires claims of its workers.
    pub const fn has_claims(&self) -> bool {
        self.vm.life.claim_required || self.load_balancer.life.claim_required
    }

    /// Returns the content of a world file.
    pub fn world(&self) -> Value {
        let mut world = demo(2);
        for service in world["services"].as_array_mut().unwrap() {
            let own = self.service(service["schema"]["title"].as_str().unwrap()).clone();
            service["approval_required"] = json!(own.approval_required);
            service["dependent_teams"] = json!(own.dependents);
            own.life.write(service);
            if self.is_verified && service["schema"]["title"] == "VM" {
                service["schema"]["x-verified"] = json!(true);
                let properties = &mut service["schema"]["properties"];
                properties["ip"] = json!({"type": "string", "readOnly": true});
                properties["host_id"] = json!({"type": "string", "x-computed": true, "x-import": true});
            }
            if self.has_references && service["schema"]["title"] == "LoadBalancer" {
                service["schema"]["properties"][references::USES] = references::property();
            }
            service["schema"]["metadata"] = json!({"cost_per_change": 0.25, "monthly_cost": 49.99});
        }
        world
    }
}
