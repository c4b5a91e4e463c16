//! The comparison of two moments, object by object.

use crate::history::{historical, too_much};
use crate::walk::{Entry, Visitor};
use domain::Item;
use domain::model::metadata::Replaced;
use domain::model::team::{Application, Team};
use domain::views::history;
use domain::views::history::{DeclaredThen, Moment};
use dovetail_http::Failure;
use dovetail_http::view::Differing;
use dovetail_table::{Source, Table};
use futures_util::future::try_join_all;

/// Parameter with the other submission.
const TO: &str = "to";

/// The comparison of the declarations at two moments.
pub(super) struct Compare<'a> {
    pub(super) table: &'a Table,
    pub(super) moments: [Moment; 2],
}

impl Compare<'_> {
    fn earlier(&self) -> Moment {
        let [from, to] = self.moments;
        if from.submission <= to.submission { from } else { to }
    }

    /// Compares the metadata of the team.
    pub(super) async fn team(&self, team: &Team) -> Result<Option<Differing>, Failure> {
        self.metadata(None, team.replaced()).await
    }

    /// Compares metadata, which count as `{}` before their creation.
    async fn metadata(&self, of: Option<&Application>, now: Replaced) -> Result<Option<Differing>, Failure> {
        let states = self.moments.map(|moment| self.table.metadata_at(now.clone(), moment));
        let mut texts = Vec::new();
        for then in try_join_all(states).await? {
            texts.push(historical(then, TO)?.unwrap_or_else(|| "{}".to_owned()));
        }
        let [old, new] = &texts[..] else { return Ok(None) };
        let application = of.map(|application| (application.id, application.name.clone()));
        let (old, new) = (old.clone(), new.clone());
        Ok((old != new).then_some(Differing::Metadata { application, old, new }))
    }
}

impl Visitor for Compare<'_> {
    type Found = Differing;

    fn retired_after(&self) -> Option<u64> {
        Some(self.earlier().submission.unwrap_or_default())
    }

    fn items(&self, application: &Application) -> Source<Item> {
        Source::<Item>::of_application(application)
    }

    async fn enter(&self, application: &Application, is_resumed: bool) -> Result<Entry<Differing>, Failure> {
        // The record of the application proves that nothing differs, so its items need no read.
        if self.earlier().still_declares(application) {
            return Ok(Entry::Skip);
        }
        let differing =
            if is_resumed { None } else { self.metadata(Some(application), application.replaced()).await? };
        Ok(Entry::Enter(differing))
    }

    async fn item(&self, item: &Item) -> Result<Option<Differing>, Failure> {
        // The record of the item proves that nothing differs, so its history needs no read.
        if self.moments.iter().all(|moment| moment.still_stands(item)) {
            return Ok(None);
        }
        let changes = self.table.changes_until(item.id, None).await?.ok_or_else(|| too_much(TO))?;
        let [old, new] = self.moments.map(|moment| history::declaration(&changes, moment));
        let hash = |then: &Option<DeclaredThen>| then.as_ref().map(|then| then.version.hash);
        if hash(&old) == hash(&new) {
            return Ok(None);
        }
        // The newer name counts, if the item had two.
        let name = new.as_ref().or(old.as_ref()).map_or(&item.name, |then| &then.name).clone();
        let [old, new] = [old, new].map(|then| then.map(|then| then.version));
        Ok(Some(Differing::Item { item: Box::new(Item { name, ..item.clone() }), old, new }))
    }

    fn counts(_: &Differing) -> bool {
        true
    }
}
