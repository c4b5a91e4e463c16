//! Further threads of a test.

use std::thread::{self, Scope, ScopedJoinHandle};

/// Spawns a thread with the name of this one: the test that starts systems on it.
pub fn spawn_in_test<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    let name = thread::current().name().unwrap_or_default().to_owned();
    thread::Builder::new().name(name).spawn_scoped(scope, work).unwrap()
}
