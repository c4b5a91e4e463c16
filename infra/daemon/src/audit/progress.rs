//! The progress of an audit on standard error, if that is a terminal.

use std::time::Duration;

use dovetail_table::audit::Seen;
use indicatif::{ProgressBar, ProgressStyle};

const TEMPLATE: &str = "{spinner} {human_pos} rows, {msg} ({elapsed})";

/// A line that shows the progress until it is dropped.
#[derive(Debug)]
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::no_length();
        // The constant template is valid, so the default style is never used.
        let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub(super) fn show(&self, seen: Seen) {
        self.0.set_position(seen.rows);
        self.0.set_message(format!("{} violations so far", seen.violations));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
