//! A receiver of webhooks and a target of healthchecks, in this process.

use crate::local_server::local_server;
use dovetail_emulator::gateway::plain;
use dovetail_http::Event;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Maximum time to wait for a request.
const WAITS: Duration = Duration::from_secs(30);

/// A request as received.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Path with its query.
    pub path: String,
    headers: BTreeMap<String, String>,
    pub body: Value,
    /// Body as sent, for its signature.
    pub text: String,
}

impl Request {
    /// Returns a header. Fails if the request does not have it.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers))
    }
}

/// A function from a request to its response body.
type Say = Box<dyn Fn(&Request) -> Value + Send>;

/// The receiver. It responds with 200 unless a test sets another status.
pub struct Receiver {
    base: String,
    requests: Arc<Mutex<Vec<Request>>>,
    answers: Arc<Mutex<BTreeMap<String, Vec<u16>>>>,
    says: Arc<Mutex<BTreeMap<String, Say>>>,
    arrivals: mpsc::Receiver<Request>,
    _runtime: Runtime,
}

impl Receiver {
    /// Starts the receiver on a local port.
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let answers = Arc::<Mutex<BTreeMap<String, Vec<u16>>>>::default();
        let says = Arc::<Mutex<BTreeMap<String, Say>>>::default();
        let (sender, arrivals) = mpsc::channel();
        let (shared, script, responders) = (Arc::clone(&requests), Arc::clone(&answers), Arc::clone(&says));
        let answer = move |event: Event| {
            let request = received(&event);
            let mut script = script.lock().unwrap();
            let left = script.get_mut(&request.path).filter(|left| !left.is_empty());
            let status = left.map_or(200, |left| left.remove(0));
            shared.lock().unwrap().push(request.clone());
            let words = responders.lock().unwrap().get(&request.path).map(|say| say(&request));
            // The channel is closed after the end of a test.
            drop(sender.send(request));
            let mut reply = plain(status.into(), &words.unwrap_or_else(|| json!("whatever")));
            if status == 307 {
                reply.headers.insert("location", "/elsewhere".parse().unwrap());
            }
            async { reply }
        };
        let (base, serving) = runtime.block_on(local_server(answer));
        drop(runtime.spawn(serving));
        Self { base, requests, answers, says, arrivals, _runtime: runtime }
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Sets the next statuses of a path, one for each request.
    pub fn answers(&self, path: &str, statuses: &[u16]) {
        self.answers.lock().unwrap().insert(path.to_owned(), statuses.to_vec());
    }

    /// Sets the response body of a path.
    pub fn says(&self, path: &str, say: impl Fn(&Request) -> Value + Send + 'static) {
        self.says.lock().unwrap().insert(path.to_owned(), Box::new(say));
    }

    /// Returns the requests of a path, in order of arrival.
    pub fn of(&self, path: &str) -> Vec<Request> {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).cloned().collect()
    }

    /// Waits for the next request.
    pub fn next_request(&mut self) -> Request {
        self.arrivals.recv_timeout(WAITS).unwrap()
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
