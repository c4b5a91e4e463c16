//! One attempt of a submission or a preview: the loaded records, and the plan on them.

use crate::context::Context;
use crate::load::{self, Loaded, LoadedTeam};
use crate::messages;
use crate::planning::Planning;
use crate::refused;
use crate::submitted::Submitted;
use domain::base::problem::Problem;
use domain::model::declaration::Declaration;
use domain::rules::plan;
use domain::rules::plan::{ItemRemoval, Plan, Refused, Removal, Request};
use dovetail_aws::off_worker;
use dovetail_http::{Code, Failure, Reply};

/// One attempt. Each attempt reads everything again, because any record of the last plan may have changed.
pub(crate) struct Attempt<'a> {
    submitted: &'a Submitted,
    pub(crate) loaded: Loaded,
}

impl<'a> Attempt<'a> {
    /// Loads items and services. A revert first computes its declaration.
    pub(crate) async fn load(
        context: &Context<'_>,
        submitted: &'a mut Submitted,
        team: LoadedTeam,
    ) -> Result<Planning<Self>, Failure> {
        if let Planning::Replan(why) = submitted.follow(context.table, &team).await? {
            return Ok(Planning::Replan(why));
        }
        let loaded = load::items(context, team, &submitted.declaration, submitted.scope).await?;
        Ok(Planning::Ready(Self { submitted, loaded }))
    }

    /// Returns the declaration with masks in place of secrets.
    fn declaration(&self) -> &Declaration {
        self.loaded.masked.as_ref().map_or(&self.submitted.declaration, |masked| &masked.declaration)
    }

    /// Plans the submission. With `is_confirmed`, the submission may remove whole applications (R57).
    pub(crate) async fn plan(
        &self,
        context: &Context<'_>,
        is_confirmed: bool,
    ) -> Result<Planning<Plan<'_>>, Failure> {
        let Self { submitted, loaded } = self;
        let Context { table, call, .. } = context;
        let ctx = &call.ctx();
        let unmasked = loaded.masked.iter().flat_map(|masked| &masked.problems);
        let unread: Vec<Problem> = submitted.unread.iter().chain(unmasked).cloned().collect();
        let request = Request {
            declaration: self.declaration(),
            unread: &unread,
            scope: submitted.scope,
            is_confirmed,
            commit_id: submitted.commit_id.clone(),
            message: submitted.message.clone(),
            ctx,
            idempotency: submitted.idempotency.clone(),
            metadata_policy: &loaded.team.metadata_policy,
            earlier: &loaded.earlier,
            vacant: &loaded.vacant,
            reuse_from: table.reuse_from(),
        };
        // The check of items against their schemas may take a good part of a second of CPU time.
        match off_worker(|| plan::plan(&loaded.team.stored, &loaded.items, &loaded.offers, &request)) {
            Ok(plan) => Ok(Planning::Ready(plan)),
            Err(Refused::Torn) => Ok(Planning::Replan(Code::Contended)),
            Err(Refused::InFlight(_)) => Ok(Planning::Replan(Code::SubmissionInFlight)),
            Err(Refused::Invalid(problems)) => {
                let removals = if is_confirmed { Vec::new() } else { self.unconfirmed() };
                let failure = refused::invalid(table, call, problems, &removals).await;
                Err(messages::add_to_rejected(context, loaded, submitted, failure).await)
            }
            Err(Refused::OutOfNumbers) => Err(Code::OutOfNumbers.into()),
        }
    }

    /// Plans the submission, and rejects a plan that differs from the previewed one (R34).
    pub(crate) async fn plan_as_previewed(
        &self,
        context: &Context<'_>,
    ) -> Result<Planning<Plan<'_>>, Failure> {
        let call = context.call;
        // The token names every effect, so it confirms the removals too.
        let is_confirmed = self.submitted.allows_removal || call.if_match.is_some();
        let planned = self.plan(context, is_confirmed).await?;
        let Planning::Ready(plan) = planned else { return Ok(planned) };
        if call.if_match.is_none() {
            return Ok(Planning::Ready(plan));
        }
        // Pending work creates change instances that the submission may close, so the token is unreliable until then
        // (ADR 36).
        if self.loaded.team.has_pending_work {
            return Ok(Planning::Replan(Code::SubmissionInFlight));
        }
        match plan.preview(&self.loaded.items, &call.ctx()) {
            Ok(preview) if call.matches(&preview.plan.to_string()) => Ok(Planning::Ready(plan)),
            Ok(_) => Err(Code::PlanChanged.into()),
            // A consistent plan always has effects. If a plan has none, the next attempt reads the records again.
            Err(_) => Ok(Planning::Replan(Code::Contended)),
        }
    }

    /// Returns the removals for which `submit` requires a confirmation (R57).
    pub(crate) fn unconfirmed(&self) -> Vec<Removal> {
        let Self { submitted, loaded } = self;
        if submitted.allows_removal {
            return Vec::new();
        }
        plan::unconfirmed(&loaded.team.stored, &loaded.items, self.declaration(), submitted.scope)
    }

    /// Returns the items whose removal or replacement `submit` requires to be confirmed (R62).
    pub(crate) fn unconfirmed_items<'p>(&self, plan: &'p Plan<'_>) -> &'p [ItemRemoval] {
        if self.submitted.allows_removal { &[] } else { &plan.removed_items }
    }

    /// Adds the messages of service owners to the reply of the accepted declaration.
    pub(crate) async fn with_messages(&self, context: &Context<'_>, reply: Reply) -> Result<Reply, Failure> {
        let Loaded { team, items, .. } = &self.loaded;
        messages::add_to_accepted(context, team, (Some(items), self.submitted), reply).await
    }
}
