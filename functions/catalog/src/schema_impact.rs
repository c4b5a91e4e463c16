//! The dry run of a definition, which writes nothing: the items that the definition would make invalid.

use crate::looks_alike;
use domain::base::json;
use domain::catalog::schema::{Budget, DecisionForms, STEPS_MAX, Schema, Upgrade};
use domain::catalog::service::Service;
use domain::model::declaration::{BODY_BYTES_MAX, DEPTH_MAX};
use domain::model::deployed::Deployed;
use domain::model::secrets::{Secrets, may_have_masks};
use domain::rules::check::Upgrades;
use domain::rules::secrets::hide;
use domain::{Hash, Item, TeamId, TeamRef};
use dovetail_aws::off_worker;
use dovetail_http::view::{Viewpoint, item_with_problems};
use dovetail_http::{Call, Code, CursorKey, Failure, fitting, invalid_schema};
use dovetail_table::{Bound, Direction, Error, Listed, Read, RelatedKey, Rows, Source, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Default and maximum number of items in one request (ADR 22).
const CHECKED_MAX: usize = 500;

/// Rows of one read.
const AT_ONCE: usize = 100;

/// Maximum read of one request. The list of the owner also contains the items of its other services.
const READ_MAX: Bound = Bound { rows: 1_000, units: 2_000 };

/// The parameters of a dry run.
struct Check<'a> {
    schema: &'a Schema,
    /// The definition in its next version, if it is verified.
    verified: Option<Verified>,
    service: &'a Service,
    viewpoint: Viewpoint,
    /// Maximum number of items.
    limit: usize,
}

impl Check<'_> {
    fn concerns(&self, item: &Item) -> bool {
        item.declared && item.service.id == self.service.id
    }

    /// Returns the keys of the texts that are compared with the definition.
    fn compared(&self, batch: &[Listed<Item>]) -> Vec<RelatedKey> {
        let mut keys = Vec::new();
        for item in batch.iter().map(|row| &row.value).filter(|item| self.concerns(item)) {
            keys.push(RelatedKey::Declaration(item.consumer.id, item.version.hash));
            let newest = item.newest_completed().filter(|_| self.verified.is_some());
            keys.extend(newest.map(|newest| RelatedKey::Deployed(newest.id)));
        }
        keys
    }
}

/// A verified definition with the parts for the check of deployed items.
struct Verified {
    forms: Arc<DecisionForms>,
    /// The definition's own steps from the present version.
    upgrade: Arc<Upgrade>,
}

/// The result so far.
#[derive(Default)]
struct Impact {
    checked: usize,
    failing: Vec<Failing>,
    /// The items whose newest deployed version could not be carried over (R56).
    unusable: Vec<Failing>,
    /// Size of the checked declarations, in bytes.
    bytes: usize,
    /// Steps of the checks so far (ADR 8).
    steps: u64,
    /// Position of the last row.
    last: Option<String>,
    /// Whether more rows may follow.
    more: bool,
}

/// An item that is invalid under the definition.
struct Failing {
    team: TeamRef,
    view: Value,
    position: String,
    /// Number of checked items up to this one.
    checked: usize,
}

/// Returns the next page of the effects of a definition on the items of its service.
pub(crate) async fn of(
    table: &Table,
    key: &CursorKey,
    call: &Call,
    schema: &Schema,
) -> Result<Value, Failure> {
    let (team, list) = (call.caller.team.id, identity(call, schema));
    let after = call.position(key, &list)?.map(|cursor| cursor.after);
    let limit = call.query.integer("limit")?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let mut impact = Impact::default();
    if let Some(service) = table.service(&schema.title).await? {
        // The result shows declarations of consumers, so only the owner of the title may see it.
        if service.owner.id != team {
            return Err(Code::ForeignService.into());
        }
        let rows = table.rows(&Source::<Item>::owned_by(team).live(), Direction::Ascending, after.as_deref());
        let limit = limit.unwrap_or(CHECKED_MAX).min(CHECKED_MAX);
        let verified = verified(schema)?;
        let check = Check { schema, verified, service: &service, viewpoint: Viewpoint::of(call), limit };
        impact.look(table, rows, &check).await?;
    } else if let Some(title) = table.similar_title(&schema.title).await? {
        return Err(invalid_schema(&[looks_alike(&title)]).into());
    }
    impact.cut_to_fit();
    let next = impact.last.take().filter(|_| impact.more);
    let next = next.map(|after| call.page_after(key, &list, &after));
    Ok(impact.reply(next))
}

/// Returns a definition with the parts for the check of deployed items; none if it is not verified.
fn verified(schema: &Schema) -> Result<Option<Verified>, Failure> {
    if !schema.paths().is_some_and(|paths| paths.is_verified) {
        return Ok(None);
    }
    // The check of the definition has passed, so both load.
    let loaded = DecisionForms::load(&schema.text).ok().zip(Upgrade::load(&schema.text).ok());
    let (forms, upgrade) = loaded.ok_or(Code::Broken)?;
    Ok(Some(Verified { forms: Arc::new(forms), upgrade: Arc::new(upgrade) }))
}

/// Returns the identity of the list for its cursors: path and definition.
fn identity(call: &Call, schema: &Schema) -> String {
    json!([call.path.trim_end_matches('/'), schema.title, Hash::of(&schema.text).to_string()]).to_string()
}

impl Impact {
    /// Checks items from the first row on, within the bounds of one request.
    async fn look(&mut self, table: &Table, rows: Rows<'_, Item>, check: &Check<'_>) -> Result<(), Failure> {
        let (mut rows, mut read) = (rows.at_once(check.limit.min(AT_ONCE)), Read::default());
        while let Some(batch) = read.by(rows.next()).await? {
            read.rows(batch.len());
            let related = read.by(table.related(check.compared(&batch))).await?;
            let masked = related.declarations.iter().filter(|(_, text)| may_have_masks(text));
            let masked: Vec<_> = masked.map(|(key, _)| *key).collect();
            let secrets = read.by(table.secrets(masked)).await?;
            for Listed { position, value: item } in batch {
                if check.concerns(&item) {
                    // One more item may take a whole budget, so the page ends once half of the budget is used.
                    if self.checked >= check.limit || self.steps >= STEPS_MAX / 2 {
                        self.more = true;
                        return Ok(());
                    }
                    let key = (item.consumer.id, item.version.hash);
                    let text = related.declarations.get(&key).map_or("", String::as_str);
                    let secrets = secrets.get(&key).map(|stored| &stored.secrets);
                    let newest = item.newest_completed().and_then(|newest| related.deployed.get(&newest.id));
                    self.add_deployed(table, check, (&item, &position), newest).await?;
                    self.add(check, item, (text, secrets), &position)?;
                }
                self.last = Some(position);
            }
            let ends = self.checked >= check.limit || self.bytes >= BODY_BYTES_MAX || read.reaches(&READ_MAX);
            if ends && !rows.is_over() {
                self.more = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds an item whose newest deployed version does not fit the definition, also after its steps.
    async fn add_deployed(
        &mut self,
        table: &Table,
        check: &Check<'_>,
        (item, position): (&Item, &str),
        newest: Option<&Deployed>,
    ) -> Result<(), Error> {
        let Some((Verified { forms, upgrade }, newest)) = check.verified.as_ref().zip(newest) else {
            return Ok(());
        };
        let Service { title, schema_version, .. } = check.service;
        let steps = table.upgrade_steps(title, newest.schema_version, *schema_version).await?;
        let steps = steps.and_then(|steps| steps.then(Arc::clone(upgrade)));
        let upgrades = Upgrades { steps, forms: Arc::clone(forms) };
        let mut budget = Budget::of_request();
        let problems = off_worker(|| upgrades.problems(newest, &mut budget));
        self.bytes = self.bytes.saturating_add(newest.data.len());
        self.steps = self.steps.saturating_add(budget.taken());
        if !problems.is_empty() {
            let view = item_with_problems(item, &problems, &check.viewpoint);
            let (team, position, checked) = (item.consumer.clone(), position.to_owned(), self.checked + 1);
            self.unusable.push(Failing { team, view, position, checked });
        }
        Ok(())
    }

    /// Adds an item if its declaration does not fit the definition. The problems show no secret, even if this
    /// definition lacks a `writeOnly` of the stored one.
    fn add(
        &mut self,
        check: &Check<'_>,
        item: Item,
        (text, secrets): (&str, Option<&Secrets>),
        position: &str,
    ) -> Result<(), Error> {
        let Ok(declared) = json::parse(text.as_bytes(), DEPTH_MAX) else {
            let reason = "its declaration is not valid JSON".to_owned();
            return Err(Error::Corrupt { key: format!("item {}", item.id), reason });
        };
        self.checked += 1;
        self.bytes = self.bytes.saturating_add(text.len());
        // In a submission, the item would have the budget of a whole request too, so the page ends early instead.
        let mut budget = Budget::of_request();
        let problems = off_worker(|| {
            // An older release stored masks that stand for more bytes than a record can hold.
            let revealed = secrets.and_then(|secrets| secrets.revealed(&declared).ok());
            let checked = revealed.as_deref().unwrap_or(&declared);
            let mut problems = check.schema.problems(checked, &mut budget);
            if let Some(secrets) = secrets {
                hide(&mut problems, &declared, secrets);
            }
            problems
        });
        self.steps = self.steps.saturating_add(budget.taken());
        if !problems.is_empty() {
            let view = item_with_problems(&item, &problems, &check.viewpoint);
            let (position, checked) = (position.to_owned(), self.checked);
            self.failing.push(Failing { team: item.consumer, view, position, checked });
        }
        Ok(())
    }

    /// Shortens the page to the items with room in the reply.
    fn cut_to_fit(&mut self) {
        let mut all: Vec<&Failing> = self.failing.iter().chain(&self.unusable).collect();
        all.sort_by_key(|failing| failing.checked);
        let fitting = fitting(all.iter().map(|failing| &failing.view));
        let Some(last) = all.get(..fitting).filter(|fitting| fitting.len() < all.len()).and_then(<[_]>::last)
        else {
            return;
        };
        let (checked, position) = (last.checked, last.position.clone());
        self.failing.retain(|failing| failing.checked <= checked);
        self.unusable.retain(|failing| failing.checked <= checked);
        (self.checked, self.last, self.more) = (checked, Some(position), true);
    }

    fn reply(self, next: Option<String>) -> Value {
        let failing = self.failing.len();
        let mut teams: BTreeMap<TeamId, (String, Vec<Value>)> = BTreeMap::new();
        for Failing { team, view, .. } in self.failing {
            teams.entry(team.id).or_insert_with(|| (team.name, Vec::new())).1.push(view);
        }
        let team = |(id, (name, items)): (TeamId, (String, Vec<Value>))| json!({"id": id.get(), "name": name, "items": items});
        let teams: Vec<Value> = teams.into_iter().map(team).collect();
        let deployed_items: Vec<Value> = self.unusable.into_iter().map(|unusable| unusable.view).collect();
        json!({
            "checked": self.checked,
            "failing": failing,
            "teams": teams,
            "deployed_items": deployed_items,
            "next": next,
        })
    }
}
