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

/// Values that most configurations share.
const PLAIN: Config = Config {
    name: "",
    about: "",
    approval: true,
    replaces: false,
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
    owners: owners(0, 0, &[]),
    deployed: 0,
    verified: false,
    states: First(0),
};

const ANY: &[Decision] = &[Approve, Reject, Complete, Fail, Close, Retry];

const fn owners(at_once: usize, budget: u8, decisions: &'static [Decision]) -> Owners {
    Owners { at_once, budget, decisions }
}

const fn submit(declares: &'static [Application]) -> Command {
    let (scope, packing) = (Scope::Whole, Packing::AtOnce);
    Command { declares, scope, packing, previewed: false, key: None, after: &[] }
}

impl Command {
    const fn partial(self) -> Self {
        Self { scope: Scope::Partial, ..self }
    }

    const fn staged(self) -> Self {
        Self { packing: Packing::Staged, ..self }
    }

    const fn previewed(self) -> Self {
        Self { previewed: true, ..self }
    }

    const fn with_key(self, key: &'static str) -> Self {
        Self { key: Some(key), ..self }
    }

    const fn after(self, commands: &'static [usize]) -> Self {
        Self { after: commands, ..self }
    }
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
const B2: &[Application] = &[("B", &[V("x", 2)])];
const B1: &[Application] = &[("B", &[V("x", 1)])];
const C1: &[Application] = &[("C", &[V("x", 1)])];
const B0: &[Application] = &[("B", &[])];

/// Each row has a name and a purpose, the values that are not plain and the number of states, and the commands.
macro_rules! configs {
    ($($name:literal: $about:literal; { $($field:ident: $value:expr),* } $states:expr; [$($command:expr),*];)*) => {
        &[$(Config {
            name: $name,
            about: $about,
            states: $states,
            commands: &[$($command),*],
            $($field: $value,)*
            ..PLAIN
        }),*]
    };
}

pub const CONFIGS: &[Config] = configs! {
    "race": "three submitters race, two generations, torn reads";
        { dependents: &["V"], torn: true, workers: 2 } First(100_000);
        [submit(XY1), submit(XY2), submit(X3)];
    "owners": "modified twice while owners decide, torn reads";
        { dependents: &["V"], torn: true, owners: owners(1, 4, ANY) } First(90_000);
        [submit(XY1), submit(XY2).after(&[0]), submit(XY3).after(&[0])];
    "replaced": "what is in place is replaced, with a dependent team, while owners decide";
        { replaces: true, dependents: &["V"], owners: owners(0, 7, ANY) } First(60_000);
        [submit(X1), submit(X2).after(&[0]), submit(X3).after(&[1]), submit(NOTHING).after(&[1])];
    "replaced at once": "two decisions at a time on a replacement without approval, next to a submitter";
        { replaces: true, approval: false, torn: true, owners: owners(2, 4, &[Complete, Fail, Retry]) } First(40_000);
        [submit(X1), submit(X2).after(&[0]), submit(X3).after(&[1])];
    "replaced, staged": "staged replacements while owners decide";
        { replaces: true, owners: owners(1, 4, &[Approve, Complete, Fail]) } All(16_346);
        [submit(X1).staged(), submit(X2).staged().after(&[0]), submit(X3).staged().after(&[0])];
    "life": "created, modified, removed, declared again, while owners decide";
        { dependents: &["V"], owners: owners(0, 6, ANY) } First(80_000);
        [submit(X1), submit(X2).after(&[0]), submit(NOTHING).after(&[1]), submit(X1).after(&[2])];
    "guard": "rejections race with two submitters, torn reads";
        { torn: true, owners: owners(1, 3, &[Approve, Reject, Fail, Close]) } All(60_478);
        [submit(XZ1), submit(XZ2).after(&[0]), submit(X1).after(&[0])];
    "staged": "staged submissions while owners decide";
        { dependents: &["V"], owners: owners(1, 3, ANY) } First(120_000);
        [submit(XY1).staged(), submit(XY2).staged().after(&[0]), submit(XY3).after(&[0])];
    "staged race": "staged submissions race, two generations, torn reads";
        { torn: true, workers: 2 } First(80_000);
        [submit(XY1).staged(), submit(XY2).staged(), submit(X3)];
    "automatic": "no approval: created, modified, removed, created again";
        { approval: false, dependents: &["V"],
          owners: owners(0, 4, &[Complete, Fail, Close, Retry]) } First(70_000);
        [submit(XY1), submit(XY2).after(&[0]), submit(NOTHING).after(&[0]), submit(XY1).after(&[1, 2])];
    "retry": "owners try again and give up, two at a time, next to submitters";
        { torn: true, owners: owners(2, 4, ANY) } All(96_041);
        [submit(XZ1), submit(XZ2).after(&[0])];
    "held": "retries while a staged submission holds the head";
        { owners: owners(1, 3, &[Reject, Retry]) } All(4_187);
        [submit(XZ1), submit(XZ2).staged().after(&[0]), submit(X3).after(&[1])];
    "two owners": "two decisions at a time on one item, and its dependent's";
        { dependents: &["V"], torn: true, owners: owners(2, 4, ANY) } First(90_000);
        [submit(X1), submit(X2).after(&[0])];
    "references": "what is referenced is modified, and what refers to it as well";
        { dependents: &["V", "L"], torn: true, workers: 2,
          owners: owners(0, 2, &[Approve, Reject, Complete]) } First(50_000);
        [submit(XY1), submit(XY2).after(&[0]), submit(Y2).after(&[0])];
    "overtaken": "dependents' shares come late, two generations, torn reads";
        { dependents: &["V", "L"], torn: true, workers: 2 } All(9_699);
        [submit(X1), submit(X2).after(&[0]), submit(NOTHING).after(&[1])];
    "partial": "partial submissions of two applications, torn reads";
        { torn: true, owners: owners(0, 2, &[Approve, Reject, Close]) } First(90_000);
        [submit(AB1), submit(X2).partial().after(&[0]), submit(B2).partial().after(&[0]),
         submit(B0).partial().after(&[0])];
    "plans": "two applications are submitted as previewed, while owners decide";
        { torn: true, owners: owners(0, 2, &[Approve, Reject]) } First(90_000);
        [submit(AB1), submit(X2).partial().previewed().after(&[0]),
         submit(B2).partial().previewed().after(&[0]), submit(X1).previewed().after(&[0])];
    "new plans": "new applications with the same items are submitted as previewed";
        { dependents: &["V"] } All(8_607);
        [submit(X1).partial().previewed(), submit(B1).partial().previewed(),
         submit(C1).partial().previewed()];
    "keys": "a request comes again under its idempotency key; answers are lost, submitters die";
        { dependents: &["V"], torn: true, lost: 2, crashes: 1 } First(80_000);
        [submit(X1).with_key("k"), submit(X1).with_key("k"), submit(X2)];
    "staged keys": "the same, staged";
        { lost: 2, crashes: 1 } First(90_000);
        [submit(X1).staged().with_key("k"), submit(X1).staged().with_key("k"), submit(X2).staged()];
    "cleared": "stagings are cleared away next to their commits; answers are lost, submitters die";
        { lost: 1, crashes: 1, sweeps: true } First(100_000);
        [submit(X1).staged(), submit(X2).staged(), submit(X3).after(&[0])];
    "confluence": "whatever the generations do, the same submissions end alike";
        { dependents: &["V", "L"], workers: 2 } All(7_682);
        [submit(XY1).staged(), submit(XY2).after(&[0]), submit(Y2).staged().after(&[0])];
    "counted": "two generations carry two work records out; answers are lost, generations die";
        { dependents: &["L"], workers: 2, lost: 1, crashes: 1 } All(11_893);
        [submit(XY1), submit(XY2).staged().after(&[0])];
    "deployed": "deployed items use their numbers up and take more, next to a submission";
        { approval: false, deployed: 15, owners: owners(2, 3, &[Deploy, Complete]) } All(3_804);
        [submit(XZ1), submit(XZ2)];
    "notes": "log texts on what is completed, two at a time";
        { approval: false, owners: owners(2, 4, &[Complete, Note]) } All(471);
        [submit(X1), submit(X2).after(&[0])];
    "planned": "two plans at once, next to approvals, completions, failures and another declaration";
        { verified: true, torn: true,
          owners: owners(2, 4, &[Plan(1), Plan(2), Approve, Complete, Fail, Retry]) } All(56_810);
        [submit(X1), submit(X2).after(&[0])];
    "observed": "observations while the same and another declaration are submitted, two at a time, torn reads";
        { verified: true, approval: false, torn: true,
          owners: owners(2, 4, &[Complete, Observe(1), Observe(2)]) } All(149_780);
        [submit(XZ1), submit(XZ1).after(&[0]), submit(Z2).after(&[0])];
    "excess": "former dependents' rejections are closed ahead of a staged landing, while they try again and give up";
        { former_dependents: 3, landing: 5, torn: true, workers: 2, crashes: 1,
          owners: owners(1, 3, &[Reject, Close, Retry]) } First(100_000);
        [submit(X1), submit(X2).staged().after(&[0])];
    "gone": "items go while a staged submission and one at once declare their names again";
        { approval: false, dependents: &["V"], torn: true, workers: 2,
          owners: owners(1, 4, &[Complete, Fail, Close, Retry]) } First(80_000);
        [submit(X1), submit(NOTHING).after(&[0]), submit(X1).staged().after(&[1]), submit(X2).after(&[1])];
    "reserve": "an item goes between the plan and the landing of its new declaration";
        { approval: false, torn: true, workers: 2, owners: owners(1, 2, &[Complete]) } All(1_068);
        [submit(X1), submit(NOTHING).after(&[0]), submit(X1).staged().after(&[1])];
    "generations": "two new applications race for the number of an empty one, whose last item goes meanwhile";
        { approval: false, torn: true, reuse_from: 1, owners: owners(1, 1, &[Complete]) } All(1_283);
        [submit(X1), submit(NOTHING).after(&[0]), submit(B1).partial().after(&[1]),
         submit(C1).partial().staged().after(&[1])];
    "late": "referenced work comes late, next to the removal and completion of its item";
        { approval: false, dependents: &["L"], torn: true, workers: 2,
          owners: owners(1, 3, &[Complete]) } First(60_000);
        [submit(XY1), submit(XY2).after(&[0]), submit(X2).after(&[1])];
};

/// Returns the configuration with this name.
pub fn named(name: &str) -> Option<&'static Config> {
    CONFIGS.iter().find(|config| config.name == name)
}
