//! The engine of `cargo run` inside the test process, and a connector for the AWS client.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

mod connector;
mod engine;
mod rows;

pub use connector::{Straight, target_and_body};
pub use engine::{Engine, Reply, Snapshot};
pub use rows::{Key, attributes, item_bytes, key_of};
