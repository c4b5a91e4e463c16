//! Previews: a declaration is checked and planned like a submission, and not written (R34, ADR 23).

use crate::load::{self, Loaded};
use crate::messages::Audience;
use crate::reply;
use crate::submitted::{Again, Submitted};
use crate::{ATTEMPTS_MAX, write};
use domain::rules::plan::{Plan, Preview};
use dovetail_aws::pause;
use dovetail_http::view::{CHANGES_MAX, Planned, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::Table;

/// Maximum number of waits for pending work; after that, the preview has no plan token.
const WAITS_MAX: u32 = 4;

/// Maximum number of change instances on a page.
const PAGE_MAX: u64 = 1_000;

/// Query parameters of the page.
pub(crate) const PARAMETERS: &[&str] = &["limit", "offset"];

/// The page of change instances in a preview.
pub(crate) struct Page {
    limit: usize,
    offset: usize,
}

/// Returns the effects of a submission, and changes nothing.
pub(crate) async fn preview(
    table: &Table,
    call: &Call,
    mut submitted: Submitted,
    page: &Page,
    audience: &mut Audience,
) -> Result<Reply, Failure> {
    let mut refusal = Code::Contended;
    for attempt in 0..ATTEMPTS_MAX {
        let team = load::team(table, call, &submitted, true).await?;
        let followed = submitted.follow(table, &team).await?;
        audience.declared(&team, &submitted);
        let loaded = load::items(table, team, &submitted).await?;
        audience.loaded(&loaded, &submitted);
        let planned = match followed {
            Ok(()) => submitted.plan(table, call, &loaded).await?,
            Err(second) => Err(second),
        };
        match planned {
            // A short wait: without pending work the preview has a token, and the client needs no second one.
            Ok(_) if loaded.has_pending_work && attempt < WAITS_MAX => {}
            Ok(plan) => match plan.preview(&loaded.items, &call.ctx()) {
                Ok(preview) => return preview_reply(table, call, &loaded, &plan, &preview, page).await,
                // A consistent plan always has effects. If it has none, the next attempt reads the records again.
                Err(_) => refusal = Code::Contended,
            },
            Err(Again(why)) => refusal = why,
        }
        pause(attempt).await;
    }
    Err(refusal.into())
}

/// Parses `limit` and `offset`.
pub(crate) fn page(call: &Call) -> Result<Page, Failure> {
    let integer = |name: &str| call.query.integer(name).map_err(|error| Call::bad_filter(&error));
    let limit = integer("limit")?
        .filter(|limit| *limit > 0)
        .unwrap_or(u64::try_from(CHANGES_MAX).unwrap_or(PAGE_MAX));
    if limit > PAGE_MAX {
        let message = format!("must be at most {PAGE_MAX}");
        return Err(Call::bad_filter(&FieldError::new("limit", message)));
    }
    let to_usize = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Page { limit: to_usize(limit), offset: to_usize(integer("offset")?.unwrap_or(0)) })
}

async fn preview_reply(
    table: &Table,
    call: &Call,
    loaded: &Loaded,
    plan: &Plan<'_>,
    preview: &Preview,
    page: &Page,
) -> Result<Reply, Failure> {
    let rest = preview.created.get(page.offset..).unwrap_or_default();
    let page_changes = rest.get(..page.limit).unwrap_or(rest);
    let mut related = write::related(table, page_changes).await?;
    reply::with_plan(&mut related, loaded, plan);
    let planned = Planned {
        stored: &loaded.stored,
        others: &plan.others,
        submission: plan.submission(),
        preview,
        is_certain: !loaded.has_pending_work,
        page_changes,
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
