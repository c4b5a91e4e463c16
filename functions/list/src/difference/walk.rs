//! A walk through the declarations of a team, application by application, within the bounds of one page.

use crate::bound::FILTERED;
use crate::history::{historical, too_much};
use domain::model::metadata::Replaced;
use domain::model::team::Application;
use domain::views::history;
use domain::views::history::Moment;
use domain::{Item, TeamId};
use dovetail_http::view::Differing;
use dovetail_http::{Code, Failure};
use dovetail_table::{Direction, Listed, Read, Source, Table};
use futures_util::future::try_join_all;
use serde_json::json;

/// Parameter with the other submission.
const TO: &str = "to";

/// Number of items with a read of their history at once.
const AT_ONCE: usize = 10;

/// The end of a page.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// Whether the applications with a number are done, and the retired ones follow (R45).
    is_among_retired: bool,
    /// Last finished application; none before the first one.
    application: Option<String>,
    /// Last compared item of the next application; empty after its metadata.
    item: Option<String>,
}

/// The rest of the applications of a source after a page.
enum Rest {
    /// The next page begins here.
    More(Progress),
    End {
        /// Whether a number had an earlier application (R45). Only then the team has retired ones.
        has_generations: bool,
    },
}

impl Progress {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_among_retired, application, item) = serde_json::from_str(text).ok()?;
        Some(Self { is_among_retired, application, item })
    }

    pub(super) fn to_position(&self) -> String {
        json!([self.is_among_retired, self.application, self.item]).to_string()
    }
}

/// A walk in progress.
pub(super) struct Walk<'a> {
    table: &'a Table,
    moments: [Moment; 2],
    limit: usize,
    read: Read,
    /// Differences, each with its position.
    pub(super) differences: Vec<(Progress, Differing)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(table: &'a Table, moments: [Moment; 2], limit: usize) -> Self {
        Self { table, moments, limit, read: Read::default(), differences: Vec::new() }
    }

    /// Continues from a position, and returns the new one; none at the end.
    pub(super) async fn from(
        &mut self,
        team: TeamId,
        progress: Option<Progress>,
    ) -> Result<Option<Progress>, Failure> {
        let is_first_page = progress.is_none();
        let mut progress = match progress {
            Some(progress) => progress,
            None => {
                let team = self.table.team(team).await?.ok_or(Code::Unauthenticated)?;
                let progress = Progress::default();
                self.metadata(None, team.replaced(), &progress).await?;
                progress
            }
        };
        if !progress.is_among_retired {
            let rest = self.applications(&Source::<Application>::of_team(team), progress).await?;
            progress = match rest {
                Rest::More(progress) => return Ok(Some(progress)),
                // An earlier page may have had an application of a later generation.
                Rest::End { has_generations: false } if is_first_page => return Ok(None),
                Rest::End { .. } => Progress { is_among_retired: true, ..Progress::default() },
            };
        }
        let since = self.earlier().submission.unwrap_or_default();
        let retired = Source::<Application>::retired_after(team, since);
        Ok(match self.applications(&retired, progress).await? {
            Rest::More(progress) => Some(progress),
            Rest::End { .. } => None,
        })
    }

    /// Compares the applications of a source after a position.
    async fn applications(
        &mut self,
        source: &Source<Application>,
        mut progress: Progress,
    ) -> Result<Rest, Failure> {
        let after = progress.application.clone();
        let mut rows = self.table.rows(source, Direction::Ascending, after.as_deref());
        let mut has_generations = false;
        while !self.is_full()
            && let Some(batch) = self.read.by(rows.next()).await?
        {
            self.read.rows(batch.len());
            for Listed { position, value: application } in batch {
                has_generations |= application.id.generation() > 0;
                if self.is_full() {
                    return Ok(Rest::More(progress));
                }
                // The record of the application proves that nothing differs, so its items need no read.
                if !self.earlier().still_declares(&application)
                    && let Some(item) = self.application(&application, &progress).await?
                {
                    return Ok(Rest::More(Progress { item: Some(item), ..progress }));
                }
                progress = Progress { application: Some(position), item: None, ..progress };
            }
        }
        Ok(if rows.is_over() { Rest::End { has_generations } } else { Rest::More(progress) })
    }

    fn earlier(&self) -> Moment {
        let [from, to] = self.moments;
        if from.submission <= to.submission { from } else { to }
    }

    fn is_full(&self) -> bool {
        self.differences.len() >= self.limit || self.read.reaches(&FILTERED)
    }

    /// Compares an application, and returns the last compared item; none if all are done.
    async fn application(
        &mut self,
        application: &Application,
        progress: &Progress,
    ) -> Result<Option<String>, Failure> {
        if progress.item.is_none() {
            let behind = Progress { item: Some(String::new()), ..progress.clone() };
            self.metadata(Some(application), application.replaced(), &behind).await?;
        }
        let mut last = progress.item.clone().unwrap_or_default();
        let source = Source::<Item>::of_application(application);
        let after = (!last.is_empty()).then(|| last.clone());
        let mut rows = self.table.rows(&source, Direction::Ascending, after.as_deref());
        loop {
            if self.is_full() {
                return Ok(Some(last));
            }
            let Some(batch) = self.read.by(rows.next()).await? else { return Ok(None) };
            for some in batch.chunks(AT_ONCE) {
                self.read.rows(some.len());
                let differing = some.iter().map(|row| differing(self.table, &row.value, self.moments));
                let differing = self.read.by(try_join_all(differing)).await?;
                for (row, differing) in some.iter().zip(differing) {
                    last.clone_from(&row.position);
                    if let Some(differing) = differing {
                        let item = Some(last.clone());
                        self.differences.push((Progress { item, ..progress.clone() }, differing));
                    }
                    if self.differences.len() >= self.limit {
                        return Ok(Some(last));
                    }
                }
                if self.is_full() {
                    return Ok(Some(last));
                }
            }
        }
    }

    /// Compares metadata; before their creation they count as `{}`.
    async fn metadata(
        &mut self,
        of: Option<&Application>,
        now: Replaced,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let states = self.moments.map(|moment| self.table.metadata_at(now.clone(), moment));
        let states = self.read.by(try_join_all(states)).await?;
        let mut texts = Vec::new();
        for then in states {
            texts.push(historical(then, TO)?.unwrap_or_else(|| "{}".to_owned()));
        }
        if let [old, new] = &texts[..]
            && old != new
        {
            let application = of.map(|application| (application.id, application.name.clone()));
            let differing = Differing::Metadata { application, old: old.clone(), new: new.clone() };
            self.differences.push((progress.clone(), differing));
        }
        Ok(())
    }
}

/// Returns the difference between the declarations of an item, if any.
async fn differing(table: &Table, item: &Item, moments: [Moment; 2]) -> Result<Option<Differing>, Failure> {
    // The record of the item proves that nothing differs, so its history needs no read.
    if moments.iter().all(|moment| moment.still_stands(item)) {
        return Ok(None);
    }
    let changes = table.changes_until(item.id, None).await?.ok_or_else(|| too_much(TO))?;
    let [old, new] = moments.map(|moment| history::declaration(&changes, moment));
    let is_same = old.map(|version| version.hash) == new.map(|version| version.hash);
    Ok((!is_same).then(|| Differing::Item { item: Box::new(item.clone()), old, new }))
}
