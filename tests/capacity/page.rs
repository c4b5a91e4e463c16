//! The blocks of docs/reference/figures/capacity.md.

use crate::tables::Table;
use std::fs;
use std::path::{Path, PathBuf};
use support::blocks;
use support::source::Source;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/figures/capacity.md")
}

pub fn read() -> String {
    fs::read_to_string(path()).unwrap()
}

/// Writes tables into their blocks.
pub fn write(tables: &[Table], source: &Source) {
    for (name, method, table) in tables {
        let page = blocks::replaced(&read(), name, &table(), &source.line(*method));
        fs::write(path(), page).unwrap();
    }
}
