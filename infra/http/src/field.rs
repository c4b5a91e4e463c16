//! Errors of single fields and query parameters.

/// An invalid value of a field of the body, or of a query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Name of the field or parameter.
    pub field: String,
    /// The requirement, in a form that follows the name: `must be a string`.
    pub message: String,
}

impl FieldError {
    /// Creates the error of a field.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
}
