//! A world of the rule tests, and a table that follows it.

use crate::world::World;
use aws_smithy_runtime_api::client::http::{HttpClient, SharedHttpClient};
use domain::Timestamp;
use domain::base::actor::Actor;
use domain::base::context::RequestContext;
use domain::model::submission::Scope;
use domain::model::write::Write;
use domain::rules::plan::{Offer, REUSE_FROM};
use dovetail_aws::Endpoint;
use dovetail_table::{Commit, NewService, Settings, Table};
use embedded::{Engine, Straight};
use serde_json::Value;
use std::sync::Arc;

pub(crate) const TABLE: &str = "twin";

/// The stack for the futures of the AWS client, in bytes.
const STACK_BYTES: usize = 32 << 20;

pub(crate) struct Twin {
    pub(crate) world: World,
    pub(crate) table: Table,
    pub(crate) engine: Arc<Engine>,
    followed: usize,
}

/// Runs a test with paused time, so that waiting takes none.
pub(crate) fn run<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let here = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(test());
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(here).unwrap();
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Returns the settings of the tables.
pub(crate) fn settings() -> Settings {
    Settings {
        table: TABLE.to_owned(),
        keys_table: "twin-keys".to_owned(),
        endpoint: None,
        actions_max: dovetail_table::ACTIONS_MAX,
        reuse_from: REUSE_FROM,
    }
}

/// Returns a table over an HTTP client.
pub(crate) async fn table_by(connector: impl HttpClient + 'static) -> Table {
    Table::connect_by(settings(), Endpoint::Through(SharedHttpClient::new(connector)))
}

impl Twin {
    /// Creates tables with the initial records of a world.
    pub(crate) async fn of(world: World) -> Self {
        let engine = Arc::new(Engine::new());
        let table = table_by(Straight(Arc::clone(&engine))).await;
        table.create().await.unwrap();
        let ctx = |now| RequestContext { by: Actor::System, request: "world".to_owned(), now };
        for team in world.snapshot.teams.values() {
            assert_eq!(
                &table
                    .ensure_team(
                        &team.name,
                        &team.metadata,
                        team.confirm_removals,
                        &ctx(Timestamp::from_micros(1))
                    )
                    .await
                    .unwrap(),
                team
            );
        }
        let mut offers: Vec<&Offer> = world.offers.values().collect();
        offers.sort_by_key(|offer| offer.service.id);
        for Offer { service, schema } in offers {
            let settings = service.settings.clone();
            let ctx = ctx(service.created);
            let published = table.create_service(&service.owner, schema, settings, &ctx).await;
            assert_eq!(published.unwrap(), NewService::Done(Box::new(service.clone())));
        }
        let mut twin = Self { world, table, engine, followed: 0 };
        twin.follow().await;
        twin
    }

    /// Returns the table of a process with empty caches.
    pub(crate) async fn afresh(&self) -> Table {
        table_by(Straight(Arc::clone(&self.engine))).await
    }

    pub(crate) fn rows(&self) -> Vec<Value> {
        self.engine.rows_of(TABLE)
    }

    /// Puts a row that no code would write.
    pub(crate) fn plant(&self, row: &Value) {
        self.engine.put(TABLE, row);
    }

    /// Writes the world's new transactions to the table, and asserts that both hold the same.
    pub(crate) async fn follow(&mut self) {
        self.keep_replaced().await;
        for writes in &self.world.written[self.followed..] {
            assert_eq!(self.table.commit(writes).await.unwrap(), Commit::Done, "{writes:#?}");
            let rows = self.rows();
            let repeated = self.table.commit(writes).await.unwrap();
            assert!(
                repeated == Commit::Stale || rows == self.rows(),
                "{repeated:?} a second time: {writes:#?}"
            );
        }
        self.followed = self.world.written.len();
        self.is_the_same().await;
    }

    /// Stores all replaced metadata, as often as it is called.
    async fn keep_replaced(&self) {
        let replaced: Vec<_> = self.world.snapshot.replaced.values().cloned().collect();
        self.table.keep_replaced(&replaced).await.unwrap();
    }

    /// Submits a declaration as a staged submission.
    pub(crate) async fn submit_staged(&mut self, body: &Value) {
        let Some(commit) = self.lay_out(body).await else { return };
        self.world.apply(&commit);
        self.follow().await;
    }

    /// Writes a staged plan and returns the writes of its commit; commits a plan that needs no staging.
    pub(crate) async fn lay_out(&mut self, body: &Value) -> Option<Vec<Write>> {
        let read = self.world.read(body, Scope::Whole);
        let plan = self.world.plan(&read, body, Scope::Whole).ok()?;
        let Some(staged) = &plan.staged else {
            self.world.commit(&plan);
            self.follow().await;
            return None;
        };
        assert_eq!(self.table.stage(staged).await.unwrap(), Commit::Done);
        assert_eq!(self.table.stage(staged).await.unwrap(), Commit::Stale);
        self.world.stage(&plan);
        self.keep_replaced().await;
        self.followed = self.world.written.len();
        self.is_the_same().await;
        Some(staged.commit.clone())
    }

    async fn is_the_same(&self) {
        let mut stored = self.table.snapshot().await.unwrap();
        stored.catalogue = self.world.snapshot.catalogue.clone();
        stored.definitions = self.world.snapshot.definitions.clone();
        stored.deployed.sort_by_key(|deployed| deployed.id);
        stored.submissions.sort_by_key(|submission| submission.id);
        stored.works.sort_by_key(|work| (work.id.staging, work.id.to_string()));
        let mut expected = self.world.snapshot.clone();
        expected.deployed.sort_by_key(|deployed| deployed.id);
        expected.submissions.sort_by_key(|submission| submission.id);
        expected.works.sort_by_key(|work| (work.id.staging, work.id.to_string()));
        for (_, remembered) in &mut expected.remembered {
            remembered.expires = whole_seconds(remembered.expires);
        }
        let (actual, wanted) = (format!("{stored:#?}"), format!("{expected:#?}"));
        let differ = actual.lines().zip(wanted.lines()).position(|(one, other)| one != other);
        let excerpt = |text: &str, at: usize| -> String {
            text.lines().skip(at.saturating_sub(30)).take(40).map(|line| format!("{line}\n")).collect()
        };
        if let Some(at) = differ {
            panic!("stored is\n{}and not\n{}", excerpt(&actual, at), excerpt(&wanted, at));
        }
        assert_eq!(actual.len(), wanted.len());
        // The debug text leaves out content that must not reach a log, so the values are compared as well.
        assert!(stored.teams == expected.teams, "teams");
        assert!(stored.applications == expected.applications, "applications");
        assert!(stored.items == expected.items, "items");
        assert!(stored.changes == expected.changes, "change instances");
        assert!(stored.deployed == expected.deployed, "deployed items");
        assert!(stored.submissions == expected.submissions, "submissions");
        assert!(stored.works == expected.works, "work");
        assert!(stored.replaced == expected.replaced, "metadata that were replaced");
        assert!(stored.remembered == expected.remembered, "idempotency keys");
    }
}

/// Rounds a time down to whole seconds, the unit of expiry in the table.
pub(crate) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.micros() / 1_000_000 * 1_000_000)
}
