//! The rules of Dovetail: the meaning of a declaration, the change instances that it causes, and the permitted
//! decisions.
//!
//! This crate does no I/O, reads no clock and knows nothing of AWS. State, time and ids are arguments. Decisions
//! are values ([`model::write::Write`]) for the caller to execute.
//!
//! A type with secrets or declarations lists in `#[debug]` what a log may show, so a new field stays hidden.
//!
//! Imports go one way: `base < model < catalog < rules < views < audit`, and `catalog < outreach < account`.

/// Values without a rule and without an entity.
pub mod base {
    pub mod actor;
    pub mod context;
    pub mod hash;
    pub mod id;
    pub mod json;
    pub mod money;
    mod name;
    pub mod problem;
    pub mod refs;
    pub mod side;
    pub mod state;
    pub mod suggest;
    pub mod timestamp;
}

/// The stored entities and the effects on them.
pub mod model {
    pub mod blockers;
    pub mod change;
    pub mod charge;
    pub mod claim;
    pub mod declaration;
    pub mod declared;
    pub mod deployed;
    pub mod digest;
    pub mod item;
    pub mod likeness;
    pub mod metadata;
    pub mod place;
    pub mod secrets;
    pub mod staging;
    pub mod storable;
    pub mod strategy;
    pub mod submission;
    pub mod team;
    pub mod wait;
    pub mod work;
    pub mod write;
}

/// Services, their definitions and their settings.
pub mod catalog {
    pub mod config;
    pub mod docs;
    pub mod metadata_policy;
    pub mod schema;
    pub mod service;
}

/// The decisions: from a request and the stored state to writes.
pub mod rules {
    pub mod change_draft;
    pub mod charging;
    pub mod check;
    pub mod claim;
    pub mod decide;
    pub mod expand;
    pub mod finish_work;
    pub mod generate;
    pub mod open_change;
    pub mod order;
    pub mod plan;
    mod progress;
    pub mod put_item;
    mod replacement;
    pub mod secrets;
    mod unneeded;
    pub mod verify;
    pub mod visibility;
}

/// Notifications and calls to systems of service owners.
pub mod outreach {
    pub mod event;
    pub mod healthcheck;
    pub mod message;
    pub mod webhook;
}

/// Credentials, members, and the record of who changed them.
pub mod account {
    pub mod api_key;
    pub mod audit_log;
    pub mod member;
}

/// Answers computed from stored entities.
pub mod views {
    pub mod backlog;
    pub mod causes;
    pub mod charge_sums;
    pub mod compare;
    pub mod derived;
    pub mod derived_values;
    pub mod drift;
    pub mod graph;
    pub mod history;
    pub mod outcome;
    pub mod proposal;
    pub mod references;
    pub mod related;
    pub mod tally;
    pub mod waves;
}

/// The invariants of a whole table, and the repair of broken ones.
pub mod audit {
    pub mod invariant;
    pub mod repair;
    pub mod result;
}

pub use base::hash::Hash;
pub use base::id::{ChangeId, ItemId, SubmissionId, TeamId};
pub use base::refs::TeamRef;
pub use base::state::State;
pub use base::timestamp::Timestamp;
pub use model::change::Change;
pub use model::item::Item;
