//! Generation: what a submission owes an item is born, soon after the submission or late (R14 to R16, R24, R25).
//!
//! All that is owed to one item lands in one transaction, so it is there or it is not; landing decides what becomes
//! of what was overtaken.

use crate::attention::Attention;
use crate::change::Change;
use crate::id::ChangeId;
use crate::item::Item;
use crate::land::{Birth, Stamp, land};
use crate::state::State;
use crate::submission::Submission;
use crate::work::{Owed, Share};
use crate::write::Write;
use std::collections::BTreeMap;

/// What generation makes of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The item after; as it was when nothing of it landed.
    pub item: Item,
    /// The change instances, in the order in which they are owed.
    pub born: Vec<Change>,
    /// The one transaction.
    pub writes: Vec<Write>,
}

/// A change instance that something is owed for does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingCause(pub ChangeId);

/// Lets all that `submission` owes `item` be born.
///
/// `causes` holds the change instances that dependent teams' shares follow from; those that are owed to the item
/// themselves need not be among them.
pub fn generate(
    owed: &[Owed],
    submission: &Submission,
    item: &Item,
    causes: &BTreeMap<ChangeId, Change>,
    stamp: &Stamp,
) -> Result<Generated, MissingCause> {
    let mut after = item.clone();
    let mut born: Vec<Change> = Vec::new();
    let mut writes = Vec::new();
    for one in owed {
        let cause = match one.cause {
            None => None,
            Some(id) => {
                let known = causes.get(&id).or_else(|| born.iter().find(|change| change.id == id));
                Some(known.ok_or(MissingCause(id))?.clone())
            }
        };
        let is_new_owner = !after.stacks.contains_key(&one.owner.id);
        let landed = land(&after, &birth(one, submission, &after, cause.as_ref()), stamp);
        if is_new_owner && one.owner.id != item.service_owner.id {
            writes.push(Write::Share(Share { item: item.id, owner: one.owner.id, created: stamp.now }));
        }
        writes.push(Write::Born(landed.born.clone()));
        writes.extend(landed.closed.into_iter().map(Write::Closed));
        after = landed.item;
        born.push(landed.born);
    }
    if after == *item {
        // Those that were overtaken change nothing, as long as what has overtaken them stays.
        writes.push(Write::ItemStays { item: item.id, revision: item.revision });
        return Ok(Generated { item: after, born, writes });
    }
    // However many landed, the item is written once.
    after.revision = item.revision + 1;
    writes.push(Write::Item { before: Some(item.revision), after: after.clone() });
    let delta = after.attention() - item.attention();
    if delta != Attention::NONE {
        writes.push(Write::Attention { team: item.consumer.id, delta });
    }
    Ok(Generated { item: after, born, writes })
}

/// A dependent team's share is what its cause was when it was born; a referenced item's change is one to the
/// declaration that it had at the submission.
fn birth(owed: &Owed, submission: &Submission, item: &Item, cause: Option<&Change>) -> Birth {
    let (change_type, new, old) = match cause {
        Some(cause) => (cause.as_born().change_type, cause.new, cause.old),
        // Of an item that was declared at the submission, whatever a later one says.
        None => (item.change_type_if_declared(), owed.version, owed.version),
    };
    Birth {
        id: owed.id,
        kind: owed.kind,
        cause: owed.cause,
        owner: owed.owner.clone(),
        change_type,
        state: if owed.approval_required { State::Pending } else { State::Approved },
        attempt: 1,
        submission: submission.id,
        commit_id: submission.commit_id.clone(),
        new,
        old,
    }
}
