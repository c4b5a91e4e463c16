//! The dry run of a definition: the items that it would make invalid. It writes nothing.

use domain::base::id::ServiceId;
use domain::base::json;
use domain::catalog::schema::{Budget, STEPS_MAX, Schema};
use domain::model::declaration::{BODY_BYTES_MAX, DEPTH_MAX};
use domain::{Hash, Item, TeamId, TeamRef};
use dovetail_aws::off_worker;
use dovetail_http::view::{Viewpoint, item_with_problems};
use dovetail_http::{Call, Code, CursorKey, Failure, fitting};
use dovetail_table::{Bound, Direction, Error, Listed, Read, RelatedKey, Rows, Source, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Default and maximum number of items in one request (ADR 22).
const CHECKED_MAX: usize = 500;

/// Rows of one read.
const AT_ONCE: usize = 100;

/// Maximum read of one request. The list of the owner also contains the items of its other services.
const READ_MAX: Bound = Bound { rows: 1_000, units: 2_000 };

/// The parameters of a dry run.
struct Check<'a> {
    schema: &'a Schema,
    service: ServiceId,
    viewpoint: Viewpoint,
    /// Maximum number of items.
    limit: usize,
}

/// The result so far.
#[derive(Default)]
struct Impact {
    checked: usize,
    failing: Vec<Failing>,
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
    let limit = call.query.integer("limit").map_err(|error| Call::bad_filter(&error))?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let mut impact = Impact::default();
    if let Some(service) = table.service(&schema.title).await? {
        // The result shows declarations of consumers, so only the owner of the title may see it.
        if service.owner.id != team {
            return Err(Code::ForeignService.into());
        }
        let rows = table.rows(&Source::<Item>::owned_by(team).live(), Direction::Ascending, after.as_deref());
        let limit = limit.unwrap_or(CHECKED_MAX).min(CHECKED_MAX);
        let check = Check { schema, service: service.id, viewpoint: Viewpoint::of(call), limit };
        impact.look(table, rows, &check).await?;
    }
    impact.cut_to_fit();
    let next = impact.last.take().filter(|_| impact.more);
    let next = next.map(|after| call.page_after(key, &list, &after));
    Ok(impact.reply(next))
}

/// Returns the identity of the list for its cursors: path and definition.
fn identity(call: &Call, schema: &Schema) -> String {
    json!([call.path.trim_end_matches('/'), schema.title, Hash::of(&schema.text).to_string()]).to_string()
}

impl Impact {
    /// Checks items from the first row on, within the bounds of one request.
    async fn look(&mut self, table: &Table, rows: Rows<'_, Item>, check: &Check<'_>) -> Result<(), Failure> {
        let concerns = |item: &Item| item.declared && item.service.id == check.service;
        let (mut rows, mut read) = (rows.at_once(check.limit.min(AT_ONCE)), Read::default());
        while let Some(batch) = read.by(rows.next()).await? {
            read.rows(batch.len());
            let affected = batch.iter().map(|row| &row.value).filter(|item| concerns(item));
            let declarations =
                affected.map(|item| RelatedKey::Declaration(item.consumer.id, item.version.hash));
            let related = read.by(table.related(declarations)).await?;
            for Listed { position, value: item } in batch {
                if concerns(&item) {
                    // One more item may take a whole budget, so the page ends at half of it.
                    if self.checked >= check.limit || self.steps >= STEPS_MAX / 2 {
                        self.more = true;
                        return Ok(());
                    }
                    let text = related.declarations.get(&(item.consumer.id, item.version.hash));
                    self.add(check, item, text.map_or("", String::as_str), &position)?;
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

    fn add(&mut self, check: &Check<'_>, item: Item, text: &str, position: &str) -> Result<(), Error> {
        let Ok(declared) = json::parse(text.as_bytes(), DEPTH_MAX) else {
            let reason = "its declaration is not valid JSON".to_owned();
            return Err(Error::Corrupt { key: format!("item {}", item.id), reason });
        };
        self.checked += 1;
        self.bytes = self.bytes.saturating_add(text.len());
        // In a submission the item would have the budget of a request too. The page ends early instead.
        let mut budget = Budget::of_request();
        let problems = off_worker(|| check.schema.problems(&declared, &mut budget));
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
        let fitting = fitting(self.failing.iter().map(|failing| &failing.view));
        if fitting >= self.failing.len() {
            return;
        }
        self.failing.truncate(fitting);
        if let Some(last) = self.failing.last() {
            (self.checked, self.last, self.more) = (last.checked, Some(last.position.clone()), true);
        }
    }

    fn reply(self, next: Option<String>) -> Value {
        let failing = self.failing.len();
        let mut teams: BTreeMap<TeamId, (String, Vec<Value>)> = BTreeMap::new();
        for Failing { team, view, .. } in self.failing {
            teams.entry(team.id).or_insert_with(|| (team.name, Vec::new())).1.push(view);
        }
        let team = |(id, (name, items)): (TeamId, (String, Vec<Value>))| json!({"id": id.get(), "name": name, "items": items});
        let teams: Vec<Value> = teams.into_iter().map(team).collect();
        json!({"checked": self.checked, "failing": failing, "teams": teams, "next": next})
    }
}
