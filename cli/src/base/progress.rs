//! Progress of long work: a line on standard error, on a terminal alone. It disappears with the end of the work.

use indicatif::{ProgressBar, ProgressStyle};

/// The least number of steps with a bar. Less work is done before someone reads it.
const STEPS_MIN: usize = 20;

/// A line about the present work.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts a line with a text.
    pub(crate) fn text() -> Self {
        Self::styled(ProgressBar::new_spinner(), "{spinner} {msg}")
    }

    /// Starts a bar for a number of steps.
    pub(crate) fn steps(steps: usize) -> Self {
        let bar = if steps < STEPS_MIN { ProgressBar::hidden() } else { ProgressBar::no_length() };
        bar.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
        Self::styled(bar, "{bar:40} {pos}/{len}")
    }

    fn styled(bar: ProgressBar, template: &str) -> Self {
        Self(match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// Replaces the text.
    pub(crate) fn show(&self, text: String) {
        self.0.set_message(text);
        self.0.tick();
    }

    /// Counts one step.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
