//! Orders: the one that a list is kept in, and those that it has to be sorted in.

use dovetail_http::{Call, Failure, FieldError, Pov, Query};
use dovetail_table::Direction;

/// The order of a list: as it is stored, or by a field, which takes reading all of it.
pub(crate) enum Order<T> {
    Stored(Direction),
    By(fn(&T) -> String, Direction),
}

/// A field that a list can be ordered by: its name, and its value as a text that sorts.
pub(crate) type Field<T> = (&'static str, fn(&T) -> String);

/// What a list can be ordered by.
pub(crate) enum Orders<T: 'static> {
    /// The fields whose order is that of the source, and, by sorting, others.
    By { stored: &'static [&'static str], fields: &'static [Field<T>] },
    /// Nothing: whatever is asked for, it stays in the order of the source.
    Ignored,
}

/// Records that are numbered as they are created.
pub(crate) const AGE_AND_ID: &[&str] = &["created", "id"];

/// The order of the places that hold a team's records: an index by age; in the table a consumer's own by id.
pub(crate) const fn stored_order(pov: Pov, by_item: bool) -> &'static [&'static str] {
    match (pov, by_item) {
        (Pov::ServiceOwner, _) | (Pov::Consumer, true) => &["created"],
        (Pov::Consumer, false) => &["id"],
    }
}

impl<T: 'static> Orders<T> {
    /// The order that a query asks for.
    pub(crate) fn asked_for(&self, query: &Query) -> Result<Order<T>, Failure> {
        let (Some(ordering), Self::By { stored, fields }) = (query.get("ordering"), self) else {
            return Ok(Order::Stored(Direction::Ascending));
        };
        let (field, direction) = match ordering.strip_prefix('-') {
            Some(field) => (field, Direction::Descending),
            None => (ordering, Direction::Ascending),
        };
        if stored.contains(&field) {
            return Ok(Order::Stored(direction));
        }
        if let Some((_, by)) = fields.iter().find(|(name, _)| *name == field) {
            return Ok(Order::By(*by, direction));
        }
        let others = fields.iter().map(|(name, _)| *name).filter(|name| !stored.contains(name));
        let names: Vec<&str> = stored.iter().copied().chain(others).collect();
        let message = format!("is none of {}, each also with -", names.join(", "));
        Err(Call::bad_filter(&FieldError::new("ordering", message)))
    }
}
