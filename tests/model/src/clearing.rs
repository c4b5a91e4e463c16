//! The removal of a staging, as in `infra/table/src/write/staging.rs`: first it prevents the commit, then it removes the
//! work, then the record.

use crate::world::World;
use domain::model::staging::{Staging, StagingState};
use domain::model::work::WorkId;
use domain::model::write::Write;
use std::hash::{Hash, Hasher};
use store::{Key, Record, Table};

/// The next step of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Next {
    Abort,
    RemoveWork,
    RemoveRecord,
}

/// A removal in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clearing {
    staging: Staging,
    next: Next,
}

impl Hash for Clearing {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.staging.id.get(), self.staging.works, self.next).hash(state);
    }
}

impl Clearing {
    pub(crate) const fn of(staging: Staging) -> Self {
        Self { staging, next: Next::Abort }
    }

    /// Moves the staging to ABORTED, unless it is committed.
    pub(crate) fn abort(&self, world: &World, table: &mut Table) {
        let Staging { id, .. } = self.staging;
        let (team, from, to) = (self.staging.team(), StagingState::Open, StagingState::Aborted);
        let _whether = table.commit(&[Write::UpdateStaging { team, staging: id, from, to }], &world.fences);
    }

    /// Executes one step. Returns `None` at the end.
    pub(crate) fn step(self, world: &World, table: &mut Table) -> Option<Self> {
        let Staging { id, .. } = self.staging;
        let key = Key::Staging(self.staging.team(), id);
        match self.next {
            Next::Abort => {
                self.abort(world, table);
                // The stored state decides, not the answer of `abort`.
                let is_aborted = matches!(table.record(&key),
                    Some(Record::Staging(now)) if now.state == StagingState::Aborted);
                is_aborted.then_some(Self { next: Next::RemoveWork, ..self })
            }
            Next::RemoveWork => {
                let submission = self.staging.submission;
                for number in 1..=self.staging.works {
                    table.remove(&Key::Work(WorkId { submission, staging: Some(id), number }));
                }
                Some(Self { next: Next::RemoveRecord, ..self })
            }
            Next::RemoveRecord => {
                table.remove(&key);
                None
            }
        }
    }
}
