//! The declarations of the caller's team as one document, which declares the same again (R36).

mod export;
mod reduced;

use crate::filter::texts;
use crate::history;
use crate::page::ListRequest;
use crate::walk::{Progress, Walk};
use domain::model::team::{Head, Team};
use domain::views::history::{Moment, Then, document};
use domain::{Hash, TeamId};
use dovetail_http::{Call, Code, Failure, OBJECTS_BYTES_MAX, Reply};
use dovetail_table::{RelatedKey, Table};
use export::{Export, Found};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Number of declarations in one read. A function has little memory for declarations.
const TEXTS_AT_ONCE: usize = 100;

/// The position of a page: the number of the last submission that counts, and the end of the page before.
struct Position {
    /// The number of the submission; none if the query has a time.
    submission: Option<u64>,
    progress: Progress,
}

/// A page of the declarations.
#[derive(Serialize)]
struct Page {
    declaration: Value,
    next: Option<String>,
}

/// Returns a page of the declarations.
pub(crate) async fn export(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, key, call } = request;
    call.only_knows(&["application_name", "as_of", "limit", "cursor"])?;
    let limit = call.query.document_limit()?;
    let position = position(request)?;
    let id = call.caller.team.id;
    let (team, head) = stored(table, id).await?;
    let moment = moment(table, call, position.as_ref(), &head).await?;
    let is_present = moment.submission == Some(head.submissions);
    let export = Export { table, moment, is_present, names: texts(&call.query, "application_name") };
    let mut walk = Walk::new(table, &export, limit);
    let progress = position.map(|position| position.progress);
    let next = walk.from(id, progress).await?;
    let (applications, texts, cut) = gathered(table, id, walk.found).await?;
    let metadata = history::historical(table.metadata_at(team.replaced(), moment).await?, "as_of")?;
    let metadata = metadata.unwrap_or_else(|| "{}".to_owned());
    let applications: Vec<&Then> = applications.iter().filter(|then| has_content(then)).collect();
    let text = document(&team.name, &metadata, &applications, &texts).ok_or(Code::Broken)?;
    // The document is parsed, because the members of a response are in the order of their names.
    let mut declaration: Value = serde_json::from_str(&text).map_err(|_| Code::Broken)?;
    if let Some(content) = declaration.get_mut(&team.name).and_then(Value::as_object_mut) {
        reduced::reduce(&export, id, content, &applications).await?;
    }
    // An item can be missing among the live items only if a later submission removed it.
    if is_present && stored_head(table, id).await?.submissions != head.submissions {
        return Err(Code::Contended.into());
    }
    let next = cut.or(next).map(|progress| {
        let position = json!([moment.submission, progress.to_position()]).to_string();
        call.page_after(key, &identity(call), &position)
    });
    Reply::new(200, Page { declaration, next })
}

/// Returns whether an application declares anything. A document without such an application means the same.
fn has_content(then: &Then) -> bool {
    !then.items.is_empty() || then.metadata.as_deref().is_some_and(|metadata| metadata != "{}")
}

/// Returns the position in the cursor, if any.
fn position(request: ListRequest<'_>) -> Result<Option<Position>, Failure> {
    let ListRequest { key, call, .. } = request;
    let Some(cursor) = call.position(key, &identity(call))? else { return Ok(None) };
    let parsed = || {
        let (submission, progress): (Option<u64>, Box<RawValue>) =
            serde_json::from_str(&cursor.after).ok()?;
        Some(Position { submission, progress: Progress::parse(progress.get())? })
    };
    parsed().map(Some).ok_or_else(|| Code::InvalidCursor.into())
}

/// Returns the identity of the list for its cursors.
fn identity(call: &Call) -> String {
    let parameters = ["application_name", "as_of"].map(|name| call.query.get(name));
    json!([call.path.trim_end_matches('/'), parameters]).to_string()
}

/// Returns the team and its head.
async fn stored(table: &Table, id: TeamId) -> Result<(Team, Head), Failure> {
    let team = async { table.team(id).await?.ok_or_else(|| Failure::from(Code::Unauthenticated)) };
    tokio::try_join!(team, stored_head(table, id))
}

async fn stored_head(table: &Table, id: TeamId) -> Result<Head, Failure> {
    table.head(id).await?.ok_or_else(|| Code::Unauthenticated.into())
}

/// Returns the moment of all pages: the moment in the query, or the newest submission at the first page.
async fn moment(
    table: &Table,
    call: &Call,
    position: Option<&Position>,
    head: &Head,
) -> Result<Moment, Failure> {
    if let Some(moment) = history::of_declaration(table, call).await? {
        return Ok(moment);
    }
    let submission = match position {
        Some(position) => position.submission,
        // The items of the submission change one after the other, so the state after it does not exist yet.
        None if head.in_flight.is_some() => return Err(Code::SubmissionInFlight.into()),
        None => Some(head.submissions),
    };
    Ok(Moment { at: call.now, submission })
}

/// The applications of a page, the texts of their items by hash, and the end of a page that is full before its last
/// find.
type Gathered = (Vec<Then>, BTreeMap<Hash, String>, Option<Progress>);

/// Reads the texts of the finds, as many as fit one reply.
async fn gathered(table: &Table, team: TeamId, found: Vec<(Progress, Found)>) -> Result<Gathered, Failure> {
    let (mut applications, mut texts) = (Vec::<Then>::new(), BTreeMap::new());
    let (mut bytes, mut last) = (0_usize, None);
    for some in found.chunks(TEXTS_AT_ONCE) {
        let hashes = some.iter().filter_map(|(_, found)| found.hash());
        let read = table.related(hashes.map(|hash| RelatedKey::Declaration(team, hash))).await?;
        texts.extend(read.declarations.into_iter().map(|((_, hash), text)| (hash, text)));
        for (progress, found) in some {
            // A shared text counts for each item, because the document contains it once for each item.
            let text = found.hash().and_then(|hash| texts.get(&hash)).map_or(0, String::len);
            bytes = bytes.saturating_add(text).saturating_add(found.bytes());
            if bytes > OBJECTS_BYTES_MAX && last.is_some() {
                return Ok((applications, texts, last));
            }
            last = Some(progress.clone());
            match (found, applications.last_mut()) {
                (Found::Item(title, name, hash), Some(then)) => {
                    then.items.push((title.clone(), name.clone(), *hash));
                }
                (Found::Application(then), _) => applications.push(Then::clone(then)),
                // The walk enters an application before it visits its items.
                (Found::Item(..), None) => return Err(Code::Broken.into()),
            }
        }
    }
    Ok((applications, texts, None))
}
