//! The world of a run: the teams and services of the demo world, with drawn settings.

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

/// The differences from the demo world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    vm: Service,
    load_balancer: Service,
    /// Whether the service of virtual machines is verified: its owner plans, observes and adopts items (R51 to R55).
    pub is_verified: bool,
    /// Whether declarations have metadata that complete and generate items (R66).
    pub has_metadata: bool,
    /// With [`STAGED`] writes in one transaction, every submission is staged.
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Service {
    approval_required: bool,
    dependents: Vec<&'static str>,
}

impl Shape {
    /// Draws a world. Some seeds have a verified service.
    pub fn drawn(seed: u64, dice: &mut Rng) -> Self {
        let mut service = |dependents: &[&'static str]| Service {
            approval_required: dice.u32(0..4) > 0,
            dependents: dependents.iter().copied().filter(|_| dice.bool()).collect(),
        };
        let (vm, load_balancer) = (service(&["NPOwnerTeam", "LBOwnerTeam"]), service(&["NPOwnerTeam"]));
        let actions_max = if dice.u32(0..3) == 0 { STAGED } else { 100 };
        // The dice stay as they are, so the worlds of all other seeds stay, too.
        let is_verified = seed % VERIFIED == 2;
        let has_metadata = seed % EXPANDED == 3;
        let limits = Limits { actions_max, reuse_from: REUSE_FROM };
        Self { vm, load_balancer, is_verified, has_metadata, limits }
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

    /// Returns the content of a world file.
    pub fn world(&self) -> Value {
        let mut world = demo(2);
        for service in world["services"].as_array_mut().unwrap() {
            let own = self.service(service["schema"]["title"].as_str().unwrap()).clone();
            service["approval_required"] = json!(own.approval_required);
            service["dependent_teams"] = json!(own.dependents);
            if self.is_verified && service["schema"]["title"] == "VM" {
                service["schema"]["x-verified"] = json!(true);
                let properties = &mut service["schema"]["properties"];
                properties["ip"] = json!({"type": "string", "readOnly": true});
                properties["host_id"] = json!({"type": "string", "x-computed": true, "x-import": true});
            }
            service["schema"]["metadata"] = json!({"cost_per_change": 0.25, "monthly_cost": 49.99});
        }
        world
    }
}
