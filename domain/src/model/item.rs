//! The service item: its declaration, its runtime state, and the open change instances of each owner.

use crate::base::hash::Hash;
use crate::base::id::{ApplicationId, ChangeId, DeployedId, ItemId, TeamId};
use crate::base::refs::{ItemReference, ServiceRef, TeamRef};
use crate::base::state::{ChangeType, RuntimeState, State};
use crate::base::timestamp::Timestamp;
use crate::model::blockers::Blockers;
use crate::model::change::{ChainHead, Target, Version};
use crate::model::charge::Charges;
use crate::model::claim::Claim;
use crate::model::declaration::Key;
use crate::model::place::Place;
use std::collections::{BTreeMap, BTreeSet};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Maximum number of former names of an item.
pub const FORMER_NAMES_MAX: usize = 16;

/// A one-word summary of the open change instances of an item (docs/reference/http/service-items.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum ChangeState {
    #[strum(serialize = "CHANGES_PENDING")]
    Pending,
    #[strum(serialize = "CHANGES_APPROVED")]
    Approved,
    #[strum(serialize = "CHANGES_REJECTED")]
    Rejected,
    #[strum(serialize = "CHANGES_ERRORED")]
    Errored,
    /// No change instance is open.
    #[strum(serialize = "ALL_CHANGES_COMPLETED")]
    Completed,
}

crate::named!(ChangeState, Creation);

/// The progress of one owner with the CREATE of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum Creation {
    /// No CREATE is APPROVED since the last completed DELETE.
    Never,
    /// A CREATE is APPROVED and not COMPLETED.
    Outstanding,
    /// A CREATE is COMPLETED.
    Done,
}

/// A copy of an open change instance on its item.
///
/// The copy has everything that a closing needs, so no closing reads the change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub change: ChangeId,
    /// The first attempt of the change instance, or the first half before it; itself if there is none.
    pub origin: ChangeId,
    pub state: State,
    pub change_type: ChangeType,
    /// The declaration of the item after this change, or its removal.
    pub target: Target,
    /// The end of its history; a closing uses it as a fence.
    pub chain_head: ChainHead,
    /// Creation time; part of the key in the owner's queue.
    pub created: Timestamp,
    /// Whether it is an APPROVED CREATE on nothing, whose work only a claim starts (R63).
    pub awaits_claim: bool,
}

impl Slot {
    /// Returns whether it removes the item in order to create it again (R60).
    pub fn is_first_half(&self) -> bool {
        self.change_type == ChangeType::Delete && self.target != Target::Removed
    }
}

/// The open change instances of one owner on one item: at most one in each open stage (R1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The submission number of the newest applied change instance; older ones start in CLOSED (R25).
    pub sequence: u64,
    /// The attempt of that change instance, from 1.
    pub attempt: u64,
    /// The submission number of the newest change instance that a rejection or failure blocked (R24); 0 if there is none
    /// after `sequence`. Older ones start in CLOSED as well (R25).
    pub blocked_sequence: u64,
    pub creation: Creation,
    /// What the owner has in place (R59).
    pub place: Place,
    /// The PENDING or REJECTED change instance.
    pub pre_validated: Option<Slot>,
    /// The APPROVED or ERRORED change instance.
    pub validated: Option<Slot>,
}

impl Stack {
    /// A stack without any change instance.
    pub const EMPTY: Self = Self {
        sequence: 0,
        attempt: 0,
        blocked_sequence: 0,
        creation: Creation::Never,
        place: Place::Nothing,
        pre_validated: None,
        validated: None,
    };

    /// Returns whether the owner has nothing in place.
    ///
    /// If the place is unknown, the progress of the CREATE decides.
    pub fn has_nothing(&self) -> bool {
        match self.place {
            Place::Nothing => true,
            Place::Declared { .. } => false,
            Place::Unknown => self.creation == Creation::Never,
        }
    }

    /// Returns the open change instances.
    pub fn open(&self) -> impl Iterator<Item = &Slot> {
        self.pre_validated.iter().chain(self.validated.iter())
    }

    /// Returns the slot of an open change instance.
    pub fn slot(&self, change: ChangeId) -> Option<&Slot> {
        self.open().find(|slot| slot.change == change)
    }

    /// Empties the slot of a change instance.
    pub fn clear(&mut self, change: ChangeId) {
        for slot in [&mut self.pre_validated, &mut self.validated] {
            if slot.as_ref().is_some_and(|open| open.change == change) {
                *slot = None;
            }
        }
    }
}

/// The newest deployed version of a service item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestDeployed {
    pub id: DeployedId,
    /// The version, from 1 without gaps.
    pub version: u64,
    /// The hash of its data; a repeated report of the same data creates no version (R23).
    pub hash: Hash,
    /// The version of the definition that checked it; none if its words have no meaning (R49).
    pub schema_version: Option<u64>,
}

/// The deployed version that the last completed change instance left: an observation is compared with it (R54).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// The newest version, or none before the first.
    #[default]
    Newest,
    /// An earlier version: the owner has observed the item since.
    Earlier(DeployedId),
    /// No version of this life: the owner has observed or adopted the item before a change instance was completed.
    None,
}

impl Base {
    /// Returns the id of the version, if it is an earlier one.
    pub const fn earlier(self) -> Option<DeployedId> {
        match self {
            Self::Earlier(id) => Some(id),
            Self::Newest | Self::None => None,
        }
    }
}

/// The difference of an item of a verified service from its completed declaration (R54).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The time of the first observation that differs.
    pub since: Timestamp,
    /// The declaration of the last completed change instance.
    pub declared: Hash,
    /// Whether a property differs whose change replaces the item (R60).
    pub replaces: bool,
}

/// A service item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: ItemId,
    /// Unique per application and service (R17).
    pub name: String,
    pub application: String,
    /// The generation of the application with this number (R45).
    pub generation: u64,
    pub service: ServiceRef,
    /// The team of the service.
    pub service_owner: TeamRef,
    /// The team of the declaration.
    pub consumer: TeamRef,
    /// The number of writes of this record: the fence of every transition on the item.
    pub revision: u64,
    pub runtime_state: RuntimeState,
    /// The newest declaration; a removed item keeps its last one.
    pub version: Version,
    /// Whether the consumer's current declaration contains the item.
    pub declared: bool,
    /// The result of the last completed change; none while an approved change is not completed, or an observation
    /// differs from it (I12).
    pub completed_target: Option<Target>,
    /// The difference from the last completed change, if an observation shows one (R54).
    pub drift: Option<Drift>,
    /// The referenced items, in the same application (R17).
    pub references: Vec<ItemReference>,
    /// The referenced items of other applications and teams, sorted (R71). A removed item keeps them, because the
    /// consumer can withdraw the removal.
    pub uses: Vec<ItemId>,
    /// The number of declared items of other applications and teams that refer to this one (R71).
    pub used_by: u64,
    /// The names before the present one, oldest first, at most [`FORMER_NAMES_MAX`] (R75). References from other
    /// applications may still have one of them.
    pub former_names: Vec<String>,
    /// The items for which open change instances of the service owner wait, sorted (R74).
    pub waits_for: Vec<ItemId>,
    /// The schema version of the last check of its declaration; 0 in records from before this field (R33).
    pub schema_version: u64,
    /// The open change instances by owner; a team without a share has no entry.
    pub stacks: BTreeMap<TeamId, Stack>,
    pub deployed: Option<LatestDeployed>,
    /// The newest deployed version from before the item was removed and declared again; 0 if there is none (R49).
    pub earlier_life: u64,
    /// The version that the last completed change left (R54).
    pub base: Base,
    /// The number of the next deployed item; at a multiple of 16 the block is used up (ADR 1).
    pub next_deployed: u64,
    /// The newest change instance of the service owner; deployed items belong to it by default.
    pub latest_change: ChangeId,
    /// The sums of its charges (R38, R39).
    pub charges: Charges,
    /// The number of submissions whose shares of this item are still in work records (I33).
    pub shares_due: u64,
    /// Whether the item is gone: dead, and moved to the partition of gone items for ever (R44).
    pub gone: bool,
    /// The time of the first declaration.
    pub created: Timestamp,
    /// The time of the last change of this record.
    pub modified: Timestamp,
}

impl Item {
    /// Returns the items of other applications and teams that the item refers to while it is declared (R71).
    pub fn used(&self) -> &[ItemId] {
        if self.declared { &self.uses } else { &[] }
    }

    /// Returns the key within its application.
    pub fn key(&self) -> Key<'_> {
        (&self.service.title, &self.name)
    }

    /// Gives the item another name.
    pub(crate) fn rename(&mut self, name: String) {
        let former = std::mem::replace(&mut self.name, name);
        self.former_names.push(former);
        self.former_names.retain(|former| *former != self.name);
        let excess = self.former_names.len().saturating_sub(FORMER_NAMES_MAX);
        self.former_names.drain(..excess);
    }

    /// Returns the application of the item.
    pub const fn application_id(&self) -> ApplicationId {
        self.id.application(self.generation)
    }

    /// Returns the state of the item in the consumer's current declaration.
    pub fn wanted(&self) -> Target {
        Target::of(self.declared.then_some(self.version.hash))
    }

    /// Returns the target of the last completed change, whether or not the item has drifted from it.
    ///
    /// Returns `None` while an approved change is not completed.
    pub fn reached_target(&self) -> Option<Target> {
        self.completed_target.or_else(|| self.drift.map(|drift| Target::Declared(drift.declared)))
    }

    /// Returns the work that only a claim starts, whether or not a worker has claimed it (R63).
    pub fn awaiting_claims(&self) -> impl Iterator<Item = (ItemId, TeamId)> + '_ {
        let awaits_claim = |stack: &Stack| stack.validated.is_some_and(|slot| slot.awaits_claim);
        let owners = self.stacks.iter().filter(move |(_, stack)| awaits_claim(stack));
        owners.map(|(owner, _)| (self.id, *owner))
    }

    /// Notes the work that a worker has claimed, so that it no longer awaits a claim.
    pub fn note_claims(&mut self, claims: &BTreeMap<(ItemId, TeamId), Claim>) {
        for (owner, stack) in &mut self.stacks {
            let is_claimed = claims.contains_key(&(self.id, *owner));
            if let Some(slot) = stack.validated.as_mut().filter(|_| is_claimed) {
                slot.awaits_claim = false;
            }
        }
    }

    /// Returns the declarations that an owner may have in place, or is asked for, each once: the newest one, then those
    /// of the open change instances, then those in place.
    pub fn texts(&self) -> Vec<Hash> {
        let open = self.open().filter_map(|(_, slot)| slot.target.hash());
        let in_place = self.stacks.values().filter_map(|stack| stack.place.version());
        let in_place = in_place.map(|version| version.hash);
        let mut seen = BTreeSet::new();
        let all = std::iter::once(self.version.hash).chain(open).chain(in_place);
        all.filter(|hash| seen.insert(*hash)).collect()
    }

    /// Returns whether the service owner has completed a CREATE, and no DELETE since.
    pub fn is_in_place(&self) -> bool {
        self.main().creation == Creation::Done
    }

    /// Returns the stack of the service owner.
    pub fn main(&self) -> &Stack {
        self.stacks.get(&self.service_owner.id).unwrap_or(&Stack::EMPTY)
    }

    /// Returns the dependent teams with a share in the item.
    pub fn dependents(&self) -> impl Iterator<Item = TeamId> {
        self.stacks.keys().copied().filter(|owner| *owner != self.service_owner.id)
    }

    /// Returns every open change instance with its owner.
    pub fn open(&self) -> impl Iterator<Item = (TeamId, &Slot)> {
        self.stacks.iter().flat_map(|(owner, stack)| stack.open().map(|slot| (*owner, slot)))
    }

    /// Returns the open REJECTED and ERRORED change instances; the consumer has to answer them (Example 3).
    pub fn blocked(&self) -> impl Iterator<Item = (TeamId, &Slot)> {
        self.open().filter(|(_, slot)| slot.state.is_blocked())
    }

    /// Returns whether a declaration with this hash is the item's last one and needs no new check (R20).
    ///
    /// The result is true while the item is declared, and while the consumer can withdraw the removal because the
    /// service owner has not approved the DELETE.
    pub fn is_last_declared_as(&self, hash: Hash) -> bool {
        self.version.hash == hash && (self.declared || self.runtime_state != RuntimeState::Decommissioned)
    }

    /// Returns whether the removal has failed and the service owner works on no other removal of the item.
    ///
    /// The next submission without the item then requests the removal again (R28).
    pub fn has_failed_removal(&self) -> bool {
        let removes = |slot: &Slot| !slot.state.is_blocked() && slot.target == Target::Removed;
        let main = self.main();
        !self.declared && main.open().any(|slot| slot.state.is_blocked()) && !main.open().any(removes)
    }

    /// Returns whether the item differs from its declaration while the service owner has no open change for it
    /// (R12).
    pub fn is_orphan(&self) -> bool {
        self.lacks_change(self.completed_target)
    }

    fn lacks_change(&self, target: Option<Target>) -> bool {
        target != Some(self.wanted()) && self.main().open().next().is_none()
    }

    /// Returns whether nothing can happen to the item any more (R44).
    ///
    /// The newest approved change of the service owner is a completed DELETE, no change instance is open, and no
    /// dependent team waits for its share. The runtime state does not count: a second CREATE that was never approved
    /// may leave REQUESTED.
    pub fn is_dead(&self) -> bool {
        !self.declared
            && self.completed_target == Some(Target::Removed)
            && self.shares_due == 0
            && self.open().next().is_none()
    }

    /// Returns the item's contribution to the blockers: its blocked change instances, and itself if it is an
    /// orphan.
    ///
    /// The contribution depends on the item alone. The team's head stores the sum over all items (R11). Drift blocks
    /// nothing, so an orphan by drift alone is not a blocker: its application counts the item.
    pub fn blockers(&self) -> Blockers {
        // The head stores sums of hashes of these strings. Other strings make every stored sum wrong (I9).
        let blocked: Blockers =
            self.blocked().map(|(_, slot)| Blockers::one(&format!("change/{}", slot.change))).sum();
        if self.lacks_change(self.reached_target()) {
            blocked + Blockers::one(&format!("item/{}", self.id))
        } else {
            blocked
        }
    }

    /// Ends the life of a declared item, whose object is removed: its deployed versions no longer count (R49).
    pub(crate) fn end_life(&mut self) {
        self.earlier_life = self.deployed.map_or(0, |latest| latest.version);
        self.base = Base::Newest;
    }

    /// Returns the deployed version that responses show as the present one: the newest, unless its object is removed
    /// and the item is declared (R23).
    pub fn shown_deployed(&self) -> Option<LatestDeployed> {
        self.deployed.filter(|latest| latest.version > self.earlier_life)
    }

    /// Returns the newest deployed version of this life (R49); none before an approval, and after a completed DELETE.
    pub fn newest_of_life(&self) -> Option<LatestDeployed> {
        let is_alive = match self.runtime_state {
            RuntimeState::Requested => false,
            RuntimeState::InService => true,
            RuntimeState::Decommissioned => self.main().creation != Creation::Never,
        };
        self.shown_deployed().filter(|_| is_alive)
    }

    /// Returns the newest deployed version of this life, if the owner's CREATE is completed: a change instance of a
    /// verified service continues from it.
    pub fn newest_completed(&self) -> Option<LatestDeployed> {
        self.newest_of_life().filter(|_| self.main().creation == Creation::Done)
    }

    /// Returns the summary of the open change instances; failures take precedence over open work.
    pub fn change_state(&self) -> ChangeState {
        let any = |state| self.open().any(|(_, slot)| slot.state == state);
        if any(State::Rejected) {
            ChangeState::Rejected
        } else if any(State::Errored) {
            ChangeState::Errored
        } else if any(State::Pending) {
            ChangeState::Pending
        } else if any(State::Approved) {
            ChangeState::Approved
        } else {
            ChangeState::Completed
        }
    }

    /// Returns the type of the service owner's change instance if a submission changes the item now
    /// (docs/reference/rules.md).
    pub fn change_type(&self) -> ChangeType {
        if self.declared { self.change_type_if_declared() } else { ChangeType::Delete }
    }

    /// Returns the type that [`change_type`](Self::change_type) would return if the item were declared.
    pub fn change_type_if_declared(&self) -> ChangeType {
        let main = self.main();
        match (self.runtime_state, main.creation) {
            // The service owner has approved no CREATE since the declaration, so nothing exists to modify (R4, R7).
            (RuntimeState::Requested | RuntimeState::Decommissioned, _) => ChangeType::Create,
            (RuntimeState::InService, Creation::Done) => ChangeType::Modify,
            (RuntimeState::InService, Creation::Never | Creation::Outstanding) => {
                let creating = main.validated.is_some_and(|slot| {
                    slot.state == State::Approved && slot.change_type == ChangeType::Create
                });
                // Nothing exists yet unless a CREATE is in progress (R8, R9).
                if creating { ChangeType::Modify } else { ChangeType::Create }
            }
        }
    }
}
