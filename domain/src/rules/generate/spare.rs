//! A declaration whose item is gone applies to the new item that the plan holds in reserve (R44).

use crate::model::declared::Declared;
use crate::model::item::Item;
use crate::model::work::{PlannedChange, Spare};

/// Returns the planned changes for the new item, if the item of the plan is gone.
///
/// The new item is like one that the submission creates: version 1, CREATE, no old declaration. Returns `None` if the
/// item still exists, or if the plan has no spare. Only an undeclared item has a spare, because only an undeclared item
/// can go.
pub(super) fn on_spare(planned: &[PlannedChange], item: Option<&Item>) -> Option<Vec<PlannedChange>> {
    let spare = planned.first()?.spare.as_ref()?;
    if !item?.gone {
        return None;
    }
    Some(
        planned
            .iter()
            .map(|one| PlannedChange {
                item: spare.item,
                declared: one.declared.clone().map(|declared| created(declared, spare)),
                spare: None,
                ..one.clone()
            })
            .collect(),
    )
}

fn created(declared: Declared, spare: &Spare) -> Declared {
    let version = crate::model::change::Version { number: 1, ..declared.version };
    Declared { version, new: Some(spare.identity.clone()), new_name: None, ..declared }
}
