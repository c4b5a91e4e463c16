//! Masks in place of the declared secrets (R58). Without secrets in the declaration, it costs nothing.

use crate::revert::DECLARATIONS_AT_ONCE;
use domain::base::problem::Problem;
use domain::catalog::schema::Part;
use domain::model::declaration::{Declaration, DeclaredApplication, DeclaredItem};
use domain::model::secrets::{MaskKey, SecretOwner, Secrets, StoredSecrets};
use domain::rules::plan::{Items, Offers, Stored};
use domain::rules::secrets;
use domain::{Hash, TeamId};
use dovetail_table::{Error, Table};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A declaration with masks, and the problems of unknown ones.
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
    for some in unmasked.chunks_mut(DECLARATIONS_AT_ONCE) {
        let hashes = some.iter().flat_map(|item| [Some(item.as_sent), item.before]).flatten();
        let hashes: Vec<_> = hashes.map(|hash| (stored.team.id, hash)).collect();
        let read = table.secrets(hashes).await?;
        masked.problems.extend(some.iter_mut().flat_map(|item| item.mask(key, &read)));
    }
    Ok(Some(masked))
}

/// Returns the paths of an item's definition, if it declares a secret.
fn part_of<'a>(parts: &'a Parts<'_>, item: &DeclaredItem) -> Option<&'a Part> {
    parts.get(item.service.as_str()).map(|part| &**part).filter(|part| secrets::has_secret(part, item))
}

/// Puts masks in place of all secrets without a stored one; returns the other items.
fn mask_known<'a>(
    declaration: &'a mut Declaration,
    key: &MaskKey,
    (stored, items): (&'a Stored, &Items),
    parts: &'a Parts<'_>,
) -> Vec<Unmasked<'a>> {
    let by_name = items.values().flatten().map(|item| {
        ((item.application.as_str(), item.service.title.as_str(), item.name.as_str()), item.version.hash)
    });
    let by_name: BTreeMap<(&str, &str, &str), Hash> = by_name.collect();
    let mut unmasked = Vec::new();
    for DeclaredApplication { name: application, items, .. } in &mut declaration.applications {
        for item in items {
            let Some(part) = part_of(parts, item) else { continue };
            let before = by_name.get(&(application.as_str(), item.service.as_str(), item.name.as_str()));
            let owner = SecretOwner {
                team: stored.team.id,
                application: application.clone(),
                service: item.service.clone(),
                item: item.name.clone(),
            };
            let (team, before, as_sent) = (stored.team.name.as_str(), before.copied(), item.hash);
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
    /// The declaration as it was sent: a stored one if it has the masks of an earlier declaration.
    as_sent: Hash,
    item: &'a mut DeclaredItem,
}

impl Unmasked<'_> {
    /// Puts masks in place if no stored secret is needed. Else returns itself.
    fn unless_known(mut self, key: &MaskKey) -> Option<Self> {
        if self.before == Some(self.as_sent) {
            // The stored declaration with its masks.
            return None;
        }
        if secrets::has_mask(self.part, self.item) {
            return Some(self);
        }
        let sent = self.item.clone();
        self.mask(key, &BTreeMap::new());
        if self.before.is_none_or(|before| before == self.item.hash) {
            return None;
        }
        // An unchanged secret keeps its mask, even if the key has changed since.
        *self.item = sent;
        Some(self)
    }

    /// Puts masks in place; returns the problems of unknown ones.
    fn mask(&mut self, key: &MaskKey, read: &BTreeMap<(TeamId, Hash), StoredSecrets>) -> Vec<Problem> {
        let hashes = self.before.into_iter().chain([self.as_sent]);
        let stored = hashes.filter_map(|hash| read.get(&(self.owner.team, hash)));
        // The mask of another item means nothing here.
        let stored: Vec<&Secrets> =
            stored.filter(|stored| stored.owner == self.owner).map(|stored| &stored.secrets).collect();
        secrets::mask(self.item, self.part, key, (&self.owner, self.team), &stored)
    }
}
