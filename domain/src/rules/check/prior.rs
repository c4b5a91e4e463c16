//! The newest deployed version, as a change instance of a verified service continues from it (R56).

use super::*;

/// The upgrades from an earlier version of the definition to this version (R56).
#[derive(Clone, Debug)]
pub struct Upgrades {
    /// The steps of each version after the earlier version up to this version, or the limit that they exceed.
    pub steps: Result<UpgradeChain, Exceeded>,
    /// The forms of this version, which the result must fit.
    pub forms: Arc<DecisionForms>,
}

/// The steps of several versions in their order, within the limits of versions and memory.
#[derive(Clone, Debug, Default)]
pub struct UpgradeChain {
    upgrades: Vec<Arc<Upgrade>>,
    /// The memory in bytes; the estimate is never too low.
    bytes: usize,
}

impl UpgradeChain {
    /// Adds the steps of the next version.
    pub fn then(mut self, upgrade: Arc<Upgrade>) -> Result<Self, Exceeded> {
        self.bytes = self.bytes.saturating_add(upgrade.bytes());
        self.upgrades.push(upgrade);
        let is_within = self.upgrades.len() <= UPGRADED_VERSIONS_MAX && self.bytes <= UPGRADES_BYTES_MAX;
        if is_within { Ok(self) } else { Err(Exceeded::Versions) }
    }
}

/// The newest deployed version in the form in which a change instance of a verified service continues from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Prior {
    /// The item has no deployed version to continue from.
    None,
    AsStored(StorableValue),
    /// The deployed version as an item of the present version of the definition (R56).
    Upgraded(StorableValue),
    /// The deployed version does not fit the present version of the definition, so nothing is carried over.
    Unusable,
}

impl Prior {
    /// Returns the data of a deployed version after the upgrades, or unchanged if there are none.
    ///
    /// The version is also unusable if the budget is too small. In this case, the budget is exceeded.
    pub(crate) fn of(newest: &Deployed, upgrades: Option<&Upgrades>, budget: &mut Budget) -> Self {
        let Ok(stored) = StorableValue::read(&newest.data) else { return Self::Unusable };
        let Some(upgrades) = upgrades else { return Self::AsStored(stored) };
        match upgrades.applied(stored.clone(), budget) {
            Ok(item) if !upgrades.unfit(&item, budget).is_empty() => Self::Unusable,
            Ok(item) if item == stored => Self::AsStored(item),
            Ok(item) => Self::Upgraded(item),
            Err(_) => Self::Unusable,
        }
    }

    /// Returns the data; none if there are no usable data.
    pub fn data(&self) -> Option<&Value> {
        match self {
            Self::AsStored(data) | Self::Upgraded(data) => Some(data),
            Self::None | Self::Unusable => None,
        }
    }

    /// Returns the data; none if there are no usable data.
    pub(crate) fn into_data(self) -> Option<StorableValue> {
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
    fn applied(&self, stored: StorableValue, budget: &mut Budget) -> Result<StorableValue, Exceeded> {
        let mut item = Carried::new(stored, budget)?;
        let steps = self.steps.as_ref().map_err(|exceeded| *exceeded)?;
        steps.upgrades.iter().try_for_each(|upgrade| upgrade.apply(&mut item, budget))?;
        item.into_storable()
    }

    /// Returns the reasons why an upgraded item does not fit this version.
    fn unfit(&self, item: &Value, budget: &mut Budget) -> Vec<Problem> {
        self.forms.violations_within(Phase::Partial, item, budget)
    }

    /// Returns the reasons why nothing of a deployed version could be carried over to an item of this version.
    pub fn problems(&self, newest: &Deployed, budget: &mut Budget) -> Vec<Problem> {
        let stored = StorableValue::read(&newest.data).map_err(Exceeded::Item);
        match stored.and_then(|stored| self.applied(stored, budget)) {
            Ok(item) => self.unfit(&item, budget),
            Err(exceeded) => vec![exceeded.problem()],
        }
    }

    /// Returns the memory in bytes; the estimate is never too low.
    pub fn bytes(&self) -> usize {
        let steps = self.steps.as_ref().map_or(0, |steps| steps.bytes);
        steps.saturating_add(self.forms.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of versions with these steps that a chain holds.
    fn held(upgrade: &Upgrade, versions: usize) -> usize {
        let upgrade = Arc::new(upgrade.clone());
        let mut chain = Ok(UpgradeChain::default());
        for version in 0..versions {
            chain = chain.and_then(|chain: UpgradeChain| chain.then(Arc::clone(&upgrade)));
            if chain.is_err() {
                return version;
            }
        }
        versions
    }

    #[test]
    fn a_chain_ends_at_its_versions_and_its_memory() {
        assert_eq!(held(&Upgrade::default(), UPGRADED_VERSIONS_MAX + 1), UPGRADED_VERSIONS_MAX);
        let large = json!({"x-upgrade": [{"op": "add", "path": "/a", "value": "a".repeat(40_000)}]});
        let large = Upgrade::load(&large.to_string()).unwrap();
        assert_eq!(held(&large, UPGRADED_VERSIONS_MAX), UPGRADES_BYTES_MAX / large.bytes());
    }
}
