//! The effects of a submission on the wire, for a preview.

use super::charge::amount;
use super::{Viewpoint, change_instance_as_created};
use crate::reply::fitting;
use domain::model::change::{ClosedBy, Version};
use domain::model::submission::{Scope, Submission};
use domain::model::write::Write;
use domain::rules::charging::prices_of;
use domain::rules::plan::{Preview, Stored};
use domain::views::compare;
use domain::views::compare::Field;
use domain::views::related::Related;
use domain::{Change, Hash};
use serde_json::{Map, Value, json};

/// Returns the members of every reply to a valid declaration.
pub fn valid(warnings: &[String]) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("is_valid".to_owned(), json!(true));
    body.insert("errors".to_owned(), json!({}));
    body.insert("warnings".to_owned(), json!(warnings));
    body.insert("messages".to_owned(), json!([]));
    body
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
    /// Records related to `shown`.
    pub related: &'a Related,
}

/// The body of a reply, with the number of its change instances.
pub struct PlannedBody {
    pub reply: Map<String, Value>,
    pub change_instances: usize,
}

impl Planned<'_> {
    /// Returns the body of the preview.
    pub fn view(&self, viewpoint: &Viewpoint) -> PlannedBody {
        let mut changes: Vec<Value> =
            self.page_changes.iter().map(|change| self.change_instance(change, viewpoint)).collect();
        changes.truncate(fitting(&changes));
        let change_instances = changes.len();
        let submission = self.submission;
        let mut warnings = self.preview.warnings.clone();
        if !self.is_certain {
            warnings.push(
                "an earlier submission still has pending work: repeat the preview to get a plan".to_owned(),
            );
        }
        // Pending work creates change instances before the submission, so its effects may still change (ADR 23).
        let plan = self.is_certain.then(|| self.preview.plan.to_string());
        let mut reply = valid(&warnings);
        reply.insert("plan".to_owned(), json!(plan));
        reply.insert("changed".to_owned(), json!(submission.changed));
        reply.insert("partial".to_owned(), json!(submission.scope == Scope::Partial));
        let planned = json!({"direct": submission.direct, "generated": submission.derived});
        reply.insert("planned".to_owned(), planned);
        reply.insert("metadata".to_owned(), self.metadata().collect());
        reply.insert("change_instances".to_owned(), Value::Array(changes));
        reply.insert("change_instances_next".to_owned(), Value::Null);
        PlannedBody { reply, change_instances }
    }

    /// Returns a planned change instance, without number, link and history.
    fn change_instance(&self, change: &Change, viewpoint: &Viewpoint) -> Value {
        let mut object = change_instance_as_created(change, self.related, viewpoint);
        let application = change.item.application();
        let is_stored = self.stored.applications.iter().any(|stored| stored.id == application);
        if let Some(fields) = object.as_object_mut() {
            // The numbers are not allocated, and another request may get them first.
            for name in ["id", "url", "cause", "attempt", "log", "created", "modified", "submission"] {
                fields.remove(name);
            }
            let by = [ClosedBy::Displaced(change.id), ClosedBy::Answered(change.id)].map(Some);
            let closes = self.preview.closed.iter().filter(|closing| by.contains(&closing.entry.closed_by));
            let closes: Vec<u64> = closes.map(|closing| closing.change.get()).collect();
            fields.insert("closes".to_owned(), json!(closes));
            fields.remove("supersedes");
            fields.insert("differences".to_owned(), self.differences(change));
            let prices = prices_of(change);
            fields.insert("cost_per_change".to_owned(), amount(prices.per_change));
            fields.insert("monthly_cost".to_owned(), amount(prices.monthly));
        }
        let mut forget = |names: &[&str]| {
            for name in names {
                if let Some(value) = object.pointer_mut(name) {
                    *value = Value::Null;
                }
            }
        };
        // The same holds for the numbers of new items and applications.
        if self.preview.new_items.contains(&change.item) {
            forget(&["/service_item/id", "/service_item/url"]);
        }
        if !is_stored {
            forget(&["/application/id"]);
        }
        object
    }

    /// Returns the fields with a difference between the declarations before and after; none without both.
    fn differences(&self, change: &Change) -> Value {
        let text = |version: Option<Version>| {
            let hash: Hash = version?.hash;
            self.related.declarations.get(&(change.consumer.id, hash)).map(String::as_str)
        };
        match text(change.old).zip(text(change.new)) {
            Some((old, new)) => differences(old, new),
            None => json!([]),
        }
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

/// Returns the differences between two texts, each with its old and new value, if any.
pub(super) fn differences(old: &str, new: &str) -> Value {
    // Stored text is canonical, so it parses.
    let fields = compare::between(old, new).unwrap_or_default();
    fields.into_iter().map(difference).collect()
}

fn difference(field: Field) -> Value {
    let mut object = Map::new();
    object.insert("pointer".to_owned(), json!(field.pointer));
    object.extend(field.old.map(|old| ("old".to_owned(), old)));
    object.extend(field.new.map(|new| ("new".to_owned(), new)));
    Value::Object(object)
}
