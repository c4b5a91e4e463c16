//! A receiver of webhooks, of this process.

use dovetail_http::Event;
use dovetail_local::{control::plain, gateway};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How long a test waits for what has to come.
const WAITS: Duration = Duration::from_secs(30);

/// A request that was received.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// The path with its query.
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    /// The body.
    pub(crate) body: Value,
    /// The body as it was sent.
    pub(crate) text: String,
}

impl Request {
    /// A header, which it has.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }
}

/// What is said to a request.
type Say = Box<dyn Fn(&Request) -> Value + Send>;

/// The receiver: it answers 200 unless it was told otherwise.
pub(crate) struct Receiver {
    base: String,
    requests: Arc<Mutex<Vec<Request>>>,
    answers: Arc<Mutex<BTreeMap<String, Vec<u16>>>>,
    says: Arc<Mutex<BTreeMap<String, Say>>>,
    told: mpsc::Receiver<Request>,
    _runtime: Runtime,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (requests, answers) =
            (Arc::<Mutex<Vec<Request>>>::default(), Arc::<Mutex<BTreeMap<_, Vec<u16>>>>::default());
        let (tell, told) = mpsc::channel();
        let says = Arc::<Mutex<BTreeMap<String, Say>>>::default();
        let said = Arc::clone(&says);
        let (kept, script) = (Arc::clone(&requests), Arc::clone(&answers));
        let answer = move |event: Event| {
            let request = received(&event);
            let mut script = script.lock().unwrap();
            let left = script.get_mut(&request.path).filter(|left| !left.is_empty());
            let status = left.map_or(200, |left| left.remove(0));
            kept.lock().unwrap().push(request.clone());
            let words = said.lock().unwrap().get(&request.path).map(|say| say(&request));
            // A test that has ended waits for nothing.
            drop(tell.send(request));
            let mut reply = plain(status.into(), &words.unwrap_or_else(|| json!("whatever")));
            if status == 307 {
                reply.headers.insert("location", "/elsewhere".parse().unwrap());
            }
            async { reply }
        };
        runtime.spawn(gateway::serve(listener, answer, std::future::pending()));
        Self { base, requests, answers, says, told, _runtime: runtime }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Has a path answer with these statuses, one after the other.
    pub(crate) fn answers(&self, path: &str, statuses: &[u16]) {
        self.answers.lock().unwrap().insert(path.to_owned(), statuses.to_vec());
    }

    /// Has a path say something to each request.
    pub(crate) fn says(&self, path: &str, say: impl Fn(&Request) -> Value + Send + 'static) {
        self.says.lock().unwrap().insert(path.to_owned(), Box::new(say));
    }

    /// What a path has received, in the order in which it came.
    pub(crate) fn of(&self, path: &str) -> Vec<Request> {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).cloned().collect()
    }

    /// Waits for the next request.
    pub(crate) fn next(&mut self) -> Request {
        self.told.recv_timeout(WAITS).unwrap()
    }
}

fn received(event: &Event) -> Request {
    let query = event.raw_query_string.as_deref().filter(|query| !query.is_empty());
    let path = event.raw_path.clone().unwrap();
    let text = event.body.clone().unwrap();
    let named = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    Request {
        path: query.map_or(path.clone(), |query| format!("{path}?{query}")),
        headers: event.headers.iter().map(named).collect(),
        body: serde_json::from_str(&text).unwrap(),
        text,
    }
}
