//! Generation: what a submission owes an item is born, with the submission, soon after it or late (R14 to R16, R24,
//! R25).
//!
//! All that is owed to one item lands in one transaction, so it is there or it is not; landing decides what becomes
//! of what was overtaken. What one transaction cannot close is closed ahead of it ([`shed()`]).

mod shed;

pub use shed::{CLOSINGS_MAX, LANDING_MAX, shed};

use crate::attention::Attention;
use crate::change::{Change, ChangeType, Kind};
use crate::declared::Origin;
use crate::id::ChangeId;
use crate::item::Item;
use crate::land::{Birth, Landed, Stamp, land};
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

/// Something that what is owed rests on does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The change instance that a share follows from.
    Cause(ChangeId),
    /// The item.
    Item,
    /// What is declared.
    Declaration,
    /// The change instance itself: the item shows that it has landed, and it was not read.
    Landed(ChangeId),
}

/// Lets all that `submission` owes one item be born; the item is none before its first declaration lands.
///
/// `causes` holds the change instances that dependent teams' shares follow from; those that are owed to the item
/// themselves need not be among them.
pub fn generate(
    owed: &[Owed],
    submission: &Submission,
    item: Option<&Item>,
    causes: &BTreeMap<ChangeId, Change>,
    stamp: &Stamp,
) -> Result<Generated, Missing> {
    let mut after = item.cloned();
    let mut born: Vec<Change> = Vec::new();
    let mut writes = Vec::new();
    for one in owed {
        let landed = match one.kind {
            Kind::Direct => {
                let (by, request) = (submission.by.clone(), submission.request.clone());
                let stamp = Stamp { by, request, now: stamp.now };
                land_declared(one, submission, after.as_ref(), &stamp)?
            }
            Kind::Dependent | Kind::Referenced | Kind::Retry => {
                let item = after.as_ref().ok_or(Missing::Item)?;
                let cause = cause(one, causes, &born)?;
                land(item, &birth(one, submission, item, cause), stamp)
            }
        };
        let is_new_owner = after.as_ref().is_none_or(|item| !item.stacks.contains_key(&one.owner.id));
        if is_new_owner && one.kind == Kind::Dependent {
            writes.push(Write::Share(Share { item: one.item, owner: one.owner.id, created: stamp.now }));
        }
        writes.push(Write::Born(landed.born.clone()));
        writes.extend(landed.closed.into_iter().map(Write::Closed));
        writes.extend(landed.charges);
        after = Some(landed.item);
        born.push(landed.born);
    }
    let after = after.ok_or(Missing::Item)?;
    let after = written(item, after, &mut writes);
    Ok(Generated { item: after, born, writes })
}

/// However many landed, the item is written once.
fn written(before: Option<&Item>, after: Item, writes: &mut Vec<Write>) -> Item {
    let revision = before.map_or(0, |before| before.revision);
    if let Some(before) = before
        && after == *before
    {
        // Those that were overtaken change nothing, as long as what has overtaken them stays.
        writes.push(Write::ItemStays { item: before.id, revision });
        return after;
    }
    let after = Item { revision: revision + 1, ..after };
    writes.push(Write::Item { before: before.map(|before| before.revision), after: after.clone() });
    writes.extend(attention_moved(before, &after));
    after
}

/// Returns the write that adds an item's change of attention to the consumer's head; none if it changes nothing.
fn attention_moved(before: Option<&Item>, after: &Item) -> Option<Write> {
    let delta = after.attention() - before.map_or(Attention::NONE, Item::attention);
    (delta != Attention::NONE).then_some(Write::Attention { team: after.consumer.id, delta })
}

/// The change instance that a share follows from; none for what follows from nothing.
fn cause<'a>(
    owed: &Owed,
    causes: &'a BTreeMap<ChangeId, Change>,
    born: &'a [Change],
) -> Result<Option<&'a Change>, Missing> {
    let Some(id) = owed.cause else { return Ok(None) };
    let known = causes.get(&id).or_else(|| born.iter().find(|change| change.id == id));
    known.ok_or(Missing::Cause(id)).map(Some)
}

/// Takes an item's declaration and lets its change instance land; of which type, the item decides as it is now.
pub(crate) fn land_declared(
    owed: &Owed,
    submission: &Submission,
    before: Option<&Item>,
    stamp: &Stamp,
) -> Result<Landed, Missing> {
    let declared = owed.declared.as_ref().ok_or(Missing::Declaration)?;
    // Whoever reads beside the transaction that let it land may see the item after it and no change instance; landing
    // again, it would displace itself.
    let newest = before.and_then(|item| item.stacks.get(&owed.owner.id)).map_or(0, |stack| stack.sequence);
    if newest >= submission.id.number() {
        return Err(Missing::Landed(owed.id));
    }
    let origin = Origin {
        id: owed.item,
        consumer: &submission.team,
        service_owner: &owed.owner,
        change: owed.id,
        now: stamp.now,
    };
    let after = declared.applied(before, &origin).ok_or(Missing::Item)?;
    let change_type = after.change_type();
    // What is created has nothing before it, unless it was declared and never came to be.
    let has_old = |before: &&Item| before.declared || change_type != ChangeType::Create;
    let birth = Birth {
        change_type,
        new: after.declared.then_some(after.version),
        old: before.filter(has_old).map(|before| before.version),
        ..self::birth(owed, submission, &after, None)
    };
    Ok(land(&after, &birth, stamp))
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
        prices: owed.prices,
    }
}
