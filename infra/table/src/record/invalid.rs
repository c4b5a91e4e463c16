//! The error of a record whose attributes have no valid value.

/// The name of an attribute without a valid value.
pub(crate) struct Bad(pub(crate) &'static str);
