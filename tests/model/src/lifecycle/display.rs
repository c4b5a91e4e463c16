//! The texts of steps and states, as the named cases write them.

use super::state::{
    DEPENDENT, MAIN, Owner, PRE_VALIDATED, Slot, State, Strategy, Target, Text, Type, VALIDATED,
};
use super::steps::{Decision, Step};
use std::fmt;

const STAGES: [&str; 2] = ["pre-validated", "validated"];
const TEAMS: [&str; 2] = ["", "dependent "];

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        })
    }
}

fn submitted(target: Target) -> String {
    target.map_or_else(|| "remove".to_owned(), |text| format!("declare {text}"))
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Submit(target) => f.write_str(&submitted(target)),
            Self::Stage(target) => write!(f, "stage {}", submitted(target)),
            Self::Land => f.write_str("land"),
            Self::Reference => f.write_str("modify a referenced item"),
            Self::Generate(0) => f.write_str("generate"),
            Self::Generate(_) => f.write_str("generate the newer"),
            Self::Switch(strategy) => f.write_str(match strategy {
                Strategy::Modify => "set MODIFY",
                Strategy::Replace => "set REPLACE",
                Strategy::Property => "publish the property",
            }),
            Self::Decide(team, decision, None) => write!(f, "{}{decision}", TEAMS[team]),
            Self::Decide(team, decision, Some(worker)) => {
                write!(f, "{}{decision} with the claim of w{}", TEAMS[team], worker + 1)
            }
            Self::Claim(team, worker, stage) => {
                write!(f, "{}claim the {} for w{}", TEAMS[team], STAGES[stage], worker + 1)
            }
            Self::End(team, worker, is_release) => {
                let end = if is_release { "release" } else { "end" };
                write!(f, "{}{end} the lease of w{}", TEAMS[team], worker + 1)
            }
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Approve => f.write_str("approve"),
            Self::Reject => f.write_str("reject"),
            Self::Complete => f.write_str("complete"),
            Self::CompleteIncomplete => f.write_str("complete incompletely"),
            Self::Fail => f.write_str("fail"),
            Self::Close(stage) => write!(f, "close the {}", STAGES[stage]),
            Self::Retry(stage) => write!(f, "retry the {}", STAGES[stage]),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.exists {
            return f.write_str("no item");
        }
        match self.wanted() {
            Some(text) => write!(f, "{text} declared")?,
            None => f.write_str("removed")?,
        }
        if self.is_orphan() {
            f.write_str(", orphan")?;
        }
        write!(f, "; owner: {}", of_owner(&self.owners[MAIN]))?;
        let dependent = &self.owners[DEPENDENT];
        if *dependent != Self::without_item(self.strategy).owners[DEPENDENT] {
            write!(f, "; dependent: {}", of_owner(dependent))?;
        }
        let due = self.due.iter().flatten().count();
        if due > 0 { write!(f, "; {due} due") } else { Ok(()) }
    }
}

fn of_owner(owner: &Owner) -> String {
    let place = match owner.place {
        None => "nothing in place".to_owned(),
        Some((text, true)) => format!("{text} in place"),
        Some((text, false)) => format!("perhaps {text} in place"),
    };
    let slots = [PRE_VALIDATED, VALIDATED].into_iter();
    let slots = slots.filter_map(|stage| owner.slots[stage].map(|slot| of_slot(&slot, stage)));
    slots.chain([place]).collect::<Vec<_>>().join(", ")
}

fn of_slot(slot: &Slot, stage: usize) -> String {
    let state = [["PENDING", "REJECTED"], ["APPROVED", "ERRORED"]][stage][usize::from(slot.is_blocked)];
    let text = |of: Target| of.map_or_else(String::new, |text| format!(" {text}"));
    match slot.change_type {
        Type::Create => format!("CREATE{} {state}", text(slot.new)),
        Type::Modify => format!("MODIFY{} {state}", text(slot.new)),
        Type::Delete if slot.is_first_half() => {
            format!("DELETE{} for{} {state}", text(slot.old), text(slot.new))
        }
        Type::Delete => format!("DELETE {state}"),
    }
}
