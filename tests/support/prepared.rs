//! Large worlds. The test program builds each once, stores its database, and every test starts from a copy.
//!
//! Publishing is paused, because thousands of events would only add load.

use crate::running::Running;
use crate::tables::elsewhere;
use dovetail_daemon::settings::Settings;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

/// A world with many records.
pub struct Prepared {
    name: &'static str,
    world: fn() -> String,
    fill: fn(&Running),
    directory: OnceLock<PathBuf>,
}

impl Prepared {
    /// Defines a world with a unique name, and the requests that fill it.
    pub const fn new(name: &'static str, world: fn() -> String, fill: fn(&Running)) -> Self {
        Self { name, world, fill, directory: OnceLock::new() }
    }

    /// Starts a system with this world. Without the embedded engine, it builds the world in the tables.
    pub fn start(&self) -> Running {
        let world = (self.world)();
        if elsewhere().is_some() {
            return self.filled(Running::start(&world));
        }
        // Tests that need the same world wait here for the first of them.
        let stored = self.directory.get_or_init(|| self.stored());
        let copy = Running::directory();
        copy_files(stored, copy.path());
        let system = Running::start_in(copy, &world, Settings::default());
        system.enable("notify", false);
        system
    }

    fn filled(&self, system: Running) -> Running {
        system.enable("notify", false);
        (self.fill)(&system);
        system
    }

    /// Returns the directory of the stored database, and builds it if this program has not done so before.
    fn stored(&self) -> PathBuf {
        let worlds = worlds_of_this_program();
        let stored = worlds.join(self.name);
        if stored.is_dir() {
            return stored;
        }
        fs::create_dir_all(&worlds).unwrap();
        let system = Running::start_in(Running::directory(), &(self.world)(), Settings::default());
        let built = self.filled(system).into_directory();
        let fresh = tempfile::tempdir_in(&worlds).unwrap();
        copy_files(built.path(), fresh.path());
        // A rename is atomic, so no process sees a part of a world. Another one may have stored its own meanwhile.
        let renamed = fs::rename(fresh.path(), &stored);
        assert!(renamed.is_ok() || stored.is_dir(), "{}: {renamed:?}", stored.display());
        stored
    }
}

/// Returns the directory of the worlds that this very build of the test program has stored.
///
/// The program contains all code that decides the rows. So a build with other code never finds the worlds of an
/// earlier one, and removes them.
fn worlds_of_this_program() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let metadata = program.metadata().unwrap();
    let built = metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
    let worlds = program.parent().unwrap().with_file_name("prepared").join(program.file_name().unwrap());
    let current = worlds.join(format!("{}-{}", built.as_nanos(), metadata.len()));
    for earlier in fs::read_dir(&worlds).into_iter().flatten() {
        let earlier = earlier.unwrap().path();
        if earlier != current {
            // Another process may remove it at the same time.
            drop(fs::remove_dir_all(earlier));
        }
    }
    current
}

fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copy = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&copy).unwrap();
            copy_files(&entry.path(), &copy);
        } else {
            fs::copy(entry.path(), copy).unwrap();
        }
    }
}
