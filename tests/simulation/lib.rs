//! The delivered functions and the AWS client on a simulated cloud, in virtual time.
//!
//! A connector leads to the embedded engine. A seed draws all faults, so one seed is one exact run. An oracle and the
//! invariants check the result (docs/explanation/verification.md).
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test support")]

pub mod ablation;
pub mod call_shape;
pub mod catalogue;
pub mod checks;
pub mod client;
pub mod cloud;
pub mod command;
pub mod crashes;
pub mod deaths;
pub mod declared;
pub mod expiry;
pub mod faults;
pub mod history;
pub mod invocation;
pub mod lagging;
pub mod linear;
pub mod load;
pub mod many;
pub mod network;
pub mod oracle;
pub mod references;
pub mod run;
pub mod shape;
pub mod spec;
pub mod stream;
pub mod system;
pub mod timeless;
pub mod torn;
pub mod worker;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value, also after a panic of another thread.
pub fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
