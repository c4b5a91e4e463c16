//! A bad value in a named field or parameter.

/// A field or query parameter with a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field.
    pub field: String,
    /// What is wrong, to be read after the field's name.
    pub message: String,
}

impl FieldError {
    /// The error of a field.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
}
