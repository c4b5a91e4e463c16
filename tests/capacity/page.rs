//! The blocks of docs/explanation/scale.md.

use crate::tables::Table;
use std::fs;
use std::path::{Path, PathBuf};
use support::blocks;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/scale.md")
}

/// Returns the page.
pub fn read() -> String {
    fs::read_to_string(path()).unwrap()
}

/// Writes tables into their blocks.
pub fn write(tables: &[Table]) {
    for (name, table) in tables {
        write_block(name, &table());
    }
}

/// Writes the content of a block.
pub fn write_block(name: &str, content: &str) {
    fs::write(path(), blocks::replaced(&read(), name, content)).unwrap();
}
