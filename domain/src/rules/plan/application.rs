//! The comparison of one application: its declaration against its stored items, and the resulting changes.

use super::numbers::Numbers;
use super::stored_items::{by_key, differs};
use super::{Items, Offer, Offers, Refused, Request, Stored, on_change, references};
use crate::base::hash::Hash;
use crate::base::id::{ChangeId, ItemId};
use crate::base::json;
use crate::base::money::Amount;
use crate::base::refs::{ItemReference, TeamRef};
use crate::base::state::Kind;
use crate::model::change::Version;
use crate::model::declaration::{DeclaredApplication, DeclaredItem, Key};
use crate::model::declared::{Declared, Identity};
use crate::model::digest;
use crate::model::item::Item;
use crate::model::metadata::{NO_METADATA, Replaced, Since};
use crate::model::secrets::{SecretOwner, StoredSecrets};
use crate::model::strategy::Strategy;
use crate::model::submission::Scope;
use crate::model::team::Application;
use crate::model::wait::Wait;
use crate::model::work::{PlannedChange, Spare};
use crate::model::write::Write;
use crate::rules::unneeded;
use std::collections::{BTreeMap, BTreeSet};

/// An application in the scope of the submission: stored and declared, with its items.
pub(super) struct AffectedApplication<'a, 'r> {
    /// The stored application; none for a new one.
    pub(super) stored: Option<&'a Application>,
    /// The declared application; none for a removed one.
    pub(super) declared: Option<&'r DeclaredApplication>,
    pub(super) items: &'a [Item],
    /// The declared items by key.
    pub(super) keys: BTreeMap<Key<'r>, &'r DeclaredItem>,
    /// The declared items by the key of the stored item.
    by_stored_key: BTreeMap<Key<'r>, &'r DeclaredItem>,
    /// The digest after the submission.
    digest: Hash,
}

impl<'a, 'r> AffectedApplication<'a, 'r> {
    fn new(
        stored: Option<&'a Application>,
        declared: Option<&'r DeclaredApplication>,
        items: &'a [Item],
    ) -> Self {
        let declared_items = || declared.iter().flat_map(|declared| &declared.items);
        let keys = declared_items().map(|item| (item.key(), item)).collect();
        let by_stored_key = declared_items().map(|item| (item.stored_key(), item)).collect();
        let digest = declared.map_or_else(|| digest::application(NO_METADATA, []), digest_of);
        Self { stored, declared, items, keys, by_stored_key, digest }
    }

    /// Returns the new declaration of a stored item; none if the submission omits it.
    pub(super) fn declaration_of(&self, item: &Item) -> Option<&'r DeclaredItem> {
        self.by_stored_key.get(&item.key()).copied()
    }

    /// Returns whether the commit writes the application: it is new, or its digest changes.
    pub(super) fn is_changed(&self) -> bool {
        self.stored.is_none_or(|stored| stored.digest != self.digest)
    }
}

/// The changes of a submission in one application.
pub(super) struct Diff<'a> {
    before: Option<Application>,
    /// The application that gives its number to this new one.
    pub(super) retired: Option<&'a Application>,
    pub(super) after: Application,
    /// The items that differ: each one before the submission, and its planned change.
    pub(super) direct: Vec<(Option<&'a Item>, PlannedChange)>,
    pub(super) referenced: Vec<Referenced<'a>>,
    pub(super) declarations: BTreeMap<Hash, String>,
    pub(super) secrets: BTreeMap<Hash, StoredSecrets>,
}

/// An unchanged item with a reference to a modified item.
pub(super) struct Referenced<'a> {
    pub(super) item: &'a Item,
    pub(super) strategy: Strategy,
    /// The change instances of the modified items, by id.
    pub(super) causes: Vec<ChangeId>,
    /// What has to happen before (R74).
    pub(super) waits: Vec<Wait>,
}

impl Diff<'_> {
    /// Returns the metadata that the submission replaces, if it does.
    pub(super) fn replaced(&self) -> Option<Replaced> {
        let before = self.before.as_ref().filter(|before| before.metadata != self.after.metadata);
        before.map(Application::replaced)
    }

    /// Returns the writes of the application, if its record changes.
    pub(super) fn writes(&self) -> Vec<Write> {
        let after = self.after.clone();
        if let Some(retired) = self.retired {
            // One transaction replaces the record and stores the retired application, so a read by id always finds the
            // application.
            let stored = Write::PutApplication { before: None, after: retired.retired_by(after.changed) };
            return vec![Write::PutApplication { before: Some(retired.clone()), after }, stored];
        }
        let changed = self.before.as_ref() != Some(&after);
        let write = Write::PutApplication { before: self.before.clone(), after };
        if changed { vec![write] } else { Vec::new() }
    }
}

/// Returns the digest of a declared application.
pub(super) fn digest_of(declared: &DeclaredApplication) -> Hash {
    let items = declared.items.iter().map(|item| (item.service.as_str(), item.name.as_str(), item.hash));
    digest::application(&metadata_of(Some(declared)), items)
}

/// Returns the digest of an application from its stored items.
pub fn digest_of_stored<'a>(metadata: &str, items: impl IntoIterator<Item = &'a Item>) -> Hash {
    let declared = items.into_iter().filter(|item| item.declared);
    let items = declared.map(|item| (item.service.title.as_str(), item.name.as_str(), item.version.hash));
    digest::application(metadata, items)
}

fn metadata_of(declared: Option<&DeclaredApplication>) -> String {
    let metadata = declared.and_then(|declared| declared.metadata.as_ref());
    metadata.map_or_else(|| NO_METADATA.to_owned(), json::canonical)
}

/// Returns the applications in scope: the declared ones in their order, then the removed ones.
///
/// A stored application whose items were not read is declared unchanged.
pub(super) fn affected_applications<'a, 'r>(
    stored: &'a Stored,
    items: &'a Items,
    request: &'r Request<'_>,
) -> Result<Vec<AffectedApplication<'a, 'r>>, Refused> {
    // The order determines the numbers of the change instances, so each plan on the same read must use the same order.
    let mut all = Vec::new();
    let by_name: BTreeMap<&str, &Application> =
        stored.applications.iter().map(|application| (application.name.as_str(), application)).collect();
    for declared in &request.declaration.applications {
        let existing = by_name.get(declared.name.as_str()).copied();
        match existing.map(|application| (application, items.get(&application.id))) {
            None => all.push(AffectedApplication::new(None, Some(declared), &[])),
            Some((application, Some(items))) => {
                all.push(AffectedApplication::new(Some(application), Some(declared), items));
            }
            Some((application, None)) if digest_of(declared) == application.digest => {}
            // The team changed between the reads, so `to_read` now names other applications.
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
                all.push(AffectedApplication::new(Some(application), None, items));
            }
        }
    }
    Ok(all)
}

/// The shared input of all comparisons of a submission.
pub(super) struct Comparison<'a, 'r> {
    pub(super) submission: u64,
    pub(super) numbers: Numbers<'a>,
    pub(super) consumer: TeamRef,
    pub(super) offers: &'r Offers,
    pub(super) request: &'r Request<'r>,
}

impl<'a> Comparison<'a, '_> {
    /// Finds the differences in one application.
    pub(super) fn diff(&mut self, affected: &AffectedApplication<'a, '_>) -> Result<Diff<'a>, Refused> {
        let mut diff = self.start(affected)?;
        let stored_items = by_key(affected.items);
        let mut modified = BTreeMap::new();
        for declared in affected.declared.iter().flat_map(|declared| &declared.items) {
            let before = stored_items.get(&declared.stored_key()).copied();
            if before.is_some_and(|item| !differs(item, declared)) {
                continue;
            }
            diff.declarations.insert(declared.hash, declared.canonical.clone());
            let secrets = self.secrets(&diff.after.name, declared);
            diff.secrets.extend(secrets.map(|secrets| (declared.hash, secrets)));
            let planned = self.declare(&mut diff.after, before, declared)?;
            // Only a modification of an existing item concerns its references: a created or removed item generates
            // nothing (R15).
            if before.is_some_and(|item| item.declared && item.version.hash != declared.hash) {
                modified.insert(declared.key(), planned.id);
            }
            diff.direct.push((before, planned));
        }
        references::find_items(&mut diff.direct, &stored_items);
        for before in removed(affected) {
            // A removed item keeps its last declaration: the consumer can withdraw the removal with it (R20).
            let gone = Declared { stays: false, ..as_it_is(before) };
            let planned = self.planned(before.id, &before.service_owner, gone, &before.service.title)?;
            diff.direct.push((Some(before), free_if_unneeded(planned, before)));
        }
        diff.referenced = self.referenced(affected, &stored_items, &modified)?;
        Ok(diff)
    }

    /// Returns the application after the submission, without its item changes.
    fn start(&mut self, affected: &AffectedApplication<'a, '_>) -> Result<Diff<'a>, Refused> {
        let now = self.request.ctx.now;
        let metadata = metadata_of(affected.declared);
        let digest = affected.digest;
        let mut retired = None;
        let after = match (affected.stored, affected.declared) {
            // The record stays untouched, orphans or not, so an unchanged application costs no write.
            (Some(stored), _) if stored.digest == digest => stored.clone(),
            (Some(stored), _) => {
                // A removed application keeps its record: its id, name and item numbers come back with it (R18).
                let stays = metadata == stored.metadata;
                let since = if stays { stored.since } else { stored.since.replaced_by(self.submission, now) };
                let changed = self.submission;
                Application { digest, metadata, since, changed, modified: now, ..stored.clone() }
            }
            (None, declared) => {
                let reserved = self.numbers.application()?;
                retired = reserved.retired;
                let next_item = retired.map_or(1, |retired| retired.next_item);
                Application {
                    id: reserved.id,
                    name: declared.map(|declared| declared.name.clone()).unwrap_or_default(),
                    digest,
                    items_before: next_item.saturating_sub(1),
                    next_item,
                    drifted: 0,
                    uses_ever: 0,
                    metadata,
                    since: Since { submission: self.submission, at: now, before: None },
                    changed: self.submission,
                    created: now,
                    modified: now,
                    retired: None,
                }
            }
        };
        Ok(Diff {
            before: affected.stored.cloned(),
            retired,
            after,
            direct: Vec::new(),
            referenced: Vec::new(),
            declarations: BTreeMap::new(),
            secrets: BTreeMap::new(),
        })
    }

    /// Returns the secrets of a declared item.
    fn secrets(&self, application: &str, declared: &DeclaredItem) -> Option<StoredSecrets> {
        let DeclaredItem { service, name, hash, secrets, .. } = declared;
        let owner = || SecretOwner {
            team: self.consumer.id,
            application: application.to_owned(),
            service: service.clone(),
            item: name.clone(),
        };
        (!secrets.is_empty()).then(|| StoredSecrets { owner: owner(), hash: *hash, secrets: secrets.clone() })
    }

    /// Returns the items that meet the guide's three conditions: the item is declared, it is unchanged, and a
    /// referenced item is modified.
    fn referenced(
        &self,
        affected: &AffectedApplication<'a, '_>,
        stored_items: &BTreeMap<Key<'_>, &'a Item>,
        modified: &BTreeMap<Key<'_>, ChangeId>,
    ) -> Result<Vec<Referenced<'a>>, Refused> {
        let mut referenced = Vec::new();
        for declared in affected.declared.iter().flat_map(|declared| &declared.items) {
            let before = stored_items.get(&declared.stored_key()).filter(|item| !differs(item, declared));
            let Some(item) = before else { continue };
            let changed =
                |to: &ItemReference| modified.get(&(to.service.as_str(), to.name.as_str())).copied();
            let causes: BTreeSet<ChangeId> = item.references.iter().filter_map(changed).collect();
            if !causes.is_empty() {
                let offer = self.offers.get(&declared.service).ok_or(Refused::Torn)?;
                let strategy = on_change::strategy(Some(item), declared, offer, self.request.earlier);
                referenced.push(Referenced {
                    item,
                    strategy,
                    causes: causes.into_iter().collect(),
                    waits: Vec::new(),
                });
            }
        }
        Ok(referenced)
    }

    /// Plans the change of a declared item.
    fn declare(
        &mut self,
        application: &mut Application,
        before: Option<&Item>,
        item: &DeclaredItem,
    ) -> Result<PlannedChange, Refused> {
        // The check has refused unknown services, so a missing service means that the reads do not match.
        let offer = self.offers.get(&item.service).ok_or(Refused::Torn)?;
        let Some(before) = before else { return self.create(application, offer, item) };
        let spare = if before.declared { None } else { Some(spare(application, before, item)?) };
        let declared = if before.is_last_declared_as(item.hash) {
            // The item keeps the schema version of its last check, because an orphan or a withdrawn removal needs no
            // new check (R20).
            Declared { stays: true, ..as_it_is(before) }
        } else {
            // Versions count declarations and not submissions, so the same content keeps its number.
            let number = before.version.number + u64::from(before.version.hash != item.hash);
            Declared {
                version: Version { number, hash: item.hash },
                stays: true,
                references: references::of(&offer.schema, &item.body),
                // The ids are set after the comparison of all applications.
                uses: before.uses.clone(),
                schema_version: offer.service.schema_version,
                new: None,
                new_name: item.old_name.as_ref().map(|_| item.name.clone()),
            }
        };
        let is_same = declared.version == before.version;
        let strategy = on_change::strategy(Some(before), item, offer, self.request.earlier);
        let mut planned = self.planned(before.id, &before.service_owner, declared, &before.service.title)?;
        if is_same && before.drift.is_some() {
            // The consumer asks for nothing new, so the correction is free (R54).
            planned.prices.per_change = Amount::ZERO;
        }
        Ok(PlannedChange { spare, strategy, ..free_if_unneeded(planned, before) })
    }

    fn create(
        &mut self,
        application: &mut Application,
        offer: &Offer,
        declared: &DeclaredItem,
    ) -> Result<PlannedChange, Refused> {
        let item = next_item(application)?;
        let identity = Identity {
            name: declared.name.clone(),
            application: application.name.clone(),
            generation: application.id.generation(),
            service: offer.service.to_ref(),
            used_by: 0,
        };
        let created = Declared {
            version: Version { number: 1, hash: declared.hash },
            stays: true,
            references: references::of(&offer.schema, &declared.body),
            uses: Vec::new(),
            schema_version: offer.service.schema_version,
            new: Some(identity),
            new_name: None,
        };
        let strategy = on_change::strategy(None, declared, offer, self.request.earlier);
        let planned = self.planned(item, &offer.service.owner, created, &offer.service.title)?;
        Ok(PlannedChange { strategy, ..planned })
    }

    /// Plans a direct change instance for the service owner.
    fn planned(
        &mut self,
        item: ItemId,
        owner: &TeamRef,
        declared: Declared,
        service: &str,
    ) -> Result<PlannedChange, Refused> {
        Ok(PlannedChange {
            id: self.numbers.change(self.consumer.id)?,
            item,
            owner: owner.clone(),
            kind: Kind::Direct,
            cause: None,
            causes: Vec::new(),
            waits: Vec::new(),
            unblocks: 0,
            version: None,
            schema_version: super::version_for_checks(service, declared.schema_version, self.offers),
            declared: Some(declared),
            spare: None,
            approval_required: super::approval_required(service, self.offers),
            strategy: Strategy::default(),
            complete_unneeded: super::complete_unneeded(service, self.offers),
            claim_required: super::claim_required(service, self.offers),
            prices: super::prices(service, self.offers),
        })
    }
}

/// Returns a planned change without its fee if the service owner has in place what it asks for (R63).
///
/// The plan decides, so that the price of a preview holds (R34).
fn free_if_unneeded(mut planned: PlannedChange, before: &Item) -> PlannedChange {
    let new = planned.declared.as_ref().filter(|declared| declared.stays).map(|declared| declared.version);
    if unneeded::is_in_place(before, planned.owner.id, new, planned.schema_version) {
        planned.prices.per_change = Amount::ZERO;
    }
    planned
}

/// Allots the next item number of an application.
fn next_item(application: &mut Application) -> Result<ItemId, Refused> {
    let item = ItemId::new(application.id, application.next_item).ok_or(Refused::OutOfNumbers)?;
    // The condition on `next_item` at the commit keeps two submissions from allotting the same number (I5).
    application.next_item += 1;
    Ok(item)
}

/// Reserves the new item that replaces an undeclared item, in case the old item goes before its change is applied
/// (R44).
///
/// If the new item is not used, its number remains a gap.
fn spare(application: &mut Application, before: &Item, declared: &DeclaredItem) -> Result<Spare, Refused> {
    let identity = Identity {
        name: declared.name.clone(),
        application: before.application.clone(),
        generation: before.generation,
        service: before.service.clone(),
        used_by: 0,
    };
    Ok(Spare { item: next_item(application)?, identity })
}

/// Returns the present declaration of an item.
fn as_it_is(item: &Item) -> Declared {
    Declared {
        version: item.version,
        stays: item.declared,
        references: item.references.clone(),
        uses: item.uses.clone(),
        schema_version: item.schema_version,
        new: None,
        new_name: None,
    }
}

/// Returns the stored items to remove: items that the declaration omits, and orphans and failed removals among the
/// removed items (R12, R28).
fn removed<'a>(affected: &AffectedApplication<'a, '_>) -> impl Iterator<Item = &'a Item> {
    let gone = affected.items.iter().filter(|item| affected.declaration_of(item).is_none());
    gone.filter(|item| item.declared || item.is_orphan() || item.has_failed_removal())
}
