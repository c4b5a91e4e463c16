//! The derived values of the items of a response, and the reads of the documents that they need (R70).

use crate::named_items::{self, Declared, is_named};
use domain::base::id::ApplicationId;
use domain::catalog::schema::{Budget, Derivations};
use domain::catalog::service::Service;
use domain::views::derived::{DEPTH_MAX, Documents, Evaluated, Target};
use domain::views::related::Related;
use domain::{Item, ItemId};
use dovetail_aws::off_worker;
use dovetail_http::Failure;
use dovetail_table::{Read, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of documents in one read. A function has little memory for declarations.
const DOCUMENTS_AT_ONCE: usize = 100;

/// Maximum number of documents in one round. The first item of a response needs at most 100.
const DOCUMENTS_PER_ROUND: usize = 400;

/// Maximum size of the declarations and deployed items of one round, in bytes; the last read may exceed it.
const BYTES_PER_ROUND: usize = 8 * 1024 * 1024;

/// Adds the derived values of items, and the items elsewhere to which they refer, which costs nothing for definitions without any.
///
/// Returns the number of items, from the first on, for which all needed documents are read; at least one.
pub(crate) async fn add(table: &Table, items: &[Item], related: &mut Related) -> Result<usize, Failure> {
    let mut reading = Rounds::new(table, related);
    let roots = reading.roots(items, related).await?;
    if roots.is_empty() {
        return Ok(items.len());
    }
    for _ in 0..DEPTH_MAX {
        let lacking = reading.lacking(&roots);
        if lacking.is_empty() {
            break;
        }
        reading.round(lacking).await?;
    }
    let evaluated = off_worker(|| reading.evaluate(&roots));
    let is_whole = |id: &ItemId| evaluated.get(id).is_none_or(|evaluated| evaluated.lacking.is_empty());
    let whole = items.iter().position(|item| !is_whole(&item.id)).unwrap_or(items.len());
    related.derived.extend(evaluated.into_iter().map(|(id, evaluated)| (id, evaluated.derived)));
    // The first item is shown in any case, so each page makes progress.
    Ok(whole.max(1))
}

/// The documents of a response, and the named items so far.
struct Rounds<'a> {
    table: &'a Table,
    documents: Documents,
    /// The items whose ids references have.
    named: BTreeMap<ItemId, Item>,
    /// The declared items of each searched application.
    applications: BTreeMap<ApplicationId, Declared>,
    /// The items elsewhere to which items of the response refer.
    elsewhere: BTreeMap<ItemId, Item>,
    /// The services of the response.
    services: BTreeMap<String, Service>,
    read: Read,
    /// The work for the upgrades of deployed versions (R56).
    budget: Budget,
}

impl<'a> Rounds<'a> {
    fn new(table: &'a Table, related: &Related) -> Self {
        Self {
            table,
            documents: Documents::default(),
            named: BTreeMap::new(),
            applications: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            services: related.services.clone(),
            read: Read::default(),
            budget: Budget::of_request(),
        }
    }

    /// Adds the documents of the items with derived values, and returns their ids.
    async fn roots(&mut self, items: &[Item], related: &mut Related) -> Result<Vec<ItemId>, Failure> {
        let mut with_derived = Vec::new();
        for item in items.iter().filter(|item| item.declared) {
            let derivations = self.derivations_of_root(item, related).await?;
            with_derived.extend(derivations.map(|derivations| (item, derivations)));
        }
        self.add_targets(&with_derived, related).await?;
        let mut roots = Vec::new();
        for (item, derivations) in with_derived {
            self.documents.add(item, derivations, related, &mut self.budget);
            roots.extend(self.documents.contains(item.id).then_some(item.id));
        }
        Ok(roots)
    }

    /// Adds the items elsewhere to which items with such references refer, in one round.
    async fn add_targets(
        &mut self,
        items: &[(&Item, Arc<Derivations>)],
        related: &mut Related,
    ) -> Result<(), Failure> {
        let with_reach = items.iter().filter(|(_, derivations)| derivations.references().has_reach());
        let ids = with_reach.flat_map(|(item, _)| item.used().iter().copied());
        let ids: BTreeSet<ItemId> = ids.filter(|id| !related.targets.contains_key(id)).collect();
        related.targets.extend(self.table.targets(&ids).await?);
        let targets = related.targets.iter().map(|(id, target)| (*id, target.item.clone()));
        self.elsewhere.extend(targets);
        Ok(())
    }

    /// Returns the item that a reference names.
    fn named(&self, target: &Target) -> Named<'_> {
        match target {
            Target::Named { application, reference, .. } => match self.stored(target) {
                Some(item) => Named::Searched(Some(item)),
                None => match self.applications.get(application) {
                    Some(Some(items)) => Named::Searched(items.get(reference)),
                    Some(None) | None => Named::NotSearched,
                },
            },
            Target::Elsewhere(id) => Named::Searched(self.elsewhere.get(id).filter(|item| item.declared)),
            Target::Unknown => Named::Searched(None),
        }
    }

    /// Returns the item whose id a reference has, if it still has the name.
    fn stored(&self, target: &Target) -> Option<&Item> {
        let Target::Named { application, reference, item: Some(id) } = target else { return None };
        self.named.get(id).filter(|item| is_named(reference, *application, item))
    }

    /// Returns the derived values in the newest definition of an item's service; none if it has none.
    async fn derivations_of_root(
        &self,
        item: &Item,
        related: &Related,
    ) -> Result<Option<Arc<Derivations>>, Failure> {
        let title = &item.service.title;
        let Some(service) = self.services.get(title).filter(|service| service.has_words()) else {
            return Ok(None);
        };
        // The document needs the paths of the item's version. If it is the newest, no other read is needed.
        let newest = related.definitions.get(&(title.clone(), service.schema_version));
        if newest.is_some_and(|paths| !paths.has_derived()) {
            return Ok(None);
        }
        let derivations = self.table.derivations(service).await?;
        Ok(Some(derivations).filter(|derivations| !derivations.expressions().is_empty()))
    }

    fn evaluate(&self, roots: &[ItemId]) -> BTreeMap<ItemId, Evaluated> {
        roots.iter().filter_map(|id| Some((*id, self.documents.evaluate(*id)?))).collect()
    }

    /// Returns the documents that the items lack, in the order of the items.
    fn lacking(&self, roots: &[ItemId]) -> Vec<Target> {
        off_worker(|| {
            let mut seen = BTreeSet::new();
            let evaluated = roots.iter().filter_map(|id| self.documents.evaluate(*id));
            let lacking = evaluated.flat_map(|evaluated| evaluated.lacking);
            lacking.filter(|target| seen.insert(target.clone())).collect()
        })
    }

    /// Reads documents, as many as the bounds of a round allow.
    async fn round(&mut self, mut lacking: Vec<Target>) -> Result<(), Failure> {
        lacking.truncate(DOCUMENTS_PER_ROUND);
        self.search(&lacking).await?;
        let mut named = Vec::new();
        for target in lacking {
            let Named::Searched(item) = self.named(&target) else { continue };
            let new = item.filter(|item| !self.documents.contains(item.id)).cloned();
            let id = item.map(|item| item.id);
            self.documents.resolve(target.clone(), id);
            named.extend(new.map(|item| (target, item)));
        }
        let mut bytes = 0_usize;
        for some in named.chunks(DOCUMENTS_AT_ONCE) {
            if bytes >= BYTES_PER_ROUND {
                break;
            }
            bytes = bytes.saturating_add(self.read_documents(some).await?);
        }
        Ok(())
    }

    /// Reads the items whose ids references have, and searches the applications of the other references, until the bound
    /// of the searches.
    async fn search(&mut self, lacking: &[Target]) -> Result<(), Failure> {
        let ids = lacking.iter().filter_map(|target| match target {
            Target::Named { item, .. } => *item,
            Target::Elsewhere(_) | Target::Unknown => None,
        });
        let ids: BTreeSet<ItemId> = ids.filter(|id| !self.named.contains_key(id)).collect();
        self.named.extend(self.table.referenced(&ids, &BTreeSet::new()).await?.items);
        let unknown = lacking.iter().filter(|target| self.stored(target).is_none());
        let new = unknown.filter_map(|target| match target {
            Target::Named { application, .. } => Some(*application),
            Target::Elsewhere(_) | Target::Unknown => None,
        });
        let new = new.filter(|application| !self.applications.contains_key(application)).collect();
        self.applications.extend(named_items::search(self.table, new, &mut self.read).await?);
        Ok(())
    }

    /// Reads the documents of items, and returns the size of their texts in bytes.
    async fn read_documents(&mut self, named: &[(Target, Item)]) -> Result<usize, Failure> {
        let items: Vec<Item> = named.iter().map(|(_, item)| item.clone()).collect();
        let mut related = self.table.related_to_documents(&items).await?;
        let mut with_service = Vec::new();
        for item in &items {
            let Some(service) = related.services.get(&item.service.title) else { continue };
            with_service.push((item, self.table.derivations(service).await?));
        }
        self.add_targets(&with_service, &mut related).await?;
        for (item, derivations) in with_service {
            self.documents.add(item, derivations, &related, &mut self.budget);
        }
        for (target, item) in named {
            if !self.documents.contains(item.id) {
                self.documents.resolve(target.clone(), None);
            }
        }
        let declared = related.declarations.values().map(String::len);
        let deployed = related.deployed.values().map(|deployed| deployed.data.len());
        Ok(declared.chain(deployed).fold(0, usize::saturating_add))
    }
}

/// The result of the search for the item of a reference.
enum Named<'a> {
    /// The item; none if no declared item has the name.
    Searched(Option<&'a Item>),
    /// The bound of the searches ended before the application of the reference.
    NotSearched,
}
