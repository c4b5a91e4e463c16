//! A state of the model: one item, the stacks of its owners, pending work, and the truth behind the records.

use super::claims::Claim;
use super::truth::Truth;

/// A declaration. The first two agree at the property with `x-on-change: "replace"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    V1,
    V2,
    V3,
}

/// A declaration, or the removal.
pub(crate) type Target = Option<Text>;

impl Text {
    pub(crate) const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    pub(crate) fn agrees(self, other: Self) -> bool {
        (self == Self::V3) == (other == Self::V3)
    }
}

/// A set of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Targets(u8);

impl Targets {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NOTHING: Self = Self(8);

    pub(crate) fn with(self, target: Target) -> Self {
        Self(self.0 | Self::bit(target))
    }

    pub(crate) fn has(self, target: Target) -> bool {
        self.0 & Self::bit(target) != 0
    }

    pub(crate) fn texts(self) -> impl Iterator<Item = Text> {
        Text::ALL.into_iter().filter(move |text| self.has(Some(*text)))
    }

    /// Returns the set with nothing alone, if it has that.
    pub(crate) fn without_texts(self) -> Self {
        Self(self.0 & Self::NOTHING.0)
    }

    const fn bit(target: Target) -> u8 {
        match target {
            Some(Text::V1) => 1,
            Some(Text::V2) => 2,
            Some(Text::V3) => 4,
            None => 8,
        }
    }
}

/// The settings and the definition of the service, as far as they replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// No replacement.
    Modify,
    /// `update_strategy: "REPLACE"`.
    Replace,
    /// `x-on-change: "replace"` at one property.
    Property,
}

impl Strategy {
    pub(crate) const ALL: [Self; 3] = [Self::Modify, Self::Replace, Self::Property];

    /// Returns whether a MODIFY leads from one declaration to the other.
    pub(crate) fn modifies(self, text: Text, other: Text) -> bool {
        match self {
            Self::Modify => true,
            Self::Replace => false,
            Self::Property => text.agrees(other),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Create,
    Modify,
    Delete,
}

/// An open change instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) change_type: Type,
    /// The declaration that a first half removes.
    pub(crate) old: Target,
    pub(crate) new: Target,
    /// The strategy at its submission.
    pub(crate) strategy: Strategy,
    /// Whether it is REJECTED or ERRORED.
    pub(crate) is_blocked: bool,
    /// Whether submission and attempt are the newest ones of the owner.
    pub(crate) is_newest: bool,
    /// Whether it is a CREATE with `claim_required` that was approved while nothing was in place.
    pub(crate) is_first_work: bool,
    /// Whether a worker has had a lease since its approval.
    pub(crate) is_claimed: bool,
    /// Whether it has displaced a claimed one; only without the lease of the item.
    pub(crate) displaces_claimed: bool,
}

impl Slot {
    pub(crate) const fn new(change_type: Type, old: Target, new: Target, strategy: Strategy) -> Self {
        let (is_blocked, is_newest, is_first_work) = (false, true, false);
        let (is_claimed, displaces_claimed) = (false, false);
        Self {
            change_type,
            old,
            new,
            strategy,
            is_blocked,
            is_newest,
            is_first_work,
            is_claimed,
            displaces_claimed,
        }
    }

    pub(crate) fn is_first_half(&self) -> bool {
        self.change_type == Type::Delete && self.new.is_some()
    }

    /// Returns the state of the item after the change instance.
    pub(crate) fn leaves(&self) -> Target {
        self.new.filter(|_| self.change_type != Type::Delete)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Creation {
    Never,
    Outstanding,
    Done,
}

/// A declaration in place, and whether that is certain (L16).
pub(crate) type Place = Option<(Text, bool)>;

/// The number of the stage with PENDING and REJECTED.
pub(crate) const PRE_VALIDATED: usize = 0;
/// The number of the stage with APPROVED and ERRORED.
pub(crate) const VALIDATED: usize = 1;

/// The stack of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    /// The open change instances by stage.
    pub(crate) slots: [Option<Slot>; 2],
    pub(crate) creation: Creation,
    pub(crate) place: Place,
    pub(crate) claim: Claim,
    pub(crate) truth: Truth,
}

impl Owner {
    pub(crate) fn open(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    /// Returns the change instance of a stage, if it is not blocked.
    pub(crate) fn active(&self, stage: usize) -> Option<Slot> {
        self.slots[stage].filter(|slot| !slot.is_blocked)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Direct,
    Dependent,
    Referenced,
}

/// A planned change instance: staged, or to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Planned {
    pub(crate) kind: Kind,
    /// The type of its cause as created; only of a share.
    pub(crate) change_type: Type,
    pub(crate) new: Target,
    pub(crate) strategy: Strategy,
    /// The declarations in place that it does not replace; only with a property.
    pub(crate) unless: Targets,
    /// Whether a change instance may be completed at once (L19).
    pub(crate) completes_unneeded: bool,
    /// Whether a later submission has overtaken it, by owner (R25).
    pub(crate) is_overtaken: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Runtime {
    Requested,
    InService,
    Decommissioned,
}

/// The number of the service owner.
pub(crate) const MAIN: usize = 0;
/// The number of the dependent team.
pub(crate) const DEPENDENT: usize = 1;

/// The item with all of its owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) exists: bool,
    pub(crate) is_declared: bool,
    /// The newest declaration; a removed item keeps its last one.
    pub(crate) version: Text,
    pub(crate) runtime: Runtime,
    pub(crate) completed_target: Option<Target>,
    pub(crate) owners: [Owner; 2],
    /// The change instances to generate, in the order of their submissions.
    pub(crate) due: [Option<Planned>; 2],
    /// The submission that is committed and not applied.
    pub(crate) staged: Option<Planned>,
    pub(crate) strategy: Strategy,
    /// The rule that the last step has violated, if any.
    pub(crate) broken: Option<&'static str>,
}

impl State {
    /// Returns a state without an item: never declared, or gone.
    pub(crate) const fn without_item(strategy: Strategy) -> Self {
        let (creation, place, claim, truth) = (Creation::Never, None, Claim::NONE, Truth::NONE);
        Self {
            exists: false,
            is_declared: false,
            version: Text::V1,
            runtime: Runtime::Requested,
            completed_target: None,
            owners: [Owner { slots: [None; 2], creation, place, claim, truth }; 2],
            due: [None; 2],
            staged: None,
            strategy,
            broken: None,
        }
    }

    pub(crate) fn wanted(&self) -> Target {
        Some(self.version).filter(|_| self.is_declared)
    }

    pub(crate) fn open(&self) -> impl Iterator<Item = &Slot> {
        self.owners.iter().flat_map(Owner::open)
    }

    pub(crate) fn is_idle(&self, team: usize) -> bool {
        self.owners[team].open().next().is_none()
    }

    /// Returns whether the item differs from its declaration while its service owner has no open change (R12).
    pub(crate) fn is_orphan(&self) -> bool {
        self.completed_target != Some(self.wanted()) && self.is_idle(MAIN)
    }

    /// Returns whether the removal has failed and the service owner works on no other removal (R28).
    pub(crate) fn has_failed_removal(&self) -> bool {
        let main = || self.owners[MAIN].open();
        let removes = |slot: &Slot| !slot.is_blocked && slot.new.is_none();
        !self.is_declared && main().any(|slot| slot.is_blocked) && !main().any(removes)
    }

    /// Returns whether nothing can happen to the item any more (R44).
    pub(crate) fn is_dead(&self) -> bool {
        let is_share = |due: &Planned| due.kind == Kind::Dependent;
        let is_removed = !self.is_declared && self.completed_target == Some(None);
        is_removed && !self.due.iter().flatten().any(is_share) && self.open().next().is_none()
    }
}
