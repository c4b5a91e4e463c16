//! Missing parts of the protocol and their consequences: the violated rule and the number of steps.

use Becomes::{Broken, Covered};
use Missing::{CheckOfReads, Fence as Without, OwnRequestId, PlanToken, Sequence, SharesDue, Spare, Vacancy};
use store::Fence::{
    self, Application, Blockers, Drifted, Exists, History, InFlight, NewKey, NextChange, Revision,
    StagingState, Submissions, WorkExists, WorkLeft,
};

/// A part of the protocol that an ablation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A fence of the storage.
    Fence(Fence),
    /// The check for torn reads.
    CheckOfReads,
    /// The sequence of an owner's stack, which shows overtaken changes.
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

/// Each row has the name of the missing parts, the parts, the configuration, and the consequence.
macro_rules! ablations {
    ($($name:literal, [$($missing:expr),*], $config:literal, $becomes:expr;)*) => {
        &[$(Ablation { name: $name, missing: &[$($missing),*], config: $config, becomes: $becomes }),*]
    };
}

pub const ABLATIONS: &[Ablation] = ablations! {
    "`HEAD.submissions`", [Without(Submissions)], "guard", Covered("the key of SUBMISSION n + 1 is taken");
    "`HEAD.submissions`, key not taken and `HEAD.next_change`",
        [Without(Submissions), Without(NewKey), Without(NextChange)], "partial", Broken("I8", 9);
    "`HEAD.blockers`", [Without(Blockers)], "guard", Broken("I14", 8);
    "`HEAD.next_change`", [Without(NextChange)], "deployed", Broken("I23", 7);
    "`HEAD.next_change`, staged", [Without(NextChange)], "held", Broken("I23", 15);
    "`HEAD.in_flight`", [Without(InFlight)], "held", Broken("I11", 16);
    "`HEAD.in_flight`, closings ahead", [Without(InFlight)], "excess", Broken("I11", 14);
    "`STAGING.state`", [Without(StagingState)], "cleared", Broken("I11", 6);
    "`APP.dig`, `APP.ni`", [Without(Application)], "guard",
        Covered("the head is written with every application");
    "`ITEM.revision`", [Without(Revision)], "two owners", Broken("I2", 8);
    "`ITEM.revision`, closings ahead", [Without(Revision)], "excess", Broken("I2", 10);
    "history length and state", [Without(History)], "notes", Broken("I3", 11);
    "history length, of a plan", [Without(History)], "planned",
        Covered("`ITEM.revision`: an open change has a slot");
    "history length, of a plan, and `ITEM.revision`", [Without(History), Without(Revision)], "planned",
        Broken("I3", 7);
    "`APP.dr`", [Without(Drifted)], "observed", Broken("I27", 10);
    "`ITEM.revision`, of an observation", [Without(Revision)], "observed", Broken("I27", 10);
    "key not taken, of a change instance", [Without(NewKey)], "overtaken", Broken("I3", 10);
    "key not taken, of an idempotency key", [Without(NewKey)], "keys", Broken("I20", 8);
    "`SUBMISSION.work_left`", [Without(WorkLeft)], "counted", Broken("I11", 16);
    "the work record itself", [Without(WorkExists)], "counted",
        Covered("`SUBMISSION.work_left`, and the look whether the record is still there");
    "the check for torn reads", [CheckOfReads], "race", Broken("I8", 7);
    "the sequence of an owner's stack", [Sequence], "overtaken", Broken("I6", 12);
    "`ITEM.revision`, of an item that goes", [Without(Revision)], "gone", Broken("I2", 8);
    "the count of shares that an item waits for", [SharesDue], "gone", Broken("I33", 5);
    "the new item in reserve", [Spare], "reserve", Broken("I31", 16);
    "the check that the item is gone", [Without(Exists)], "reserve", Covered("an item that is gone stays so");
    "the question for live items", [Vacancy], "generations", Broken("I34", 9);
    "the plan token", [PlanToken], "plans", Broken("R34", 10);
    "the look for one's own mark", [OwnRequestId], "keys", Broken("I20", 6);
};
