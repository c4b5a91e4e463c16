//! Service items and what is deployed for them.

use super::bytes::{HashPart, TargetPart};
use super::charge::ChargesPart;
use super::codec::Record;
use super::invalid::Bad;
use super::parts::{
    ChainHeadPart, ReferencePart, ServicePart, TeamPart, VersionPart, at, change_type, runtime_state, state,
    team_id,
};
use crate::key::{self, Key};
use domain::base::id::DeployedId;
use domain::model::change::Target;
use domain::model::deployed::Deployed;
use domain::model::item::{Creation, LatestDeployed, Slot, Stack};
use domain::{ChangeId, Item, ItemId, TeamId, TeamRef};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A service item.
#[derive(Serialize, Deserialize)]
pub(crate) struct ItemRecord {
    /// Id of the service item.
    id: u64,
    /// Name, unique within application and service.
    nm: String,
    /// Name of the application.
    app: String,
    /// Service.
    svc: ServicePart,
    /// Service owner.
    so: TeamPart,
    /// Name of the consumer team. The id of the item contains the team id.
    cs: String,
    /// Revision: counts the writes. Fence of every transition on the item.
    rv: u64,
    /// Runtime state.
    rs: String,
    /// Newest declaration, also of a removed item.
    ver: VersionPart,
    /// Whether the current declaration contains the item.
    dc: bool,
    /// Result of the last completed change. Absent while a change is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    sh: Option<TargetPart>,
    /// References to items of the same application. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rf: Vec<ReferencePart>,
    /// Schema version of the last check. 0 in old records.
    #[serde(default)]
    sv: u64,
    /// Stack of each owner. The map's keys are team ids.
    own: BTreeMap<String, StackPart>,
    /// Newest deployed item. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    dp: Option<LatestPart>,
    /// Number of the next deployed item.
    nd: u64,
    /// Id of the service owner's newest change instance.
    lc: u64,
    /// Charges of the item. Absent if it never cost anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    ch: Option<ChargesPart>,
    /// Time of the first declaration.
    cr: u64,
    /// Time of the last change.
    mo: u64,
}

/// The stack of one owner.
#[derive(Serialize, Deserialize)]
struct StackPart {
    /// Submission number of the newest applied change instance. Fence against older ones.
    s: u64,
    /// Attempt of that change instance, counted from 1.
    a: u64,
    /// Progress of the CREATE: `NEVER`, `OUTSTANDING` or `DONE`.
    c: String,
    /// Open change instance in stage pre-validated. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<SlotPart>,
    /// Open change instance in stage validated. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<SlotPart>,
}

/// An open change instance on its stack.
#[derive(Serialize, Deserialize)]
struct SlotPart {
    /// Id of the change instance.
    ci: u64,
    /// State.
    st: String,
    /// Change type.
    ct: String,
    /// Target of the change. Absent if it is the newest declaration.
    #[serde(skip_serializing_if = "Option::is_none")]
    h: Option<TargetPart>,
    /// End of its history.
    end: ChainHeadPart,
    /// Time of creation.
    cr: u64,
}

/// The newest deployed item.
#[derive(Serialize, Deserialize)]
struct LatestPart {
    /// Id of the deployed item.
    id: u64,
    /// Version, counted from 1.
    no: u64,
    /// Hash of its data.
    h: HashPart,
}

impl SlotPart {
    fn of(slot: &Slot, newest: Target) -> Self {
        Self {
            ci: slot.change.get(),
            st: slot.state.name().to_owned(),
            ct: slot.change_type.name().to_owned(),
            h: (slot.target != newest).then(|| TargetPart::of(slot.target)),
            end: ChainHeadPart::of(slot.chain_head),
            cr: slot.created.micros(),
        }
    }

    fn value(self, newest: Target) -> Result<Slot, Bad> {
        Ok(Slot {
            change: ChangeId::parse(self.ci).ok_or(Bad("slot"))?,
            state: state(&self.st)?,
            change_type: change_type(&self.ct)?,
            target: self.h.map_or(Ok(newest), TargetPart::value)?,
            chain_head: self.end.value(),
            created: at(self.cr),
        })
    }
}

impl StackPart {
    fn of(stack: &Stack, newest: Target) -> Self {
        let slot = |slot: &Slot| SlotPart::of(slot, newest);
        Self {
            s: stack.sequence,
            a: stack.attempt,
            c: stack.creation.name().to_owned(),
            p: stack.pre_validated.as_ref().map(slot),
            v: stack.validated.as_ref().map(slot),
        }
    }

    fn value(self, newest: Target) -> Result<Stack, Bad> {
        let slot = |slot: SlotPart| slot.value(newest);
        Ok(Stack {
            sequence: self.s,
            attempt: self.a,
            creation: Creation::parse(&self.c).ok_or(Bad("creation"))?,
            pre_validated: self.p.map(slot).transpose()?,
            validated: self.v.map(slot).transpose()?,
        })
    }
}

impl LatestPart {
    fn of(latest: &LatestDeployed) -> Self {
        Self { id: latest.id.get(), no: latest.version, h: HashPart::of(latest.hash) }
    }

    fn value(self) -> Result<LatestDeployed, Bad> {
        let id = DeployedId::parse(self.id).ok_or(Bad("deployed item"))?;
        Ok(LatestDeployed { id, version: self.no, hash: self.h.value() })
    }
}

impl Record for ItemRecord {
    const TYPE: &'static str = "ITEM";
    type Value = Item;

    fn of(item: &Item) -> Self {
        let newest = Target::Declared(item.version.hash);
        let stack = |(owner, stack): (&TeamId, &Stack)| (owner.to_string(), StackPart::of(stack, newest));
        Self {
            id: item.id.get(),
            nm: item.name.clone(),
            app: item.application.clone(),
            svc: ServicePart::of(&item.service),
            so: TeamPart::of(&item.service_owner),
            cs: item.consumer.name.clone(),
            rv: item.revision,
            rs: item.runtime_state.name().to_owned(),
            ver: VersionPart::of(&item.version),
            dc: item.declared,
            sh: item.completed_target.map(TargetPart::of),
            rf: item.references.iter().map(ReferencePart::of).collect(),
            sv: item.schema_version,
            own: item.stacks.iter().map(stack).collect(),
            dp: item.deployed.as_ref().map(LatestPart::of),
            nd: item.next_deployed,
            lc: item.latest_change.get(),
            ch: ChargesPart::of(&item.charges),
            cr: item.created.micros(),
            mo: item.modified.micros(),
        }
    }

    fn value(self) -> Result<Item, Bad> {
        let id = ItemId::parse(self.id).ok_or(Bad("item"))?;
        let version = self.ver.value();
        let newest = Target::Declared(version.hash);
        let mut stacks = BTreeMap::new();
        for (owner, stack) in self.own {
            let owner = team_id(owner.parse().map_err(|_| Bad("owner"))?)?;
            stacks.insert(owner, stack.value(newest)?);
        }
        Ok(Item {
            id,
            name: self.nm,
            application: self.app,
            service: self.svc.value()?,
            service_owner: self.so.value()?,
            consumer: TeamRef { id: id.team(), name: self.cs },
            revision: self.rv,
            runtime_state: runtime_state(&self.rs)?,
            version,
            declared: self.dc,
            completed_target: self.sh.map(TargetPart::value).transpose()?,
            references: self.rf.into_iter().map(ReferencePart::value).collect(),
            schema_version: self.sv,
            stacks,
            deployed: self.dp.map(LatestPart::value).transpose()?,
            next_deployed: self.nd,
            latest_change: ChangeId::parse(self.lc).ok_or(Bad("latest change"))?,
            charges: ChargesPart::value(self.ch)?,
            created: at(self.cr),
            modified: at(self.mo),
        })
    }

    fn key(item: &Item) -> Key {
        key::item(item.id)
    }

    fn indexes(item: &Item) -> Vec<(u8, String, String)> {
        let age = key::by_age(item.created, item.id.get());
        vec![(2, key::owner_items(item.service_owner.id), age)]
    }
}

/// One version of a deployed item. It never changes.
#[derive(Serialize, Deserialize)]
pub(crate) struct DeployedRecord {
    /// Id of the deployed item.
    id: u64,
    /// Id of the service item.
    it: u64,
    /// Service.
    svc: ServicePart,
    /// Id of the change instance.
    ci: u64,
    /// Version, counted from 1 without gaps.
    no: u64,
    /// Data of the owner, canonical JSON.
    data: String,
    /// Hash of the data.
    h: HashPart,
    /// Service owner.
    so: TeamPart,
    /// Consumer team.
    cs: TeamPart,
    /// Id of the request.
    op: String,
    /// Time of creation.
    cr: u64,
}

impl Record for DeployedRecord {
    const TYPE: &'static str = "DEPLOYED";
    type Value = Deployed;

    fn of(deployed: &Deployed) -> Self {
        Self {
            id: deployed.id.get(),
            it: deployed.item.get(),
            svc: ServicePart::of(&deployed.service),
            ci: deployed.change.get(),
            no: deployed.version,
            data: deployed.data.clone(),
            h: HashPart::of(deployed.hash),
            so: TeamPart::of(&deployed.service_owner),
            cs: TeamPart::of(&deployed.consumer),
            op: deployed.request.clone(),
            cr: deployed.created.micros(),
        }
    }

    fn value(self) -> Result<Deployed, Bad> {
        Ok(Deployed {
            id: DeployedId::parse(self.id).ok_or(Bad("deployed item"))?,
            item: ItemId::parse(self.it).ok_or(Bad("item"))?,
            service: self.svc.value()?,
            change: ChangeId::parse(self.ci).ok_or(Bad("change"))?,
            version: self.no,
            data: self.data,
            hash: self.h.value(),
            service_owner: self.so.value()?,
            consumer: self.cs.value()?,
            request: self.op,
            created: at(self.cr),
        })
    }

    fn key(deployed: &Deployed) -> Key {
        key::deployed(deployed.id)
    }

    fn indexes(deployed: &Deployed) -> Vec<(u8, String, String)> {
        let age = key::by_age(deployed.created, deployed.id.get());
        vec![
            (2, key::owner_deployed(deployed.service_owner.id), age.clone()),
            (3, key::item_deployed(deployed.item), age),
        ]
    }
}
