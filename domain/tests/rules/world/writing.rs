//! The storage of the world: it executes each transaction completely, or not at all if a condition fails.

use super::*;
use store::{Key, Record, Table};

impl World {
    /// Executes a transaction; panics where a storage would cancel it.
    pub(crate) fn apply(&mut self, writes: &[Write]) {
        // A new table for each transaction: the snapshot is the whole state, so a test can clone a world.
        let mut table = Table::of(&self.snapshot);
        for offer in self.offers.values() {
            let service = &offer.service;
            table.put(Record::Service(service.title.as_str().into(), service.revision));
        }
        for write in writes {
            sound(&table, write);
        }
        assert_eq!(table.commit(writes, &[]), Ok(()));
        self.written.extend((!writes.is_empty()).then(|| writes.to_vec()));
        let catalogue = std::mem::take(&mut self.snapshot.catalogue);
        let replaced = std::mem::take(&mut self.snapshot.replaced);
        let definitions = std::mem::take(&mut self.snapshot.definitions);
        self.snapshot = Snapshot { catalogue, replaced, definitions, ..table.snapshot() };
    }
}

/// Checks the duties of a write that no condition of the storage covers.
fn sound(table: &Table, write: &Write) {
    match write {
        Write::PutItem { before: None, after } if after.gone => {
            let live = table.item(after.id).unwrap();
            assert_eq!(after.revision, live.revision + 1, "each write counts once");
        }
        Write::PutItem { before, after } => {
            assert_eq!(after.revision, before.unwrap_or(0) + 1, "each write counts once");
        }
        Write::CreateChange(created) => assert_eq!(created.history.len(), 1),
        Write::UpdateChange { after, .. } => {
            let stored = table.change(after.id).unwrap();
            assert!(after.history.starts_with(&stored.history), "history is only appended to");
            // I4.
            assert!(
                stored.state.stage() != Stage::Resolved || after.state == stored.state,
                "it was resolved"
            );
        }
        Write::CloseChange(closing) => {
            let stored = table.change(closing.change).unwrap();
            let item_view = (closing.item, closing.owner, closing.created, closing.chain_head);
            assert_eq!(item_view, (stored.item, stored.owner.id, stored.created, stored.chain_head()));
            assert!(stored.state.stage() != Stage::Resolved, "it was resolved");
        }
        Write::CreateDeployed(deployed) => {
            assert!(table.record(&Key::Deployed(deployed.id)).is_none(), "the key is taken");
            assert!(
                !deployed.id.number().is_multiple_of(domain::base::id::CHANGE_STRIDE),
                "it is a change's"
            );
        }
        Write::EndCharge { charge, end } => {
            assert!(table.charge(*charge).unwrap().start <= *end, "it ends before it begins");
        }
        Write::ProcessCharge { end, after } => {
            let stored = table.charge(after.id).unwrap();
            assert_eq!((stored.end, stored.start, stored.price), (*end, after.start, after.price));
        }
        Write::CreateCharge(_)
        | Write::AdvanceHead { .. }
        | Write::AddBlockers { .. }
        | Write::AddToApplication { .. }
        | Write::AddUses { .. }
        | Write::CheckNotInFlight { .. }
        | Write::PutUse(_)
        | Write::DeleteUse(_)
        | Write::ReplaceTeam(_)
        | Write::PutApplication { .. }
        | Write::CheckItem { .. }
        | Write::CheckGone { .. }
        | Write::DeleteItem { .. }
        | Write::CheckService { .. }
        | Write::CheckClaim { .. }
        | Write::CheckUnclaimed { .. }
        | Write::ReleaseClaim { .. }
        | Write::RecordSubmission(_)
        | Write::StoreIdempotencyKey { .. }
        | Write::CreateWork(_)
        | Write::DeleteWork(_)
        | Write::UpdateProgress { .. }
        | Write::FreeHead(_)
        | Write::StartStaging(_)
        | Write::UpdateStaging { .. }
        | Write::CheckStaging { .. }
        | Write::DeleteStaging { .. }
        | Write::StoreDeclaration { .. }
        | Write::CreateShare(_)
        | Write::DeleteShare { .. } => {}
    }
}
