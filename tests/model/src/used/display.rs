//! The texts of steps and states, as the named cases write them.

use super::configs::NAMES;
use super::state::{Choice, State, Use};
use super::steps::Step;
use std::fmt;

const TARGETS: [&str; 2] = ["A", "B"];
const USERS: [&str; 2] = ["x", "y"];

/// A step with the name of its submitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub(crate) step: Step,
    /// The team of the submitter, or of the landing.
    pub(crate) team: usize,
    /// The number of the submitter in its team, if that has two.
    pub(crate) number: Option<usize>,
    /// The targets that the submission declares or removes.
    pub(crate) changes: [Option<bool>; 2],
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Step::End(target) = self.step {
            return write!(f, "{} is gone", TARGETS[target]);
        }
        f.write_str(NAMES[self.team])?;
        self.number.map_or(Ok(()), |number| write!(f, "{number}"))?;
        match self.step {
            Step::Read(_) => f.write_str(" reads"),
            Step::Plan(_, choice) => write!(f, " plans {}", self.planned(&choice)),
            Step::Commit(_) => f.write_str(" commits"),
            Step::Fail(_) => f.write_str(" has to plan again"),
            Step::Land(_) | Step::End(_) => f.write_str(" lands"),
        }
    }
}

impl Named {
    fn planned(&self, choice: &Choice) -> String {
        let declared = (0..2).filter_map(|target| {
            let verb = if self.changes[target]? { "declare" } else { "remove" };
            Some(format!("{verb} {}", TARGETS[target]))
        });
        let used = (0..2).filter_map(|user| {
            let wanted = choice.users[user]?;
            let names: Vec<_> =
                (0..2).filter(|target| wanted[*target]).map(|target| TARGETS[target]).collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") };
            Some(format!("{} uses {names}", USERS[user]))
        });
        let mut words = declared.chain(used).collect::<Vec<_>>().join(" + ");
        for (word, is_set) in [(" confirmed", choice.is_confirmed), (" staged", choice.is_staged)] {
            words.push_str(if is_set { word } else { "" });
        }
        words
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (target, name) in TARGETS.iter().enumerate() {
            match self.rows[target] {
                None => write!(f, "{name} gone")?,
                Some(row) => {
                    let state = if row.is_declared { "declared" } else { "removed" };
                    write!(f, "{name} {state}, {} uses", row.uses)?;
                }
            }
            f.write_str(if target == 0 { "; " } else { "" })?;
        }
        let stale = self.users.iter().flatten().filter(|of| **of == Use::Stale).count();
        if stale > 0 { write!(f, "; {stale} stale") } else { Ok(()) }
    }
}
