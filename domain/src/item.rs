//! A service item: what is declared, what is in service, and the open change instances of each owner.

use crate::actor::TeamRef;
use crate::attention::Attention;
use crate::change::{ChangeType, Mark, Target, Version};
use crate::charge::Charges;
use crate::id::{ChangeId, DeployedId, ItemId, TeamId};
use crate::json::Hash;
use crate::schema::Reference;
use crate::service::ServiceRef;
use crate::state::State;
use crate::timestamp::Timestamp;
use std::collections::BTreeMap;

/// Whether the item exists out there (guide, "Service Item Runtime State").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuntimeState {
    /// Declared, not yet approved.
    Requested,
    /// Its CREATE was approved.
    InService,
    /// Its DELETE was approved.
    Decommissioned,
}

impl RuntimeState {
    /// Every runtime state.
    pub const ALL: [Self; 3] = [Self::Requested, Self::InService, Self::Decommissioned];

    /// The one name of the runtime state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "REQUESTED",
            Self::InService => "IN_SERVICE",
            Self::Decommissioned => "DECOMMISSIONED",
        }
    }

    /// Reads a runtime state's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// What is open on an item, in one word (docs/reference/http.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeState {
    /// One is PENDING.
    Pending,
    /// One is APPROVED.
    Approved,
    /// One is REJECTED.
    Rejected,
    /// One is ERRORED.
    Errored,
    /// None is open.
    Completed,
}

impl ChangeState {
    /// Every change state.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Approved, Self::Rejected, Self::Errored, Self::Completed];

    /// The one name of the change state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "CHANGES_PENDING",
            Self::Approved => "CHANGES_APPROVED",
            Self::Rejected => "CHANGES_REJECTED",
            Self::Errored => "CHANGES_ERRORED",
            Self::Completed => "ALL_CHANGES_COMPLETED",
        }
    }
}

/// How far an owner has come with bringing the item into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Creation {
    /// No CREATE has been approved, or a DELETE is completed since.
    Never,
    /// A CREATE is approved and not completed.
    Outstanding,
    /// A CREATE is completed.
    Done,
}

/// An open change instance as its item knows it; enough to close it without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The change instance.
    pub change: ChangeId,
    /// Where it stands.
    pub state: State,
    /// What is to be done.
    pub change_type: ChangeType,
    /// What the item shall become.
    pub target: Target,
    /// The end of its history.
    pub mark: Mark,
    /// When it was born; part of its place in the owner's queue.
    pub created: Timestamp,
}

/// The open change instances of one owner on one item: at most one in each open stage (R1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The submission number of the newest change instance that has landed: the fence against older ones.
    pub sequence: u64,
    /// The attempt of that change instance.
    pub attempt: u64,
    /// How far the owner has come with the CREATE.
    pub creation: Creation,
    /// The one that is PENDING or REJECTED.
    pub pre_validated: Option<Slot>,
    /// The one that is APPROVED or ERRORED.
    pub validated: Option<Slot>,
}

impl Stack {
    /// A stack on which nothing has landed.
    pub const EMPTY: Self =
        Self { sequence: 0, attempt: 0, creation: Creation::Never, pre_validated: None, validated: None };

    /// The open change instances.
    pub fn open(&self) -> impl Iterator<Item = &Slot> {
        self.pre_validated.iter().chain(self.validated.iter())
    }

    /// The open slot of a change instance.
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

/// The newest deployed item of a service item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestDeployed {
    /// Its id.
    pub id: DeployedId,
    /// Its version, counted from 1.
    pub version: u64,
    /// The hash of its data.
    pub hash: Hash,
}

/// A service item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// Its name, unique per application and service.
    pub name: String,
    /// The application's name.
    pub application: String,
    /// Its service.
    pub service: ServiceRef,
    /// The team that owns the service.
    pub service_owner: TeamRef,
    /// The team that declared it.
    pub consumer: TeamRef,
    /// Counts the writes of this record: the fence of every transition on the item.
    pub revision: u64,
    /// Whether it exists out there.
    pub runtime_state: RuntimeState,
    /// The newest declaration, also of an item that is no longer declared.
    pub version: Version,
    /// Whether the consumer's current declaration holds it.
    pub declared: bool,
    /// What the last completed change made of it; none while infrastructure is in flux.
    pub settled: Option<Target>,
    /// The items that its declaration refers to, in the same application (R17).
    pub references: Vec<Reference>,
    /// The schema version that its declaration was checked against; 0 where nobody has noted it (R33).
    pub schema_version: u64,
    /// The open change instances per owner.
    pub stacks: BTreeMap<TeamId, Stack>,
    /// The newest deployed item.
    pub deployed: Option<LatestDeployed>,
    /// The number that the next deployed item gets; the block ends before a multiple of 16.
    pub next_deployed: u64,
    /// The newest change instance of the service owner: the one a deployed item belongs to by default.
    pub latest_change: ChangeId,
    /// What its charges come to (R38, R39).
    pub charges: Charges,
    /// When it was first declared.
    pub created: Timestamp,
    /// When it last changed.
    pub modified: Timestamp,
}

impl Item {
    /// What the consumer wants it to be.
    pub fn wanted(&self) -> Target {
        Target::of(self.declared.then_some(self.version.hash))
    }

    /// The stack of the service's owner.
    pub fn main(&self) -> &Stack {
        self.stacks.get(&self.service_owner.id).unwrap_or(&Stack::EMPTY)
    }

    /// The dependent teams that have a share in it.
    pub fn dependents(&self) -> impl Iterator<Item = TeamId> {
        self.stacks.keys().copied().filter(|owner| *owner != self.service_owner.id)
    }

    /// Every open change instance, with its owner.
    pub fn open(&self) -> impl Iterator<Item = (TeamId, &Slot)> {
        self.stacks.iter().flat_map(|(owner, stack)| stack.open().map(|slot| (*owner, slot)))
    }

    /// The open REJECTED and ERRORED ones, which the consumer has to answer (Example 3).
    pub fn blocked(&self) -> impl Iterator<Item = (TeamId, &Slot)> {
        self.open().filter(|(_, slot)| slot.state.is_blocked())
    }

    /// Whether a declaration with this hash is the item's last one and needs no new check: the item is declared like that,
    /// or its removal can still be withdrawn because the service's owner has not approved the DELETE (R20).
    pub fn is_last_declared_as(&self, hash: Hash) -> bool {
        self.version.hash == hash && (self.declared || self.runtime_state != RuntimeState::Decommissioned)
    }

    /// Whether the service's owner has rejected or failed what removes the item, and works on no other removal of it:
    /// the next submission without the item asks for its removal again (R28).
    pub fn has_failed_removal(&self) -> bool {
        let removes = |slot: &Slot| !slot.state.is_blocked() && slot.target == Target::Removed;
        let main = self.main();
        !self.declared && main.open().any(|slot| slot.state.is_blocked()) && !main.open().any(removes)
    }

    /// Whether it is wanted otherwise than it is, and nobody is at work on it (R12).
    pub fn is_orphan(&self) -> bool {
        self.settled != Some(self.wanted()) && self.main().open().next().is_none()
    }

    /// What of it waits for the consumer's answer: blocked ones, and itself when it is an orphan.
    ///
    /// A pure function of the item; the team's head carries the sum over all items (R11).
    pub fn attention(&self) -> Attention {
        let blocked: Attention =
            self.blocked().map(|(_, slot)| Attention::one(&format!("change/{}", slot.change))).sum();
        if self.is_orphan() { blocked + Attention::one(&format!("item/{}", self.id)) } else { blocked }
    }

    /// What is open on it, in one word; what needs attention comes first.
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

    /// The type of the change instance that the service owner gets for it now (docs/reference/rules.md).
    pub fn change_type(&self) -> ChangeType {
        if self.declared { self.change_type_if_declared() } else { ChangeType::Delete }
    }

    /// The same for what shall exist, be it declared now or not.
    pub fn change_type_if_declared(&self) -> ChangeType {
        let main = self.main();
        match (self.runtime_state, main.creation) {
            (RuntimeState::Requested | RuntimeState::Decommissioned, _) => ChangeType::Create,
            (RuntimeState::InService, Creation::Done) => ChangeType::Modify,
            (RuntimeState::InService, Creation::Never | Creation::Outstanding) => {
                let creating = main.validated.is_some_and(|slot| {
                    slot.state == State::Approved && slot.change_type == ChangeType::Create
                });
                // Nothing exists yet unless a CREATE is under way (R8, R9).
                if creating { ChangeType::Modify } else { ChangeType::Create }
            }
        }
    }
}
