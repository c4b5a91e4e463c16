//! Fuzz targets. A target panics if an input violates a promise of the tested code.
//!
//! `corpus.rs` replays the corpus, `run` searches for new inputs.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

mod comparison;
mod cursor;
mod declaration;
mod event;
mod filter;
mod id;
mod input;
mod plan;
mod problems;
mod query;
mod schema;
mod stream;
mod upgrade;

#[derive(Clone, Copy)]
pub struct Target {
    /// Name of the target and of its corpus.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
}

pub const TARGETS: &[Target] = &[
    Target { name: "comparison", run: comparison::compared },
    Target { name: "cursor", run: cursor::opened },
    Target { name: "declaration", run: declaration::read },
    Target { name: "event", run: event::answered },
    Target { name: "filter", run: filter::checked },
    Target { name: "id", run: id::parsed },
    Target { name: "plan", run: plan::tokens },
    Target { name: "query", run: query::routed },
    Target { name: "schema", run: schema::published },
    Target { name: "stream", run: stream::read_records },
    Target { name: "upgrade", run: upgrade::applied },
];

/// Returns the target with this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.name == name).copied()
}
