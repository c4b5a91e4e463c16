//! Claims of the oldest free work of an owner.

use super::release;
use crate::body;
use crate::body::ClaimBatch;
use domain::model::claim::Claim;
use domain::rules::claim;
use domain::rules::order::left;
use domain::{Change, ChangeId, State};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Failure, Reply};
use dovetail_table::{Direction, Source, Table};
use std::collections::BTreeMap;

/// Maximum number of change instances that one request looks at.
const ROWS_MAX: usize = 1_000;

/// Hands out the oldest free work, at most as much as the worker wants.
///
/// A request ends after 1,000 change instances, so fewer may come although more are free.
pub(crate) async fn batch(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let wanted = body::claims(call)?;
    let source = Source::<Change>::owned_by(call.caller.team.id, &[wanted.state]);
    let mut rows = table.rows(&source, Direction::Ascending, None);
    let (mut claimed, mut seen): (Vec<(Change, Claim)>, usize) = (Vec::new(), 0);
    while claimed.len() < wanted.limit && seen < ROWS_MAX {
        let Some(rows) = rows.next().await? else { break };
        seen += rows.len();
        let changes: Vec<Change> = rows.into_iter().map(|row| row.value).collect();
        hand_out(table, call, &wanted, &changes, &mut claimed).await?;
    }
    let viewpoint = Viewpoint::of(call);
    let view = |(change, claim)| view::light_change_instance(change, &viewpoint).with_claim(Some(claim));
    let results: Vec<_> = claimed.iter().map(|(change, claim)| view((change, claim))).collect();
    Reply::list(results.len(), None, results)
}

/// Claims the free ones among these change instances, in their order, until the worker has enough.
async fn hand_out(
    table: &Table,
    call: &Call,
    wanted: &ClaimBatch,
    changes: &[Change],
    claimed: &mut Vec<(Change, Claim)>,
) -> Result<(), Failure> {
    let candidates = changes.iter().filter(|change| wanted.service.is_none_or(|id| change.service.id == id));
    let candidates: Vec<&Change> = candidates.collect();
    let awaited = table.awaited(candidates.iter().copied()).await?;
    // Work that waits for other work is not handed out (R74).
    let ready = candidates.into_iter().filter(|change| left(change, &awaited).is_empty());
    let work: Vec<_> = ready.map(|change| (change.id, (change.item, change.owner.id))).collect();
    let known = table.claims(work.iter().map(|(_, key)| *key).collect()).await?;
    let free = work.into_iter().filter_map(|(id, (item, owner))| {
        let before = known.get(&(item, owner)).cloned().unwrap_or_else(|| Claim::never(item, owner));
        let after = claim::handed_out(&before, &wanted.request, call.now)?;
        Some((id, before, after))
    });
    let mut free = free.collect::<Vec<_>>().into_iter();
    while claimed.len() < wanted.limit {
        let next: Vec<_> = free.by_ref().take(wanted.limit - claimed.len()).collect();
        if next.is_empty() {
            break;
        }
        let stored = table.put_claims(next).await?;
        claimed.extend(with_work(table, wanted.state, stored).await?);
    }
    Ok(())
}

/// Returns the claimed change instances that still have work, and releases the other claims.
///
/// The queue is an index and may be late. A strongly consistent read after the claim shows an end of the work that
/// released an earlier claim, so no work is handed out again after its end.
async fn with_work(
    table: &Table,
    state: State,
    stored: Vec<(ChangeId, Claim)>,
) -> Result<Vec<(Change, Claim)>, Failure> {
    let ids: Vec<ChangeId> = stored.iter().map(|(id, _)| *id).collect();
    let changes = table.changes(&ids).await?;
    let mut changes: BTreeMap<ChangeId, Change> =
        changes.into_iter().map(|change| (change.id, change)).collect();
    let mut claimed = Vec::new();
    for (id, claim) in stored {
        match changes.remove(&id).filter(|change| change.state == state) {
            Some(change) => claimed.push((change, claim)),
            None => release(table, &claim).await?,
        }
    }
    Ok(claimed)
}
