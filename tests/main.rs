//! The specification of Dovetail as tests, over HTTP on the whole system in this process.
// Clippy then treats the whole crate as tests, so it may panic.
#![cfg(test)]

mod api;
mod definitions;
mod deploy {
    mod console;
    mod features;
}
mod meta;
mod resilience;
mod scenarios;
mod security;
