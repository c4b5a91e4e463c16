//! The whole system in this process, with a client that calls it over HTTP.

use crate::contract;
use crate::request::{Answer, ApiRequest, send};
use crate::shapes::TestEngine;
use crate::tables::{elsewhere, fresh_table, remove};
use crate::world_schema::world_schema_problems;
use domain::audit::invariant::{Snapshot, Violation};
use domain::model::work::TRIES_MAX;
use dovetail_daemon::functions::Handles;
use dovetail_daemon::settings::{Settings, TABLE};
use dovetail_daemon::{System, world};
use dovetail_emulator::engine::Storage;
use dovetail_table::{ACTIONS_MAX, Table};
use serde_json::{Value, json};
use simulation::system::ApiRequest as Asking;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Directory of the engine in the directory of a system.
const ENGINE: &str = "engine";

/// Maximum number of requests that wait for an idle system, each for 30 seconds.
const IDLE_ROUNDS: usize = 20;

/// A system with its own world and tables. The drop stops the system and removes the tables.
pub struct Running {
    /// Base of every URL.
    pub base: String,
    /// Access to the tables, for checks without HTTP.
    pub table: Table,
    /// Clients of the functions: tables, queue and targets.
    pub handles: Arc<Handles>,
    /// URL of the DynamoDB engine.
    pub engine: String,
    /// Settings of the tables: names and endpoint.
    pub tables: dovetail_table::Settings,
    /// Environment of functions in other processes, one `KEY=value` per line.
    pub environment: String,
    /// Text printed at the start.
    pub announcement: String,
    /// Requests other than reads, each with the status of its response.
    pub requests: Mutex<Vec<(Asking, u16)>>,
    /// Parts of the contract covered by the requests so far.
    pub seen: Mutex<contract::Lines>,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
    /// Directory of the database, unless the system has an own one.
    directory: Option<TempDir>,
    _test_engine: TestEngine,
}

impl Running {
    /// Starts the system with the demo world. Without `notify`, it posts events to no URL.
    pub fn demo() -> Self {
        Self::demo_with(ACTIONS_MAX)
    }

    /// Starts it with this maximum number of writes in one transaction of a submission.
    pub fn demo_with(actions_max: usize) -> Self {
        let mut world: Value = serde_json::from_str(world::DEMO).unwrap();
        for team in world["teams"].as_array_mut().unwrap() {
            team.as_object_mut().unwrap().remove("notify");
            // Most tests remove applications on the way. Those of the confirmation start the demo world itself.
            team["confirm_removals"] = json!(false);
        }
        Self::start_with(&world.to_string(), Settings { actions_max, ..Settings::default() })
    }

    /// Starts the system with a world and default settings.
    pub fn start(world: &str) -> Self {
        Self::start_with(world, Settings::default())
    }

    /// Starts the system with a world and settings. Address, engine and table names always come from the test.
    pub fn start_with(world: &str, settings: Settings) -> Self {
        Self::begin(world, Settings { memory: true, ..settings })
    }

    /// Starts the system on the files of a directory, which it removes at the end.
    pub(crate) fn start_in(directory: TempDir, world: &str, settings: Settings) -> Self {
        let data = directory.path().to_owned();
        let mut system = Self::begin(world, Settings { memory: false, data, ..settings });
        system.directory = Some(directory);
        system
    }

    /// Creates a directory for [`Running::start_in`], in shared memory if possible.
    pub(crate) fn directory() -> TempDir {
        let shared = Path::new("/dev/shm");
        let made = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        made.unwrap()
    }

    /// Stops the system. Returns its directory with the closed database.
    pub(crate) fn into_directory(mut self) -> TempDir {
        self.directory.take().unwrap()
    }

    fn begin(world: &str, settings: Settings) -> Self {
        let problems = world_schema_problems(&serde_json::from_str(world).unwrap());
        assert!(problems.is_empty(), "world.schema.json accepts the world: {problems:?}");
        let world = world::parse(world).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let storage = if settings.memory {
            Storage::Memory
        } else {
            // The system has the lock of its directory, so the engine needs one of its own.
            Storage::Directory(settings.data.join(ENGINE))
        };
        let test_engine = TestEngine::start(&storage);
        let endpoint = Some(test_engine.endpoint.clone());
        let table = if elsewhere().is_some() { fresh_table() } else { TABLE.to_owned() };
        let settings = Settings { listen, endpoint, table, ..settings };
        let system = runtime.block_on(System::prepare(&settings, &world)).unwrap();
        let (base, handles) = (system.base_url.clone(), Arc::clone(&system.handles));
        let tables = system.tables().clone();
        let engine = tables.endpoint.clone().unwrap();
        let (environment, announcement) = (system.environment(), system.announcement.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = runtime.spawn(async {
            system.serve(async { drop(stopped.await) }).await.unwrap();
        });
        let table = handles.table.clone();
        let (stop, serving) = (Some(stop), Some(serving));
        let system = Self {
            base,
            table,
            handles,
            engine,
            tables,
            environment,
            announcement,
            requests: Mutex::default(),
            seen: Mutex::default(),
            runtime,
            stop,
            serving,
            directory: None,
            _test_engine: test_engine,
        };
        // The schedule must not sweep in the middle of a slow test. Tests call `sweep` at a defined moment.
        system.enable("sweep", false);
        system
    }

    /// Returns the settings of the same tables at another endpoint, such as a proxy.
    pub fn tables_through(&self, endpoint: &str) -> dovetail_table::Settings {
        dovetail_table::Settings { endpoint: Some(endpoint.to_owned()), ..self.tables.clone() }
    }

    /// Spawns a future on the system's runtime.
    pub fn spawn<F: Future<Output: Send> + Send + 'static>(&self, future: F) -> JoinHandle<F::Output> {
        self.runtime.spawn(future)
    }

    /// Runs a future on the system's runtime.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Sends a request with a JSON body (null: no body) and waits for the response.
    pub fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.call_with(&[], method, path, key, body)
    }

    /// Sends a request with these additional headers and a JSON body, and waits for the response.
    pub fn call_with(
        &self,
        headers: &[(&str, &str)],
        method: &str,
        path: &str,
        key: &str,
        body: &Value,
    ) -> Answer {
        self.send(&ApiRequest { headers, ..ApiRequest::with_key(method, path, key, body) })
    }

    /// Sends a request with a JSON body and waits for the response. Fails unless it has this status.
    #[track_caller]
    pub fn expect(&self, status: u16, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        let answer = self.call(method, path, key, body);
        assert_eq!(answer.status, status, "{method} {path} {body}: {answer:?}");
        answer
    }

    /// Sends a GET request.
    pub fn get(&self, path: &str, key: &str) -> Answer {
        self.call("GET", path, key, &Value::Null)
    }

    /// Returns the pages of a list from this path on. Fails unless the status of each is 200.
    #[track_caller]
    pub fn pages(&self, path: &str, key: &str) -> Vec<Answer> {
        let (mut pages, mut next) = (Vec::new(), Some(path.to_owned()));
        while let Some(path) = next {
            let page = self.expect(200, "GET", &path, key, &Value::Null);
            next = page.at("/next").as_str().map(str::to_owned);
            pages.push(page);
        }
        pages
    }

    /// Sends a request and waits for the response. Fails unless the contract has the exchange.
    #[track_caller]
    pub fn send(&self, request: &ApiRequest<'_>) -> Answer {
        let answer = self.block_on(send(&self.base, request));
        let path = request.path.strip_prefix(&self.base).unwrap_or(request.path);
        if path.starts_with("/v1") {
            let seen = contract::check(path, request, &answer);
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
        }
        if request.method != "GET" && request.path.starts_with("/v1") {
            self.requests.lock().unwrap().push((self.asking(request), answer.status));
        }
        answer
    }

    /// Returns the request in the form of the simulation, with a host that does not depend on the port.
    fn asking(&self, request: &ApiRequest<'_>) -> Asking {
        let body = String::from_utf8_lossy(&request.body).replace(&self.base, "http://dovetail.example");
        let header = |wanted: &str| {
            let mut headers = request.headers.iter();
            headers.find_map(|(name, value)| (*name == wanted).then(|| (*value).to_owned()))
        };
        Asking {
            method: request.method.to_owned(),
            path: request.path.to_owned(),
            key: request.key.unwrap_or_default().to_owned(),
            idempotency_key: header("idempotency-key"),
            if_match: header("if-match"),
            body: serde_json::from_str(&body).unwrap_or_default(),
        }
    }

    /// Waits until generation and publishing are idle.
    #[track_caller]
    pub fn wait_idle(&self) {
        let request = ApiRequest::new("GET", "/_local/settled", &Value::Null);
        // A request waits for 30 seconds, which is too short for large submissions and loaded machines.
        let is_idle = |_| self.send(&request).body == json!({"settled": true});
        assert!((0..IDLE_ROUNDS).any(is_idle), "generation and publishing end");
    }

    /// Enables or disables the mapping that invokes a function.
    pub fn enable(&self, function: &str, enabled: bool) {
        let path = format!("/_local/mappings/{function}");
        let answer = self.send(&ApiRequest::new("PUT", &path, &json!({"enabled": enabled})));
        assert_eq!(answer.body, json!({"function": function, "enabled": enabled}));
    }

    /// Runs the sweep on pending work of any age, and returns its report.
    pub fn sweep(&self) -> Value {
        let of_any_age = json!({"older_than_seconds": 0});
        self.send(&ApiRequest::new("POST", "/_local/sweep", &of_any_age)).expect_status(200).body
    }

    /// Submits a load balancer of the demo, and fails its generated change instances until they are set aside.
    pub fn set_aside_work(&self) {
        self.enable("generate", false);
        let body = json!({"AwesomeConsumer": {"Aside": {"services": {"LoadBalancer": [{"name": "aside"}]}}}});
        self.call("PATCH", "/v1/orcabase/consumer/submissions/submit/", "awesome-key", &body)
            .expect_status(201);
        let snapshot = self.block_on(self.table.snapshot()).unwrap();
        let work = snapshot.works.last().unwrap().id;
        for failure in 1..=TRIES_MAX {
            assert_eq!(self.block_on(self.table.count_failure(work)).unwrap(), failure == TRIES_MAX);
        }
    }

    /// Returns the stored records as text, to compare two moments.
    pub fn stored(&self) -> String {
        self.wait_idle();
        // The pattern names every field, so a new type of record does not compile until a line here includes it.
        let Snapshot {
            teams,
            heads,
            applications,
            items,
            doubled,
            changes,
            charges,
            deployed,
            submissions,
            works,
            stagings,
            shares,
            claims,
            uses,
            declarations,
            secrets,
            // The catalogue has their keys, and a text never changes.
            definitions: _,
            replaced,
            remembered,
            catalogue,
        } = self.block_on(self.table.snapshot()).unwrap();
        let metadata: Vec<_> = teams.values().map(|team| &team.metadata).collect();
        let records = (heads, applications, items, changes, deployed, submissions, works, stagings, shares);
        let replaced: Vec<_> = replaced.values().map(|old| (old, &old.metadata)).collect();
        let more = (
            doubled,
            charges,
            claims,
            uses,
            declarations.keys(),
            secrets.keys(),
            replaced,
            remembered,
            catalogue,
        );
        format!("{teams:?} {metadata:?} {records:?} {more:?}")
    }

    /// Returns the violated invariants.
    #[track_caller]
    pub fn violations(&self) -> Vec<Violation> {
        // The audit must not run during a transaction: a torn read would look like a violation.
        self.wait_idle();
        // Without a time, it ignores the age of pending work, which depends on the speed of the machine.
        let audited = self.block_on(self.table.audit(None, &|_| ())).unwrap();
        assert_eq!(audited.unsettled, 0, "{audited:#?}");
        audited.violations
    }

    /// Fails unless the audit confirms every invariant.
    #[track_caller]
    pub fn assert_sound(&self) {
        assert_eq!(self.violations(), []);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let already_stopped = stop.send(()).is_err();
            assert!(std::thread::panicking() || !already_stopped, "the system runs until its test ends");
        }
        if let Some(serving) = self.serving.take() {
            let ended = self.runtime.block_on(serving);
            assert!(std::thread::panicking() || ended.is_ok(), "the system ends without a failure");
        }
        self.runtime.block_on(remove(&self.tables));
    }
}
