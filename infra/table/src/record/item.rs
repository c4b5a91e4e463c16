//! Service items and what is deployed for them.

use super::bytes::{HashPart, TargetPart};
use super::charge::ChargesPart;
use super::codec::{
    FORMAT_BASE, FORMAT_CHECKED, FORMAT_GONE, FORMAT_LIFECYCLE, FORMAT_USES, Record, of_checked,
    of_generation,
};
use super::conversion::{Bad, Part, mirrors};
use super::parts::{ChainHeadPart, ReferencePart, ServicePart, TeamPart, VersionPart};
use crate::key::{self, Key};
use domain::model::change::{Target, Version};
use domain::model::deployed::Deployed;
use domain::model::item::{Base, Creation, Drift, LatestDeployed, Slot, Stack};
use domain::model::place::Place;
use domain::{ChangeId, Item, ItemId, TeamId, TeamRef};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A service item. A gone one is in partition `GONE#{team}`, and in other partitions of the indexes.
#[derive(Serialize, Deserialize)]
pub(crate) struct ItemRecord {
    /// Id of the service item.
    id: u64,
    /// Name, unique within application and service.
    #[serde(rename = "nm")]
    name: String,
    /// Name of the application.
    #[serde(rename = "app")]
    application: String,
    /// Generation of the application. Absent for generation 0, and known since format 4.
    #[serde(rename = "ag", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Service owner.
    #[serde(rename = "so")]
    service_owner: TeamPart,
    /// Name of the consumer team. The id of the item contains the team id.
    #[serde(rename = "cs")]
    consumer: String,
    /// Revision: counts the writes, and is the fence of every transition on the item.
    #[serde(rename = "rv")]
    revision: u64,
    /// Runtime state.
    #[serde(rename = "rs")]
    runtime_state: String,
    /// Newest declaration, also of a removed item.
    #[serde(rename = "ver")]
    version: VersionPart,
    /// Whether the current declaration contains the item.
    #[serde(rename = "dc")]
    declared: bool,
    /// Result of the last completed change. Absent while a change is in progress.
    #[serde(rename = "sh", skip_serializing_if = "Option::is_none")]
    completed_target: Option<TargetPart>,
    /// Difference from the last completed change, found by an observation. Absent if there is none, and known since
    /// format 6.
    #[serde(rename = "df", skip_serializing_if = "Option::is_none")]
    drift: Option<DriftPart>,
    /// References to items of the same application. Absent if there are none.
    #[serde(rename = "rf", default, skip_serializing_if = "Vec::is_empty")]
    references: Vec<ReferencePart>,
    /// Ids of referenced items of other applications and teams. Absent if there are none, and known since format 10.
    #[serde(rename = "ue", default, skip_serializing_if = "Vec::is_empty")]
    uses: Vec<u64>,
    /// Number of declared items of other applications and teams that refer to this one. Absent or 0 if there are none,
    /// and known since format 10.
    #[serde(rename = "us", skip_serializing_if = "Option::is_none")]
    used_by: Option<u64>,
    /// Names before the present one, oldest first. Absent if there are none.
    #[serde(rename = "fn", default, skip_serializing_if = "Vec::is_empty")]
    former_names: Vec<String>,
    /// Ids of the items for which open change instances of the service owner wait. Absent for none.
    #[serde(rename = "wf", default, skip_serializing_if = "Vec::is_empty")]
    waits_for: Vec<u64>,
    /// Schema version of the last check, or 0 in old records.
    #[serde(rename = "sv", default)]
    schema_version: u64,
    /// Stack of each owner. The map's keys are team ids.
    #[serde(rename = "own")]
    stacks: BTreeMap<String, StackPart>,
    /// Newest deployed item. Absent if there is none.
    #[serde(rename = "dp", skip_serializing_if = "Option::is_none")]
    deployed: Option<LatestPart>,
    /// The newest deployed version from before the item was removed and declared again. Absent if there is none, and
    /// known since format 6.
    #[serde(rename = "vb", skip_serializing_if = "Option::is_none")]
    earlier_life: Option<u64>,
    /// Id of the deployed item that the last completed change left, or 0 if there is none. Absent if it is the newest
    /// one, and known since format 6.
    #[serde(rename = "bs", skip_serializing_if = "Option::is_none")]
    base: Option<u64>,
    /// Number of the next deployed item.
    #[serde(rename = "nd")]
    next_deployed: u64,
    /// Id of the service owner's newest change instance.
    #[serde(rename = "lc")]
    latest_change: u64,
    /// Charges of the item. Absent if it never cost anything.
    #[serde(rename = "ch", skip_serializing_if = "Option::is_none")]
    charges: Option<ChargesPart>,
    /// Number of submissions with shares of the item in work records. Absent if there are none, and known since format
    /// 3.
    #[serde(rename = "du", skip_serializing_if = "Option::is_none")]
    shares_due: Option<u64>,
    /// Whether the item is gone. Absent for a live item, and known since format 3.
    #[serde(rename = "gn", skip_serializing_if = "Option::is_none")]
    gone: Option<bool>,
    /// Time of the first declaration.
    #[serde(rename = "cr")]
    created: u64,
    /// Time of the last change.
    #[serde(rename = "mo")]
    modified: u64,
}

/// The stack of one owner.
#[derive(Serialize, Deserialize)]
struct StackPart {
    /// Submission number of the newest applied change instance, as a fence against older ones.
    #[serde(rename = "s")]
    sequence: u64,
    /// Attempt of that change instance, counted from 1.
    #[serde(rename = "a")]
    attempt: u64,
    /// Submission number of the newest change instance that a rejection or failure blocked, as another fence against
    /// older ones. Absent if there is none after `s`. An older release drops the attribute.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    blocked_sequence: Option<u64>,
    /// Progress of the CREATE: `NEVER`, `OUTSTANDING` or `DONE`.
    #[serde(rename = "c")]
    creation: String,
    /// What the owner has in place: true for the newest declaration after its completion, and false for nothing. An older
    /// release drops the attribute, so it may be absent.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    place: Option<PlacePart>,
    /// Open change instance in stage pre-validated. Absent if there is none.
    #[serde(rename = "p", skip_serializing_if = "Option::is_none")]
    pre_validated: Option<SlotPart>,
    /// Open change instance in stage validated. Absent if there is none.
    #[serde(rename = "v", skip_serializing_if = "Option::is_none")]
    validated: Option<SlotPart>,
}

/// What an owner has in place.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PlacePart {
    /// Whether it is the newest declaration after its completion. If not, the owner has nothing in place.
    IsNewest(bool),
    Declared(DeclaredPlacePart),
}

/// A declaration that an owner has in place, or a part of it.
#[derive(Serialize, Deserialize)]
struct DeclaredPlacePart {
    /// Number of the declaration, counted from 1.
    #[serde(rename = "no")]
    number: u64,
    /// Hash of the declaration.
    #[serde(rename = "dh")]
    hash: HashPart,
    /// Schema version that checked it. Absent for a definition without words.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
    /// True while the owner works on it, or has failed. Absent after its completion.
    #[serde(rename = "u", skip_serializing_if = "Option::is_none")]
    is_uncertain: Option<bool>,
}

/// An open change instance on its stack.
#[derive(Serialize, Deserialize)]
struct SlotPart {
    /// Id of the change instance.
    #[serde(rename = "ci")]
    change: u64,
    /// State.
    #[serde(rename = "st")]
    state: String,
    /// Change type.
    #[serde(rename = "ct")]
    change_type: String,
    /// Target of the change. Absent if it is the newest declaration.
    #[serde(rename = "h", skip_serializing_if = "Option::is_none")]
    target: Option<TargetPart>,
    /// End of its history.
    #[serde(rename = "end")]
    mark: ChainHeadPart,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
    /// True for an APPROVED CREATE on nothing, if only a claim starts its work. Absent if not, and known since format 9.
    #[serde(rename = "cq", skip_serializing_if = "Option::is_none")]
    awaits_claim: Option<bool>,
    /// Id of the first attempt, or of the first half before it. Absent if there is none.
    #[serde(rename = "or", default, skip_serializing_if = "Option::is_none")]
    origin: Option<u64>,
}

/// The newest deployed item.
#[derive(Serialize, Deserialize)]
struct LatestPart {
    /// Id of the deployed item.
    id: u64,
    /// Version, counted from 1.
    #[serde(rename = "no")]
    version: u64,
    /// Hash of its data.
    #[serde(rename = "h")]
    hash: HashPart,
    /// Schema version that checked it. Absent for a definition without words, and known since format 6.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
}

mirrors! { LatestPart = LatestDeployed { id, version, hash, schema_version } }

/// The difference of an item from its last completed change.
#[derive(Serialize, Deserialize)]
struct DriftPart {
    /// Time of the first observation that differs.
    #[serde(rename = "at")]
    since: u64,
    /// Declaration of the last completed change.
    #[serde(rename = "h")]
    declared: HashPart,
    /// True if a property differs whose change replaces the item. Absent if none does, and known since format 9.
    #[serde(rename = "rp", skip_serializing_if = "Option::is_none")]
    replaces: Option<bool>,
}

mirrors! { DriftPart = Drift { since, declared, replaces } }

impl Part<Base> for Option<u64> {
    fn of(base: &Base) -> Self {
        match base {
            Base::Newest => None,
            Base::Earlier(id) => Some(id.get()),
            Base::None => Some(0),
        }
    }

    fn value(self) -> Result<Base, Bad> {
        match self {
            None => Ok(Base::Newest),
            Some(0) => Ok(Base::None),
            Some(id) => id.value().map(Base::Earlier),
        }
    }
}

impl SlotPart {
    fn of(slot: &Slot, newest: Target) -> Self {
        Self {
            change: Part::of(&slot.change),
            state: Part::of(&slot.state),
            change_type: Part::of(&slot.change_type),
            target: (slot.target != newest).then(|| Part::of(&slot.target)),
            mark: Part::of(&slot.chain_head),
            created: Part::of(&slot.created),
            awaits_claim: Part::of(&slot.awaits_claim),
            origin: (slot.origin != slot.change).then_some(slot.origin.get()),
        }
    }

    fn value(self, newest: Target) -> Result<Slot, Bad> {
        let change: ChangeId = self.change.value()?;
        Ok(Slot {
            change,
            origin: Part::<Option<ChangeId>>::value(self.origin)?.unwrap_or(change),
            state: self.state.value()?,
            change_type: self.change_type.value()?,
            target: self.target.map_or(Ok(newest), Part::value)?,
            chain_head: self.mark.value()?,
            created: self.created.value()?,
            awaits_claim: self.awaits_claim.value()?,
        })
    }
}

impl PlacePart {
    fn of(place: Place, newest: Version) -> Option<Self> {
        match place {
            Place::Unknown => None,
            Place::Nothing => Some(Self::IsNewest(false)),
            Place::Declared { version, schema_version: None, is_certain: true } if version == newest => {
                Some(Self::IsNewest(true))
            }
            Place::Declared { version, schema_version, is_certain } => {
                Some(Self::Declared(DeclaredPlacePart {
                    number: version.number,
                    hash: Part::of(&version.hash),
                    schema_version,
                    is_uncertain: Part::of(&!is_certain),
                }))
            }
        }
    }

    fn value(self, newest: Version) -> Result<Place, Bad> {
        Ok(match self {
            Self::IsNewest(false) => Place::Nothing,
            Self::IsNewest(true) => {
                Place::Declared { version: newest, schema_version: None, is_certain: true }
            }
            Self::Declared(DeclaredPlacePart { number, hash, schema_version, is_uncertain }) => {
                let is_uncertain: bool = is_uncertain.value()?;
                let version = Version { number, hash: hash.value()? };
                Place::Declared { version, schema_version, is_certain: !is_uncertain }
            }
        })
    }
}

/// Returns what an owner has in place by a record without the attribute.
///
/// The place is known after the completion of the service owner's newest change instance, and before the approval of
/// the first CREATE.
fn place_without(item: &Item, owner: TeamId, creation: Creation) -> Place {
    let newest = Target::Declared(item.version.hash);
    if owner != item.service_owner.id {
        Place::Unknown
    } else if item.reached_target() == Some(newest) {
        Place::Declared { version: item.version, schema_version: None, is_certain: true }
    } else if creation == Creation::Never {
        Place::Nothing
    } else {
        Place::Unknown
    }
}

impl StackPart {
    fn of(stack: &Stack, newest: Version) -> Self {
        let slot = |slot: &Slot| SlotPart::of(slot, Target::Declared(newest.hash));
        Self {
            sequence: stack.sequence,
            attempt: stack.attempt,
            blocked_sequence: Part::of(&stack.blocked_sequence),
            creation: Part::of(&stack.creation),
            place: PlacePart::of(stack.place, newest),
            pre_validated: stack.pre_validated.as_ref().map(slot),
            validated: stack.validated.as_ref().map(slot),
        }
    }

    /// Returns the stack of an owner on `item`, whose other fields are complete.
    fn value(self, owner: TeamId, item: &Item) -> Result<Stack, Bad> {
        let slot = |slot: SlotPart| slot.value(Target::Declared(item.version.hash));
        let creation = self.creation.value()?;
        let place = self.place.map(|place| place.value(item.version)).transpose()?;
        Ok(Stack {
            sequence: self.sequence,
            attempt: self.attempt,
            blocked_sequence: self.blocked_sequence.value()?,
            creation,
            place: place.unwrap_or_else(|| place_without(item, owner, creation)),
            pre_validated: self.pre_validated.map(slot).transpose()?,
            validated: self.validated.map(slot).transpose()?,
        })
    }
}

impl Part<Item> for ItemRecord {
    fn of(item: &Item) -> Self {
        let stack =
            |(owner, stack): (&TeamId, &Stack)| (owner.to_string(), StackPart::of(stack, item.version));
        Self {
            id: Part::of(&item.id),
            name: item.name.clone(),
            application: item.application.clone(),
            generation: Part::of(&item.generation),
            service: Part::of(&item.service),
            service_owner: Part::of(&item.service_owner),
            consumer: item.consumer.name.clone(),
            revision: item.revision,
            runtime_state: Part::of(&item.runtime_state),
            version: Part::of(&item.version),
            declared: item.declared,
            completed_target: Part::of(&item.completed_target),
            drift: Part::of(&item.drift),
            references: Part::of(&item.references),
            uses: Part::of(&item.uses),
            used_by: Part::of(&item.used_by),
            former_names: item.former_names.clone(),
            waits_for: Part::of(&item.waits_for),
            schema_version: item.schema_version,
            stacks: item.stacks.iter().map(stack).collect(),
            deployed: Part::of(&item.deployed),
            earlier_life: Part::of(&item.earlier_life),
            base: Part::of(&item.base),
            next_deployed: item.next_deployed,
            latest_change: Part::of(&item.latest_change),
            charges: Part::of(&item.charges),
            shares_due: Part::of(&item.shares_due),
            gone: Part::of(&item.gone),
            created: Part::of(&item.created),
            modified: Part::of(&item.modified),
        }
    }

    fn value(self) -> Result<Item, Bad> {
        let id: ItemId = self.id.value()?;
        let mut item = Item {
            id,
            name: self.name,
            application: self.application,
            generation: self.generation.value()?,
            service: self.service.value()?,
            service_owner: self.service_owner.value()?,
            consumer: TeamRef { id: id.team(), name: self.consumer },
            revision: self.revision,
            runtime_state: self.runtime_state.value()?,
            version: self.version.value()?,
            declared: self.declared,
            completed_target: self.completed_target.value()?,
            drift: self.drift.value()?,
            references: self.references.value()?,
            uses: self.uses.value()?,
            used_by: self.used_by.value()?,
            former_names: self.former_names,
            waits_for: self.waits_for.value()?,
            schema_version: self.schema_version,
            stacks: BTreeMap::new(),
            deployed: self.deployed.value()?,
            earlier_life: self.earlier_life.value()?,
            base: self.base.value()?,
            next_deployed: self.next_deployed,
            latest_change: self.latest_change.value()?,
            charges: self.charges.value()?,
            shares_due: self.shares_due.value()?,
            gone: self.gone.value()?,
            created: self.created.value()?,
            modified: self.modified.value()?,
        };
        let stack = |(owner, stack): (String, StackPart)| {
            let owner: u64 = owner.parse().map_err(|_| Bad("owner"))?;
            let owner = owner.value()?;
            Ok((owner, stack.value(owner, &item)?))
        };
        item.stacks = self.stacks.into_iter().map(stack).collect::<Result<_, _>>()?;
        Ok(item)
    }
}

impl Record for ItemRecord {
    const TYPE: &'static str = "ITEM";
    type Value = Item;

    fn key(item: &Item) -> Key {
        key::item_at(item.id, item.gone)
    }

    fn format(item: &Item) -> u64 {
        let gone = if item.gone || item.shares_due > 0 { FORMAT_GONE } else { FORMAT_BASE };
        let is_checked = item.earlier_life > 0
            || item.base != Base::Newest
            || item.drift.is_some()
            || item.deployed.is_some_and(|latest| latest.schema_version.is_some());
        let checked = if is_checked { FORMAT_CHECKED } else { FORMAT_BASE };
        let replaces = item.drift.is_some_and(|drift| drift.replaces);
        let replaces = replaces || item.open().any(|(_, slot)| slot.is_first_half() || slot.awaits_claim);
        let replacement = if replaces { FORMAT_LIFECYCLE } else { FORMAT_BASE };
        let uses = if item.used_by > 0 || !item.uses.is_empty() { FORMAT_USES } else { FORMAT_BASE };
        gone.max(of_generation(item.generation)).max(checked).max(replacement).max(uses)
    }

    fn indexes(item: &Item) -> Vec<(u8, String, String)> {
        let (owner, age) = (item.service_owner.id, key::by_age(item.created, item.id.get()));
        if !item.gone {
            return vec![(2, key::owner_items(owner), age)];
        }
        let removed = key::by_submission(item.main().sequence, item.id.get());
        vec![(2, key::owner_gone(owner), age), (3, key::team_removed(item.id.team()), removed)]
    }
}

/// One version of a deployed item. The record never changes after its creation.
#[derive(Serialize, Deserialize)]
pub(crate) struct DeployedRecord {
    /// Id of the deployed item.
    id: u64,
    /// Id of the service item.
    #[serde(rename = "it")]
    item: u64,
    /// Generation of the application. Absent for generation 0, and known since format 4.
    #[serde(rename = "ag", skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Service.
    #[serde(rename = "svc")]
    service: ServicePart,
    /// Id of the change instance.
    #[serde(rename = "ci")]
    change: u64,
    /// Version, counted from 1 without gaps.
    #[serde(rename = "no")]
    version: u64,
    /// Schema version that checked it. Absent for a definition without words, and known since format 6.
    #[serde(rename = "sc", skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
    /// Whether the owner of a verified service observed it. Absent for the result of a change, and known since format
    /// 6.
    #[serde(rename = "ob", skip_serializing_if = "Option::is_none")]
    is_observed: Option<bool>,
    /// Whether this observation differs from the completed declaration. Absent if it does not, and known since format
    /// 6.
    #[serde(rename = "df", skip_serializing_if = "Option::is_none")]
    is_drifted: Option<bool>,
    /// Data of the owner, canonical JSON.
    data: String,
    /// Hash of the data.
    #[serde(rename = "h")]
    hash: HashPart,
    /// Service owner.
    #[serde(rename = "so")]
    service_owner: TeamPart,
    /// Consumer team.
    #[serde(rename = "cs")]
    consumer: TeamPart,
    /// Id of the request.
    #[serde(rename = "op")]
    request: String,
    /// Time of creation.
    #[serde(rename = "cr")]
    created: u64,
}

mirrors! {
    DeployedRecord = Deployed {
        id, item, generation, service, change, version, schema_version, is_observed, is_drifted, data, hash,
        service_owner, consumer, request, created,
    }
}

impl Record for DeployedRecord {
    const TYPE: &'static str = "DEPLOYED";
    type Value = Deployed;

    fn key(deployed: &Deployed) -> Key {
        key::deployed(deployed.id)
    }

    fn format(deployed: &Deployed) -> u64 {
        of_generation(deployed.generation).max(of_checked(deployed.schema_version))
    }

    fn indexes(deployed: &Deployed) -> Vec<(u8, String, String)> {
        let age = key::by_age(deployed.created, deployed.id.get());
        vec![
            (2, key::owner_deployed(deployed.service_owner.id), age.clone()),
            (3, key::item_deployed(deployed.item), age),
        ]
    }
}
