//! The problems that a submission has in a state, and the references that it leads to.

use super::{Declared, Submitted, Uses};
use crate::declared::ItemName;
use crate::oracle::Oracle;
use crate::references::USES;
use domain::base::state::RuntimeState;
use domain::{ItemId, TeamId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The rule and the pointer of a problem.
pub(super) type Problem = (String, String);

/// The expected effects of a submission.
#[derive(Default)]
pub(super) struct Predicted {
    pub(super) problems: BTreeSet<Problem>,
    /// Further problems until a staged submission of the other team is applied.
    pub(super) unapplied: BTreeSet<Problem>,
    /// Those of the problems that only begin when such a submission is applied.
    pub(super) later: BTreeSet<Problem>,
    /// The items elsewhere that each declared item names afterwards.
    pub(super) uses: BTreeMap<ItemName, BTreeSet<ItemId>>,
    /// Whether the submission removes an item in use.
    pub(super) removes_used: bool,
}

/// The services with references and with referenced items.
const USER: &str = "LoadBalancer";
const TARGET: &str = "VM";

impl Uses {
    /// Returns the expected effects of a submission in the current state.
    pub(super) fn predicted(&self, submitted: &Submitted, oracle: &Oracle) -> Predicted {
        let mut predicted = Predicted::default();
        for (name, body) in &submitted.items {
            let key = (submitted.team, name.clone());
            let before = self.items.get(&key).filter(|before| !oracle.is_gone(&key, before.id));
            let is_last = |before: &&Declared| {
                let is_over = oracle.runtime(&key, before.id) == Some(RuntimeState::Decommissioned);
                before.body == *body && (before.is_declared || !is_over)
            };
            let uses = match before.filter(is_last) {
                Some(before) => {
                    self.returned(submitted, (name, before), oracle, &mut predicted);
                    before.uses.clone()
                }
                None => self.named(submitted, (name, body), oracle, &mut predicted),
            };
            predicted.uses.insert(name.clone(), uses);
        }
        self.removed(submitted, &mut predicted);
        predicted
    }

    /// Checks the references of an item whose declaration is its last one.
    fn returned(
        &self,
        submitted: &Submitted,
        (name, before): (&ItemName, &Declared),
        oracle: &Oracle,
        predicted: &mut Predicted,
    ) {
        if before.is_declared || before.uses.is_empty() {
            return;
        }
        let problem = ("dangling_reference".to_owned(), self.pointer(submitted, name));
        let targets = || before.uses.iter().map(|id| self.item(*id));
        let is_lost = |(of, target, item): &(TeamId, &ItemName, &Declared)| {
            !item.is_declared || *of == submitted.team && !submitted.keeps(target)
        };
        if targets().any(|target| target.as_ref().is_none_or(is_lost)) {
            predicted.problems.insert(problem.clone());
        }
        for (of, target, item) in targets().flatten() {
            let is_applied = oracle.is_applied(&(of, target.clone()), item.id);
            if !is_applied {
                predicted.unapplied.insert(problem.clone());
            } else if !item.is_declared {
                predicted.later.insert(problem.clone());
            }
        }
    }

    /// Returns the items elsewhere that a declaration names, and adds a problem for each reference to none.
    fn named(
        &self,
        submitted: &Submitted,
        (name, body): (&ItemName, &Value),
        oracle: &Oracle,
        predicted: &mut Predicted,
    ) -> BTreeSet<ItemId> {
        let mut uses = BTreeSet::new();
        for (index, reference) in body[USES].as_array().into_iter().flatten().enumerate() {
            let pointer = format!("{}/{USES}/{index}", self.pointer(submitted, name));
            let named = match reference["service_item"].as_u64().map(|id| ItemId::parse(id).unwrap()) {
                Some(id) => {
                    self.note_unapplied((submitted, id), &pointer, oracle, predicted);
                    self.by_id(submitted, name, id)
                }
                None => self.by_name(submitted, name, reference, oracle),
            };
            match named {
                Ok(id) => uses.extend(id),
                Err(rule) => drop(predicted.problems.insert((rule.to_owned(), pointer))),
            }
        }
        uses
    }

    /// Adds the problem of an item of the other team whose newest submission is not applied yet.
    fn note_unapplied(
        &self,
        (submitted, id): (&Submitted, ItemId),
        pointer: &str,
        oracle: &Oracle,
        predicted: &mut Predicted,
    ) {
        let Some((of, name, item)) = self.item(id).filter(|(of, ..)| *of != submitted.team) else { return };
        let is_applied = oracle.is_applied(&(of, name.clone()), id);
        let problem = || ("unknown_item".to_owned(), pointer.to_owned());
        if item.is_declared && !is_applied {
            predicted.unapplied.insert(problem());
        } else if !item.is_declared && is_applied {
            predicted.later.insert(problem());
        }
    }

    fn by_id(
        &self,
        submitted: &Submitted,
        user: &ItemName,
        id: ItemId,
    ) -> Result<Option<ItemId>, &'static str> {
        let target = self.item(id).filter(|(.., item)| item.is_declared);
        let is_visible = |of: TeamId, name: &ItemName| {
            of == submitted.team || self.is_granted((of, &name.application), submitted)
        };
        let Some((of, name, _)) = target.filter(|(of, name, _)| is_visible(*of, name)) else {
            return Err("unknown_item");
        };
        let is_own = of == submitted.team;
        if name.service != TARGET {
            Err("wrong_service")
        } else if is_own && name.application == user.application {
            Err("out_of_reach")
        } else if is_own && !submitted.keeps(name) {
            Err("dangling_reference")
        } else {
            Ok(Some(id))
        }
    }

    /// Returns the id of a named item. A new item of a refused submission has none.
    fn by_name(
        &self,
        submitted: &Submitted,
        user: &ItemName,
        reference: &Value,
        oracle: &Oracle,
    ) -> Result<Option<ItemId>, &'static str> {
        let text = |member: &str| reference[member].as_str().unwrap();
        let name = ItemName::new(text("application"), TARGET, text("name"));
        if name.application == user.application {
            return Err("out_of_reach");
        }
        let key = (submitted.team, name.clone());
        let stored = self.items.get(&key).filter(|item| !oracle.is_gone(&key, item.id));
        match stored {
            _ if submitted.affects(&name.application) && !submitted.items.contains_key(&name) => {
                Err("dangling_reference")
            }
            Some(item) if item.is_declared => Ok(Some(item.id)),
            None if submitted.affects(&name.application) => Ok(submitted.ids.get(&name).copied()),
            // The removal of a stored item is not complete.
            Some(_) | None => Err("dangling_reference"),
        }
    }

    /// Checks the removed items: each must have no other users, or its removal a confirmation.
    fn removed(&self, submitted: &Submitted, predicted: &mut Predicted) {
        for ((team, name), item) in self.items.iter().filter(|(_, item)| item.is_declared) {
            if *team != submitted.team || submitted.keeps(name) {
                continue;
            }
            let is_released = |(of, user): &(TeamId, ItemName)| {
                *of == submitted.team
                    && submitted.affects(&user.application)
                    && predicted.uses.get(user).is_none_or(|uses| !uses.contains(&item.id))
            };
            let mut users =
                self.items.iter().filter(|(_, user)| user.is_declared && user.uses.contains(&item.id));
            let is_in_use = users.any(|(user, _)| !is_released(user));
            let ItemName { application, service, name } = name;
            let pointer = format!("/{}/{application}/services/{service}/{name}", self.names[team]);
            let problem = ("in_use".to_owned(), pointer);
            predicted.removes_used |= is_in_use;
            if is_in_use && !submitted.is_confirmed {
                predicted.problems.insert(problem);
            }
        }
    }

    /// Returns the newest item with an id, with its team and its name.
    fn item(&self, id: ItemId) -> Option<(TeamId, &ItemName, &Declared)> {
        let of_id = self.items.iter().find(|(_, item)| item.id == id);
        of_id.map(|((team, name), item)| (*team, name, item))
    }

    /// Returns whether an application granted its items to the team of a submission when that may have read it.
    fn is_granted(&self, (of, application): (TeamId, &str), submitted: &Submitted) -> bool {
        let team = self.names[&submitted.team].as_str();
        let Some(all) = self.grants.get(&(of, application.to_owned())) else { return false };
        let first = all.iter().rposition(|(position, _)| *position < submitted.since).unwrap_or(0);
        let teams = all[first..].iter().filter_map(|(_, teams)| teams.as_array()).flatten();
        teams.into_iter().any(|one| one == team || one == "*")
    }

    /// Returns the pointer of a declared item.
    fn pointer(&self, submitted: &Submitted, name: &ItemName) -> String {
        // An application has only one load balancer, and its machines name nothing.
        assert_eq!(name.service, USER, "only load balancers have references elsewhere");
        format!("/{}/{}/services/{USER}/0", self.names[&submitted.team], name.application)
    }
}
