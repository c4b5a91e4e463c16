//! Orders: the stored order of a list, and the orders that need a sort.

use domain::rules::visibility::Side;
use dovetail_http::{Call, Failure, FieldError, Query};
use dovetail_table::Direction;

/// The order of a list: as stored, or by a field after a read of the whole list.
pub(crate) enum Order<T> {
    Stored(Direction),
    By(fn(&T) -> String, Direction),
}

/// A field for `ordering`: its name, and its value as a sortable text.
pub(crate) type Field<T> = (&'static str, fn(&T) -> String);

/// The orders of a list.
pub(crate) enum Orders<T: 'static> {
    /// Fields in the order of the source, and fields that need a sort.
    By { stored: &'static [&'static str], fields: &'static [Field<T>] },
    /// The order of the source, whatever the query says.
    Ignored,
}

/// Fields in the stored order of records with increasing numbers.
pub(crate) const AGE_AND_ID: &[&str] = &["created", "id"];

/// Returns the fields in stored order: an index has rows by creation, the table has a consumer's rows by id.
pub(crate) const fn stored_order(side: Side, by_item: bool) -> &'static [&'static str] {
    match (side, by_item) {
        (Side::ServiceOwner, _) | (Side::Consumer, true) => &["created"],
        (Side::Consumer, false) => &["id"],
    }
}

impl<T: 'static> Orders<T> {
    /// Returns the order in a query.
    pub(crate) fn requested(&self, query: &Query) -> Result<Order<T>, Failure> {
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
        let message = format!("must be one of {}, or one of them after a -", names.join(", "));
        Err(Call::bad_filter(&FieldError::new("ordering", message)))
    }
}
