//! The configurations, and the parts of the rules that an ablation removes.

use super::state::Strategy;
use crate::config::States::{self, All, First};

/// A service with its settings, and the possible steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) strategy: Strategy,
    /// Whether the service requires approval.
    pub(crate) approval: bool,
    /// Whether the service has a dependent team.
    pub(crate) dependent: bool,
    /// `complete_unneeded`; with `REPLACE` it is always on.
    pub(crate) unneeded: bool,
    /// `claim_required`, with two workers of each owner.
    pub(crate) claims: bool,
    /// Whether submissions may be staged.
    pub(crate) staged: bool,
    /// Whether submissions may modify a referenced item.
    pub(crate) references: bool,
    /// Whether the strategy may change.
    pub(crate) settings: bool,
}

impl Config {
    /// Returns the configuration with these words: its strategy, and the names of the fields that are true.
    pub fn of(words: &str) -> Self {
        let has = |word| words.split(' ').any(|one| one == word);
        let strategy = match words.split(' ').next() {
            Some("REPLACE") => Strategy::Replace,
            Some("PROPERTY") => Strategy::Property,
            _ => Strategy::Modify,
        };
        Self {
            strategy,
            approval: has("approval"),
            dependent: has("dependent"),
            unneeded: has("unneeded"),
            claims: has("claims"),
            staged: has("staged"),
            references: has("references"),
            settings: has("settings"),
        }
    }
}

/// The group for `--only`, the words and the number of states of each configuration.
pub const CONFIGS: &[(&str, &str, States)] = &[
    ("modify", "MODIFY", All(34)),
    ("modify", "MODIFY approval", All(520)),
    ("modify", "MODIFY dependent", All(62_717)),
    ("modify", "MODIFY approval dependent", First(50_000)),
    ("replace", "REPLACE", All(28)),
    ("replace", "REPLACE approval", All(262)),
    ("replace", "REPLACE dependent", All(34_093)),
    ("replace", "REPLACE approval dependent", First(50_000)),
    ("replace", "PROPERTY", All(85)),
    ("replace", "PROPERTY approval", All(1_182)),
    ("replace", "PROPERTY dependent", All(154_919)),
    ("replace", "PROPERTY approval dependent", First(50_000)),
    ("unneeded", "MODIFY unneeded", All(31)),
    ("unneeded", "MODIFY approval unneeded", All(516)),
    ("unneeded", "MODIFY dependent unneeded", All(53_177)),
    ("unneeded", "MODIFY approval dependent unneeded", First(50_000)),
    ("unneeded", "PROPERTY unneeded", All(73)),
    ("unneeded", "PROPERTY approval unneeded", All(1_174)),
    ("unneeded", "PROPERTY dependent unneeded", All(118_351)),
    ("unneeded", "PROPERTY approval dependent unneeded", First(50_000)),
    ("claims", "REPLACE claims", All(56)),
    ("claims", "REPLACE approval claims", All(530)),
    ("claims", "REPLACE dependent claims", All(145_204)),
    ("claims", "REPLACE approval dependent claims", First(50_000)),
    ("claims", "MODIFY unneeded claims", All(64)),
    ("claims", "MODIFY approval unneeded claims", All(1_060)),
    ("claims", "MODIFY dependent unneeded claims", All(223_652)),
    ("claims", "MODIFY approval dependent unneeded claims", First(50_000)),
    ("claims", "PROPERTY unneeded claims", All(151)),
    ("claims", "PROPERTY approval unneeded claims", All(2_428)),
    ("claims", "PROPERTY dependent unneeded claims", All(523_216)),
    ("claims", "PROPERTY approval dependent unneeded claims", First(50_000)),
    ("staged", "REPLACE approval staged", All(1_026)),
    ("staged", "PROPERTY approval staged", All(5_814)),
    ("staged", "PROPERTY dependent staged", First(50_000)),
    ("references", "REPLACE approval references", All(2_620)),
    ("references", "REPLACE dependent references", All(61_512)),
    ("references", "PROPERTY approval references", All(19_590)),
    ("references", "PROPERTY dependent references", First(50_000)),
    ("settings", "MODIFY unneeded settings", All(315)),
    ("settings", "MODIFY approval unneeded settings", All(8_253)),
    ("settings", "MODIFY dependent settings", First(50_000)),
];

/// A part of the rules that an ablation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// `leaves`: the target of a first half counts as reached.
    Leaves,
    /// The conversion of a first half at its approval.
    Conversion,
    /// The condition that a first half with a second half is the newest change instance of its owner.
    Newest,
    /// The CREATE of a share while nothing is in place.
    RowThree,
    /// The CREATE of a share while its owner removes what is in place.
    OwnRemoval,
    /// The same, for a removal without a new declaration.
    PlainRemoval,
    /// The comparison of a share with what is in place when it comes.
    PlaceOfShare,
    /// The end of a rejection by an unneeded share of a later submission.
    Rejected,
    /// The second half next to an older rejection.
    OlderRejection,
    /// The unknown place of a dependent team in a record without a place.
    OldDependent,
    /// The condition that an unneeded CREATE had no lease of the item, for any change instance.
    AnyLease,
    /// The lease of the item, in place of one of the change instance and the one that it displaces.
    ItemLease,
    /// The lease of a worker that rejects a change instance while another one is APPROVED.
    LeaseAtWork,
    /// The check of the number of a claim.
    CheckClaim,
}

/// The rules in a configuration, perhaps without a part.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    pub(crate) config: Config,
    pub(crate) missing: Option<Missing>,
    /// Whether one state represents those with other names of declarations and workers.
    pub(crate) is_symmetric: bool,
}

impl Life {
    pub(crate) fn lacks(&self, part: Missing) -> bool {
        self.missing == Some(part)
    }
}
