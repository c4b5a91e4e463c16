//! The effects of a completed first half of a replacement (R61).

use super::*;
use crate::model::write::Closing;

/// Returns whether the completion of a change instance creates its second half.
///
/// The item must still be declared as the first half says. The first half must be the newest change instance of its
/// owner: an older one would otherwise create the item again after the owner has rejected a newer request (I6). A
/// rejection that is older than the first half does not count.
pub(super) fn is_due(change: &Change, item: &Item, state: State) -> bool {
    let is_completion = state == State::Completed && change.state != State::Completed;
    let is_newest =
        |stack: &Stack| (stack.sequence, stack.attempt) == (change.submission.number(), change.attempt);
    is_completion
        && change.is_first_half()
        && item.wanted() == change.target()
        && item.stacks.get(&change.owner.id).is_some_and(is_newest)
}

/// Applies the effects of a completion to the item: the second half, or the end of a removal of what is gone.
///
/// `before` are the change instance and the item before the decision.
pub(super) fn follow(
    after: &mut Decided,
    before: (&Change, &Item),
    check: Option<&Check<'_>>,
    numbers: Option<&mut Head>,
    ctx: &RequestContext,
) -> Result<(), Refused> {
    let (change, item) = before;
    if is_due(change, item, after.change.state) {
        return create(after, before, check, numbers, ctx);
    }
    if change.is_first_half() && after.change.state == State::Completed && !item.declared {
        let closed = close_removal(after, ctx);
        after.writes.extend(closed.map(Write::CloseChange));
    }
    Ok(())
}

/// Creates the second half: a CREATE of the same declaration, as the next attempt.
fn create(
    after: &mut Decided,
    (change, item): (&Change, &Item),
    check: Option<&Check<'_>>,
    numbers: Option<&mut Head>,
    ctx: &RequestContext,
) -> Result<(), Refused> {
    // Without the head, the caller reads again.
    let numbers = numbers.ok_or(Refused::Torn)?;
    let id = ChangeId::new(item.id.team(), numbers.next_change).ok_or(Refused::OutOfNumbers)?;
    numbers.next_change += CHANGE_STRIDE;
    // An owner path may be required from APPROVED on, and the owner's values of the earlier life are gone (R49).
    let is_approved = check.map_or(Ok(true), |check| check.fits_alone(change))?;
    let draft = ChangeDraft {
        kind: Kind::Replacement,
        change_type: ChangeType::Create,
        state: if is_approved { State::Approved } else { State::Pending },
        old: None,
        ..next_attempt(change, id)
    };
    let opened = open_change::open_change(&after.item, &draft, ctx);
    // The record counts writes, and the completion and the second half are one write.
    after.item = Item { revision: item.revision, ..opened.item };
    after.writes.push(Write::CreateChange(opened.change));
    after.writes.extend(opened.others);
    Ok(())
}

/// Closes the waiting removal of the owner, because nothing is left to remove.
fn close_removal(after: &mut Decided, ctx: &RequestContext) -> Option<Closing> {
    let Decided { change, item, .. } = after;
    let waiting = item.stacks.get(&change.owner.id)?.pre_validated?;
    if waiting.state != State::Pending || waiting.target != Target::Removed {
        return None;
    }
    change.supersedes.push(waiting.change);
    Some(open_change::close(item, change.owner.id, &waiting, ClosedBy::Displaced(change.id), ctx))
}

/// Returns whether a decision on a first half depends on the head, because it creates the second half.
pub(super) fn takes_number(change: &Change, item: &Item, update: &Update) -> bool {
    update.state.is_some_and(|state| is_due(change, item, state))
}
