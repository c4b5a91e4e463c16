//! Runs libFuzzer on the target in `FUZZ_TARGET`, started by `tests/fuzz/run`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("there is no target '{name}'"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
