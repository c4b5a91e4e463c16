//! Reverts: the declarations after an earlier submission, declared again (R37).
//!
//! The result is a partial declaration of the applications with a difference. From there on, a revert is a submission
//! like any other (ADR 21).

use crate::planning::Planning;
use domain::base::id::ApplicationId;
use domain::model::declaration;
use domain::model::declaration::{BODY_BYTES_MAX, Declaration, ITEMS_MAX};
use domain::model::submission::Submission;
use domain::model::team::Application;
use domain::rules::plan::Stored;
use domain::views::history;
use domain::views::history::{DeclaredThen, Moment, Then};
use domain::{Hash, Item, SubmissionId, TeamId};
use dovetail_http::{Call, Code, Failure, Reply, invalid_declaration};
use dovetail_table::{Direction, HistoricalState, RelatedKey, Source, Table};
use futures_util::future::try_join_all;
use std::collections::BTreeMap;

/// Maximum number of items with a change since then. The history of each costs a read.
const CHANGED_MAX: usize = 2_000;

/// Concurrent reads: of applications, of items, and of declarations. A function has little memory for declarations.
const APPLICATIONS_AT_ONCE: usize = 8;
const ITEMS_AT_ONCE: usize = 16;
pub(crate) const DECLARATIONS_AT_ONCE: usize = 100;

/// The target of a revert.
pub(crate) struct Revert {
    to: Submission,
    /// Number of submissions of the team at the last computation of the declaration.
    computed_at: Option<u64>,
}

impl Revert {
    /// Returns the submission in the path, if it belongs to the caller's team.
    pub(crate) async fn parse(table: &Table, call: &Call) -> Result<Self, Failure> {
        let id = call.id(SubmissionId::parse)?;
        // The id contains the team, so a foreign submission needs no read.
        if id.team() != call.caller.team.id {
            return Err(Code::NotFound.into());
        }
        let to = table.submission(id).await?.ok_or(Code::NotFound)?;
        if !call.object()?.is_empty() {
            return Err(Reply::refused(Code::InvalidBody, "the body must be empty").into());
        }
        Ok(Self { to, computed_at: None })
    }

    /// Returns the declaration; none if the last declaration is still current.
    pub(crate) async fn declaration(
        &mut self,
        table: &Table,
        stored: &Stored,
    ) -> Result<Planning<Option<Declaration>>, Failure> {
        let now = stored.head.submissions;
        // No plan is possible while a submission is in flight, so a declaration would be useless.
        if self.computed_at == Some(now) || stored.head.in_flight.is_some() {
            return Ok(Planning::Ready(None));
        }
        let moment = moment_after(&self.to);
        let metadata = historical(table.metadata_at(stored.team.replaced(), moment).await?)?;
        let metadata = metadata.unwrap_or_else(|| "{}".to_owned());
        let retired = retired_since(table, stored, self.to.id).await?;
        let all = stored.applications.iter().chain(&retired);
        let (same, others): (Vec<&Application>, Vec<&Application>) =
            all.partition(|application| moment.still_declares(application));
        let then = then(table, &others, &self.to).await?;
        if self.to.root.is_some_and(|root| root != history::root(&metadata, &same, &then)) {
            // The digest differs: an index was late, or a transaction ran during the reads (ADR 21).
            return Ok(Planning::Replan(Code::Contended));
        }
        let then = history::to_declare(&then);
        let texts = texts(table, stored.team.id, &then).await?;
        let document = history::document(&stored.team.name, &metadata, &then, &texts).ok_or(Code::Broken)?;
        if document.len() > BODY_BYTES_MAX {
            return Err(Code::RevertTooLarge.into());
        }
        let declaration = declaration::parse(document.as_bytes());
        self.computed_at = Some(now);
        let mut declaration =
            declaration.map_err(|problems| invalid_declaration(&problems, &BTreeMap::new()))?;
        history::rename(&mut declaration, &then);
        Ok(Planning::Ready(Some(declaration)))
    }
}

/// Returns the moment after a submission.
const fn moment_after(to: &Submission) -> Moment {
    Moment { at: to.modified, submission: Some(to.id.number()) }
}

/// Returns the applications that retired after a submission (R45).
async fn retired_since(
    table: &Table,
    stored: &Stored,
    to: SubmissionId,
) -> Result<Vec<Application>, Failure> {
    // A team without a later generation has no retired application, and needs no read.
    if stored.applications.iter().all(|application| application.id.generation() == 0) {
        return Ok(Vec::new());
    }
    all_rows(table, Source::<Application>::retired_after(to.team(), to.number())).await
}

/// Returns the gone items that were removed after a submission, by application.
async fn gone_since(table: &Table, to: SubmissionId) -> Result<BTreeMap<ApplicationId, Vec<Item>>, Failure> {
    let mut gone = BTreeMap::<ApplicationId, Vec<Item>>::new();
    for item in all_rows(table, Source::<Item>::removed_after(to.team(), to.number())).await? {
        gone.entry(item.application_id()).or_default().push(item);
    }
    Ok(gone)
}

/// Returns the rows of an index, up to the maximum of a revert.
///
/// The index may be late. A missing row shows in the digest of the declaration, and the revert reads again.
async fn all_rows<T>(table: &Table, source: Source<T>) -> Result<Vec<T>, Failure> {
    let mut rows = table.rows(&source, Direction::Ascending, None);
    let mut all = Vec::new();
    while let Some(batch) = rows.next().await? {
        all.extend(batch.into_iter().map(|row| row.value));
        if all.len() > CHANGED_MAX {
            return Err(Code::RevertTooLarge.into());
        }
    }
    Ok(all)
}

/// Returns the declarations of applications at a moment.
async fn then(table: &Table, applications: &[&Application], to: &Submission) -> Result<Vec<Then>, Failure> {
    let moment = moment_after(to);
    let mut gone = gone_since(table, to.id).await?;
    // A dead item without a change since the moment was not declared at the moment.
    let may_count = |item: &Item| !(item.is_dead() && moment.still_stands(item));
    let (mut all, mut changed) = (Vec::new(), 0);
    for some in applications.chunks(APPLICATIONS_AT_ONCE) {
        let metadata = some.iter().map(|application| table.metadata_at(application.replaced(), moment));
        let items = some.iter().map(|application| table.items_of(application.id, may_count));
        let (metadata, items) = tokio::try_join!(try_join_all(metadata), try_join_all(items))?;
        for ((now, metadata), mut items) in some.iter().zip(metadata).zip(items) {
            items.extend(gone.remove(&now.id).unwrap_or_default());
            changed += items.iter().filter(|item| !moment.still_stands(item)).count();
            if changed > CHANGED_MAX {
                return Err(Code::RevertTooLarge.into());
            }
            let declared = declared(table, &items, moment).await?;
            all.push(Then::new((*now).clone(), historical(metadata)?, declared, &items));
        }
    }
    Ok(all)
}

/// Returns the items with a declaration at a moment.
async fn declared<'a>(
    table: &Table,
    items: &'a [Item],
    moment: Moment,
) -> Result<Vec<(&'a Item, DeclaredThen)>, Failure> {
    let mut declared = Vec::new();
    for some in items.chunks(ITEMS_AT_ONCE) {
        let states = try_join_all(some.iter().map(|item| table.declared_at(item, moment))).await?;
        for (item, then) in some.iter().zip(states) {
            declared.extend(historical(then)?.map(|then| (item, then)));
        }
    }
    Ok(declared)
}

/// Returns the declarations by hash, up to the limits of a request body.
async fn texts(table: &Table, team: TeamId, then: &[&Then]) -> Result<BTreeMap<Hash, String>, Failure> {
    let hashes: Vec<Hash> = then.iter().flat_map(|then| &then.items).map(|(_, _, hash)| *hash).collect();
    if hashes.len() > ITEMS_MAX {
        return Err(Code::RevertTooLarge.into());
    }
    let (mut texts, mut bytes) = (BTreeMap::new(), 0);
    for some in hashes.chunks(DECLARATIONS_AT_ONCE) {
        let read = table.related(some.iter().map(|hash| RelatedKey::Declaration(team, *hash))).await?;
        texts.extend(read.declarations.into_iter().map(|((_, hash), text)| (hash, text)));
        // The document contains a shared declaration once for each item, so it counts for each item.
        bytes += some.iter().filter_map(|hash| texts.get(hash)).map(String::len).sum::<usize>();
        if bytes > BODY_BYTES_MAX {
            return Err(Code::RevertTooLarge.into());
        }
    }
    Ok(texts)
}

fn historical<T>(state: HistoricalState<T>) -> Result<Option<T>, Failure> {
    match state {
        HistoricalState::Was(then) => Ok(Some(then)),
        HistoricalState::WasNot => Ok(None),
        HistoricalState::TooMuch => Err(Code::RevertTooLarge.into()),
    }
}
