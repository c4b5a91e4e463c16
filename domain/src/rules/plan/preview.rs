//! Preview: the effects of a submission without its writes, and a token for exactly these effects.
//!
//! The same function creates change instances in the table, and here in memory. So a preview differs from the result
//! only if something changed in between, and the token shows such a change (R34, ADR 36).

use super::{Items, Offers, Plan};
use crate::base::context::RequestContext;
use crate::base::hash::Hash;
use crate::base::id::ItemId;
use crate::base::state::{ChangeType, Kind, State};
use crate::catalog::schema::Budget;
use crate::model::change::Change;
use crate::model::digest;
use crate::model::item::Item;
use crate::model::metadata::NO_METADATA;
use crate::model::storable::StorableValue;
use crate::model::write::{Closing, Write};
use crate::rules::generate::{Missing, generate};
use crate::rules::verify;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of warnings in a preview; one more line counts the rest.
const WARNINGS_MAX: usize = 100;

/// The effects of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The change instances that the submission would create, by id.
    pub created: Vec<Change>,
    /// The open change instances that the created ones would close.
    pub closed: Vec<Closing>,
    /// The items that do not exist yet.
    pub new_items: BTreeSet<ItemId>,
    /// Sentences about effects that the consumer may not intend.
    pub warnings: Vec<String>,
    /// The plan token: a digest of everything that the submission covers and does.
    pub plan: Hash,
}

impl Plan<'_> {
    /// Applies the plan in memory to the items on which it was computed.
    pub fn preview(&self, items: &Items, ctx: &RequestContext) -> Result<Preview, Missing> {
        let by_id: BTreeMap<ItemId, &Item> = items.values().flatten().map(|item| (item.id, item)).collect();
        let (direct, referenced) = self.by_item();
        let of_one_item = direct.chunk_by(|a, b| a.item == b.item);
        let of_one_item = of_one_item.chain(referenced.chunk_by(|a, b| a.item == b.item));
        let (mut created, mut closed, mut new_items) = (Vec::new(), Vec::new(), BTreeSet::new());
        for planned in of_one_item {
            let before = planned.first().and_then(|first| by_id.get(&first.item).copied());
            // The causes of all shares are in the same call, because `by_item` puts the changes of one item
            // together.
            let generated = generate(planned, &self.submission, before, &BTreeMap::new(), ctx)?;
            if before.is_none() {
                new_items.insert(generated.item.id);
            }
            created.extend(generated.created);
            for write in generated.writes {
                if let Write::CloseChange(closing) = write {
                    closed.push(closing);
                }
            }
        }
        // The response lists the change instances by id.
        created.sort_by_key(|change| change.id);
        closed.sort_by_key(|closing| closing.change);
        let plan = self.token(&created, &closed);
        let of_place = created.iter().filter_map(place_warning);
        let warnings = self.emptied(&created).chain(of_place).chain(endangered(&closed));
        let warnings = few(warnings.chain(self.retry_warnings()));
        Ok(Preview { created, closed, new_items, warnings, plan })
    }

    /// Returns a warning for each application that loses all its items.
    fn emptied<'a>(&'a self, created: &'a [Change]) -> impl Iterator<Item = String> + 'a {
        let empty = digest::application(NO_METADATA, []);
        self.others.iter().filter_map(move |write| {
            let Write::PutApplication { before: Some(_), after: application } = write else { return None };
            if application.digest != empty {
                return None;
            }
            let is_gone = |change: &&Change| {
                change.kind == Kind::Direct
                    && change.change_type == ChangeType::Delete
                    && change.new.is_none()
                    && change.application_id() == application.id
            };
            let gone = created.iter().filter(is_gone).count();
            let name = &application.name;
            (gone > 0).then(|| format!("application '{name}' becomes empty; removed items: {gone}"))
        })
    }

    /// Returns a warning for each orphan that the submission requests again (R12). Drift has a warning of its own.
    fn retry_warnings(&self) -> impl Iterator<Item = String> + '_ {
        let retried = self.direct.iter().filter_map(|(before, planned)| {
            let (before, declared) = (before.as_ref()?, planned.declared.as_ref()?);
            let is_same = before.declared == declared.stays && before.version == declared.version;
            (is_same && before.drift.is_none()).then_some(before)
        });
        retried.map(|item| {
            let (service, name, application) = (&item.service.title, &item.name, &item.application);
            format!(
                "{service} '{name}' of application '{application}' has no open change instance: this requests it again"
            )
        })
    }

    /// Returns a warning for each new declaration that its owner cannot approve as it is (R49).
    pub fn unapprovable(&self, offers: &Offers) -> Vec<String> {
        let mut budget = Budget::of_request();
        let declared = self.direct.iter().filter(|(_, planned)| planned.approval_required);
        few(declared.filter_map(|(before, planned)| {
            let declared = planned.declared.as_ref().filter(|declared| declared.stays)?;
            let text = self.declarations.get(&declared.version.hash)?;
            let (service, name, application) = match (&declared.new, before) {
                (Some(new), _) => (&new.service.title, &new.name, &new.application),
                (None, Some(before)) => {
                    let name = declared.new_name.as_ref().unwrap_or(&before.name);
                    (&before.service.title, name, &before.application)
                }
                (None, None) => return None,
            };
            let schema =
                offers.get(service).map(|offer| &offer.schema).filter(|schema| schema.checks_approval())?;
            let body = StorableValue::read(text).ok()?;
            let secrets = self.secrets.get(&declared.version.hash).map(|stored| &stored.secrets);
            let revealed = secrets.map(|secrets| secrets.revealed(&body)).transpose().ok()?;
            let body = revealed.unwrap_or(body);
            // The owner fills its properties later.
            let unknown = verify::unknown(&*schema.paths()?, &body);
            let problems = schema.problems_at_approval(&body, &mut budget).into_iter();
            let pointers =
                problems.map(|problem| problem.pointer).filter(|pointer| !unknown.contains(pointer));
            let pointers = pointers.collect::<Vec<_>>().join(", ");
            (!pointers.is_empty()).then(|| {
                format!(
                    "{service} '{name}' of application '{application}' cannot be approved yet: {pointers}"
                )
            })
        }))
    }
}

/// Returns a warning for an item that its service owner replaces (R60), or that returns to what is in place (R63).
fn place_warning(change: &Change) -> Option<String> {
    let Change { service, item_name: name, application, .. } = change;
    let effect = if change.is_first_half() {
        "is replaced: its owner removes it and creates it again"
    } else if change.unneeded && change.new.is_some() {
        "returns to what is in place"
    } else {
        return None;
    };
    let of_main = !change.is_dependant();
    of_main.then(|| format!("{} '{name}' of application '{application}' {effect}", service.title))
}

/// Returns a warning for each APPROVED change instance that would be closed, since its owner may work on it.
fn endangered(closed: &[Closing]) -> impl Iterator<Item = String> + '_ {
    let approved = closed.iter().filter(|closing| closing.from == State::Approved);
    approved.map(|closing| {
        let id = closing.change;
        format!("change instance {id} is APPROVED and would be closed: its owner may be working on it")
    })
}

fn few(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = all;
    let mut few: Vec<String> = all.by_ref().take(WARNINGS_MAX).collect();
    let more = all.count();
    if more > 0 {
        few.push(format!("and {more} more"));
    }
    few
}
