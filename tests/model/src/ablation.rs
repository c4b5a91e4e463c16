//! Missing parts of the protocol and their consequences: the violated rule and the number of steps.

use store::Fence;

/// A part of the protocol that an ablation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A fence of the storage.
    Fence(Fence),
    /// The check for torn reads.
    CheckOfReads,
    /// The sequence of an owner's stack. It shows overtaken changes.
    Sequence,
    /// A submitter's search for its own request id.
    OwnRequestId,
    /// The count of submissions whose shares an item waits for.
    SharesDue,
    /// The new item in reserve for an item that is gone at the landing.
    Spare,
    /// The question whether an application has a live item, before a new one takes its number.
    Vacancy,
    /// The comparison of a submission's plan token with the one of its preview.
    PlanToken,
}

/// The consequence of a missing part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// This rule fails after this number of steps, and not earlier.
    Broken(&'static str, usize),
    /// No state violates a rule, because this part has the same effect.
    Covered(&'static str),
}

/// A protocol without some parts, and the consequence in one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Ablation {
    /// Name of the missing parts in the documentation.
    pub name: &'static str,
    pub missing: &'static [Missing],
    /// Name of the searched configuration.
    pub config: &'static str,
    pub becomes: Becomes,
}

const fn broken(
    name: &'static str,
    missing: &'static [Missing],
    config: &'static str,
    rule: &'static str,
    steps: usize,
) -> Ablation {
    Ablation { name, missing, config, becomes: Becomes::Broken(rule, steps) }
}

const fn covered(
    name: &'static str,
    missing: &'static [Missing],
    config: &'static str,
    by: &'static str,
) -> Ablation {
    Ablation { name, missing, config, becomes: Becomes::Covered(by) }
}

use Missing::Fence as Without;

pub const ABLATIONS: &[Ablation] = &[
    covered(
        "`HEAD.submissions`",
        &[Without(Fence::Submissions)],
        "guard",
        "the key of SUBMISSION n + 1 is taken",
    ),
    broken(
        "`HEAD.submissions`, key not taken and `HEAD.next_change`",
        &[Without(Fence::Submissions), Without(Fence::NewKey), Without(Fence::NextChange)],
        "partial",
        "I8",
        9,
    ),
    broken("`HEAD.blockers`", &[Without(Fence::Blockers)], "guard", "I14", 8),
    broken("`HEAD.next_change`", &[Without(Fence::NextChange)], "deployed", "I23", 7),
    broken("`HEAD.next_change`, staged", &[Without(Fence::NextChange)], "held", "I23", 15),
    broken("`HEAD.in_flight`", &[Without(Fence::InFlight)], "held", "I11", 16),
    broken("`HEAD.in_flight`, closings ahead", &[Without(Fence::InFlight)], "excess", "I11", 14),
    broken("`STAGING.state`", &[Without(Fence::StagingState)], "cleared", "I11", 6),
    covered(
        "`APP.dig`, `APP.ni`",
        &[Without(Fence::Application)],
        "guard",
        "the head is written with every application",
    ),
    broken("`ITEM.revision`", &[Without(Fence::Revision)], "two owners", "I2", 8),
    broken("`ITEM.revision`, closings ahead", &[Without(Fence::Revision)], "excess", "I2", 10),
    broken("history length and state", &[Without(Fence::History)], "notes", "I3", 11),
    covered(
        "history length, of a plan",
        &[Without(Fence::History)],
        "planned",
        "`ITEM.revision`: an open change has a slot",
    ),
    broken(
        "history length, of a plan, and `ITEM.revision`",
        &[Without(Fence::History), Without(Fence::Revision)],
        "planned",
        "I3",
        7,
    ),
    broken("`APP.dr`", &[Without(Fence::Drifted)], "observed", "I27", 10),
    broken("`ITEM.revision`, of an observation", &[Without(Fence::Revision)], "observed", "I27", 10),
    broken("key not taken, of a change instance", &[Without(Fence::NewKey)], "overtaken", "I3", 10),
    broken("key not taken, of an idempotency key", &[Without(Fence::NewKey)], "keys", "I20", 8),
    broken("`SUBMISSION.work_left`", &[Without(Fence::WorkLeft)], "counted", "I11", 16),
    covered(
        "the work record itself",
        &[Without(Fence::WorkExists)],
        "counted",
        "`SUBMISSION.work_left`, and the look whether the record is still there",
    ),
    broken("the check for torn reads", &[Missing::CheckOfReads], "race", "I8", 7),
    broken("the sequence of an owner's stack", &[Missing::Sequence], "overtaken", "I6", 12),
    broken("`ITEM.revision`, of an item that goes", &[Without(Fence::Revision)], "gone", "I2", 8),
    broken("the count of shares that an item waits for", &[Missing::SharesDue], "gone", "I33", 5),
    broken("the new item in reserve", &[Missing::Spare], "reserve", "I31", 16),
    covered(
        "the check that the item is gone",
        &[Without(Fence::Exists)],
        "reserve",
        "an item that is gone stays so",
    ),
    broken("the question for live items", &[Missing::Vacancy], "generations", "I34", 9),
    broken("the plan token", &[Missing::PlanToken], "plans", "R34", 10),
    broken("the look for one's own mark", &[Missing::OwnRequestId], "keys", "I20", 6),
];
