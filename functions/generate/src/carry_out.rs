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
use std::time::{Duration, Instant};

/// How often what is owed to an item is generated anew because others moved the item.
const ATTEMPTS_MAX: u32 = 12;

/// How often in a row what was read may not fit together, as beside a transaction, before it counts as broken.
const MISFITS_MAX: u32 = 3;

/// How long a record is carried out in one go; what is done by then is not done again.
const DURATION_MAX: Duration = Duration::from_secs(20);

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

/// Carries a work record out. An error is not the record's fault: try again later.
pub async fn carry_out(table: &Table, id: WorkId) -> Result<Carried, Error> {
    match attempt(table, id).await {
        Ok(()) => Ok(Carried::Out),
        Err(error) if is_temporary(&error) => Err(error),
        Err(error) => {
            log(&id.to_string(), &error.to_string());
            let is_set_aside = table.count_failure(id).await?;
            Ok(if is_set_aside { Carried::SetAside } else { Carried::Broken })
        }
    }
}

/// Whether it may be otherwise later without anything about the record being mended.
const fn is_temporary(error: &Error) -> bool {
    match error {
        Error::Unavailable(_) | Error::Denied(_) => true,
        Error::NotTaken(_) | Error::Corrupt { .. } => false,
    }
}

async fn attempt(table: &Table, id: WorkId) -> Result<(), Error> {
    let Some(work) = table.work(id).await? else { return Ok(()) };
    let submission = submission_of(table, id).await?;
    let mut known = Known::load(table, &work).await?;
    let (began, mut broken) = (Instant::now(), None);
    // What is owed to one item does not wait for another's that is broken.
    for owed in work.entries.chunk_by(|a, b| a.item == b.item) {
        let generated = if began.elapsed() < DURATION_MAX {
            known.generate(table, id, &submission, owed).await
        } else {
            Err(Error::Unavailable(format!("{id} takes long; it goes on where it was")))
        };
        match generated {
            Ok(()) => {}
            Err(error) if is_temporary(&error) => return Err(broken.unwrap_or(error)),
            Err(error) => broken = broken.or(Some(error)),
        }
    }
    match broken {
        Some(error) => Err(error),
        None => finish(table, &submission, id).await,
    }
}

/// The submission that owes the work; written with it, but a read beside that may show one without the other.
async fn submission_of(table: &Table, id: WorkId) -> Result<Submission, Error> {
    for attempt in 0..MISFITS_MAX {
        if let Some(submission) = table.submission(id.submission).await? {
            return Ok(submission);
        }
        pause(attempt).await;
    }
    Err(corrupt(id, "its submission is missing"))
}

/// Removes the record; somebody else may have done so.
async fn finish(table: &Table, submission: &Submission, id: WorkId) -> Result<(), Error> {
    let now = now().not_before(submission.modified);
    let done = [Write::WorkDone(id), Write::LessWork { submission: id.submission, now }];
    for attempt in 0..ATTEMPTS_MAX {
        let commit = table.commit(&done).await?;
        if commit == Commit::Done {
            return Ok(());
        }
        // In this order: the record goes with its count, so a count that is gone leaves no record to be found.
        let counted = table.submission(id.submission).await?.is_some_and(|counted| counted.work_left > 0);
        if table.work(id).await?.is_none() {
            return Ok(());
        }
        if commit == Commit::Stale && !counted {
            return Err(corrupt(id, "its submission counts no work"));
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
        let mut misfits = 0;
        for attempt in 0..ATTEMPTS_MAX {
            let before = self.revision(owed);
            let tried = self.once(table, id, submission, owed).await?;
            if tried == Tried::Done {
                return Ok(());
            }
            pause(attempt).await;
            self.read_again(table, owed).await?;
            let (is_misfit, reason) = match tried {
                Tried::Misfit(reason) => (true, reason),
                // Refused although nothing has moved: what stands in the way is not the item's revision.
                Tried::Refused => (self.revision(owed) == before, "a condition never holds".to_owned()),
                Tried::Done | Tried::Busy => (false, String::new()),
            };
            misfits = if is_misfit { misfits + 1 } else { 0 };
            if misfits == MISFITS_MAX {
                return Err(corrupt(id, &reason));
            }
        }
        Err(contended(id))
    }

    /// One try on what was read.
    async fn once(
        &self,
        table: &Table,
        id: WorkId,
        submission: &Submission,
        owed: &[Owed],
    ) -> Result<Tried, Error> {
        match self.existing(submission, owed) {
            Existing::All => return Ok(Tried::Done),
            Existing::Others => {
                return Ok(Tried::Misfit("the number of a change instance is taken by another".to_owned()));
            }
            Existing::None => {}
        }
        let Some(item) = owed.first().and_then(|first| self.items.get(&first.item)) else {
            return Ok(Tried::Misfit("an item is missing".to_owned()));
        };
        let stamp = Stamp { by: Actor::System, request: id.to_string(), now: now() };
        let generated = match generate(owed, submission, item, &self.changes, &stamp) {
            Ok(generated) => generated,
            Err(MissingCause(cause)) => {
                return Ok(Tried::Misfit(format!("change instance {cause} is missing")));
            }
        };
        match table.commit(&generated.writes).await? {
            Commit::Done => Ok(Tried::Done),
            Commit::Stale => Ok(Tried::Refused),
            Commit::Busy | Commit::Unknown => Ok(Tried::Busy),
            Commit::TooLarge => Err(corrupt(id, "what is owed to an item is more than a transaction takes")),
        }
    }

    fn revision(&self, owed: &[Owed]) -> Option<u64> {
        let item = owed.first().and_then(|first| self.items.get(&first.item));
        item.map(|item| item.revision)
    }

    /// What of what is owed to an item exists: all of it is written at once. Another record under one of its keys is
    /// never taken for it.
    fn existing(&self, submission: &Submission, owed: &[Owed]) -> Existing {
        let found: Vec<&Change> = owed.iter().filter_map(|owed| self.changes.get(&owed.id)).collect();
        let same = found.iter().zip(owed).all(|(change, owed)| {
            change.id == owed.id
                && change.item == owed.item
                && change.owner.id == owed.owner.id
                && change.kind == owed.kind
                && change.submission == submission.id
        });
        match found.len() {
            0 => Existing::None,
            n if n == owed.len() && same => Existing::All,
            _ => Existing::Others,
        }
    }

    async fn read_again(&mut self, table: &Table, owed: &[Owed]) -> Result<(), Error> {
        let changes: Vec<ChangeId> =
            owed.iter().flat_map(|owed| std::iter::once(owed.id).chain(owed.cause)).collect();
        let items: Vec<ItemId> = owed.iter().take(1).map(|owed| owed.item).collect();
        let (changes, items) = tokio::try_join!(table.changes(&changes), table.items(&items))?;
        self.changes.extend(changes.into_iter().map(|change| (change.id, change)));
        self.items.extend(items.into_iter().map(|item| (item.id, item)));
        Ok(())
    }
}

/// What became of one try.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tried {
    /// It exists, now or since before.
    Done,
    /// A condition did not hold.
    Refused,
    /// Nobody knows, or there was other traffic.
    Busy,
    /// What was read does not fit together: read beside a transaction, or broken.
    Misfit(String),
}

/// What exists under the keys of what is owed.
enum Existing {
    None,
    All,
    Others,
}

fn corrupt(id: WorkId, reason: &str) -> Error {
    Error::Corrupt { key: id.to_string(), reason: reason.to_owned() }
}

fn contended(id: WorkId) -> Error {
    Error::Unavailable(format!("{id}: others change the same records right now"))
}
