//! Owners' decisions: one step, or several.

use super::*;
use domain::base::id::DeployedId;
use domain::catalog::schema::{DecisionForms, Upgrade};
use domain::model::claim::Claim;
use domain::rules::check::{Check, UpgradeChain, Upgrades};
use domain::rules::claim;
use domain::rules::claim::ClaimRequest;
use domain::rules::decide::Reads;

impl World {
    pub(crate) fn update(
        &mut self,
        id: ChangeId,
        caller: &str,
        update: &Update,
    ) -> Result<Decided, decide::Refused> {
        let change = self.change(id).clone();
        let item = self.snapshot.items[&change.item].clone();
        let by = if self.by_hand { Self::person_of(caller) } else { Self::key_of(caller) };
        let ctx = self.ctx(by);
        // As in the function, the head and the service are read only if needed.
        let service = self.offers[&change.service.title].service.clone();
        let service = decide::depends_on_service(&change, update, &ctx).then_some(service);
        let caller = team(caller);
        let forms = decide::checking_version(&change, update, &caller).map(|version| {
            let text = &self.definitions[&(change.service.title.clone(), version)];
            DecisionForms::load(text).unwrap()
        });
        let head = decide::takes_numbers(&change, &item, update, forms.as_ref()).then(|| self.head());
        let newest = forms.as_ref().and_then(|forms| decide::newest_to_read(&item, update, forms));
        let read = |id: Option<DeployedId>| self.snapshot.deployed.iter().find(|read| Some(read.id) == id);
        let upgrades = read(newest).and_then(|newest| {
            self.upgrades(&change.service.title, newest.schema_version, change.schema_version?)
        });
        let check = forms.as_ref().map(|forms| Check {
            secrets: None,
            forms,
            declared: change.new.map(|new| self.texts[&new.hash].as_str()),
            planned: change.planned().map(|hash| self.texts[&hash].as_str()),
            newest: read(newest),
            base: read(decide::base_to_read(&change, &item, update)),
            upgrades: upgrades.as_ref(),
        });
        let claim = decide::depends_on_claim(&change, update, &ctx).then(|| self.claim_on(&change));
        let requires_ready = service.as_ref().is_some_and(|service| service.settings.require_ready);
        let awaited = requires_ready.then(|| self.snapshot.items.clone());
        let reads = Reads {
            head: head.as_ref(),
            service: service.as_ref(),
            check,
            claim: claim.as_ref(),
            awaited: awaited.as_ref(),
        };
        let decided = decide::update(&change, &item, &reads, update, &caller, &ctx)?;
        self.texts.extend(decided.writes.iter().filter_map(|write| {
            let Write::StoreDeclaration { hash, text, .. } = write else { return None };
            Some((*hash, text.clone()))
        }));
        self.apply(&decided.writes);
        assert_eq!(self.change(id), &decided.change, "the answer shows what is stored");
        assert_eq!(self.snapshot.items[&item.id], decided.item, "the answer shows what is stored");
        self.audit();
        Ok(decided)
    }

    /// Returns the claim on the work of a change instance.
    pub(crate) fn claim_on(&self, change: &Change) -> Claim {
        let (item, owner) = (change.item, change.owner.id);
        self.snapshot.claims.get(&(item, owner)).cloned().unwrap_or_else(|| Claim::never(item, owner))
    }

    /// Returns an item with its claims noted, as the functions read it for a submission and for generation.
    pub(crate) fn noted(&self, item: &Item) -> Item {
        let mut noted = item.clone();
        noted.note_claims(&self.snapshot.claims);
        noted
    }

    /// Takes, extends or releases the claim on a change instance as its owner. Returns the stored claim.
    pub(crate) fn claim(&mut self, id: ChangeId, request: &ClaimRequest) -> Result<Claim, claim::Refused> {
        let change = self.change(id).clone();
        let now = self.ctx(Self::key_of(&change.owner.name)).now;
        let claim = claim::claim(&change, &self.claim_on(&change), request, &change.owner, now)?;
        self.snapshot.claims.insert((claim.item, claim.owner), claim.clone());
        self.audit();
        Ok(claim)
    }

    /// Returns the upgrades from a deployed version to a later version of the definition, as the storage does.
    fn upgrades(&self, title: &str, from: Option<u64>, to: u64) -> Option<Upgrades> {
        let first = from.map_or(self.offers[title].service.first_with_words?, |from| from + 1);
        let text = |version| self.definitions[&(title.to_owned(), version)].as_str();
        let forms = Arc::new(DecisionForms::load(text(to)).unwrap());
        let mut steps = (first..=to).map(|version| Arc::new(Upgrade::load(text(version)).unwrap()));
        let steps = steps.try_fold(UpgradeChain::default(), UpgradeChain::then);
        (first <= to && forms.paths.is_verified).then_some(Upgrades { steps, forms })
    }

    pub(crate) fn retry(&mut self, id: ChangeId, caller: &str) -> Result<Decided, decide::Refused> {
        let change = self.change(id).clone();
        let item = self.snapshot.items[&change.item].clone();
        let ctx = self.ctx(Self::key_of(caller));
        let decided = decide::retry(&change, &item, &self.head(), &team(caller), &ctx)?;
        self.apply(&decided.writes);
        self.audit();
        Ok(decided)
    }

    /// Sets whether a charge is processed.
    pub(crate) fn mark_charge(
        &mut self,
        id: ChargeId,
        caller: &str,
        processed: bool,
    ) -> Result<charging::MarkedProcessed, charging::Refused> {
        let charge = self.snapshot.charges[&id].clone();
        let item = self.snapshot.items[&charge.item].clone();
        let ctx = self.ctx(Self::key_of(caller));
        let marked = charging::mark_processed(&charge, &item, Some(processed), &team(caller), &ctx, 0)?;
        self.apply(&marked.writes);
        assert_eq!(self.snapshot.charges[&id], marked.charge, "the answer shows what is stored");
        self.audit();
        Ok(marked)
    }

    /// Moves a change instance as its owner.
    pub(crate) fn decide(&mut self, id: ChangeId, state: State) -> Change {
        let owner = self.change(id).owner.name.clone();
        self.update(id, &owner, &to(state)).unwrap().change
    }

    /// Moves an owner's open change instance on an item from the first state to the second.
    pub(crate) fn step(&mut self, name: &str, owner: &str, from: State, state: State) -> ChangeId {
        let id = self.open(name, owner, from);
        self.decide(id, state);
        id
    }

    pub(crate) fn approve(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Pending, State::Approved)
    }

    pub(crate) fn reject(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Pending, State::Rejected)
    }

    pub(crate) fn complete(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Approved, State::Completed)
    }

    pub(crate) fn error(&mut self, name: &str, owner: &str) -> ChangeId {
        self.step(name, owner, State::Approved, State::Errored)
    }

    pub(crate) fn finish(&mut self, name: &str, owner: &str) -> ChangeId {
        self.approve(name, owner);
        self.complete(name, owner)
    }

    /// Reports a deployed item in the present state of the change instance.
    pub(crate) fn deploy(
        &mut self,
        id: ChangeId,
        caller: &str,
        data: &Value,
    ) -> Result<Decided, decide::Refused> {
        let deployed_item = Some(storable(data.clone()));
        self.update(id, caller, &Update { deployed_item, ..Update::default() })
    }
}
