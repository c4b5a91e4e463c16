//! Service items and what is deployed for them.

use super::Record;
use super::parts::{
    Bad, MarkPart, ReferencePart, ServicePart, TeamPart, VersionPart, at, change_type, hash, runtime_state,
    state, target, target_text, team_id,
};
use crate::key::{self, Key};
use domain::deployed::Deployed;
use domain::id::{ChangeId, DeployedId, ItemId};
use domain::item::{Creation, Item, LatestDeployed, Slot, Stack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize)]
pub(crate) struct ItemRecord {
    id: u64,
    nm: String,
    app: String,
    svc: ServicePart,
    so: TeamPart,
    cs: TeamPart,
    rv: u64,
    rs: String,
    ver: VersionPart,
    dc: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sh: Option<String>,
    rf: Vec<ReferencePart>,
    own: BTreeMap<String, StackPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dp: Option<LatestPart>,
    nd: u64,
    lc: u64,
    cr: u64,
    mo: u64,
}

#[derive(Serialize, Deserialize)]
struct StackPart {
    s: u64,
    a: u64,
    c: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<SlotPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<SlotPart>,
}

#[derive(Serialize, Deserialize)]
struct SlotPart {
    ci: u64,
    st: String,
    ct: String,
    h: String,
    end: MarkPart,
    cr: u64,
}

#[derive(Serialize, Deserialize)]
struct LatestPart {
    id: u64,
    no: u64,
    h: String,
}

const fn creation_name(creation: Creation) -> &'static str {
    match creation {
        Creation::Never => "NEVER",
        Creation::Outstanding => "OUTSTANDING",
        Creation::Done => "DONE",
    }
}

fn creation(name: &str) -> Result<Creation, Bad> {
    [Creation::Never, Creation::Outstanding, Creation::Done]
        .into_iter()
        .find(|creation| creation_name(*creation) == name)
        .ok_or(Bad("creation"))
}

impl SlotPart {
    fn of(slot: &Slot) -> Self {
        Self {
            ci: slot.change.get(),
            st: slot.state.name().to_owned(),
            ct: slot.change_type.name().to_owned(),
            h: target_text(slot.target),
            end: MarkPart::of(slot.mark),
            cr: slot.created.micros(),
        }
    }

    fn value(self) -> Result<Slot, Bad> {
        Ok(Slot {
            change: ChangeId::parse(self.ci).ok_or(Bad("slot"))?,
            state: state(&self.st)?,
            change_type: change_type(&self.ct)?,
            target: target(&self.h)?,
            mark: self.end.value()?,
            created: at(self.cr),
        })
    }
}

impl StackPart {
    fn of(stack: &Stack) -> Self {
        Self {
            s: stack.sequence,
            a: stack.attempt,
            c: creation_name(stack.creation).to_owned(),
            p: stack.pre_validated.as_ref().map(SlotPart::of),
            v: stack.validated.as_ref().map(SlotPart::of),
        }
    }

    fn value(self) -> Result<Stack, Bad> {
        Ok(Stack {
            sequence: self.s,
            attempt: self.a,
            creation: creation(&self.c)?,
            pre_validated: self.p.map(SlotPart::value).transpose()?,
            validated: self.v.map(SlotPart::value).transpose()?,
        })
    }
}

impl LatestPart {
    fn of(latest: &LatestDeployed) -> Self {
        Self { id: latest.id.get(), no: latest.version, h: latest.hash.to_string() }
    }

    fn value(self) -> Result<LatestDeployed, Bad> {
        let id = DeployedId::parse(self.id).ok_or(Bad("deployed item"))?;
        Ok(LatestDeployed { id, version: self.no, hash: hash(&self.h)? })
    }
}

impl Record for ItemRecord {
    const TYPE: &'static str = "ITEM";
    type Value = Item;

    fn of(item: &Item) -> Self {
        Self {
            id: item.id.get(),
            nm: item.name.clone(),
            app: item.application.clone(),
            svc: ServicePart::of(&item.service),
            so: TeamPart::of(&item.service_owner),
            cs: TeamPart::of(&item.consumer),
            rv: item.revision,
            rs: item.runtime_state.name().to_owned(),
            ver: VersionPart::of(&item.version),
            dc: item.declared,
            sh: item.settled.map(target_text),
            rf: item.references.iter().map(ReferencePart::of).collect(),
            own: item.stacks.iter().map(|(owner, stack)| (owner.to_string(), StackPart::of(stack))).collect(),
            dp: item.deployed.as_ref().map(LatestPart::of),
            nd: item.next_deployed,
            lc: item.latest_change.get(),
            cr: item.created.micros(),
            mo: item.modified.micros(),
        }
    }

    fn value(self) -> Result<Item, Bad> {
        let mut stacks = BTreeMap::new();
        for (owner, stack) in self.own {
            let owner = team_id(owner.parse().map_err(|_| Bad("owner"))?)?;
            stacks.insert(owner, stack.value()?);
        }
        Ok(Item {
            id: ItemId::parse(self.id).ok_or(Bad("item"))?,
            name: self.nm,
            application: self.app,
            service: self.svc.value()?,
            service_owner: self.so.value()?,
            consumer: self.cs.value()?,
            revision: self.rv,
            runtime_state: runtime_state(&self.rs)?,
            version: self.ver.value()?,
            declared: self.dc,
            settled: self.sh.as_deref().map(target).transpose()?,
            references: self.rf.into_iter().map(ReferencePart::value).collect(),
            stacks,
            deployed: self.dp.map(LatestPart::value).transpose()?,
            next_deployed: self.nd,
            latest_change: ChangeId::parse(self.lc).ok_or(Bad("latest change"))?,
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

#[derive(Serialize, Deserialize)]
pub(crate) struct DeployedRecord {
    id: u64,
    it: u64,
    svc: ServicePart,
    ci: u64,
    no: u64,
    data: String,
    h: String,
    so: TeamPart,
    cs: TeamPart,
    op: String,
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
            h: deployed.hash.to_string(),
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
            hash: hash(&self.h)?,
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
