//! The order of the repository and its language.
// Clippy then treats the whole crate as tests, so it may panic.
#![cfg(test)]

mod counts;
mod language;
mod rules;
mod shape;
mod tidy;
