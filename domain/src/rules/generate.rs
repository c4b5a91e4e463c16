//! Generation: creates the planned change instances of one item, with the submission or later (R14 to R16, R24,
//! R25).
//!
//! One transaction writes all change instances of the item, so they exist together or not at all. Changes of an
//! overtaken submission start in CLOSED. If one transaction cannot hold all closings, [`close_excess()`] closes the
//! excess first.

mod close_excess;
mod spare;

pub use close_excess::{CLOSINGS_MAX, OPENED_MAX, close_excess};

use crate::base::context::RequestContext;
use crate::base::id::ChangeId;
use crate::base::state::{ChangeType, Kind, State};
use crate::model::blockers::Blockers;
use crate::model::change::Change;
use crate::model::declared::Origin;
use crate::model::item::Item;
use crate::model::submission::Submission;
use crate::model::work::{PlannedChange, Share};
use crate::model::write::Write;
use crate::rules::change_draft::ChangeDraft;
use crate::rules::open_change::{OpenedChange, open_change};
use crate::rules::put_item::{drifted, put_item, uses_changed};
use crate::rules::replacement;
use std::collections::BTreeMap;

/// The result of generation on one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The item after; unchanged if later ones overtook all change instances.
    pub item: Item,
    /// The change instances, in the order of the plan.
    pub created: Vec<Change>,
    /// The transaction.
    pub writes: Vec<Write>,
}

/// A record that a planned change refers to does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The change instance of which this one is a share.
    Cause(ChangeId),
    Item,
    Declaration,
    /// The change instance itself: the item shows that it exists, and the caller did not read it.
    Change(ChangeId),
}

/// Creates all planned change instances of one item; `item` is none until its first declaration is applied.
///
/// `causes` holds the change instances of which dependent teams get a share. Causes among `planned` itself may be
/// missing.
pub fn generate(
    planned: &[PlannedChange],
    submission: &Submission,
    item: Option<&Item>,
    causes: &BTreeMap<ChangeId, Change>,
    ctx: &RequestContext,
) -> Result<Generated, Missing> {
    let on_spare = spare::on_spare(planned, item);
    let mut writes = Vec::new();
    writes.extend(on_spare.iter().zip(item).map(|(_, gone)| Write::CheckGone { item: gone.id }));
    let (planned, item) = on_spare.as_ref().map_or((planned, item), |on_spare| (&on_spare[..], None));
    let mut after = item.cloned();
    let mut created: Vec<Change> = Vec::new();
    let completes_shares = planned.iter().any(|one| one.kind == Kind::Dependent);
    for one in planned {
        let mut opened = match one.kind {
            Kind::Direct => {
                // The history names the submitter, whichever function applies the change and whenever.
                let (by, request) = (submission.by.clone(), submission.request.clone());
                let ctx = RequestContext { by, request, now: ctx.now };
                apply_declaration(one, submission, after.as_ref(), &ctx)?
            }
            Kind::Dependent | Kind::Referenced | Kind::Retry | Kind::Replacement => {
                let item = after.as_ref().ok_or(Missing::Item)?;
                let cause = cause(one, causes, &created)?;
                open_change(item, &draft(one, submission, item, cause), ctx)
            }
        };
        // The share puts the item into the dependent team's list. One record is enough for the life of the item.
        let has_stack = |item: &Item| item.stacks.contains_key(&one.owner.id);
        let is_new_owner = !after.as_ref().is_some_and(has_stack) && has_stack(&opened.item);
        if is_new_owner && one.kind == Kind::Dependent {
            writes.push(Write::CreateShare(Share { item: one.item, owner: one.owner.id, created: ctx.now }));
        }
        if one.kind == Kind::Direct && completes_shares {
            // Until its shares exist, the item cannot go (R44, I33).
            opened.item.shares_due += 1;
        }
        writes.push(Write::CreateChange(opened.change.clone()));
        writes.extend(opened.closed.into_iter().map(Write::CloseChange));
        writes.extend(opened.others);
        after = Some(opened.item);
        created.push(opened.change);
    }
    let mut after = after.ok_or(Missing::Item)?;
    if completes_shares && planned.iter().all(|one| one.kind != Kind::Referenced) {
        after.shares_due = after.shares_due.saturating_sub(1);
    }
    let after = written(item, after, &mut writes);
    Ok(Generated { item: after, created, writes })
}

/// Adds the single write of the item, after any number of changes.
///
/// A transaction allows one action per record.
fn written(before: Option<&Item>, after: Item, writes: &mut Vec<Write>) -> Item {
    let revision = before.map_or(0, |before| before.revision);
    if let Some(before) = before
        && after == *before
    {
        // Overtaken changes leave the item unchanged. The check of its revision makes sure that the reason still holds
        // at the commit.
        writes.push(Write::CheckItem { item: before.id, is_gone: before.gone, revision });
        return after;
    }
    // Each change has advanced the revision, but the record counts writes.
    let mut after = Item { revision: revision + 1, ..after };
    match before {
        Some(before) => writes.extend(put_item(before, &mut after)),
        None => writes.push(Write::PutItem { before: None, after: after.clone() }),
    }
    writes.extend(blockers_changed(before, &after));
    writes.extend(drifted(before, &after));
    writes.extend(uses_changed(before, &after));
    after
}

/// Returns the write that adds an item's change of blockers to the consumer's head; none if they are the same.
fn blockers_changed(before: Option<&Item>, after: &Item) -> Option<Write> {
    let delta = after.blockers() - before.map_or(Blockers::NONE, Item::blockers);
    (delta != Blockers::NONE).then_some(Write::AddBlockers { team: after.consumer.id, delta })
}

/// Returns the change instance of which this one is a share; none for a referenced item.
fn cause<'a>(
    planned: &PlannedChange,
    causes: &'a BTreeMap<ChangeId, Change>,
    created: &'a [Change],
) -> Result<Option<&'a Change>, Missing> {
    let Some(id) = planned.cause else { return Ok(None) };
    let existing = causes.get(&id).or_else(|| created.iter().find(|change| change.id == id));
    existing.ok_or(Missing::Cause(id)).map(Some)
}

/// Applies an item's declaration and creates its direct change instance; the item as it is now decides the type.
pub(crate) fn apply_declaration(
    planned: &PlannedChange,
    submission: &Submission,
    before: Option<&Item>,
    ctx: &RequestContext,
) -> Result<OpenedChange, Missing> {
    let declared = planned.declared.as_ref().ok_or(Missing::Declaration)?;
    // A concurrent reader may see the item after the transaction, but not yet its change instance. A second creation
    // would displace the first, and the change instance would close itself.
    let newest = before.and_then(|item| item.stacks.get(&planned.owner.id)).map_or(0, |stack| stack.sequence);
    if newest >= submission.id.number() {
        return Err(Missing::Change(planned.id));
    }
    let origin = Origin {
        id: planned.item,
        consumer: &submission.team,
        service_owner: &planned.owner,
        change: planned.id,
        now: ctx.now,
    };
    let after = declared.applied(before, &origin).ok_or(Missing::Item)?;
    let change_type = after.change_type();
    // A CREATE has no old declaration, except for an item that was declared and never created (R4).
    let has_old = |before: &&Item| before.declared || change_type != ChangeType::Create;
    let draft = ChangeDraft {
        change_type,
        new: after.declared.then_some(after.version),
        old: before.filter(has_old).map(|before| before.version),
        ..self::draft(planned, submission, &after, None)
    };
    Ok(open_change(&after, &draft, ctx))
}

/// Returns the planned change instance of a dependent team or a referenced item.
///
/// A share copies its cause as created. A referenced item's change keeps the declaration at the submission.
fn draft(
    planned: &PlannedChange,
    submission: &Submission,
    item: &Item,
    cause: Option<&Change>,
) -> ChangeDraft {
    let (change_type, new, old) = match cause {
        Some(cause) => {
            let change_type =
                replacement::type_of_share(cause, item.stacks.get(&planned.owner.id), &planned.strategy);
            (change_type, cause.new, cause.old)
        }
        // The item was declared at the submission. A later submission may have removed it since, and has its own
        // change.
        None => (item.change_type_if_declared(), planned.version, planned.version),
    };
    ChangeDraft {
        id: planned.id,
        kind: planned.kind,
        cause: planned.cause,
        causes: planned.causes.clone(),
        origin: None,
        waits: planned.waits.clone(),
        unblocks: planned.unblocks,
        owner: planned.owner.clone(),
        change_type,
        state: if planned.approval_required { State::Pending } else { State::Approved },
        attempt: 1,
        submission: submission.id,
        commit_id: submission.commit_id.clone(),
        message: submission.message.clone(),
        new,
        old,
        schema_version: planned.schema_version,
        strategy: planned.strategy.clone(),
        complete_unneeded: planned.complete_unneeded,
        claim_required: planned.claim_required,
        prices: planned.prices,
    }
}
