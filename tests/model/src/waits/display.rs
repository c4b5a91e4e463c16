//! The texts of steps and states, as the named cases write them.

use super::state::{Other, State};
use super::steps::Step;
use crate::lifecycle::state::{PRE_VALIDATED, Target, Text};
use std::fmt;

const ITEMS: [&str; 2] = ["A", "B"];

fn stage_name(stage: usize) -> &'static str {
    if stage == PRE_VALIDATED { "pre-validated" } else { "validated" }
}

fn declared(item: usize, target: Target) -> String {
    let (name, other) = (ITEMS[item], ITEMS[1 - item]);
    match target {
        None => format!("no {name}"),
        Some(Text::V1) => name.to_owned(),
        Some(Text::V2) => format!("{name} with {other}"),
        Some(Text::V3) => format!("{name} with {other} and a value"),
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Submit([first, second]) => {
                write!(f, "submit {} + {}", declared(0, first), declared(1, second))
            }
            Self::Decide(item, decision) => write!(f, "{}: {decision}", ITEMS[item]),
            Self::Claim(item, stage) => write!(f, "{}: claim the {}", ITEMS[item], stage_name(stage)),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in 0..2 {
            let separator = if item == 0 { "" } else { " | " };
            write!(f, "{separator}{}: {}", ITEMS[item], self.items[item])?;
            for (stage, wait) in self.waits[item].iter().enumerate() {
                let other = ITEMS[1 - item];
                if wait.item {
                    write!(f, "; the {} waits for {other}", stage_name(stage))?;
                }
                match wait.change {
                    Other::None => {}
                    Other::Open(of) => {
                        write!(f, "; the {} waits for the {} of {other}", stage_name(stage), stage_name(of))?;
                    }
                    Other::Never => write!(f, "; the {} waits forever", stage_name(stage))?,
                }
            }
        }
        Ok(())
    }
}
