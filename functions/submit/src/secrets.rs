//! Masks in place of the declared secrets (R58). A declaration without secrets costs nothing more.

use crate::revert::DECLARATIONS_AT_ONCE;
use domain::base::problem::Problem;
use domain::catalog::schema::Part;
use domain::model::declaration::{BODY_BYTES_MAX, Declaration, DeclaredApplication, DeclaredItem};
use domain::model::secrets::{MaskKey, SecretOwner, Secrets, StoredSecrets};
use domain::model::team::Application;
use domain::rules::plan::{Items, Offers, Stored, is_as_stored};
use domain::rules::secrets;
use domain::{Hash, Item, TeamId};
use dovetail_table::{Error, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A declaration with masks, and the problems of items that cannot have them.
#[derive(Debug)]
pub(crate) struct Masked {
    pub(crate) declaration: Declaration,
    pub(crate) problems: Vec<Problem>,
}

/// The paths of the definitions with secrets by title.
type Parts<'a> = BTreeMap<&'a str, Arc<Part>>;

/// Returns the declaration with masks; none if it declares no secret.
pub(crate) async fn masked(
    table: &Table,
    key: &MaskKey,
    (stored, items, offers): (&Stored, &Items, &Offers),
    declaration: &Declaration,
) -> Result<Option<Masked>, Error> {
    let parts = offers.iter().filter_map(|(title, offer)| Some((title.as_str(), offer.schema.paths()?)));
    let parts: Parts<'_> = parts.filter(|(_, part)| part.has_secrets()).collect();
    let mut declared = declaration.applications.iter().flat_map(|declared| &declared.items);
    if !declared.any(|item| part_of(&parts, item).is_some()) {
        return Ok(None);
    }
    let mut masked = Masked { declaration: declaration.clone(), problems: Vec::new() };
    let mut unmasked = mask_known(&mut masked.declaration, key, (stored, items), &parts);
    let mut bytes = 0;
    for some in unmasked.chunks_mut(DECLARATIONS_AT_ONCE) {
        let hashes = some.iter().flat_map(|item| [Some(item.as_sent), item.before]).flatten();
        let hashes: Vec<_> = hashes.map(|hash| (stored.team.id, hash)).collect();
        let read = table.secrets(hashes).await?;
        for item in some {
            match item.mask(key, &read) {
                Ok(with_secrets) => bytes += with_secrets,
                Err(problems) => masked.problems.extend(problems),
            }
        }
        // A request with masks is small, and their secrets may be large.
        if bytes > BODY_BYTES_MAX {
            masked.problems.push(too_large());
            break;
        }
    }
    Ok(Some(masked))
}

fn too_large() -> Problem {
    Problem {
        pointer: String::new(),
        path: Vec::new(),
        rule: "too_large",
        message: format!("must be at most {BODY_BYTES_MAX} bytes with the secrets in place of their masks"),
        change: None,
    }
}

/// Returns the paths of an item's definition, if it declares a secret.
fn part_of<'a>(parts: &'a Parts<'_>, item: &DeclaredItem) -> Option<&'a Part> {
    parts.get(item.service.as_str()).map(|part| &**part).filter(|part| secrets::has_secret(part, item))
}

/// Puts masks in place of the secrets of all items that need no stored secret, and returns the other items.
fn mask_known<'a>(
    declaration: &'a mut Declaration,
    key: &MaskKey,
    (stored, items): (&'a Stored, &'a Items),
    parts: &'a Parts<'_>,
) -> Vec<Unmasked<'a>> {
    let name = |item: &'a Item| (item.application.as_str(), item.service.title.as_str(), item.name.as_str());
    let by_name: BTreeMap<_, &Item> = items.values().flatten().map(|item| (name(item), item)).collect();
    let mut unmasked = Vec::new();
    let applications: BTreeMap<&str, &Application> =
        stored.applications.iter().map(|application| (application.name.as_str(), application)).collect();
    for declared in &mut declaration.applications {
        // The items of an unchanged application are not read, and nothing in them changes.
        if applications.get(declared.name.as_str()).is_some_and(|stored| is_as_stored(declared, stored)) {
            continue;
        }
        let DeclaredApplication { name: application, items, .. } = declared;
        for item in items {
            let Some(part) = part_of(parts, item) else { continue };
            let (service, name) = item.stored_key();
            let before = by_name.get(&(application.as_str(), service, name));
            // This is the stored declaration with its masks, which no definition checks again. A stored declaration
            // without masks is from a definition without `writeOnly`, so it gets masks now.
            let is_unchanged = before.is_some_and(|before| before.is_last_declared_as(item.hash));
            if is_unchanged && secrets::is_masked(part, item) {
                continue;
            }
            let owner = SecretOwner {
                team: stored.team.id,
                application: application.clone(),
                service: item.service.clone(),
                item: item.name.clone(),
            };
            let (team, as_sent) = (stored.team.name.as_str(), item.hash);
            let before = before.map(|before| before.version.hash);
            unmasked.extend(Unmasked { team, owner, part, before, as_sent, item }.unless_known(key));
        }
    }
    unmasked
}

/// An item that has no masks yet, because its stored secrets are needed.
struct Unmasked<'a> {
    /// The name of the team.
    team: &'a str,
    owner: SecretOwner,
    part: &'a Part,
    /// The stored declaration of the item.
    before: Option<Hash>,
    /// The hash of the declaration as sent, which is that of a stored declaration if the item has its masks.
    as_sent: Hash,
    item: &'a mut DeclaredItem,
}

impl Unmasked<'_> {
    /// Puts masks in place if no stored secret is needed. Returns the item unchanged if one is needed.
    fn unless_known(mut self, key: &MaskKey) -> Option<Self> {
        if secrets::has_mask(self.part, self.item) {
            return Some(self);
        }
        let sent = self.item.clone();
        let is_masked = self.mask(key, &BTreeMap::new()).is_ok();
        if is_masked && self.before.is_none_or(|before| before == self.item.hash) {
            return None;
        }
        // An unchanged secret keeps its mask, even if the key has changed since. A problem is reported with the stored
        // secrets.
        *self.item = sent;
        Some(self)
    }

    /// Puts masks in place, and returns the size with the secrets, in bytes.
    fn mask(
        &mut self,
        key: &MaskKey,
        read: &BTreeMap<(TeamId, Hash), StoredSecrets>,
    ) -> Result<usize, Vec<Problem>> {
        let hashes = self.before.into_iter().chain([self.as_sent]);
        let stored = hashes.filter_map(|hash| read.get(&(self.owner.team, hash)));
        // The mask of another item means nothing here.
        let stored: Vec<&Secrets> =
            stored.filter(|stored| self.is_owner(&stored.owner)).map(|stored| &stored.secrets).collect();
        secrets::mask(self.item, self.part, key, (&self.owner, self.team), &stored)
    }

    /// Returns whether stored secrets belong to the item, under its name or under the one that it had before (R75).
    fn is_owner(&self, owner: &SecretOwner) -> bool {
        let old = self.item.old_name.clone().map(|item| SecretOwner { item, ..self.owner.clone() });
        *owner == self.owner || old.is_some_and(|old| *owner == old)
    }
}
