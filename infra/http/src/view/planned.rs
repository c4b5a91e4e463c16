//! The effects of a submission on the wire, for a preview.

use super::change::{ChangeView, ItemView, ServiceView, VersionView, cause_view};
use super::charge::amount;
use super::difference::{differences, differences_of};
use super::team::WithChanges;
use super::{ApplicationView, TeamView, Viewpoint, change_instance_as_created, is_zero};
use crate::removal;
use crate::reply::{Failure, objects};
use domain::Change;
use domain::base::money::Prices;
use domain::base::state::{ChangeType, Kind};
use domain::catalog::schema::Budget;
use domain::model::change::{ClosedBy, Version};
use domain::model::declaration::renames::RENAMED;
use domain::model::submission::{Scope, Submission};
use domain::model::wait::Wait;
use domain::model::write::Write;
use domain::rules::charging::prices_of;
use domain::rules::plan::{ItemInUse, ItemRemoval, Preview, Removal, Stored};
use domain::views::causes;
use domain::views::compare;
use domain::views::compare::Field;
use domain::views::drift::differences as differences_of_drift;
use domain::views::proposal::Proposal;
use domain::views::related::Related;
use domain::views::waves::Waves;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Adds the members of every reply to a valid declaration.
pub fn valid(others: Value, warnings: &[String]) -> Value {
    let mut valid = json!({"is_valid": true, "errors": {}, "warnings": warnings, "messages": []});
    if let (Value::Object(valid), Value::Object(others)) = (&mut valid, others) {
        valid.extend(others);
    }
    valid
}

/// The effects of a submission.
pub struct Planned<'a> {
    /// Team before the submission.
    pub stored: &'a Stored,
    /// Records of the team and its applications in the commit.
    pub others: &'a [Write],
    pub submission: &'a Submission,
    pub preview: &'a Preview,
    /// Whether the team has no pending work, so the plan token is reliable.
    pub is_certain: bool,
    /// Change instances of this page.
    pub page_changes: &'a [Change],
    /// Removals for which `submit` requires a confirmation.
    pub unconfirmed: Vec<Removal>,
    /// Items whose removal or replacement `submit` requires to be confirmed.
    pub unconfirmed_items: &'a [ItemRemoval],
    /// Removed items in use, whether or not the request confirms their removal.
    pub items_in_use: &'a [ItemInUse],
    /// Whether the request itself confirms all removals.
    pub is_confirmed: bool,
    /// Whether the request reverts to an earlier submission.
    pub is_revert: bool,
    /// Warnings about declarations that cannot be approved yet.
    pub unapprovable: Vec<String>,
    /// Warnings about the effects of metadata.
    pub of_metadata: Vec<String>,
    /// Records related to `view`.
    pub related: &'a Related,
}

/// The effects of a planned change instance, and its order (R74).
struct Effects {
    causes: Vec<Value>,
    closes: Vec<u64>,
    differences: Value,
    /// What has to happen before.
    waits: Vec<Value>,
    wave: u64,
}

wire! {
    /// A planned change instance: without its numbers, because another request may get them first.
    fn planned_view(
        view: ChangeView<'a>, effects: Effects, prices: Prices, proposal: Option<Proposal>,
    ) -> pub(crate) PlannedView<'a> {
        application: ApplicationView<'a> = view.application,
        #[serde(skip_serializing_if = "Vec::is_empty")] causes: Vec<Value> = effects.causes,
        #[serde(skip_serializing_if = "is_zero")] causes_count: usize = view.causes_count,
        change_type: &'static str = view.change_type,
        closes: Vec<u64> = effects.closes,
        consumer_team: TeamView<'a> = view.consumer_team,
        cost_per_change: Value = amount(prices.per_change),
        differences: Value = effects.differences,
        is_dependant: bool = view.is_dependant,
        kind: &'static str = view.kind,
        monthly_cost: Value = amount(prices.monthly),
        never_in_service: bool = view.never_in_service,
        new_declaration: Option<VersionView<'a>> = view.new_declaration,
        old_declaration: Option<VersionView<'a>> = view.old_declaration,
        owner: TeamView<'a> = view.owner,
        #[serde(skip_serializing_if = "Option::is_none")] proposed_item: Option<Value> =
            proposal.as_ref().map(|proposal| proposal.item.clone()),
        replacement: bool = view.replacement,
        service: ServiceView<'a> = view.service,
        service_item: ItemView<'a> = view.service_item,
        service_owner_team: TeamView<'a> = view.service_owner_team,
        state: &'static str = view.state,
        #[serde(skip_serializing_if = "Option::is_none")] unknown: Option<Vec<String>> =
            proposal.map(|proposal| proposal.unknown),
        unneeded: bool = view.unneeded,
        #[serde(skip_serializing_if = "Vec::is_empty")] waits_for: Vec<Value> = effects.waits,
        wave: u64 = effects.wave,
    }
}

impl Planned<'_> {
    /// Returns the body of the preview.
    pub fn view(&self, viewpoint: &Viewpoint) -> Result<WithChanges, Failure> {
        let created: Vec<Change> = self.page_changes.iter().map(Change::as_created).collect();
        let (mut budget, mut retained) = (Budget::of_request(), Vec::new());
        let waves = Waves::of(&self.preview.created);
        let views = created.iter().enumerate().map_while(|(row, change)| {
            let proposal = Proposal::of(change, self.related, &mut budget);
            // The first object has the whole budget, so each page makes progress.
            if row > 0 && budget.is_exceeded() {
                return None;
            }
            let fields = self.fields(change);
            retained.push(retained_values(change, &fields, proposal.as_ref()));
            Some(self.change_instance(change, (fields, proposal), &waves, viewpoint))
        });
        let change_instances = objects(views)?;
        let shown = self.page_changes.get(..change_instances.len()).unwrap_or(self.page_changes);
        let submission = self.submission;
        let mut warnings = self.preview.warnings.clone();
        if !self.unconfirmed.is_empty() {
            warnings.push(removal::sentence(&self.unconfirmed));
        }
        if !self.unconfirmed_items.is_empty() {
            warnings.push(removal::sentence_about_items(self.unconfirmed_items));
        }
        warnings.extend(removal::sentences_about_uses(self.items_in_use));
        warnings.extend(self.of_metadata.iter().cloned());
        warnings.extend(self.unapprovable.iter().cloned());
        warnings.extend(retained.into_iter().take(shown.len()).flatten());
        warnings.extend(shown.iter().filter_map(|change| self.corrected(change)));
        warnings.extend(self.renamed(shown));
        if !self.is_certain {
            warnings.push(
                "an earlier submission still has pending work: repeat the preview to get a plan".to_owned(),
            );
        }
        // Pending work creates change instances before the submission, so its effects may still change (ADR 36).
        let plan = self.is_certain.then(|| self.preview.plan.to_string());
        let in_use = if self.is_confirmed { &[] } else { self.items_in_use };
        let others = json!({
            "plan": plan,
            "changed": submission.changed,
            "partial": submission.scope == Scope::Partial,
            "planned": {"direct": submission.direct, "generated": submission.derived},
            "unconfirmed_removals": removal::all(&self.unconfirmed, self.unconfirmed_items, in_use),
            "metadata": self.metadata().collect::<Vec<_>>(),
        });
        let others = valid(others, &warnings);
        Ok(WithChanges { change_instances, change_instances_next: None, others })
    }

    fn change_instance<'a>(
        &'a self,
        change: &'a Change,
        (fields, proposal): (Vec<Field>, Option<Proposal>),
        waves: &Waves<'_>,
        viewpoint: &Viewpoint,
    ) -> PlannedView<'a> {
        let mut object = change_instance_as_created(change, self.related, viewpoint);
        let by = [ClosedBy::Displaced(change.id), ClosedBy::Answered(change.id)].map(Some);
        let closes = self.preview.closed.iter().filter(|closing| by.contains(&closing.entry.closed_by));
        let closes = closes.map(|closing| closing.change.get()).collect();
        // The numbers of new applications and items are not allocated either.
        let application = change.application_id();
        let creates = |write: &Write| {
            let Write::PutApplication { before, after } = write else { return false };
            after.id == application && before.as_ref().is_none_or(|before| before.id != application)
        };
        if self.others.iter().any(creates) {
            object.application.id = None;
        }
        if self.preview.new_items.contains(&change.item) {
            (object.service_item.id, object.service_item.url) = (None, None);
        }
        let causes = causes::shown(change).iter().filter_map(|id| self.related.causes.get(id));
        let causes = causes.map(|cause| cause_view(cause, None, self.related)).collect();
        let waits = change.waits.iter().map(|wait| self.wait(wait, waves)).collect();
        let (differences, wave) = (differences_of(fields), waves.wave(change.id));
        let effects = Effects { causes, closes, differences, waits, wave };
        planned_view(object, effects, prices_of(change), proposal)
    }

    /// Returns something that has to happen before: the item, and the change type of its change instance in this
    /// submission.
    fn wait(&self, wait: &Wait, waves: &Waves<'_>) -> Value {
        let created = waves.awaited(wait);
        let item = self.related.items.get(&wait.item);
        let of_item = item.map(|item| (&item.service.title, &item.name));
        let (service, name) =
            created.map(|change| (&change.service.title, &change.item_name)).or(of_item).unzip();
        let is_new = self.preview.new_items.contains(&wait.item);
        json!({
            "service_item": (!is_new).then(|| wait.item.get()),
            "service": service,
            "name": name,
            "change_type": created.map(|change| change.change_type.name()),
        })
    }

    /// Returns the text of a declaration.
    fn text(&self, change: &Change, version: Option<Version>) -> Option<&str> {
        self.related.declarations.get(&(change.consumer.id, version?.hash)).map(String::as_str)
    }

    /// Returns a warning for each item that is created with the properties of a removed one: without an entry in the
    /// metadata, a new name is a new item (R75). A revert restores the items of its time, so it gets none.
    fn renamed(&self, shown: &[Change]) -> Vec<String> {
        if self.is_revert {
            return Vec::new();
        }
        let place = |change: &Change, version| {
            let body: Value = serde_json::from_str(self.text(change, version)?).ok()?;
            let Value::Object(mut members) = body else { return None };
            members.remove("name");
            let properties = (!members.is_empty()).then(|| Value::Object(members).to_string())?;
            Some((change.application_id(), change.service.id, properties))
        };
        let of_type = |change_type| {
            shown
                .iter()
                .filter(move |change| change.change_type == change_type && change.kind == Kind::Direct)
                .filter(|change| !change.is_first_half())
        };
        let mut removed: BTreeMap<_, VecDeque<&Change>> = BTreeMap::new();
        for change in of_type(ChangeType::Delete) {
            if let Some(place) = place(change, change.old) {
                removed.entry(place).or_default().push_back(change);
            }
        }
        let renamed = of_type(ChangeType::Create).filter_map(|change| {
            let old = &removed.get_mut(&place(change, change.new)?)?.pop_front()?.item_name;
            let (service, new, application) = (&change.service.title, &change.item_name, &change.application);
            let entry = json!({RENAMED: {service: {old: new}}});
            Some(format!(
                "{service} '{new}' of application '{application}' looks like a rename of '{old}': add {entry} to the \
                 metadata of the application to keep the item"
            ))
        });
        renamed.collect()
    }

    /// Returns the fields with a difference between the declarations before and after; none without both.
    fn fields(&self, change: &Change) -> Vec<Field> {
        let both = self.text(change, change.old).zip(self.text(change, change.new));
        both.and_then(|(old, new)| compare::between(old, new).ok()).unwrap_or_default()
    }

    /// Returns a warning for a drifted item that the submission requests again (R54).
    fn corrected(&self, change: &Change) -> Option<String> {
        let item = self.related.items.get(&change.item)?;
        let is_same = change.kind == Kind::Direct && change.new == change.old;
        let differences = differences_of_drift(item, self.related).filter(|_| is_same)?;
        let pointers: Vec<String> = differences.into_iter().map(|difference| difference.pointer).collect();
        let (service, name, application) = (&item.service.title, &item.name, &item.application);
        let (pointers, differ) =
            (pointers.join(", "), if pointers.len() == 1 { "differs" } else { "differ" });
        Some(format!(
            "{service} '{name}' of application '{application}' is requested again: {pointers} {differ} from its \
             declaration"
        ))
    }

    /// Returns the changed metadata of the team, with a null application, and of applications.
    fn metadata(&self) -> impl Iterator<Item = Value> + '_ {
        let changed = self.others.iter().filter_map(|write| {
            if let Write::ReplaceTeam(after) = write {
                return Some((None, self.stored.team.metadata.as_str(), &after.metadata));
            }
            let Write::PutApplication { before, after } = write else { return None };
            let old = before.as_ref().map_or("{}", |before| &before.metadata);
            Some((Some(after.name.as_str()), old, &after.metadata))
        });
        changed.filter(|(_, old, new)| old != new).map(|(application, old, new)| {
            json!({"application": application, "differences": differences(old, new)})
        })
    }
}

/// Returns a warning for each property that the consumer no longer declares, and that keeps its value.
fn retained_values(change: &Change, fields: &[Field], proposal: Option<&Proposal>) -> Vec<String> {
    let Some(Proposal { item, .. }) = proposal.filter(|_| !change.is_dependant()) else { return Vec::new() };
    let (service, name) = (&change.service.title, &change.item_name);
    let retained = fields.iter().filter_map(|Field { pointer, old, new }| {
        let value = old.as_ref().filter(|old| new.is_none() && item.pointer(pointer) == Some(old))?;
        Some(format!("{service} '{name}': {pointer} stays {value} unless the owner chooses another value"))
    });
    retained.collect()
}
