//! Submissions: the plan on a read, committed in either packing.

use super::*;
use domain::base::id::{ApplicationId, ItemId};
use domain::base::problem::Problem;
use domain::model::declaration::Declaration;
use domain::rules::expand::expand;
use std::collections::BTreeSet;

impl World {
    pub(super) fn ctx(&mut self, by: Actor) -> RequestContext {
        self.requests += 1;
        self.clock += 1;
        RequestContext { by, request: format!("r{}", self.requests), now: Timestamp::from_micros(self.clock) }
    }

    pub(crate) fn key_of(name: &str) -> Actor {
        Actor::Key { name: format!("key of {name}"), team: team(name) }
    }

    pub(crate) fn person_of(name: &str) -> Actor {
        Actor::Person { name: format!("a person of {name}"), team: team(name) }
    }

    /// Returns a declaration with the additions of metadata, and their problems.
    pub(crate) fn expanded(
        stored: &Stored,
        body: &Value,
        scope: Scope,
    ) -> Result<(Declaration, Vec<Problem>), Vec<Problem>> {
        let declaration = declaration::parse(body.to_string().as_bytes())?;
        let expanded = expand(&declaration, stored, scope)?;
        Ok(expanded.map_or((declaration, Vec::new()), |expanded| (expanded.declaration, expanded.problems)))
    }

    /// Reads the input of a plan.
    pub(crate) fn read(&self, body: &Value, scope: Scope) -> (Stored, Items) {
        let stored = self.stored();
        let (declaration, _) = Self::expanded(&stored, body, scope).unwrap();
        let items = plan::to_read(&stored, &declaration, scope).into_iter().map(|id| {
            let of_application = self.snapshot.items.values().filter(move |item| item.application_id() == id);
            let of_application = of_application.map(|item| self.noted(item));
            // As in the function: a dead item does not exist for a plan.
            (id, of_application.filter(|item| !item.is_dead()).collect())
        });
        let items = items.collect();
        (stored, items)
    }

    /// Returns those of these applications that have no live item.
    fn vacant(&self, applications: &[ApplicationId]) -> Vec<ApplicationId> {
        let live = self.snapshot.items.values().filter(|item| !item.gone).map(Item::application_id);
        let live: BTreeSet<ApplicationId> = live.collect();
        applications.iter().filter(|id| !live.contains(id)).copied().collect()
    }

    /// Plans on a read, however old it is.
    pub(crate) fn plan(
        &mut self,
        read: &(Stored, Items),
        body: &Value,
        scope: Scope,
    ) -> Result<Plan, Refused> {
        let (mut declaration, unread) = Self::expanded(&read.0, body, scope).map_err(Refused::Invalid)?;
        let ctx = self.ctx(Self::key_of(CONSUMER));
        if let Some(renamed) = plan::renamed(&read.0, &read.1, &declaration) {
            declaration = renamed;
        }
        let (elsewhere, items) = self.elsewhere(read, &declaration, scope);
        let read = &(read.0.clone(), items);
        let earlier = self.earlier(read, &mut declaration);
        let request = Request {
            declaration: &declaration,
            unread: &unread,
            scope,
            is_confirmed: self.is_confirmed,
            commit_id: Some("c0ffee".to_owned()),
            message: Some("Move to the new rack".to_owned()),
            ctx: &ctx,
            idempotency: self.idempotency.clone(),
            metadata_policy: &self.metadata_policy,
            earlier: &earlier,
            elsewhere: &elsewhere,
            vacant: &self.vacant(&plan::to_ask(&read.0, &declaration, self.reuse_from)),
            reuse_from: self.reuse_from,
        };
        let plan = plan::plan(&read.0, &read.1, &self.offers, &request)?;
        let at_once = plan.at_once(&ctx).unwrap();
        let more = |write: &&Write| {
            matches!(write, Write::CloseChange(_) | Write::CreateWork(_) | Write::EndCharge { .. })
                || matches!(
                    write,
                    Write::AddToApplication { .. }
                        | Write::AddUses { .. }
                        | Write::PutUse(_)
                        | Write::DeleteUse(_)
                        | Write::CreateCharge(_)
                        | Write::DeleteItem { .. }
                        | Write::CheckUnclaimed { .. }
                )
        };
        assert_eq!(at_once.writes.len(), plan.writes_at_least() + at_once.writes.iter().filter(more).count());
        let texts = plan.declarations.clone();
        let planned = Plan {
            planned: plan.derived().to_vec(),
            preview: plan.preview(&read.1, &ctx).unwrap(),
            replaced: plan.replaced.clone(),
            staged: plan.staged(StagingId::of(&ctx.request, 0)),
            submission: at_once.submission,
            created: at_once.created,
            items: at_once.items,
            writes: at_once.writes,
        };
        self.texts.extend(texts);
        Ok(planned)
    }

    /// Returns the records of other applications and teams to which a declaration refers, and all items, as the function
    /// reads them.
    fn elsewhere(
        &self,
        (stored, items): &(Stored, Items),
        declaration: &Declaration,
        scope: Scope,
    ) -> (Elsewhere, Items) {
        let to_read = plan::elsewhere_to_read(stored, items, &self.offers, declaration, scope);
        let live = || self.snapshot.items.values().filter(|item| !item.is_dead());
        let of_application = |id| (id, live().filter(|item| item.application_id() == id).cloned().collect());
        let mut items = items.clone();
        items.extend(to_read.applications.iter().copied().map(of_application));
        let target = |item: &Item| {
            let application = self.snapshot.applications[&item.application_id()].clone();
            (item.id, Target { item: item.clone(), application })
        };
        let targets = live().filter(|item| to_read.items.contains(&item.id)).map(target).collect();
        let users = |target: &ItemId| {
            let of_team = self.snapshot.uses.iter().filter(|one| one.user.team() == target.team());
            let users = of_team.filter(|one| one.target == *target).map(|one| one.user);
            (*target, users.filter_map(|user| self.snapshot.items.get(&user).cloned()).collect())
        };
        let users = to_read.removed.iter().map(users).collect();
        (Elsewhere { targets, users, begun: to_read.begun }, items)
    }

    /// Returns the fixed values of earlier declarations, and gives alike items their stored texts, as the function does.
    fn earlier(&self, (stored, items): &(Stored, Items), declaration: &mut Declaration) -> EarlierValues {
        let mut alike = plan::Alike::of(stored, items, &self.offers, declaration);
        let earlier = plan::earlier_to_read(stored, items, &self.offers, declaration).into_iter();
        let values = earlier.map(|(service, hash)| {
            let text = &self.texts[&hash];
            alike.compare(&service, hash, text);
            ((service.clone(), hash), plan::on_change_values(&self.offers[&service].schema, text))
        });
        let mut values: EarlierValues = values.collect();
        alike.apply(declaration);
        for (service, latest) in plan::observed_to_read(stored, items, &self.offers, declaration) {
            let deployed = self.snapshot.deployed.iter().find(|deployed| deployed.id == latest.id).unwrap();
            let observed = plan::on_change_values(&self.offers[&service].schema, &deployed.data);
            values.insert((service, latest.hash), observed);
        }
        values
    }

    /// Plans on the present records without a commit.
    pub(crate) fn planned(&mut self, body: &Value, scope: Scope) -> Result<Plan, Refused> {
        let read = match Self::expanded(&self.stored(), body, scope) {
            Ok(_) => self.read(body, scope),
            Err(problems) => return Err(Refused::Invalid(problems)),
        };
        self.plan(&read, body, scope)
    }

    pub(crate) fn submit(&mut self, body: &Value, scope: Scope) -> Result<Plan, Refused> {
        let plan = self.planned(body, scope)?;
        self.commit(&plan);
        Ok(plan)
    }

    pub(crate) fn commit(&mut self, plan: &Plan) {
        self.keep_replaced(plan);
        self.apply(&plan.writes);
        self.audit();
    }

    /// Stores the replaced metadata before the commit.
    pub(crate) fn keep_replaced(&mut self, plan: &Plan) {
        let replaced = plan.replaced.iter().cloned();
        let keyed = replaced.map(|replaced| ((replaced.of, replaced.since.submission), replaced));
        self.snapshot.replaced.extend(keyed);
    }

    /// Writes the staging and its work records, without the commit.
    pub(crate) fn stage(&mut self, plan: &Plan) {
        let Some(Staged { staging, works, .. }) = &plan.staged else { panic!("no item changes") };
        self.keep_replaced(plan);
        self.apply(&[Write::StartStaging(*staging)]);
        self.snapshot.works.extend(works.iter().cloned());
        self.audit();
    }

    /// Submits through a staging; generation applies its items later.
    pub(crate) fn submit_staged(&mut self, body: &Value, scope: Scope) -> Result<Plan, Refused> {
        let plan = self.planned(body, scope)?;
        self.commit_staged(&plan);
        Ok(plan)
    }

    pub(crate) fn commit_staged(&mut self, plan: &Plan) {
        let Some(staged) = &plan.staged else { return self.commit(plan) };
        self.stage(plan);
        self.apply(&staged.commit);
        self.audit();
    }

    pub(crate) fn is_in_flight(&self) -> bool {
        self.head().in_flight.is_some()
    }

    /// Submits one application with these items as the whole declaration.
    pub(crate) fn declare(&mut self, items: &[Declared]) -> Plan {
        self.submit(&document(&[(APP, application(items))]), Scope::Whole).unwrap()
    }

    /// Returns the broken rules of a submission with these items.
    pub(crate) fn refused(&mut self, items: &[Declared]) -> Vec<&'static str> {
        let before = self.written.len();
        let refused = self.submit(&document(&[(APP, application(items))]), Scope::Whole).unwrap_err();
        assert_eq!(before, self.written.len(), "a refusal writes nothing");
        broken(refused)
    }

    /// Declares and generates at once, with nothing in between.
    pub(crate) fn declare_and_generate(&mut self, items: &[Declared]) -> (Plan, Vec<Change>) {
        let plan = self.declare(items);
        (plan, self.generate())
    }
}
