//! The real functions and the real AWS client on a simulated cloud, in virtual time.
//!
//! A request goes through a connector of ours into the embedded engine; faults are drawn from a seed, and one seed is one
//! run, exactly. What comes of a run is compared with an oracle and checked against every invariant.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

pub mod ablation;
pub mod catalogue;
pub mod checks;
pub mod client;
pub mod cloud;
pub mod command;
pub mod crashes;
pub mod declared;
pub mod expiry;
pub mod faults;
pub mod history;
pub mod invocation;
pub mod lagging;
pub mod linear;
pub mod many;
pub mod network;
pub mod oracle;
pub mod rows;
pub mod run;
pub mod shape;
pub mod spec;
pub mod stream;
pub mod system;
pub mod timeless;
pub mod torn;
