//! Tests with an engine that refuses, leaves requests unprocessed, answers in short pages, or is not ready.

use crate::lists;
use crate::twin::{TABLE, Twin, run, table_by};
use crate::world::{APP, VM_OWNER, World, application, document, vm};
use aws_sdk_dynamodb::config::ConfigBag;
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::{RuntimeComponents, RuntimeComponentsBuilder};
use domain::model::submission::Scope;
use domain::model::work::WorkId;
use dovetail_table::{Commit, Table};
use embedded::{Engine, Reply, target_and_body};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::time::Instant;

/// More times than a test lasts.
pub(crate) const ALWAYS: usize = usize::MAX;

/// A replacement for an operation of the engine.
type Instead = Box<dyn Fn(&Engine, &Value) -> Reply + Send + Sync>;

/// A client to an engine that replaces one operation a number of times.
#[derive(Clone, derive_more::Debug)]
#[debug("Reluctant")]
pub(crate) struct Reluctant(Arc<Reluctance>);

struct Reluctance {
    engine: Arc<Engine>,
    operation: &'static str,
    instead: Instead,
    times: usize,
    requests: AtomicUsize,
    /// The client for all other operations.
    next: Option<Reluctant>,
}

impl Reluctant {
    pub(crate) fn new(
        twin: &Twin,
        operation: &'static str,
        times: usize,
        instead: impl Fn(&Engine, &Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let engine = Arc::clone(&twin.engine);
        let (instead, requests) = (Box::new(instead), AtomicUsize::new(0));
        Self(Arc::new(Reluctance { engine, operation, instead, times, requests, next: None }))
    }

    /// Adds a replacement for another operation, for every call.
    pub(crate) fn and(
        self,
        operation: &'static str,
        instead: impl Fn(&Engine, &Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let engine = Arc::clone(&self.0.engine);
        let (instead, requests) = (Box::new(instead), AtomicUsize::new(0));
        Self(Arc::new(Reluctance { engine, operation, instead, times: ALWAYS, requests, next: Some(self) }))
    }

    fn answer(&self, operation: &str, body: &Value) -> Reply {
        let Reluctance { engine, instead, times, requests, next, .. } = &*self.0;
        if operation == self.0.operation && requests.fetch_add(1, Relaxed) < *times {
            return instead(engine, body);
        }
        next.as_ref().map_or_else(|| engine.call(operation, body), |next| next.answer(operation, body))
    }

    pub(crate) async fn table(&self) -> Table {
        table_by(self.clone()).await
    }

    /// Returns the number of requests for the operation.
    pub(crate) fn requests(&self) -> usize {
        self.0.requests.load(Relaxed)
    }
}

impl HttpClient for Reluctant {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Reluctant {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (target, body) = target_and_body(&request);
        let reply = self.answer(target.rsplit('.').next().unwrap(), &body);
        HttpConnectorFuture::ready(Ok(reply.response()))
    }
}

async fn declared() -> Twin {
    let mut twin = Twin::of(World::new()).await;
    let items: Vec<_> = (0..5).map(|number| vm(&format!("vm{number}"), 1)).collect();
    twin.world.submit(&document(&[(APP, application(&items))]), Scope::Whole).unwrap();
    twin.follow().await;
    twin
}

fn cancelled(reasons: &[&str]) -> Reply {
    let mut reply = Reply::error(400, "TransactionCanceledException");
    reply.body["CancellationReasons"] = reasons.iter().map(|code| json!({"Code": code})).collect();
    reply
}

#[test]
fn each_failure_of_a_transaction_is_what_it_means() {
    let refused = |code| format!("the table rejects the request: {code}");
    let denied = |what| format!("the table denies the request: {what}");
    let code = |status, code: &str| Reply::error(status, code);
    let (done, stale, busy, unknown) = ("Done", "Stale", "Busy", "Unknown");
    let cancelled_by = refused("TransactionCanceledException");
    let cases = [
        (cancelled(&["None", "TransactionConflict"]), 5, done.to_owned(), 6),
        (cancelled(&["None", "TransactionConflict"]), 6, busy.to_owned(), 6),
        (cancelled(&["TransactionConflict", "ConditionalCheckFailed"]), 1, stale.to_owned(), 1),
        // More often than the attempts of a conflict. The SDK repeats some of these by itself.
        (cancelled(&["None", "ThrottlingError"]), 7, done.to_owned(), 8),
        (cancelled(&["ProvisionedThroughputExceeded"]), 7, done.to_owned(), 8),
        (cancelled(&["None", "ValidationError"]), 1, cancelled_by.clone(), 1),
        (cancelled(&["ItemCollectionSizeLimitExceeded"]), 1, cancelled_by, 1),
        (code(400, "TransactionInProgressException"), ALWAYS, unknown.to_owned(), 3),
        (code(500, "InternalServerError"), ALWAYS, unknown.to_owned(), 3),
        (code(400, "ProvisionedThroughputExceededException"), 9, done.to_owned(), 10),
        (code(400, "RequestLimitExceeded"), 9, done.to_owned(), 10),
        (code(400, "ThrottlingException"), 9, done.to_owned(), 10),
        (code(400, "ThrottlingError"), 7, done.to_owned(), 8),
        (
            code(400, "IdempotentParameterMismatchException"),
            1,
            refused("IdempotentParameterMismatchException"),
            1,
        ),
        (code(400, "ValidationException"), 1, refused("ValidationException"), 1),
        (
            code(400, "ResourceNotFoundException"),
            1,
            denied("the table does not exist (ResourceNotFoundException)"),
            1,
        ),
        (code(400, "AccessDeniedException"), 1, denied("access is denied (AccessDeniedException)"), 1),
        (
            code(400, "UnrecognizedClientException"),
            1,
            denied("the credentials are not valid (UnrecognizedClientException)"),
            1,
        ),
        (code(400, "SomethingElse"), 1, unknown.to_owned(), 1),
    ];
    run(|| async {
        for (reply, times, expected, requests) in cases {
            let mut twin = declared().await;
            let described = format!("{reply:?}");
            let connector = Reluctant::new(&twin, "TransactWriteItems", times, move |_, _| reply.clone());
            twin.world.finish("vm0", VM_OWNER);
            let writes = &twin.world.written[twin.world.written.len() - 2];
            let outcome = connector.table().await.commit(writes).await;
            let outcome = outcome.map_or_else(|error| error.to_string(), |commit| format!("{commit:?}"));
            assert_eq!((outcome, connector.requests()), (expected, requests), "{described}");
        }
    });
}

#[test]
fn a_throttled_transaction_ends_after_some_time() {
    run(|| async {
        let mut twin = declared().await;
        let throttled = |_: &Engine, _: &Value| cancelled(&["ThrottlingError"]);
        let connector = Reluctant::new(&twin, "TransactWriteItems", ALWAYS, throttled);
        twin.world.finish("vm0", VM_OWNER);
        let writes = &twin.world.written[twin.world.written.len() - 2];
        let began = Instant::now();
        assert_eq!(connector.table().await.commit(writes).await.ok(), Some(Commit::Busy));
        assert!((9..=10).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    });
}

#[test]
fn unprocessed_keys_of_a_batch_are_read_later() {
    let left = |_: &Engine, request: &Value| Reply {
        status: 200,
        body: json!({"Responses": {TABLE: []}, "UnprocessedKeys": request["RequestItems"]}),
    };
    run(move || async move {
        let twin = declared().await;
        let changes: Vec<_> = twin.world.snapshot.changes.values().cloned().collect();
        let ids: Vec<_> = changes.iter().map(|change| change.id).collect();
        for (times, expected, requests) in [(8, Some(changes), 9), (9, None, 9)] {
            let connector = Reluctant::new(&twin, "BatchGetItem", times, left);
            assert_eq!(connector.table().await.changes(&ids).await.ok(), expected);
            assert_eq!(connector.requests(), requests);
        }
    });
}

#[test]
fn lists_are_complete_with_pages_of_any_length() {
    let short = |engine: &Engine, request: &Value| {
        // A page of DynamoDB holds 1 MB, so at least two rows.
        let mut request = request.clone();
        request["Limit"] = json!(2);
        engine.call("Query", &request)
    };
    run(move || async move {
        let mut twin = declared().await;
        twin.table = Reluctant::new(&twin, "Query", ALWAYS, short).table().await;
        lists::all(&twin).await;
    });
}

#[test]
fn a_failure_that_cannot_be_counted_is_reported() {
    run(move || async move {
        let twin = declared().await;
        let submission = twin.world.snapshot.submissions[0].id;
        let id = WorkId { submission, staging: None, number: 1 };
        let denied = |_: &Engine, _: &Value| Reply::error(400, "AccessDeniedException");
        let table = Reluctant::new(&twin, "UpdateItem", ALWAYS, denied).table().await;
        let message = "the table denies the request: access is denied (AccessDeniedException)";
        assert_eq!(table.count_failure(id).await.unwrap_err().to_string(), message);
        assert_eq!(table.redrive(id).await.unwrap_err().to_string(), message);
    });
}

#[test]
fn tables_are_waited_for() {
    let creating = |_: &Engine, request: &Value| Reply {
        status: 200,
        body: json!({"Table": {"TableName": request["TableName"], "TableStatus": "CREATING"}}),
    };
    run(move || async move {
        let twin = declared().await;
        let connector = Reluctant::new(&twin, "DescribeTable", 3, creating);
        connector.table().await.create().await.unwrap();
        assert_eq!(connector.requests(), 5, "until each is there");
        let never = Reluctant::new(&twin, "DescribeTable", ALWAYS, creating);
        let error = never.table().await.create().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the table is unavailable: table {TABLE} did not become active in time")
        );
        for (code, is_fine) in [("ResourceInUseException", true), ("LimitExceededException", false)] {
            let refusing = Reluctant::new(&twin, "CreateTable", ALWAYS, move |_, _| Reply::error(400, code));
            assert_eq!(refusing.table().await.create().await.is_ok(), is_fine, "{code}");
        }
    });
}

/// A client that fails, either at its creation or at its first call.
#[derive(Debug)]
struct Unfit {
    shows_at_once: bool,
}

impl HttpClient for Unfit {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        unreachable!("it is not used");
    }

    fn validate_base_client_config(
        &self,
        _: &RuntimeComponentsBuilder,
        _: &ConfigBag,
    ) -> Result<(), BoxError> {
        if self.shows_at_once { Err("unfit".into()) } else { Ok(()) }
    }

    fn validate_final_config(&self, _: &RuntimeComponents, _: &ConfigBag) -> Result<(), BoxError> {
        Err("unfit".into())
    }
}

#[test]
#[should_panic(expected = "unfit")]
fn an_invalid_connector_makes_no_client() {
    run(|| async { drop(table_by(Unfit { shows_at_once: true }).await) });
}

#[test]
fn a_connector_that_fails_its_check_is_not_used() {
    run(|| async {
        let refused = table_by(Unfit { shows_at_once: false }).await.count_work().await;
        assert!(refused.is_err());
    });
}
