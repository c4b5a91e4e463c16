//! The newest deployed version, as a change instance of a verified service continues from it (R56).

use super::*;

/// What leads from a deployed version of an earlier version of the definition to this one (R56).
#[derive(Clone, Debug)]
pub struct Upgrades {
    /// The steps of each version, from the one after the earlier version to this one.
    pub steps: Vec<Arc<Upgrade>>,
    /// This version, which the result has to fit.
    pub forms: Arc<DecisionForms>,
}

/// The newest deployed version, as a change instance of a verified service continues from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// There is none.
    None,
    AsStored(Value),
    /// As an item of the present version of the definition (R56).
    Upgraded(Value),
    /// It does not fit the present version, so nothing is carried over.
    Unusable,
}

/// Returns the data of a deployed version. An older release stored items that are too deep.
fn stored(newest: &Deployed) -> Result<Value, Exceeded> {
    value(&newest.data).filter(|stored| json::depth(stored) <= DEPTH_MAX).ok_or(Exceeded::Depth)
}

impl Prior {
    /// Returns the data of a deployed version after the upgrades, or as they are without.
    pub(crate) fn of(newest: &Deployed, upgrades: Option<&Upgrades>) -> Self {
        let Ok(stored) = stored(newest) else { return Self::Unusable };
        let Some(upgrades) = upgrades else { return Self::AsStored(stored) };
        let fitting = |item: &Value| upgrades.unfit(item, &mut Budget::of_request()).is_empty();
        match upgrades.applied(stored.clone()).ok().filter(fitting) {
            None => Self::Unusable,
            Some(item) if item == stored => Self::AsStored(item),
            Some(item) => Self::Upgraded(item),
        }
    }

    /// Returns the data; none without usable ones.
    pub const fn data(&self) -> Option<&Value> {
        match self {
            Self::AsStored(data) | Self::Upgraded(data) => Some(data),
            Self::None | Self::Unusable => None,
        }
    }

    /// Returns the name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::AsStored(_) => "AS_STORED",
            Self::Upgraded(_) => "UPGRADED",
            Self::Unusable => "UNUSABLE",
        }
    }
}

impl Upgrades {
    /// Returns a stored item after the steps of all versions.
    fn applied(&self, stored: Value) -> Result<Value, Exceeded> {
        self.steps.iter().try_fold(stored, |item, step| step.applied(item))
    }

    /// Returns why an upgraded item does not fit this version.
    fn unfit(&self, item: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.forms.violations_within(Phase::Partial, item, budget)
    }

    /// Returns why nothing of a deployed version could be carried over to an item of this version.
    pub fn problems(&self, newest: &Deployed, budget: &mut Budget) -> Vec<Problem> {
        match stored(newest).and_then(|stored| self.applied(stored)) {
            Ok(item) => self.unfit(&item, budget),
            Err(exceeded) => vec![exceeded.problem()],
        }
    }
}
