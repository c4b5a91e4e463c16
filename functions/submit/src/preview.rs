//! Previews: a declaration is checked and planned like a submission, and not written (R34, ADR 36).

use crate::attempt::Attempt;
use crate::context::Context;
use crate::load::{self, Loaded};
use crate::submitted::Submitted;
use crate::{reply, write};
use domain::rules::plan::{Plan, Preview};
use domain::views::causes::{self, Cause};
use domain::views::related::Related;
use domain::{Change, ChangeId, Item, ItemId};
use dovetail_aws::{off_worker, retry};
use dovetail_http::view::{CHANGES_MAX, Planned, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{RelatedKey, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Maximum number of waits for pending work; after that, the preview has no plan token.
const WAITS_MAX: u32 = 4;

/// Maximum number of change instances on a page.
const PAGE_MAX: u64 = 1_000;

/// Maximum number of causes on a page of a preview; each one takes two declarations.
const CAUSES_MAX: usize = 1_000;

/// Query parameters of the page.
pub(crate) const PARAMETERS: &[&str] = &["limit", "offset"];

/// The page of change instances in a preview.
pub(crate) struct Page {
    limit: usize,
    offset: usize,
}

/// Returns the effects of a submission, and changes nothing.
pub(crate) async fn preview(
    context: &Context<'_>,
    submitted: Submitted,
    page: &Page,
) -> Result<Reply, Failure> {
    let first = (submitted, Code::Contended);
    let ended =
        retry::until_stored_from(retry::PLAN, first, |number, (mut submitted, mut refusal)| async move {
            let reply = Box::pin(attempt(context, &mut submitted, (number, page), &mut refusal)).await?;
            Ok::<_, Failure>(reply.map_or(ControlFlow::Continue((submitted, refusal)), ControlFlow::Break))
        });
    match ended.await? {
        ControlFlow::Break(reply) => Ok(reply),
        ControlFlow::Continue((_, refusal)) => Err(refusal.into()),
    }
}

/// Makes one attempt of a preview. Returns its reply; `None` if another attempt may succeed.
async fn attempt(
    context: &Context<'_>,
    submitted: &mut Submitted,
    (number, page): (u32, &Page),
    refusal: &mut Code,
) -> Result<Option<Reply>, Failure> {
    let team = load::team(context, submitted.key(), true).await?;
    let attempt = Attempt::load(context, submitted, team).await?;
    let Some(attempt) = attempt.ready(refusal) else { return Ok(None) };
    let plan = attempt.plan(context, true).await?;
    let Some(plan) = plan.ready(refusal) else { return Ok(None) };
    // A short wait: without pending work the preview has a token, and the client needs no second one.
    if attempt.loaded.team.has_pending_work && number < WAITS_MAX {
        return Ok(None);
    }
    let Ok(preview) = plan.preview(&attempt.loaded.items, &context.call.ctx()) else {
        // A consistent plan always has effects. If it has none, the next attempt reads the records again.
        *refusal = Code::Contended;
        return Ok(None);
    };
    let reply = reply_of(context, &attempt, (&plan, &preview), page).await?;
    attempt.with_messages(context, reply).await.map(Some)
}

/// Parses `limit` and `offset`.
pub(crate) fn page(call: &Call) -> Result<Page, Failure> {
    let limit = call
        .query
        .integer("limit")?
        .filter(|limit| *limit > 0)
        .unwrap_or(u64::try_from(CHANGES_MAX).unwrap_or(PAGE_MAX));
    if limit > PAGE_MAX {
        let message = format!("must be at most {PAGE_MAX}");
        return Err(Call::bad_filter(&FieldError::new("limit", message)));
    }
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Page { limit: to_usize(limit), offset: to_usize(call.query.integer("offset")?.unwrap_or(0)) })
}

/// Adds the items and definitions of change instances, for their proposals (R49), and the texts of drift (R54).
///
/// Returns the number of change instances, from the first on, with a definition that a request can hold.
async fn with_proposals(
    table: &Table,
    loaded: &Loaded,
    page_changes: &[Change],
    related: &mut Related,
) -> Result<usize, Failure> {
    let items = loaded.items.values().flatten();
    let items: BTreeMap<ItemId, &Item> = items.map(|item| (item.id, item)).collect();
    for change in page_changes {
        for item in change.waits.iter().filter_map(|wait| items.get(&wait.item)) {
            related.items.entry(item.id).or_insert_with(|| (*item).clone());
        }
        // The change instance shows the runtime state after the submission.
        let after = items
            .get(&change.item)
            .map(|before| Item { runtime_state: change.runtime_state, ..(*before).clone() });
        related.items.extend(after.map(|after| (after.id, after)));
    }
    for (title, offer) in &loaded.offers {
        let version = (title.clone(), offer.service.schema_version);
        related.definitions.extend(offer.schema.paths().map(|paths| (version, paths)));
    }
    let drifted: Vec<Item> = related.items.values().filter(|item| item.drift.is_some()).cloned().collect();
    table.add_texts_of_drift(&drifted, related).await?;
    Ok(table.add_definitions_of_changes(page_changes, related).await?)
}

/// Adds the causes of referenced change instances (R73).
async fn with_causes(
    table: &Table,
    preview: &Preview,
    page_changes: &[Change],
    related: &mut Related,
) -> Result<(), Failure> {
    let shown: BTreeSet<ChangeId> =
        page_changes.iter().flat_map(causes::shown).copied().take(CAUSES_MAX).collect();
    let modified = preview.created.iter().filter(|change| shown.contains(&change.id));
    let modified: Vec<&Change> = modified.collect();
    let old = modified.iter().filter_map(|change| Some((change.consumer.id, change.old?.hash)));
    let old = old.filter(|key| !related.declarations.contains_key(key));
    let texts = table.related(old.map(|(team, hash)| RelatedKey::Declaration(team, hash))).await?;
    related.declarations.extend(texts.declarations);
    let compared = modified.iter().map(|change| (change.id, Cause::of(change, &related.declarations)));
    let compared: Vec<_> = off_worker(|| compared.collect());
    related.causes.extend(compared);
    Ok(())
}

async fn reply_of(
    context: &Context<'_>,
    attempt: &Attempt<'_>,
    (plan, preview): (&Plan<'_>, &Preview),
    page: &Page,
) -> Result<Reply, Failure> {
    let Context { table, call, .. } = context;
    let loaded = &attempt.loaded;
    let rest = preview.created.get(page.offset..).unwrap_or_default();
    let page_changes = rest.get(..page.limit).unwrap_or(rest);
    let mut related = write::related(table, page_changes).await?;
    reply::with_plan(&mut related, loaded, plan, page_changes);
    with_causes(table, preview, page_changes, &mut related).await?;
    let with_definition = with_proposals(table, loaded, page_changes, &mut related).await?;
    let page_changes = page_changes.get(..with_definition).unwrap_or(page_changes);
    let planned = Planned {
        stored: &loaded.team.stored,
        others: &plan.others,
        submission: plan.submission(),
        preview,
        is_certain: !loaded.team.has_pending_work,
        page_changes,
        unconfirmed: attempt.unconfirmed(),
        unconfirmed_items: attempt.unconfirmed_items(plan),
        items_in_use: &plan.items_in_use,
        is_confirmed: attempt.allows_removal(),
        is_revert: attempt.is_revert(),
        unapprovable: plan.unapprovable(&loaded.offers),
        of_metadata: attempt.warnings_of_metadata(),
        related: &related,
    };
    let mut body = planned.view(&Viewpoint::of(call))?;
    let next = page.offset + body.change_instances.len();
    if next < preview.created.len() {
        let url = format!("{}{}?limit={}&offset={next}", call.base, call.path, page.limit);
        body.change_instances_next = Some(url);
    }
    Reply::new(200, body)
}
