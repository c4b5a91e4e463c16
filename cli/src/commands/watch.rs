//! The option `--watch` of `queue`: the waiting changes, again and again.

use crate::{
    api::{client::Api, kinds::CHANGES},
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    output::Output,
};
use clap::Args;
use console::Term;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

/// Number of lines of a terminal that are not rows: header, rest, note and the line of the cursor.
const OTHER_LINES: usize = 4;

/// How to watch a list.
#[derive(Args, Clone, Debug)]
pub(crate) struct Watch {
    /// Repeat until Ctrl-C: redraw a terminal, print new and changed rows in a pipe
    #[arg(long)]
    watch: bool,
    /// Seconds between two requests
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "watch")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3_600))]
    interval: u64,
    /// End after this time
    #[arg(long = "for", value_name = "SECONDS", requires = "watch")]
    time: Option<u64>,
}

impl Watch {
    /// Lists the changes of a path: once, or until the end of the watch.
    pub(crate) fn list(
        &self,
        api: &Api,
        path: &str,
        limit: usize,
        out: &mut Output,
    ) -> Result<Done, Failure> {
        if !self.watch {
            out.list(&api.list(path, limit)?, &CHANGES)?;
            return Ok(Done::Success);
        }
        let (began, mut seen) = (Instant::now(), Seen::default());
        loop {
            let changes = api.list(path, limit)?;
            if out.is_screen() {
                self.draw(&changes, out)?;
            } else {
                let news: Vec<Value> = changes.into_iter().filter(|change| seen.is_news(change)).collect();
                if !news.is_empty() {
                    out.list(&news, &CHANGES)?;
                }
            }
            let pause = Duration::from_secs(self.interval);
            let left = self.time.map(|time| Duration::from_secs(time).saturating_sub(began.elapsed()));
            if left == Some(Duration::ZERO) {
                return Ok(Done::Success);
            }
            thread::sleep(left.map_or(pause, |left| left.min(pause)));
        }
    }

    /// Replaces the content of the terminal by as many changes as it has lines.
    fn draw(&self, changes: &[Value], out: &mut Output) -> Result<(), Failure> {
        let terminal = Term::stdout();
        let (lines, _) = terminal.size();
        let shown = changes.get(..usize::from(lines).saturating_sub(OTHER_LINES)).unwrap_or(changes);
        terminal.clear_screen().map_err(Failure::failed)?;
        out.list(shown, &CHANGES)?;
        if shown.len() < changes.len() {
            out.text(&format!("{} more do not fit.\n", changes.len() - shown.len()))?;
        }
        out.text(&format!("Every {} s. Ctrl-C ends.\n", self.interval))
    }
}

/// The changes of the former look, with their times of modification.
#[derive(Debug, Default)]
struct Seen(BTreeMap<u64, String>);

impl Seen {
    /// Returns whether a change is new or changed since the former look.
    fn is_news(&mut self, change: &Value) -> bool {
        let Some(id) = change.at("/id").as_u64() else { return false };
        let modified = change.text_at("/modified");
        self.0.insert(id, modified.clone()) != Some(modified)
    }
}
