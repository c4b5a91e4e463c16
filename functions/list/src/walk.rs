//! A walk through the applications of a team and their items, within the bounds of one page.

use crate::bound::FILTERED;
use domain::model::team::Application;
use domain::{Item, TeamId};
use dovetail_http::Failure;
use dovetail_table::{Direction, Listed, Read, Source, Table};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

/// Number of items with a read of their history at once.
const AT_ONCE: usize = 10;

/// The end of a page.
#[derive(Clone, Default)]
pub(crate) struct Progress {
    /// Whether the applications with a number are done, and the retired ones follow (R45).
    is_among_retired: bool,
    /// Last finished application; none before the first one.
    application: Option<String>,
    /// Last visited item of the next application; empty after its metadata.
    item: Option<String>,
}

impl Progress {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (is_among_retired, application, item) = serde_json::from_str(text).ok()?;
        Some(Self { is_among_retired, application, item })
    }

    pub(crate) fn to_position(&self) -> Value {
        json!([self.is_among_retired, self.application, self.item])
    }
}

/// The step of a walk at an application.
pub(crate) enum Entry<F> {
    /// The items of the application need no read.
    Skip,
    /// The walk collects this find, if there is one, and visits the items.
    Enter(Option<F>),
}

/// The choice of the finds that a walk collects.
pub(crate) trait Visitor: Sync {
    type Found: Send;

    /// Returns the submission after which retired applications count; none if no retired application counts.
    fn retired_after(&self) -> Option<u64>;

    /// Returns the items of an application that may count.
    fn items(&self, application: &Application) -> Source<Item>;

    /// Enters an application. A resumed application was entered on an earlier page.
    fn enter(
        &self,
        application: &Application,
        is_resumed: bool,
    ) -> impl Future<Output = Result<Entry<Self::Found>, Failure>> + Send;

    /// Visits an item.
    fn item(&self, item: &Item) -> impl Future<Output = Result<Option<Self::Found>, Failure>> + Send;

    /// Returns whether a find counts towards the limit of the page.
    fn counts(found: &Self::Found) -> bool;
}

/// The rest of the applications of a source after a page.
enum Rest {
    /// The next page begins here.
    More(Progress),
    End {
        /// Whether a number had an earlier application (R45); only in this case the team has retired applications.
        has_generations: bool,
    },
}

/// A walk in progress.
pub(crate) struct Walk<'a, V: Visitor> {
    table: &'a Table,
    visitor: &'a V,
    limit: usize,
    counted: usize,
    read: Read,
    /// Each find with its position.
    pub(crate) found: Vec<(Progress, V::Found)>,
}

impl<'a, V: Visitor> Walk<'a, V> {
    pub(crate) fn new(table: &'a Table, visitor: &'a V, limit: usize) -> Self {
        Self { table, visitor, limit, counted: 0, read: Read::default(), found: Vec::new() }
    }

    /// Adds the finds of a read.
    pub(crate) async fn by(
        &mut self,
        progress: &Progress,
        reading: impl Future<Output = Result<Option<V::Found>, Failure>>,
    ) -> Result<(), Failure> {
        let found = self.read.by(reading).await?;
        self.add(progress, found);
        Ok(())
    }

    /// Continues from a position, and returns the new one; none at the end.
    pub(crate) async fn from(
        &mut self,
        team: TeamId,
        progress: Option<Progress>,
    ) -> Result<Option<Progress>, Failure> {
        let is_first_page = progress.is_none();
        let mut progress = progress.unwrap_or_default();
        if !progress.is_among_retired {
            let rest = self.applications(&Source::<Application>::of_team(team), progress).await?;
            progress = match rest {
                Rest::More(progress) => return Ok(Some(progress)),
                // An earlier page may have had an application of a later generation.
                Rest::End { has_generations: false } if is_first_page => return Ok(None),
                Rest::End { .. } => Progress { is_among_retired: true, ..Progress::default() },
            };
        }
        let Some(since) = self.visitor.retired_after() else { return Ok(None) };
        let retired = Source::<Application>::retired_after(team, since);
        Ok(match self.applications(&retired, progress).await? {
            Rest::More(progress) => Some(progress),
            Rest::End { .. } => None,
        })
    }

    /// Visits the applications of a source after a position.
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
                if let Some(item) = self.application(&application, &progress).await? {
                    return Ok(Rest::More(Progress { item: Some(item), ..progress }));
                }
                progress = Progress { application: Some(position), item: None, ..progress };
            }
        }
        Ok(if rows.is_over() { Rest::End { has_generations } } else { Rest::More(progress) })
    }

    fn is_full(&self) -> bool {
        self.counted >= self.limit || self.read.reaches(&FILTERED)
    }

    fn add(&mut self, progress: &Progress, found: Option<V::Found>) {
        if let Some(found) = found {
            self.counted += usize::from(V::counts(&found));
            self.found.push((progress.clone(), found));
        }
    }

    /// Visits an application, and returns the last visited item; none if all are done.
    async fn application(
        &mut self,
        application: &Application,
        progress: &Progress,
    ) -> Result<Option<String>, Failure> {
        let mut last = progress.item.clone().unwrap_or_default();
        let entering = self.visitor.enter(application, progress.item.is_some());
        let Entry::Enter(found) = self.read.by(entering).await? else { return Ok(None) };
        self.add(&Progress { item: Some(last.clone()), ..progress.clone() }, found);
        let after = (!last.is_empty()).then(|| last.clone());
        let mut rows =
            self.table.rows(&self.visitor.items(application), Direction::Ascending, after.as_deref());
        loop {
            if self.is_full() {
                return Ok(Some(last));
            }
            let Some(batch) = self.read.by(rows.next()).await? else { return Ok(None) };
            for some in batch.chunks(AT_ONCE) {
                self.read.rows(some.len());
                let visits = some.iter().map(|row| self.visitor.item(&row.value));
                let found = self.read.by(try_join_all(visits)).await?;
                for (row, found) in some.iter().zip(found) {
                    last.clone_from(&row.position);
                    self.add(&Progress { item: Some(last.clone()), ..progress.clone() }, found);
                    if self.counted >= self.limit {
                        return Ok(Some(last));
                    }
                }
                if self.is_full() {
                    return Ok(Some(last));
                }
            }
        }
    }
}
