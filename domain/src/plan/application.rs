//! One application: what is declared beside what is stored, item by item, and what lands.

use super::{Items, Numbers, Offer, Offers, Refused, Request, Stored};
use crate::actor::TeamRef;
use crate::attention::Attention;
use crate::change::{ChangeType, Kind, Version};
use crate::declaration::{DeclaredApplication, DeclaredItem};
use crate::digest;
use crate::id::{ApplicationId, ChangeId, ItemId, SubmissionId};
use crate::item::{Item, RuntimeState};
use crate::json::{self, Hash};
use crate::land::{self, Birth, Landed};
use crate::state::State;
use crate::submission::Scope;
use crate::team::Application;
use crate::write::Write;
use std::collections::{BTreeMap, BTreeSet};

/// The metadata of an application that declares none.
pub(super) const NO_METADATA: &str = "{}";

/// An application that the submission concerns: as stored, as declared, with its items.
pub(super) struct Concerned<'a> {
    /// As stored; none when it is new.
    pub(super) stored: Option<&'a Application>,
    /// As declared; none when it is removed.
    pub(super) declared: Option<&'a DeclaredApplication>,
    /// The stored items.
    pub(super) items: &'a [Item],
    /// The keys of the declared items.
    pub(super) keys: BTreeSet<Key<'a>>,
}

/// An item's key within its application: service title and name.
pub(super) type Key<'a> = (&'a str, &'a str);

/// The key of a stored item.
pub(super) fn key(item: &Item) -> Key<'_> {
    (item.service.title.as_str(), item.name.as_str())
}

impl<'a> Concerned<'a> {
    fn new(
        stored: Option<&'a Application>,
        declared: Option<&'a DeclaredApplication>,
        items: &'a [Item],
    ) -> Self {
        let declared_items = declared.iter().flat_map(|declared| &declared.items);
        let keys = declared_items.map(|item| (item.service.as_str(), item.name.as_str())).collect();
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
pub(super) struct Diff {
    before: Option<Application>,
    pub(super) after: Application,
    /// What landed, with the revision that each item had before.
    pub(super) landed: Vec<(Option<u64>, Landed)>,
    /// Unchanged items that reference a modified one.
    pub(super) referenced: Vec<Item>,
    pub(super) declarations: BTreeMap<Hash, String>,
    pub(super) attention: Attention,
}

impl Diff {
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
pub fn digest_of_stored(metadata: &str, items: &[Item]) -> Hash {
    let declared = items.iter().filter(|item| item.declared);
    let items = declared.map(|item| (item.service.title.as_str(), item.name.as_str(), item.version.hash));
    digest::application(metadata, items)
}

fn metadata_of(declared: Option<&DeclaredApplication>) -> String {
    let metadata = declared.and_then(|declared| declared.metadata.as_ref());
    metadata.map_or_else(|| NO_METADATA.to_owned(), json::canonical)
}

/// The applications that the submission concerns: those that are declared, in their order, then those that
/// it removes. What is stored but was not read is as declared already.
pub(super) fn concerned<'a>(
    stored: &'a Stored,
    items: &'a Items,
    request: &'a Request<'_>,
) -> Result<Vec<Concerned<'a>>, Refused> {
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
    pub(super) numbers: Numbers,
    pub(super) submission: SubmissionId,
    pub(super) consumer: TeamRef,
    pub(super) offers: &'a Offers,
    pub(super) request: &'a Request<'a>,
}

impl Comparison<'_> {
    /// Finds what differs in one application and lets it land.
    pub(super) fn diff(&mut self, concerned: &Concerned<'_>) -> Result<Diff, Refused> {
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
            let after = self.declare(&mut diff.after, before, declared)?;
            diff.declarations.insert(declared.hash, declared.canonical.clone());
            self.land(&mut diff, before, &after)?;
        }
        for before in removed(concerned) {
            let after = Item { declared: false, ..before.clone() };
            self.land(&mut diff, Some(before), &after)?;
        }
        diff.referenced = referenced(concerned, &known, &modified);
        Ok(diff)
    }

    /// The application as it is once its declaration is taken, with nothing landed yet.
    fn start(&mut self, concerned: &Concerned<'_>) -> Result<Diff, Refused> {
        let now = self.request.stamp.now;
        let metadata = metadata_of(concerned.declared);
        let digest = concerned.digest();
        let after = match (concerned.stored, concerned.declared) {
            (Some(stored), _) if stored.digest == digest => stored.clone(),
            (Some(stored), _) => Application { digest, metadata, modified: now, ..stored.clone() },
            (None, declared) => {
                let id = ApplicationId::new(self.consumer.id, self.numbers.next_application);
                self.numbers.next_application += 1;
                Application {
                    id: id.ok_or(Refused::OutOfNumbers)?,
                    name: declared.map(|declared| declared.name.clone()).unwrap_or_default(),
                    digest,
                    next_item: 1,
                    metadata,
                    created: now,
                    modified: now,
                }
            }
        };
        Ok(Diff {
            before: concerned.stored.cloned(),
            after,
            landed: Vec::new(),
            referenced: Vec::new(),
            declarations: BTreeMap::new(),
            attention: Attention::NONE,
        })
    }

    /// The item as it is once its declaration is taken, before anything lands on it.
    fn declare(
        &self,
        application: &mut Application,
        before: Option<&Item>,
        declared: &DeclaredItem,
    ) -> Result<Item, Refused> {
        // Unknown services were refused by the check.
        let offer = self.offers.get(&declared.service).ok_or(Refused::Torn)?;
        let Some(before) = before else { return self.create(application, offer, declared) };
        if before.declared && before.version.hash == declared.hash {
            // Nobody's work, asked for again as it was checked: a newer schema does not reach it (R20).
            return Ok(before.clone());
        }
        let number = before.version.number + u64::from(before.version.hash != declared.hash);
        Ok(Item {
            version: Version { number, hash: declared.hash },
            declared: true,
            references: offer.schema.references_of(&declared.body),
            ..before.clone()
        })
    }

    fn create(
        &self,
        application: &mut Application,
        offer: &Offer,
        declared: &DeclaredItem,
    ) -> Result<Item, Refused> {
        let id = ItemId::new(application.id, application.next_item).ok_or(Refused::OutOfNumbers)?;
        application.next_item += 1;
        // The one that is about to land.
        let change = ChangeId::new(self.consumer.id, self.numbers.next_change);
        let now = self.request.stamp.now;
        Ok(Item {
            id,
            name: declared.name.clone(),
            application: application.name.clone(),
            service: offer.service.to_ref(),
            service_owner: offer.service.owner.clone(),
            consumer: self.consumer.clone(),
            revision: 0,
            runtime_state: RuntimeState::Requested,
            version: Version { number: 1, hash: declared.hash },
            declared: true,
            settled: None,
            references: offer.schema.references_of(&declared.body),
            stacks: BTreeMap::new(),
            deployed: None,
            next_deployed: 0,
            latest_change: change.ok_or(Refused::OutOfNumbers)?,
            created: now,
            modified: now,
        })
    }

    /// Lets a direct change instance be born on an item that shows its declaration already.
    fn land(&mut self, diff: &mut Diff, before: Option<&Item>, after: &Item) -> Result<(), Refused> {
        let approval_required = super::approval_required(after, self.offers);
        let change_type = after.change_type();
        // What is created has nothing before it, unless it was declared and never came to be.
        let has_old = |before: &&Item| before.declared || change_type != ChangeType::Create;
        let birth = Birth {
            id: self.numbers.change(self.consumer.id)?,
            kind: Kind::Direct,
            cause: None,
            owner: after.service_owner.clone(),
            change_type,
            state: if approval_required { State::Pending } else { State::Approved },
            attempt: 1,
            submission: self.submission,
            commit_id: self.request.commit_id.clone(),
            new: after.declared.then_some(after.version),
            old: before.filter(has_old).map(|before| before.version),
        };
        let landed = land::land(after, &birth, self.request.stamp);
        let waited = before.map_or(Attention::NONE, Item::attention);
        diff.attention = diff.attention + landed.item.attention() - waited;
        diff.landed.push((before.map(|before| before.revision), landed));
        Ok(())
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

/// The stored items that are to go: no longer declared, or gone but never taken down (R12).
fn removed<'a>(concerned: &'a Concerned<'_>) -> impl Iterator<Item = &'a Item> {
    let gone = concerned.items.iter().filter(|item| !concerned.keys.contains(&key(item)));
    gone.filter(|item| item.declared || item.is_orphan())
}

/// The guide's three conditions: the main item stays, it is unchanged, and what it references was modified.
fn referenced(
    concerned: &Concerned<'_>,
    known: &BTreeMap<Key<'_>, &Item>,
    modified: &BTreeSet<Key<'_>>,
) -> Vec<Item> {
    let declared = concerned.declared.iter().flat_map(|declared| &declared.items);
    let unchanged = declared.filter_map(|declared| {
        let item = known.get(&(declared.service.as_str(), declared.name.as_str()))?;
        (!differs(item, declared)).then_some(*item)
    });
    let references_modified = |item: &&Item| {
        item.references.iter().any(|r| modified.contains(&(r.service.as_str(), r.name.as_str())))
    };
    unchanged.filter(references_modified).cloned().collect()
}
