//! The option `--watch` of `queue`: the waiting changes, again and again.

use crate::{
    api::client::Api,
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::{Output, changes},
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
    pub(crate) fn list<const N: usize>(
        &self,
        api: &Api,
        path: &str,
        limit: usize,
        shown: &[Column; N],
        out: &mut Output,
    ) -> Result<Done, Failure> {
        if !self.watch {
            changes::list(&api.list(path, limit)?, shown, out)?;
            return Ok(Done::Success);
        }
        let (began, mut seen) = (Instant::now(), Seen::default());
        loop {
            let found = api.list(path, limit)?;
            if out.is_screen() {
                self.draw(&found, shown, out)?;
            } else {
                let news: Vec<Value> = found.into_iter().filter(|change| seen.is_news(change)).collect();
                if !news.is_empty() {
                    changes::list(&news, shown, out)?;
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
    fn draw<const N: usize>(
        &self,
        found: &[Value],
        shown: &[Column; N],
        out: &mut Output,
    ) -> Result<(), Failure> {
        let terminal = Term::stdout();
        let (lines, _) = terminal.size();
        let fitting = found.get(..usize::from(lines).saturating_sub(OTHER_LINES)).unwrap_or(found);
        terminal.clear_screen().map_err(Failure::failed)?;
        changes::list(fitting, shown, out)?;
        if fitting.len() < found.len() {
            out.text(&format!("{} more do not fit.\n", found.len() - fitting.len()))?;
        }
        out.text(&format!("Every {} s. Ctrl-C ends.\n", self.interval))
    }
}

/// The changes of the former look, with their times of modification and their claims.
#[derive(Debug, Default)]
struct Seen(BTreeMap<u64, [String; 2]>);

impl Seen {
    /// Returns whether a change is new or changed since the former look.
    fn is_news(&mut self, change: &Value) -> bool {
        let Some(id) = change.at("/id").as_u64() else { return false };
        // A claim does not modify its change.
        let version = ["/modified", "/claim"].map(|pointer| change.text_at(pointer));
        self.0.insert(id, version.clone()) != Some(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_is_news_if_it_or_its_claim_changed() {
        let mut seen = Seen::default();
        for (change, expected) in [
            (json!({"id": 1, "modified": "a"}), true),
            (json!({"id": 1, "modified": "a"}), false),
            (json!({"id": 1, "modified": "b"}), true),
            (json!({"id": 1, "modified": "b", "claim": {"number": 1}}), true),
            (json!({"id": 1, "modified": "b", "claim": {"number": 1}}), false),
            (json!({"id": 1, "modified": "b", "claim": {"number": 2}}), true),
        ] {
            assert_eq!(seen.is_news(&change), expected, "{change}");
        }
    }
}
