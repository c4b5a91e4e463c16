//! The maximum cost of an operation.

use super::figures::{Figures, decimal};

#[derive(Clone, Copy)]
struct Goal {
    write: Option<u64>,
    /// In half read units.
    half_reads: Option<u64>,
    round_trips: Option<u64>,
}

const fn goal(write: Option<u64>, half_reads: Option<u64>, round_trips: Option<u64>) -> Goal {
    Goal { write, half_reads, round_trips }
}

const GOALS: [(&str, Goal); 23] = [
    ("one CREATE, in a new application", goal(Some(19), None, Some(3))),
    ("one CREATE, in an application with one item", goal(Some(19), None, Some(3))),
    ("each further CREATE", goal(Some(10), None, None)),
    ("each further CREATE, staged", goal(Some(10), None, None)),
    ("no changes, 1 item", goal(Some(4), Some(4), Some(2))),
    ("no changes, 20 items", goal(Some(4), Some(4), Some(2))),
    ("approve", goal(Some(6), None, Some(2))),
    ("complete", goal(Some(10), None, Some(2))),
    ("complete, with a deployed item", goal(Some(10), None, Some(2))),
    ("reject", goal(Some(8), None, Some(2))),
    ("one replacement", goal(Some(14), Some(9), Some(4))),
    ("approve its DELETE", goal(Some(6), None, Some(2))),
    ("complete its DELETE, with the new CREATE", goal(Some(12), Some(12), Some(3))),
    ("complete a DELETE, with a newer one waiting", goal(Some(6), None, Some(2))),
    ("remove an item whose CREATE is PENDING", goal(Some(21), None, Some(3))),
    ("claim one change instance", goal(Some(1), Some(6), Some(4))),
    ("extend a claim", goal(Some(1), Some(4), Some(3))),
    ("claim the oldest work, 1 free", goal(Some(1), Some(5), Some(4))),
    ("complete with a claim", goal(Some(12), None, Some(2))),
    ("an owner's queue, empty", goal(Some(0), Some(1), Some(1))),
    ("an owner's queue, 50 change instances, light", goal(Some(0), Some(12), Some(1))),
    ("its history", goal(Some(0), Some(2), Some(1))),
    ("the same work, delivered again", goal(Some(0), Some(2), Some(1))),
];

/// Returns the names of the operations with a goal.
pub fn operations_with_a_goal() -> impl Iterator<Item = &'static str> {
    GOALS.iter().map(|(operation, _)| *operation)
}

/// An operation's goal with its measured cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Name of the operation on the page.
    pub operation: &'static str,
    /// Maximum figures, as text.
    pub goal: String,
    /// Measured figures, as text.
    pub measured: String,
    /// Whether every measured figure is within its goal.
    pub passes: bool,
}

impl Held {
    /// Compares figures with the goal. Returns `None` for an operation without a goal.
    pub(super) fn of(operation: &'static str, figures: Figures) -> Option<Self> {
        let (_, goal) = GOALS.iter().find(|(of, _)| *of == operation)?;
        let parts = [
            (goal.write.map(|goal| goal * 1_000), figures.write, "write"),
            (goal.half_reads.map(|goal| goal * 500), figures.read, "read"),
            (goal.round_trips.map(|goal| goal * 1_000), figures.round_trips * 1_000, "round trips"),
        ];
        let parts = parts.into_iter().filter_map(|(goal, measured, what)| Some((goal?, measured, what)));
        let passes = parts.clone().all(|(goal, measured, _)| measured <= goal);
        let text = |figure: u64, what: &str| format!("{} {what}", decimal(figure, 3, 0));
        let (goal, measured): (Vec<String>, Vec<String>) =
            parts.map(|(goal, measured, what)| (text(goal, what), text(measured, what))).unzip();
        Some(Self { operation, goal: goal.join(", "), measured: measured.join(", "), passes })
    }
}
