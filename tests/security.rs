//! Separation of teams, authentication, limits and hostile input.

mod caller;
mod fair_use;
mod hostile;
mod isolation;
pub(crate) mod keys;
mod limits;
pub(crate) mod people;
mod secrets;
mod trust;
