//! Carrying out one work record: what is owed to each item is generated in a transaction of its own, then the record
//! is removed.

use domain::actor::Actor;
use domain::change::Change;
use domain::generate::{MissingCause, generate};
use domain::id::{ChangeId, ItemId};
use domain::item::Item;
use domain::land::Stamp;
use domain::submission::Submission;
use domain::work::{Owed, Work, WorkId};
use domain::write::Write;
use dovetail_aws::{log, now, pause};
use dovetail_table::{Commit, Error, Table};
use std::collections::BTreeMap;

/// How often what is owed to an item is generated anew because others moved the item.
const ATTEMPTS_MAX: u32 = 12;

/// What became of a work record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// All of it exists, now or since before.
    Out,
    /// Some of it is broken; counted on the record, which stays.
    Broken,
    /// Some of it is broken, for the last time: the record is set aside.
    SetAside,
}

/// Carries a work record out. An error means that the table cannot be reached or is contended: try again later.
pub async fn carry_out(table: &Table, id: WorkId) -> Result<Carried, Error> {
    match attempt(table, id).await {
        Ok(()) => Ok(Carried::Out),
        Err(Error::Unavailable(reason)) => Err(Error::Unavailable(reason)),
        Err(error @ (Error::NotTaken(_) | Error::Corrupt { .. })) => {
            log(&id.to_string(), &error.to_string());
            let is_set_aside = table.count_failure(id).await?;
            Ok(if is_set_aside { Carried::SetAside } else { Carried::Broken })
        }
    }
}

async fn attempt(table: &Table, id: WorkId) -> Result<(), Error> {
    let Some(work) = table.work(id).await? else { return Ok(()) };
    let submission = table.submission(id.submission).await?;
    let submission = submission.ok_or_else(|| corrupt(id, "its submission is missing"))?;
    let mut known = Known::load(table, &work).await?;
    let mut failed = None;
    // What is owed to one item does not wait for another's.
    for owed in work.entries.chunk_by(|a, b| a.item == b.item) {
        if let Err(error) = known.generate(table, id, &submission, owed).await {
            failed.get_or_insert(error);
        }
    }
    match failed {
        Some(error) => Err(error),
        None => finish(table, id).await,
    }
}

/// Removes the record; somebody else may have done so.
async fn finish(table: &Table, id: WorkId) -> Result<(), Error> {
    for attempt in 0..ATTEMPTS_MAX {
        let less = Write::LessWork { submission: id.submission, now: now() };
        if table.commit(&[Write::WorkDone(id), less]).await? == Commit::Done
            || table.work(id).await?.is_none()
        {
            return Ok(());
        }
        pause(attempt).await;
    }
    Err(contended(id))
}

/// The records that a work record speaks of, as they were read.
struct Known {
    changes: BTreeMap<ChangeId, Change>,
    items: BTreeMap<ItemId, Item>,
}

impl Known {
    async fn load(table: &Table, work: &Work) -> Result<Self, Error> {
        let changes: Vec<ChangeId> =
            work.entries.iter().flat_map(|owed| std::iter::once(owed.id).chain(owed.cause)).collect();
        let items: Vec<ItemId> = work.entries.iter().map(|owed| owed.item).collect();
        let (changes, items) = tokio::try_join!(table.changes(&changes), table.items(&items))?;
        Ok(Self {
            changes: changes.into_iter().map(|change| (change.id, change)).collect(),
            items: items.into_iter().map(|item| (item.id, item)).collect(),
        })
    }

    /// Generates what is owed to one item, unless it exists; again from the start when the item has moved.
    async fn generate(
        &mut self,
        table: &Table,
        id: WorkId,
        submission: &Submission,
        owed: &[Owed],
    ) -> Result<(), Error> {
        for attempt in 0..ATTEMPTS_MAX {
            if self.exist(id, submission, owed)? {
                return Ok(());
            }
            let item = owed.first().and_then(|first| self.items.get(&first.item));
            let item = item.ok_or_else(|| corrupt(id, "an item is missing"))?;
            let stamp = Stamp { by: Actor::System, request: id.to_string(), now: now() };
            let generated = generate(owed, submission, item, &self.changes, &stamp)
                .map_err(|MissingCause(cause)| corrupt(id, &format!("change instance {cause} is missing")))?;
            if table.commit(&generated.writes).await? == Commit::Done {
                return Ok(());
            }
            pause(attempt).await;
            self.read_again(table, owed).await?;
        }
        Err(contended(id))
    }

    /// Whether what is owed to an item exists: all of it was written at once. Another record under one of its keys
    /// is never taken for it.
    fn exist(&self, id: WorkId, submission: &Submission, owed: &[Owed]) -> Result<bool, Error> {
        let found: Vec<&Change> = owed.iter().filter_map(|owed| self.changes.get(&owed.id)).collect();
        let same = found.iter().zip(owed).all(|(change, owed)| {
            change.id == owed.id
                && change.item == owed.item
                && change.owner.id == owed.owner.id
                && change.kind == owed.kind
                && change.submission == submission.id
        });
        match found.len() {
            0 => Ok(false),
            n if n == owed.len() && same => Ok(true),
            _ => Err(corrupt(id, "the number of a change instance is taken by another")),
        }
    }

    async fn read_again(&mut self, table: &Table, owed: &[Owed]) -> Result<(), Error> {
        let changes: Vec<ChangeId> = owed.iter().map(|owed| owed.id).collect();
        let items: Vec<ItemId> = owed.iter().take(1).map(|owed| owed.item).collect();
        let (changes, items) = tokio::try_join!(table.changes(&changes), table.items(&items))?;
        self.changes.extend(changes.into_iter().map(|change| (change.id, change)));
        self.items.extend(items.into_iter().map(|item| (item.id, item)));
        Ok(())
    }
}

fn corrupt(id: WorkId, reason: &str) -> Error {
    Error::Corrupt { key: id.to_string(), reason: reason.to_owned() }
}

fn contended(id: WorkId) -> Error {
    Error::Unavailable(format!("{id}: others change the same records right now"))
}
