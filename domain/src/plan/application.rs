//! One application: what is declared beside what is stored, item by item, and what shall land.

use super::{Items, Numbers, Offer, Offers, Refused, Request, Stored};
use crate::actor::TeamRef;
use crate::change::{Kind, Version};
use crate::declaration::{DeclaredApplication, DeclaredItem};
use crate::declared::{Declared, Identity};
use crate::digest;
use crate::id::{ApplicationId, ItemId};
use crate::item::Item;
use crate::json::{self, Hash};
use crate::metadata::{Replaced, Since};
use crate::submission::Scope;
use crate::team::Application;
use crate::work::Owed;
use crate::write::Write;
use std::collections::{BTreeMap, BTreeSet};

/// The metadata of an application that declares none.
pub(crate) const NO_METADATA: &str = "{}";

/// An application that the submission concerns: as stored, as declared, with its items.
pub(super) struct Concerned<'a, 'r> {
    /// As stored; none when it is new.
    pub(super) stored: Option<&'a Application>,
    /// As declared; none when it is removed.
    pub(super) declared: Option<&'r DeclaredApplication>,
    /// The stored items.
    pub(super) items: &'a [Item],
    /// The declared items by their keys.
    pub(super) keys: BTreeMap<Key<'r>, &'r DeclaredItem>,
}

/// An item's key within its application: service title and name.
pub(super) type Key<'a> = (&'a str, &'a str);

/// The key of a stored item.
pub(super) fn key(item: &Item) -> Key<'_> {
    (item.service.title.as_str(), item.name.as_str())
}

impl<'a, 'r> Concerned<'a, 'r> {
    fn new(
        stored: Option<&'a Application>,
        declared: Option<&'r DeclaredApplication>,
        items: &'a [Item],
    ) -> Self {
        let declared_items = declared.iter().flat_map(|declared| &declared.items);
        let keys = declared_items.map(|item| ((item.service.as_str(), item.name.as_str()), item)).collect();
        Self { stored, declared, items, keys }
    }

    /// Whether the application itself is written: it is new, or what it declares is another.
    pub(super) fn is_changed(&self) -> bool {
        self.stored.is_none_or(|stored| stored.digest != self.digest())
    }

    /// The digest that it has once the declaration is taken.
    fn digest(&self) -> Hash {
        self.declared.map_or_else(|| digest::application(NO_METADATA, []), digest_of)
    }
}

/// What the submission makes of one application.
pub(super) struct Diff<'a> {
    before: Option<Application>,
    pub(super) after: Application,
    /// The items that differ: what each is before, and what it is owed.
    pub(super) direct: Vec<(Option<&'a Item>, Owed)>,
    /// Unchanged items that reference a modified one.
    pub(super) referenced: Vec<&'a Item>,
    pub(super) declarations: BTreeMap<Hash, String>,
}

impl Diff<'_> {
    /// The metadata that it no longer has.
    pub(super) fn replaced(&self) -> Option<Replaced> {
        let before = self.before.as_ref().filter(|before| before.metadata != self.after.metadata);
        before.map(Application::replaced)
    }

    /// The write of the application, if anything about it changed.
    pub(super) fn write(&self) -> Option<Write> {
        let changed = self.before.as_ref() != Some(&self.after);
        changed.then(|| Write::Application { before: self.before.clone(), after: self.after.clone() })
    }
}

/// The digest of an application as it is declared.
pub(super) fn digest_of(declared: &DeclaredApplication) -> Hash {
    let items = declared.items.iter().map(|item| (item.service.as_str(), item.name.as_str(), item.hash));
    digest::application(&metadata_of(Some(declared)), items)
}

/// The digest of an application as its items are stored.
pub fn digest_of_stored<'a>(metadata: &str, items: impl IntoIterator<Item = &'a Item>) -> Hash {
    let declared = items.into_iter().filter(|item| item.declared);
    let items = declared.map(|item| (item.service.title.as_str(), item.name.as_str(), item.version.hash));
    digest::application(metadata, items)
}

fn metadata_of(declared: Option<&DeclaredApplication>) -> String {
    let metadata = declared.and_then(|declared| declared.metadata.as_ref());
    metadata.map_or_else(|| NO_METADATA.to_owned(), json::canonical)
}

/// The applications that the submission concerns: those that are declared, in their order, then those that
/// it removes. What is stored but was not read is as declared already.
pub(super) fn concerned<'a, 'r>(
    stored: &'a Stored,
    items: &'a Items,
    request: &'r Request<'_>,
) -> Result<Vec<Concerned<'a, 'r>>, Refused> {
    let mut all = Vec::new();
    for declared in &request.declaration.applications {
        let found = stored.applications.iter().find(|application| application.name == declared.name);
        match found.map(|application| (application, items.get(&application.id))) {
            None => all.push(Concerned::new(None, Some(declared), &[])),
            Some((application, Some(items))) => {
                all.push(Concerned::new(Some(application), Some(declared), items));
            }
            Some((application, None)) if digest_of(declared) == application.digest => {}
            // The team moved between the reads: what is to be read has changed.
            Some((_, None)) => return Err(Refused::Torn),
        }
    }
    if request.scope == Scope::Whole {
        let names: BTreeSet<&str> =
            request.declaration.applications.iter().map(|declared| declared.name.as_str()).collect();
        for application in &stored.applications {
            if let Some(items) = items.get(&application.id)
                && !names.contains(application.name.as_str())
            {
                all.push(Concerned::new(Some(application), None, items));
            }
        }
    }
    Ok(all)
}

/// What all applications of a submission share while they are compared.
pub(super) struct Comparison<'a> {
    /// The number of the submission.
    pub(super) submission: u64,
    pub(super) numbers: Numbers,
    pub(super) consumer: TeamRef,
    pub(super) offers: &'a Offers,
    pub(super) request: &'a Request<'a>,
}

impl Comparison<'_> {
    /// Finds what differs in one application.
    pub(super) fn diff<'a>(&mut self, concerned: &Concerned<'a, '_>) -> Result<Diff<'a>, Refused> {
        let mut diff = self.start(concerned)?;
        let known = by_key(concerned.items);
        let mut modified = BTreeSet::new();
        for declared in concerned.declared.iter().flat_map(|declared| &declared.items) {
            let key = (declared.service.as_str(), declared.name.as_str());
            let before = known.get(&key).copied();
            if before.is_some_and(|item| !differs(item, declared)) {
                continue;
            }
            if before.is_some_and(|item| item.declared && item.version.hash != declared.hash) {
                modified.insert(key);
            }
            diff.declarations.insert(declared.hash, declared.canonical.clone());
            let owed = self.declare(&mut diff.after, before, declared)?;
            diff.direct.push((before, owed));
        }
        for before in removed(concerned) {
            let gone = Declared { stays: false, ..as_it_is(before) };
            diff.direct.push((
                Some(before),
                self.owed(before.id, &before.service_owner, gone, &before.service.title)?,
            ));
        }
        diff.referenced = referenced(concerned, &known, &modified);
        Ok(diff)
    }

    /// The application as it is once its declaration is taken.
    fn start<'a>(&mut self, concerned: &Concerned<'a, '_>) -> Result<Diff<'a>, Refused> {
        let now = self.request.stamp.now;
        let metadata = metadata_of(concerned.declared);
        let digest = concerned.digest();
        let after = match (concerned.stored, concerned.declared) {
            (Some(stored), _) if stored.digest == digest => stored.clone(),
            (Some(stored), _) => {
                let stays = metadata == stored.metadata;
                let since = if stays { stored.since } else { stored.since.replaced_by(self.submission, now) };
                let changed = self.submission;
                Application { digest, metadata, since, changed, modified: now, ..stored.clone() }
            }
            (None, declared) => {
                let id = ApplicationId::new(self.consumer.id, self.numbers.next_application);
                self.numbers.next_application += 1;
                Application {
                    id: id.ok_or(Refused::OutOfNumbers)?,
                    name: declared.map(|declared| declared.name.clone()).unwrap_or_default(),
                    digest,
                    next_item: 1,
                    metadata,
                    since: Since { submission: self.submission, at: now, before: None },
                    changed: self.submission,
                    created: now,
                    modified: now,
                }
            }
        };
        Ok(Diff {
            before: concerned.stored.cloned(),
            after,
            direct: Vec::new(),
            referenced: Vec::new(),
            declarations: BTreeMap::new(),
        })
    }

    /// What a declared item is owed.
    fn declare(
        &mut self,
        application: &mut Application,
        before: Option<&Item>,
        declared: &DeclaredItem,
    ) -> Result<Owed, Refused> {
        // Unknown services were refused by the check.
        let offer = self.offers.get(&declared.service).ok_or(Refused::Torn)?;
        let Some(before) = before else { return self.create(application, offer, declared) };
        let declared = if before.is_last_declared_as(declared.hash) {
            // An orphan or a withdrawn removal keeps the schema version of its last check (R20).
            Declared { stays: true, ..as_it_is(before) }
        } else {
            let number = before.version.number + u64::from(before.version.hash != declared.hash);
            Declared {
                version: Version { number, hash: declared.hash },
                stays: true,
                references: offer.schema.references_of(&declared.body),
                schema_version: offer.service.schema_version,
                new: None,
            }
        };
        self.owed(before.id, &before.service_owner, declared, &before.service.title)
    }

    fn create(
        &mut self,
        application: &mut Application,
        offer: &Offer,
        declared: &DeclaredItem,
    ) -> Result<Owed, Refused> {
        let item = ItemId::new(application.id, application.next_item).ok_or(Refused::OutOfNumbers)?;
        application.next_item += 1;
        let identity = Identity {
            name: declared.name.clone(),
            application: application.name.clone(),
            service: offer.service.to_ref(),
        };
        let created = Declared {
            version: Version { number: 1, hash: declared.hash },
            stays: true,
            references: offer.schema.references_of(&declared.body),
            schema_version: offer.service.schema_version,
            new: Some(identity),
        };
        self.owed(item, &offer.service.owner, created, &offer.service.title)
    }

    /// A direct change instance, due to the owner of the item's service.
    fn owed(
        &mut self,
        item: ItemId,
        owner: &TeamRef,
        declared: Declared,
        service: &str,
    ) -> Result<Owed, Refused> {
        Ok(Owed {
            id: self.numbers.change(self.consumer.id)?,
            item,
            owner: owner.clone(),
            kind: Kind::Direct,
            cause: None,
            version: None,
            declared: Some(declared),
            approval_required: super::approval_required(service, self.offers),
            prices: super::prices(service, self.offers),
        })
    }
}

/// The declaration that an item has.
fn as_it_is(item: &Item) -> Declared {
    Declared {
        version: item.version,
        stays: item.declared,
        references: item.references.clone(),
        schema_version: item.schema_version,
        new: None,
    }
}

/// The stored items by key.
pub(super) fn by_key(items: &[Item]) -> BTreeMap<Key<'_>, &Item> {
    items.iter().map(|item| (key(item), item)).collect()
}

/// Whether a declared item gets a change instance: it is new, again, otherwise, or nobody's work (R12).
pub(super) fn differs(item: &Item, declared: &DeclaredItem) -> bool {
    !item.declared || item.version.hash != declared.hash || item.is_orphan()
}

/// Returns the stored items to remove: items that the declaration omits, and orphans and failed removals among the
/// items that are removed already (R12, R28).
fn removed<'a>(concerned: &Concerned<'a, '_>) -> impl Iterator<Item = &'a Item> {
    let gone = concerned.items.iter().filter(|item| !concerned.keys.contains_key(&key(item)));
    gone.filter(|item| item.declared || item.is_orphan() || item.has_failed_removal())
}

/// The guide's three conditions: the main item stays, it is unchanged, and what it references was modified.
fn referenced<'a>(
    concerned: &Concerned<'a, '_>,
    known: &BTreeMap<Key<'_>, &'a Item>,
    modified: &BTreeSet<Key<'_>>,
) -> Vec<&'a Item> {
    let declared = concerned.declared.iter().flat_map(|declared| &declared.items);
    let unchanged = declared.filter_map(|declared| {
        let item = known.get(&(declared.service.as_str(), declared.name.as_str()))?;
        (!differs(item, declared)).then_some(*item)
    });
    let references_modified = |item: &&Item| {
        item.references.iter().any(|r| modified.contains(&(r.service.as_str(), r.name.as_str())))
    };
    unchanged.filter(references_modified).collect()
}
