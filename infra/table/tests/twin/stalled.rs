//! Tests with calls that get no answer: each is sent again after the timeout of its operation.

use crate::twin::{Twin, run, table_by};
use crate::world::{APP, CONSUMER, VM_OWNER, World, application, document, team, vm};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use domain::model::submission::Scope;
use dovetail_table::{Commit, Table};
use embedded::{Engine, target_and_body};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

/// The longest pause of the SDK before its first retry.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A client whose first calls of an operation get no answer, although the engine executes them.
#[derive(Clone, derive_more::Debug)]
#[debug("Stalled")]
struct Stalled(Arc<(Arc<Engine>, &'static str, AtomicUsize)>);

impl Stalled {
    /// Returns a table with this many unanswered calls of an operation.
    async fn table(twin: &Twin, operation: &'static str, unanswered: usize) -> Table {
        table_by(Self(Arc::new((Arc::clone(&twin.engine), operation, AtomicUsize::new(unanswered))))).await
    }
}

impl HttpClient for Stalled {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Stalled {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (engine, stalled, unanswered) = &*self.0;
        let (target, body) = target_and_body(&request);
        let operation = target.rsplit('.').next().unwrap_or_default();
        let reply = engine.call(operation, &body).response();
        let one_less = |left: usize| left.checked_sub(1);
        if operation == *stalled && unanswered.fetch_update(Relaxed, Relaxed, one_less).is_ok() {
            return HttpConnectorFuture::new(std::future::pending());
        }
        HttpConnectorFuture::ready(Ok(reply))
    }
}

async fn declared() -> Twin {
    let mut twin = Twin::of(World::new()).await;
    twin.world.submit(&document(&[(APP, application(&[vm("vm0", 1)]))]), Scope::Whole).unwrap();
    twin.follow().await;
    twin
}

/// Asserts that a call has ended after this timeout and a pause.
fn assert_retried(began: Instant, timeout: Duration) {
    let took = began.elapsed();
    assert!(took >= timeout && took <= timeout + PAUSE_MAX + Duration::from_millis(10), "{took:?}");
}

#[test]
fn a_stalled_read_of_a_record_is_sent_again_after_one_second() {
    run(|| async {
        let twin = declared().await;
        let table = Stalled::table(&twin, "GetItem", 1).await;
        let began = Instant::now();
        let owner = team(VM_OWNER);
        assert_eq!(table.team(owner.id).await.unwrap().map(|team| team.name), Some(owner.name));
        assert_retried(began, Duration::from_secs(1));
    });
}

#[test]
fn a_stalled_page_or_batch_is_sent_again_after_three_seconds() {
    run(|| async {
        let twin = declared().await;
        let changes: Vec<_> = twin.world.snapshot.changes.values().cloned().collect();
        let ids: Vec<_> = changes.iter().map(|change| change.id).collect();
        let table = Stalled::table(&twin, "BatchGetItem", 1).await;
        let began = Instant::now();
        assert_eq!(table.changes(&ids).await.unwrap(), changes);
        assert_retried(began, Duration::from_secs(3));
        let table = Stalled::table(&twin, "Query", 1).await;
        let began = Instant::now();
        table.count_work().await.unwrap();
        assert_retried(began, Duration::from_secs(3));
    });
}

#[test]
fn a_transaction_whose_answer_stalls_is_done_once() {
    run(|| async {
        let mut twin = declared().await;
        twin.world.finish("vm0", VM_OWNER);
        let writes = twin.world.written[twin.world.written.len() - 2].clone();
        let table = Stalled::table(&twin, "TransactWriteItems", 1).await;
        let began = Instant::now();
        // The engine has executed the first request and recognizes the second one by its token.
        assert_eq!(table.commit(&writes).await.unwrap(), Commit::Done);
        assert_retried(began, Duration::from_secs(3));
    });
}

#[test]
fn a_call_without_any_answer_ends_within_fifteen_seconds() {
    run(|| async {
        let mut twin = declared().await;
        twin.world.finish("vm0", VM_OWNER);
        let writes = twin.world.written[twin.world.written.len() - 2].clone();
        for (operation, least) in [("GetItem", 3), ("TransactWriteItems", 9)] {
            let table = Stalled::table(&twin, operation, usize::MAX).await;
            let began = Instant::now();
            match operation {
                "GetItem" => assert!(table.team(team(CONSUMER).id).await.is_err()),
                _ => assert_eq!(table.commit(&writes).await.unwrap(), Commit::Unknown),
            }
            let seconds = began.elapsed().as_secs();
            assert!((least..15).contains(&seconds), "{operation}: {seconds}");
        }
    });
}
