//! The blast radius of a definition: which items would stop being valid under it. Nothing is written.

use domain::actor::TeamRef;
use domain::declaration::{BODY_BYTES_MAX, DEPTH_MAX};
use domain::id::{ServiceId, TeamId};
use domain::item::Item;
use domain::json::{self, Hash};
use domain::schema::{Budget, STEPS_MAX, Schema};
use dovetail_aws::off_worker;
use dovetail_http::view::{Viewpoint, item_with_problems};
use dovetail_http::{Call, Code, CursorKey, Failure, fitting};
use dovetail_table::{Beside, Bound, Direction, Error, Listed, Read, Rows, Source, Table};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many items one request checks when nothing is said, and at most.
const CHECKED_MAX: usize = 500;

/// How many rows are read and checked at once.
const AT_ONCE: usize = 100;

/// How much of the owner's items one request reads: those of other services are among them.
const READ_MAX: Bound = Bound { rows: 1_000, units: 2_000 };

/// What items are checked for.
struct Check<'a> {
    schema: &'a Schema,
    service: ServiceId,
    viewpoint: Viewpoint,
    /// How many of them.
    limit: usize,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    checked: usize,
    failing: Vec<Failing>,
    /// The bytes of the declarations that were checked.
    bytes: usize,
    /// The steps that judging them took.
    steps: u64,
    /// Where the last row stands that was looked at.
    last: Option<String>,
    /// Whether there may be more behind it.
    more: bool,
}

/// An item that would not be valid.
struct Failing {
    team: TeamRef,
    view: Value,
    position: String,
    /// How many were checked up to it.
    checked: usize,
}

/// The next page of what a definition would do to the items of the service that it is a new version of.
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
    let mut found = Found::default();
    if let Some(service) = table.service(&schema.title).await? {
        if service.owner.id != team {
            return Err(Code::ForeignService.into());
        }
        let rows = table.rows(&Source::<Item>::owned_by(team), Direction::Ascending, after.as_deref());
        let limit = limit.unwrap_or(CHECKED_MAX).min(CHECKED_MAX);
        let check = Check { schema, service: service.id, viewpoint: Viewpoint::of(call), limit };
        found.look(table, rows, &check).await?;
    }
    found.cut_to_fit();
    let next = found.last.take().filter(|_| found.more);
    let next = next.map(|after| call.page_after(key, &list, &after));
    Ok(found.reply(next))
}

/// What a position is bound to: the path and the definition.
fn identity(call: &Call, schema: &Schema) -> String {
    json!([call.path.trim_end_matches('/'), schema.title, Hash::of(&schema.text).to_string()]).to_string()
}

impl Found {
    /// Checks items from where the rows begin, as far as one request goes.
    async fn look(&mut self, table: &Table, rows: Rows<'_, Item>, check: &Check<'_>) -> Result<(), Failure> {
        let concerns = |item: &Item| item.declared && item.service.id == check.service;
        let (mut rows, mut read) = (rows.at_once(check.limit.min(AT_ONCE)), Read::default());
        while let Some(batch) = read.by(rows.next()).await? {
            read.rows(batch.len());
            let concerned = batch.iter().map(|row| &row.value).filter(|item| concerns(item));
            let declarations = concerned.map(|item| Beside::Declaration(item.consumer.id, item.version.hash));
            let related = read.by(table.beside(declarations)).await?;
            for Listed { position, value: item } in batch {
                if concerns(&item) {
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
            let reason = "its declaration cannot be read".to_owned();
            return Err(Error::Corrupt { key: format!("item {}", item.id), reason });
        };
        self.checked += 1;
        self.bytes = self.bytes.saturating_add(text.len());
        // Each item has a budget of its own, for with its own request it will have one; the page ends early instead.
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

    /// Ends behind the last item of which a reply has room to tell.
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
