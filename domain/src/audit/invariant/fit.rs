//! Items of services with words: whether they fit their declaration and their definition.

use super::{Audit, Snapshot, Subject, count};
use crate::base::id::DeployedId;
use crate::catalog::schema::{DecisionForms, Phase};
use crate::model::change::Change;
use crate::model::item::{Base, Item};
use crate::model::storable::StorableValue;
use crate::model::team::Application;
use crate::rules::verify;
use serde_json::Value;

/// An item with the texts of its last completed change.
struct Completed<'a> {
    change: &'a Change,
    forms: &'a DecisionForms,
    declared: StorableValue,
}

impl Audit<'_> {
    /// I27 and I28: a completed item fits its definition, and drift is what the newest observation shows.
    pub(super) fn completed_item(&mut self, item: &Item, newest_approved: Option<&Change>) {
        let completed = newest_approved.filter(|_| item.reached_target().is_some());
        let is_checked = completed.is_some_and(|change| change.schema_version.is_some());
        if !is_checked {
            let detail = "it has drifted, but no definition checked its last change";
            return self.require(item.drift.is_none(), "I27", Subject::Item(item.id), detail);
        }
        if let Some(completed) = completed.and_then(|change| texts(self.snapshot, item, change)) {
            self.drift(item, &completed);
            self.fit(item, &completed);
        }
    }

    /// I27: an item has drifted exactly if its newest version does not hold the completed declaration.
    fn drift(&mut self, item: &Item, Completed { forms, declared, .. }: &Completed<'_>) {
        let newest = item.newest_of_life().and_then(|newest| self.data(item, newest.id));
        let base = self.base(item, newest.as_ref());
        let differs = forms.paths.is_verified
            && newest.is_some_and(|newest| {
                !verify::holds(&forms.paths, base.as_ref(), declared, &newest).is_empty()
            });
        let detail = format!("`is_drifted` is {}, but its newest version says {differs}", !differs);
        self.require(differs == item.drift.is_some(), "I27", Subject::Item(item.id), detail);
    }

    /// I28: an item whose change was completed fits the completed form of its definition.
    fn fit(&mut self, item: &Item, Completed { change, forms, declared }: &Completed<'_>) {
        let paths = &forms.paths;
        let newest = item.newest_of_life();
        let whole = if paths.is_verified {
            // An adopted item was not checked by this form.
            let newest = newest.and_then(|newest| self.data(item, newest.id));
            self.base(item, newest.as_ref())
        } else {
            // A version that a later request added to another change was not checked with this declaration.
            let of_newest = newest.and_then(|newest| self.deployed(item, newest.id));
            let is_later = of_newest.is_some_and(|version| {
                version.change != change.id && version.id.number() > change.id.number()
            });
            let data = newest.and_then(|newest| self.data(item, newest.id));
            let proposed = verify::proposed(paths, data.as_ref(), declared).ok();
            proposed.filter(|_| !is_later).map(StorableValue::into_value)
        };
        let Some(whole) = whole else { return };
        let problems = forms.violations(Phase::Completed, &verify::with_secrets(paths, &whole, declared));
        let pointers: Vec<String> = problems.into_iter().map(|problem| problem.pointer).collect();
        let detail = format!("it is completed, but does not fit its definition at {pointers:?}");
        self.require(pointers.is_empty(), "I28", Subject::Item(item.id), detail);
    }

    /// Returns the version that an observation is compared with.
    fn base(&self, item: &Item, newest: Option<&Value>) -> Option<Value> {
        match item.base {
            Base::Newest => newest.cloned(),
            Base::Earlier(id) => self.data(item, id),
            Base::None => None,
        }
    }

    fn data(&self, item: &Item, id: DeployedId) -> Option<Value> {
        serde_json::from_str(&self.deployed(item, id)?.data).ok()
    }

    /// I27: an application counts its drifted items.
    pub(super) fn drifted(&mut self, application: &Application) {
        let items = self.items_of_application.get(&application.id);
        let drifted = count(items.into_iter().flatten().filter(|item| item.drift.is_some()));
        let is_counted = application.retired.is_some() || drifted == application.drifted;
        let detail = format!("it counts {} drifted items, but has {drifted}", application.drifted);
        self.require(is_counted, "I27", Subject::Application(application.id), detail);
    }
}

/// Returns the texts of a completed change; none for a removal, or if the snapshot lacks one.
fn texts<'a>(snapshot: &'a Snapshot, item: &Item, change: &'a Change) -> Option<Completed<'a>> {
    let forms = snapshot.definitions.forms(&item.service.title, change.schema_version?)?;
    let key = (item.consumer.id, change.new?.hash);
    let declared = StorableValue::read(snapshot.declarations.get(&key)?).ok()?;
    let secrets = snapshot.secrets.get(&key).map(|stored| &stored.secrets);
    let revealed = secrets.map(|secrets| secrets.revealed(&declared)).transpose().ok()?;
    let declared = revealed.unwrap_or(declared);
    Some(Completed { change, forms, declared })
}
