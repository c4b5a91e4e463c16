//! Fuzz targets: whatever bytes come in, what is promised about the answer holds; a target panics if it does not.
//!
//! Not here: what makes the bytes. The corpus is replayed by `corpus.rs`, new inputs are looked for by `run`.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

mod comparison;
mod cursor;
mod declaration;
mod event;
mod filter;
mod id;
mod input;
mod place;
mod query;
mod schema;
mod stream;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its corpus.
    pub name: &'static str,
    /// Tries one input.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "comparison", run: comparison::compared },
    Target { name: "cursor", run: cursor::opened },
    Target { name: "declaration", run: declaration::read },
    Target { name: "event", run: event::answered },
    Target { name: "filter", run: filter::judged },
    Target { name: "id", run: id::parsed },
    Target { name: "query", run: query::routed },
    Target { name: "schema", run: schema::published },
    Target { name: "stream", run: stream::told },
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}
