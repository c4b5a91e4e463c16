//! Lost answers: the table has written or not, and the function cannot know it (docs/explanation/concurrency.md).
//!
//! A proxy in front of the engine drops the answers of transactions in all attempts of the SDK. Or it drops the
//! requests, and one more. Or it rejects them as conflicts. Each response must match the table.

use dovetail_aws::{Observed, observed};
use dovetail_daemon::{load, world};
use dovetail_table::Table;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use support::{Answer, ApiRequest, Fate, Proxy, Tables, functions_on, send};

/// Number of attempts of the SDK for one call.
const ATTEMPTS: u32 = 3;

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const OWNER: &str = "/v1/orcabase/serviceowner";

/// Number of next transactions to fail: lost requests, lost answers, conflicts.
#[derive(Default)]
struct Losses {
    requests: AtomicU32,
    answers: AtomicU32,
    conflicts: AtomicU32,
}

impl Losses {
    /// Returns whether the next one must fail, and counts it.
    fn take(left: &AtomicU32) -> bool {
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

/// Returns the fate of a request, which fails only if it is a transaction.
fn fate(losses: &Losses, operation: &str) -> Fate {
    if operation != "TransactWriteItems" {
        Fate::Pass
    } else if Losses::take(&losses.requests) {
        Fate::RequestLost
    } else if Losses::take(&losses.answers) {
        Fate::AnswerLost
    } else if Losses::take(&losses.conflicts) {
        Fate::Conflict
    } else {
        Fate::Pass
    }
}

/// A system behind the proxy.
struct Lossy {
    base: String,
    losses: Arc<Losses>,
    table: Table,
}

impl Lossy {
    async fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        send(&self.base, &ApiRequest { method, path, key: Some(key), body, ..ApiRequest::default() }).await
    }

    /// Sends a request. The proxy drops the answer of its transaction in every attempt of the SDK.
    async fn unanswered(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.lossy(&self.losses.answers, ATTEMPTS, (method, path, key), body).await
    }

    /// Sends a request. The proxy drops its transaction in every attempt of the SDK, and once more at the function's
    /// retry.
    async fn dropped(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.lossy(&self.losses.requests, ATTEMPTS + 1, (method, path, key), body).await
    }

    /// Sends a request. The proxy rejects its transaction this many times as a conflict.
    async fn contended(&self, times: u32, method: &str, path: &str, body: &Value) -> Answer {
        let key = if path == SUBMIT { "awesome-key" } else { "vm-owner-key" };
        self.lossy(&self.losses.conflicts, times, (method, path, key), body).await
    }

    /// Sends a request while every transaction conflicts, and returns the answer and the number of transactions.
    async fn always_contended(&self, method: &str, path: &str, key: &str, body: &Value) -> (Answer, u32) {
        self.losses.conflicts.store(u32::MAX, Ordering::SeqCst);
        let answer = self.call(method, path, key, body).await;
        (answer, u32::MAX - self.losses.conflicts.swap(0, Ordering::SeqCst))
    }

    async fn lossy(
        &self,
        left: &AtomicU32,
        losses: u32,
        (method, path, key): (&str, &str, &str),
        body: &Value,
    ) -> Answer {
        left.store(losses, Ordering::SeqCst);
        let answer = self.call(method, path, key, body).await;
        assert_eq!(left.load(Ordering::SeqCst), 0, "the proxy has caused every failure: {answer:?}");
        answer
    }

    async fn assert_sound(&self) {
        let snapshot = self.table.snapshot().await.unwrap();
        assert_eq!(domain::audit::invariant::violations(&snapshot), []);
    }
}

/// Runs `test` on a system behind the proxy.
fn with_losses(test: impl AsyncFnOnce(&Lossy)) {
    with_losses_of(dovetail_table::ACTIONS_MAX, test);
}

/// Runs it with this maximum number of writes in one transaction of a submission.
fn with_losses_of(actions_max: usize, test: impl AsyncFnOnce(&Lossy)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let tables = Tables::fresh(actions_max);
    runtime.block_on(async {
        let losses = Arc::new(Losses::default());
        let lost = Arc::clone(&losses);
        let proxy =
            Proxy::before(tables.settings.endpoint.clone().unwrap(), move |operation| fate(&lost, operation))
                .await;
        let table = Table::connect(tables.through(&proxy.endpoint));
        table.create().await.unwrap();
        let demo = world::parse(world::DEMO).unwrap();
        load::world(&table, &demo, domain::Timestamp::from_micros(1), &mut |_| Ok(())).await.unwrap();
        let (base, serving) = functions_on(table.clone()).await;
        let lossy = Lossy { base, losses, table };
        tokio::select! {
            () = test(&lossy) => {}
            () = serving => unreachable!("the functions serve until the test ends"),
        }
    });
}

fn vm(cpu: u64) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": {"VM": [{"name": "one", "cpu": cpu}]}}}})
}

#[test]
fn a_submission_with_a_lost_answer_is_stored_once_and_published() {
    with_losses(async |system| assert_stored_once(system).await);
}

#[test]
fn a_staged_submission_with_a_lost_answer_is_stored_once_and_published() {
    with_losses_of(1, async |system| assert_stored_once(system).await);
}

#[test]
fn the_metrics_count_retries_and_conflicts() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let tables = Tables::fresh(dovetail_table::ACTIONS_MAX);
    runtime.block_on(async {
        let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let is_first = |count: &AtomicUsize| count.fetch_add(1, Ordering::SeqCst) == 0;
        let fate = move |operation: &str| match operation {
            "GetItem" if is_first(&reads) => Fate::RequestLost,
            "TransactWriteItems" if is_first(&writes) => Fate::Conflict,
            _ => Fate::Pass,
        };
        let proxy = Proxy::before(tables.settings.endpoint.clone().unwrap(), fate).await;
        let table = Table::connect(tables.through(&proxy.endpoint));
        table.create().await.unwrap();
        let counted = |Observed { timings, .. }: Observed| (timings.retries, timings.conflicts);
        let (actual, read) = observed(table.team_by_name("nobody")).await;
        assert_eq!((actual.unwrap(), counted(read)), (None, (1, 0)));
        let world = world::parse(r#"{"teams": [{"name": "One"}], "services": []}"#).unwrap();
        let now = domain::Timestamp::from_micros(1);
        let (loaded, written) = observed(load::world(&table, &world, now, &mut |_| Ok(()))).await;
        loaded.unwrap();
        assert_eq!(counted(written), (1, 1));
    });
}

async fn assert_stored_once(system: &Lossy) {
    let response = system.unanswered("POST", SUBMIT, "awesome-key", &vm(1)).await;
    assert_eq!((response.status, response.at("/change_instances/0/change_type")), (201, &json!("CREATE")));
    let response = system.dropped("POST", SUBMIT, "awesome-key", &vm(2)).await;
    assert_eq!(response.status, 201, "{response:?}");
    let list = system.call("GET", "/v1/orcabase/consumer/submissions/", "awesome-key", &Value::Null).await;
    assert_eq!((list.at("/count"), list.at("/results/1/id")), (&json!(2), response.at("/id")));
    system.assert_sound().await;
}

#[test]
fn a_decision_with_a_lost_answer_is_stored_once_and_published() {
    with_losses(async |system| {
        let submitted = system.call("POST", SUBMIT, "awesome-key", &vm(1)).await;
        let path = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
        let approval = json!({"state": "APPROVED"});
        let approved = system.unanswered("PATCH", &path, "vm-owner-key", &approval).await;
        assert_eq!((approved.status, approved.at("/state")), (200, &json!("APPROVED")));
        let deployed = json!({"deployed_item": {"ip": "10.0.0.1"}});
        assert_eq!(system.unanswered("PATCH", &path, "vm-owner-key", &deployed).await.status, 200);
        let error = json!({"state": "ERRORED"});
        let errored = system.dropped("PATCH", &path, "vm-owner-key", &error).await;
        assert_eq!((errored.status, errored.at("/state")), (200, &json!("ERRORED")));

        let retry_path = format!("{path}retry/");
        let retried = system.unanswered("POST", &retry_path, "vm-owner-key", &Value::Null).await;
        assert_eq!((retried.status, retried.at("/attempt")), (201, &json!(2)), "{retried:?}");
        let history = system.call("GET", &format!("{path}history/"), "vm-owner-key", &Value::Null).await;
        assert_eq!(history.at("/count"), 4, "each step once: {history:?}");
        let changes = format!("{OWNER}/change_instances/");
        let all = system.call("GET", &changes, "vm-owner-key", &Value::Null).await;
        assert_eq!(all.at("/count"), 2, "one new attempt: {all:?}");
        system.assert_sound().await;
    });
}

#[test]
fn a_patch_of_a_deployed_item_with_a_lost_answer_is_one_version_and_201() {
    with_losses(async |system| {
        let submitted = system.call("POST", SUBMIT, "awesome-key", &vm(1)).await;
        let path = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
        let approval = json!({"state": "APPROVED", "deployed_item": {"ip": "10.0.0.1"}});
        system.call("PATCH", &path, "vm-owner-key", &approval).await;
        let items = format!("{OWNER}/deployed_items/");
        let listed = system.call("GET", &items, "vm-owner-key", &Value::Null).await;
        let path = format!("{items}{}/", listed.at("/results/0/id"));
        let delta = json!({"data": {"port": 22}});
        let patched = system.unanswered("PATCH", &path, "vm-owner-key", &delta).await;
        assert_eq!((patched.status, patched.at("/version")), (201, &json!(2)), "{patched:?}");
        assert_eq!(patched.at("/data"), &json!({"ip": "10.0.0.1", "port": 22}));
        let listed = system.call("GET", &items, "vm-owner-key", &Value::Null).await;
        assert_eq!(listed.at("/count"), 2);
        system.assert_sound().await;
    });
}

#[test]
fn a_conflicting_transaction_is_retried_and_written_once() {
    with_losses(async |system| {
        let submitted = system.contended(4, "POST", SUBMIT, &vm(1)).await;
        assert_eq!(submitted.status, 201, "{submitted:?}");
        let path = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
        // Eight conflicts exceed the retries of one write, so the function decides again.
        let approved = system.contended(8, "PATCH", &path, &json!({"state": "APPROVED"})).await;
        assert_eq!((approved.status, approved.at("/state")), (200, &json!("APPROVED")), "{approved:?}");
        let history = system.call("GET", &format!("{path}history/"), "vm-owner-key", &Value::Null).await;
        assert_eq!(history.at("/count"), 2, "{history:?}");
        system.assert_sound().await;
    });
}

#[test]
fn a_request_whose_transactions_always_conflict_sends_twelve() {
    with_losses(async |system| {
        // Without a budget, twelve plans of six transactions each would be 72, and more with staging.
        assert_bounded(system, "POST", SUBMIT, "awesome-key", &vm(1)).await;
        let submitted = system.call("POST", SUBMIT, "awesome-key", &vm(1)).await;
        assert_eq!(submitted.status, 201, "{submitted:?}");
        let path = format!("{OWNER}/change_instances/{}/", submitted.at("/change_instances/0/id"));
        assert_bounded(system, "PATCH", &path, "vm-owner-key", &json!({"state": "APPROVED"})).await;
        let services = system.call("GET", &format!("{OWNER}/services/"), "vm-owner-key", &Value::Null).await;
        let path = format!("{OWNER}/services/{}/", services.at("/results/0/id"));
        let settings = json!({"approval_required": false});
        assert_bounded(system, "PATCH", &path, "vm-owner-key", &settings).await;
        system.assert_sound().await;
    });
}

#[test]
fn a_staged_submission_whose_transactions_always_conflict_sends_twelve() {
    with_losses_of(1, async |system| {
        assert_bounded(system, "POST", SUBMIT, "awesome-key", &vm(1)).await;
        system.assert_sound().await;
    });
}

/// Fails unless the request gets 503 after twelve transactions.
async fn assert_bounded(system: &Lossy, method: &str, path: &str, key: &str, body: &Value) {
    let (answer, transactions) = system.always_contended(method, path, key, body).await;
    assert_eq!((answer.status, answer.at("/code"), transactions), (503, &json!("contended"), 12), "{path}");
}

#[test]
fn a_service_with_a_lost_answer_is_published_once() {
    with_losses(async |system| {
        let schema = json!({"title": "DNS", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}});
        let path = format!("{OWNER}/services/");
        let published = system.unanswered("POST", &path, "vm-owner-key", &schema).await;
        assert_eq!((published.status, published.at("/schema/version")), (201, &json!(1)), "{published:?}");
        let listed = system.call("GET", &format!("{path}?name=DNS"), "vm-owner-key", &Value::Null).await;
        assert_eq!(listed.at("/count"), 1);
    });
}
