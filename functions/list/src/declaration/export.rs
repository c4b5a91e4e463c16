//! The choice of the declarations in an export.

use crate::history::historical;
use crate::walk::{Entry, Visitor};
use domain::model::declaration::renames::NewNames;
use domain::model::digest;
use domain::model::team::Application;
use domain::views::history::{Moment, Then};
use domain::{Hash, Item};
use dovetail_http::Failure;
use dovetail_table::{Source, Table};

/// Parameter with the moment.
pub(super) const AS_OF: &str = "as_of";

/// An export of the declarations at a moment.
pub(super) struct Export<'a> {
    pub(super) table: &'a Table,
    pub(super) moment: Moment,
    /// Whether no submission has followed, so that neither gone items nor retired applications count.
    pub(super) is_present: bool,
    /// The names of the wanted applications; none for all.
    pub(super) names: Option<Vec<String>>,
}

/// A declared application, or a declared item of the application before it.
pub(super) enum Found {
    Application(Box<Then>),
    /// Title of the service, name, and hash of the declaration.
    Item(String, String, Hash),
}

impl Found {
    /// Returns the hash of an item's declaration.
    pub(super) const fn hash(&self) -> Option<Hash> {
        match self {
            Self::Application(_) => None,
            Self::Item(_, _, hash) => Some(*hash),
        }
    }

    /// Returns the bytes of its own texts in the document, about.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Application(then) => then.now.name.len() + then.metadata.as_ref().map_or(0, String::len),
            Self::Item(title, ..) => title.len(),
        }
    }
}

impl Export<'_> {
    /// Returns whether an application can declare anything at the moment.
    fn may_declare(&self, application: &Application) -> bool {
        let is_wanted = self.names.as_ref().is_none_or(|names| names.contains(&application.name));
        // The record of an emptied application proves that it declares nothing.
        let is_empty = self.is_present && application.digest == digest::application("{}", []);
        is_wanted && !is_empty
    }
}

impl Visitor for Export<'_> {
    type Found = Found;

    fn retired_after(&self) -> Option<u64> {
        // Without a submission every retired application may count, as for a time.
        (!self.is_present).then(|| self.moment.submission.unwrap_or_default())
    }

    fn items(&self, application: &Application) -> Source<Item> {
        let source = Source::<Item>::of_application(application);
        if self.is_present { source.live() } else { source }
    }

    /// Adds an application with its metadata, also if it continues from an earlier page.
    async fn enter(&self, application: &Application, _: bool) -> Result<Entry<Found>, Failure> {
        if !self.may_declare(application) {
            return Ok(Entry::Skip);
        }
        let metadata = self.table.metadata_at(application.replaced(), self.moment).await?;
        let metadata = historical(metadata, AS_OF)?;
        // Metadata without an earlier version count since the creation of the application, and not before it.
        let existed = self.moment.submission.is_some() || application.created <= self.moment.at;
        let Some(metadata) = metadata.filter(|_| existed) else { return Ok(Entry::Skip) };
        let then = Then {
            now: application.clone(),
            metadata: Some(metadata),
            items: Vec::new(),
            new_names: NewNames::new(),
        };
        Ok(Entry::Enter(Some(Found::Application(Box::new(then)))))
    }

    async fn item(&self, item: &Item) -> Result<Option<Found>, Failure> {
        let then = historical(self.table.declared_at(item, self.moment).await?, AS_OF)?;
        Ok(then.map(|then| Found::Item(item.service.title.clone(), then.name, then.version.hash)))
    }

    fn counts(found: &Found) -> bool {
        matches!(found, Found::Item(..))
    }
}
