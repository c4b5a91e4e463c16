//! The configurations of the search.
//!
//! All of them omit:
//!
//! * time: nothing expires, and the sweep can remove a staging of any age,
//! * a second consumer team,
//! * changes of schemas and settings,
//! * work in quarantine,
//! * events,
//! * stagings with several work records of a kind, because they need an application of over 100 items.

use crate::config::{
    Application, Command, Config, Item::L, Item::V, Owners, Packing, States::All, States::First,
};
use crate::owner::Decision::{
    self, Approve, Close, Complete, Deploy, Fail, Note, Observe, Plan, Reject, Retry,
};
use domain::model::submission::Scope;
use domain::rules::generate::OPENED_MAX;
use domain::rules::plan::REUSE_FROM;

const NO_OWNERS: Owners = Owners { at_once: 0, budget: 0, decisions: &[] };
const ANY: &[Decision] = &[Approve, Reject, Complete, Fail, Close, Retry];

const PLAIN: Config = Config {
    name: "",
    about: "",
    approval: true,
    dependents: &[],
    former_dependents: 0,
    landing: OPENED_MAX,
    reuse_from: REUSE_FROM,
    commands: &[],
    attempts: 2,
    torn: false,
    lost: 0,
    crashes: 0,
    workers: 1,
    sweeps: false,
    owners: NO_OWNERS,
    deployed: 0,
    verified: false,
    states: First(100_000),
};

const fn submit(declares: &'static [Application]) -> Command {
    Command {
        declares,
        scope: Scope::Whole,
        packing: Packing::AtOnce,
        previewed: false,
        key: None,
        after: &[],
    }
}

const fn partial(declares: &'static [Application]) -> Command {
    Command { scope: Scope::Partial, ..submit(declares) }
}

const fn staged(declares: &'static [Application]) -> Command {
    Command { packing: Packing::Staged, ..submit(declares) }
}

const fn previewed(command: Command) -> Command {
    Command { previewed: true, ..command }
}

const fn after(before: &'static [usize], command: Command) -> Command {
    Command { after: before, ..command }
}

const fn with_key(key: &'static str, command: Command) -> Command {
    Command { key: Some(key), ..command }
}

const NOTHING: &[Application] = &[];
const X1: &[Application] = &[("A", &[V("x", 1)])];
const X2: &[Application] = &[("A", &[V("x", 2)])];
const X3: &[Application] = &[("A", &[V("x", 3)])];
const XZ1: &[Application] = &[("A", &[V("x", 1), V("z", 1)])];
const XZ2: &[Application] = &[("A", &[V("x", 2), V("z", 1)])];
const Z2: &[Application] = &[("A", &[V("x", 1), V("z", 2)])];
const XY1: &[Application] = &[("A", &[V("x", 1), L("y", &["x"], 1)])];
const XY2: &[Application] = &[("A", &[V("x", 2), L("y", &["x"], 1)])];
const XY3: &[Application] = &[("A", &[V("x", 3), L("y", &["x"], 1)])];
const Y2: &[Application] = &[("A", &[V("x", 2), L("y", &["x"], 2)])];
const AB1: &[Application] = &[("A", &[V("x", 1)]), ("B", &[V("x", 1)])];
const A2: &[Application] = &[("A", &[V("x", 2)])];
const B2: &[Application] = &[("B", &[V("x", 2)])];
const B1: &[Application] = &[("B", &[V("x", 1)])];
const C1: &[Application] = &[("C", &[V("x", 1)])];
const B0: &[Application] = &[("B", &[])];

pub const CONFIGS: &[Config] = &[
    Config {
        name: "race",
        about: "three submitters race, two generations, torn reads",
        dependents: &["V"],
        torn: true,
        workers: 2,
        commands: &[submit(XY1), submit(XY2), submit(X3)],
        states: First(100_000),
        ..PLAIN
    },
    Config {
        name: "owners",
        about: "modified twice while owners decide, torn reads",
        dependents: &["V"],
        torn: true,
        owners: Owners { at_once: 1, budget: 4, decisions: ANY },
        commands: &[submit(XY1), after(&[0], submit(XY2)), after(&[0], submit(XY3))],
        states: First(90_000),
        ..PLAIN
    },
    Config {
        name: "life",
        about: "created, modified, removed, declared again, while owners decide",
        dependents: &["V"],
        owners: Owners { at_once: 0, budget: 6, decisions: ANY },
        commands: &[
            submit(X1),
            after(&[0], submit(X2)),
            after(&[1], submit(NOTHING)),
            after(&[2], submit(X1)),
        ],
        states: First(80_000),
        ..PLAIN
    },
    Config {
        name: "guard",
        about: "rejections race with two submitters, torn reads",
        torn: true,
        owners: Owners { at_once: 1, budget: 3, decisions: &[Approve, Reject, Fail, Close] },
        commands: &[submit(XZ1), after(&[0], submit(XZ2)), after(&[0], submit(X1))],
        states: All(60_440),
        ..PLAIN
    },
    Config {
        name: "staged",
        about: "staged submissions while owners decide",
        dependents: &["V"],
        owners: Owners { at_once: 1, budget: 3, decisions: ANY },
        commands: &[staged(XY1), after(&[0], staged(XY2)), after(&[0], submit(XY3))],
        states: First(120_000),
        ..PLAIN
    },
    Config {
        name: "staged race",
        about: "staged submissions race, two generations, torn reads",
        torn: true,
        workers: 2,
        commands: &[staged(XY1), staged(XY2), submit(X3)],
        states: First(80_000),
        ..PLAIN
    },
    Config {
        name: "automatic",
        about: "no approval: created, modified, removed, created again",
        approval: false,
        dependents: &["V"],
        owners: Owners { at_once: 0, budget: 4, decisions: &[Complete, Fail, Close, Retry] },
        commands: &[
            submit(XY1),
            after(&[0], submit(XY2)),
            after(&[0], submit(NOTHING)),
            after(&[1, 2], submit(XY1)),
        ],
        states: First(70_000),
        ..PLAIN
    },
    Config {
        name: "retry",
        about: "owners try again and give up, two at a time, beside submitters",
        torn: true,
        owners: Owners { at_once: 2, budget: 4, decisions: ANY },
        commands: &[submit(XZ1), after(&[0], submit(XZ2))],
        states: All(96_041),
        ..PLAIN
    },
    Config {
        name: "held",
        about: "retries while a staged submission holds the head",
        owners: Owners { at_once: 1, budget: 3, decisions: &[Reject, Retry] },
        commands: &[submit(XZ1), after(&[0], staged(XZ2)), after(&[1], submit(X3))],
        states: All(4_187),
        ..PLAIN
    },
    Config {
        name: "two owners",
        about: "two decisions at a time on one item, and its dependent's",
        dependents: &["V"],
        torn: true,
        owners: Owners { at_once: 2, budget: 4, decisions: ANY },
        commands: &[submit(X1), after(&[0], submit(X2))],
        states: First(90_000),
        ..PLAIN
    },
    Config {
        name: "references",
        about: "what is referenced is modified, and what refers to it as well",
        dependents: &["V", "L"],
        torn: true,
        workers: 2,
        owners: Owners { at_once: 0, budget: 2, decisions: &[Approve, Reject, Complete] },
        commands: &[submit(XY1), after(&[0], submit(XY2)), after(&[0], submit(Y2))],
        states: First(50_000),
        ..PLAIN
    },
    Config {
        name: "overtaken",
        about: "dependents' shares come late, two generations, torn reads",
        dependents: &["V", "L"],
        torn: true,
        workers: 2,
        commands: &[submit(X1), after(&[0], submit(X2)), after(&[1], submit(NOTHING))],
        states: All(9_699),
        ..PLAIN
    },
    Config {
        name: "partial",
        about: "partial submissions of two applications, torn reads",
        torn: true,
        owners: Owners { at_once: 0, budget: 2, decisions: &[Approve, Reject, Close] },
        commands: &[
            submit(AB1),
            after(&[0], partial(A2)),
            after(&[0], partial(B2)),
            after(&[0], partial(B0)),
        ],
        states: First(90_000),
        ..PLAIN
    },
    Config {
        name: "plans",
        about: "two applications are submitted as previewed, while owners decide",
        torn: true,
        owners: Owners { at_once: 0, budget: 2, decisions: &[Approve, Reject] },
        commands: &[
            submit(AB1),
            after(&[0], previewed(partial(A2))),
            after(&[0], previewed(partial(B2))),
            after(&[0], previewed(submit(X1))),
        ],
        states: First(90_000),
        ..PLAIN
    },
    Config {
        name: "new plans",
        about: "new applications with the same items are submitted as previewed",
        dependents: &["V"],
        commands: &[previewed(partial(X1)), previewed(partial(B1)), previewed(partial(C1))],
        states: All(8_607),
        ..PLAIN
    },
    Config {
        name: "keys",
        about: "a request comes again under its idempotency key; answers are lost, submitters die",
        dependents: &["V"],
        torn: true,
        lost: 2,
        crashes: 1,
        commands: &[with_key("k", submit(X1)), with_key("k", submit(X1)), submit(X2)],
        states: First(80_000),
        ..PLAIN
    },
    Config {
        name: "staged keys",
        about: "the same, staged",
        lost: 2,
        crashes: 1,
        commands: &[with_key("k", staged(X1)), with_key("k", staged(X1)), staged(X2)],
        states: First(90_000),
        ..PLAIN
    },
    Config {
        name: "cleared",
        about: "stagings are cleared away beside their commits; answers are lost, submitters die",
        lost: 1,
        crashes: 1,
        sweeps: true,
        commands: &[staged(X1), staged(X2), after(&[0], submit(X3))],
        states: First(100_000),
        ..PLAIN
    },
    Config {
        name: "confluence",
        about: "whatever the generations do, the same submissions end alike",
        dependents: &["V", "L"],
        workers: 2,
        commands: &[staged(XY1), after(&[0], submit(XY2)), after(&[0], staged(Y2))],
        states: All(7_682),
        ..PLAIN
    },
    Config {
        name: "counted",
        about: "two generations carry two work records out; answers are lost, generations die",
        dependents: &["L"],
        workers: 2,
        lost: 1,
        crashes: 1,
        commands: &[submit(XY1), after(&[0], staged(XY2))],
        states: All(11_893),
        ..PLAIN
    },
    Config {
        name: "deployed",
        about: "deployed items use their numbers up and take more, beside a submission",
        approval: false,
        deployed: 15,
        owners: Owners { at_once: 2, budget: 3, decisions: &[Deploy, Complete] },
        commands: &[submit(XZ1), submit(XZ2)],
        states: All(3_804),
        ..PLAIN
    },
    Config {
        name: "notes",
        about: "log texts on what is completed, two at a time",
        approval: false,
        owners: Owners { at_once: 2, budget: 4, decisions: &[Complete, Note] },
        commands: &[submit(X1), after(&[0], submit(X2))],
        states: All(471),
        ..PLAIN
    },
    Config {
        name: "planned",
        about: "two plans at once, next to approvals, completions, failures and another declaration",
        verified: true,
        torn: true,
        owners: Owners {
            at_once: 2,
            budget: 4,
            decisions: &[Plan(1), Plan(2), Approve, Complete, Fail, Retry],
        },
        commands: &[submit(X1), after(&[0], submit(X2))],
        states: All(56_810),
        ..PLAIN
    },
    Config {
        name: "observed",
        about: "observations while the same and another declaration are submitted, two at a time, torn reads",
        verified: true,
        approval: false,
        torn: true,
        owners: Owners { at_once: 2, budget: 4, decisions: &[Complete, Observe(1), Observe(2)] },
        commands: &[submit(XZ1), after(&[0], submit(XZ1)), after(&[0], submit(Z2))],
        states: All(149_780),
        ..PLAIN
    },
    Config {
        name: "excess",
        about: "former dependents' rejections are closed ahead of a staged landing, while they try again and give up",
        former_dependents: 3,
        landing: 5,
        torn: true,
        workers: 2,
        crashes: 1,
        owners: Owners { at_once: 1, budget: 3, decisions: &[Reject, Close, Retry] },
        commands: &[submit(X1), after(&[0], staged(X2))],
        states: First(100_000),
        ..PLAIN
    },
    Config {
        name: "gone",
        about: "items go while a staged submission and one at once declare their names again",
        approval: false,
        dependents: &["V"],
        torn: true,
        workers: 2,
        owners: Owners { at_once: 1, budget: 4, decisions: &[Complete, Fail, Close, Retry] },
        commands: &[
            submit(X1),
            after(&[0], submit(NOTHING)),
            after(&[1], staged(X1)),
            after(&[1], submit(X2)),
        ],
        states: First(80_000),
        ..PLAIN
    },
    Config {
        name: "reserve",
        about: "an item goes between the plan and the landing of its new declaration",
        approval: false,
        torn: true,
        workers: 2,
        owners: Owners { at_once: 1, budget: 2, decisions: &[Complete] },
        commands: &[submit(X1), after(&[0], submit(NOTHING)), after(&[1], staged(X1))],
        states: All(1_068),
        ..PLAIN
    },
    Config {
        name: "generations",
        about: "two new applications race for the number of an empty one, whose last item goes meanwhile",
        approval: false,
        torn: true,
        reuse_from: 1,
        owners: Owners { at_once: 1, budget: 1, decisions: &[Complete] },
        commands: &[
            submit(X1),
            after(&[0], submit(NOTHING)),
            after(&[1], partial(B1)),
            after(&[1], Command { packing: Packing::Staged, ..partial(C1) }),
        ],
        states: All(1_283),
        ..PLAIN
    },
    Config {
        name: "late",
        about: "referenced work comes late, beside the removal and completion of its item",
        approval: false,
        dependents: &["L"],
        torn: true,
        workers: 2,
        owners: Owners { at_once: 1, budget: 3, decisions: &[Complete] },
        commands: &[submit(XY1), after(&[0], submit(XY2)), after(&[1], submit(X2))],
        states: First(60_000),
        ..PLAIN
    },
];

/// Returns the configuration with this name.
pub fn named(name: &str) -> Option<&'static Config> {
    CONFIGS.iter().find(|config| config.name == name)
}
