//! Requests to the server.

use crate::base::{failure::Failure, json::At as _, problem::Refusal, progress::Progress};
use serde_json::{Value, json};
use std::{thread, time::Duration};
use ureq::{
    Agent,
    http::{Request, StatusCode},
};

/// The longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of attempts of a request that the server did not process: responses 429 and 503.
const ATTEMPTS_MAX: u32 = 6;
/// The longest pause before the next attempt.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// The largest response, in bytes.
const RESPONSE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Number of results in a page of a list.
const PAGE: usize = 500;

/// The header with the most similar query parameter.
const DID_YOU_MEAN: &str = "Dovetail-Did-You-Mean";

/// The path of all routes about declarations and changes.
pub(crate) const ORCABASE: &str = "/v1/orcabase";

/// The path of the team of an API key.
pub(crate) const TEAMS: &str = "/v1/account/teams/";

/// A server, and the team that calls it.
pub(crate) struct Api {
    agent: Agent,
    url: String,
    key: String,
}

/// A request with a body.
pub(crate) struct Call<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a [(&'a str, String)],
    pub(crate) body: &'a Value,
}

impl Api {
    /// Creates the client of a server.
    pub(crate) fn new(url: &str, key: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // The server never redirects, and no other host may see the key.
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("dovetail/", env!("CARGO_PKG_VERSION")));
        let url = url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        Self { agent: config.build().new_agent(), url, key: key.to_owned() }
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Reads a path.
    pub(crate) fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(&Call { method: "GET", path, headers: &[], body: &Value::Null })
    }

    /// Returns the results of a list, at most this number.
    pub(crate) fn list(&self, path: &str, most: usize) -> Result<Vec<Value>, Failure> {
        let separator = if path.contains('?') { '&' } else { '?' };
        // Only these lists have a count that costs something.
        let count = if path.starts_with(ORCABASE) { "&count=false" } else { "" };
        let mut next = Some(format!("{path}{separator}limit={}{count}", most.min(PAGE)));
        let (mut results, progress) = (Vec::new(), Progress::text());
        while let Some(path) = next.filter(|_| results.len() < most) {
            let page = self.get(&path)?;
            results.extend_from_slice(page.list_at("/results"));
            next = self.next_page(&page, "/next");
            if next.is_some() && results.len() < most {
                progress.show(format!("{} read", results.len()));
            }
        }
        results.truncate(most);
        Ok(results)
    }

    /// Reads the pages of a path, one by one.
    pub(crate) fn pages(&self, path: String, mut take: impl FnMut(Value)) -> Result<(), Failure> {
        let mut next = Some(path);
        while let Some(path) = next {
            let page = self.get(&path)?;
            next = self.next_page(&page, "/next");
            take(page);
        }
        Ok(())
    }

    /// Returns the path of the next page, by the pointer of its URL; none after the last page.
    pub(crate) fn next_page(&self, page: &Value, pointer: &str) -> Option<String> {
        page.at(pointer).as_str().map(|url| self.path_of(url).to_owned())
    }

    /// Returns the path of a URL that the server sent.
    fn path_of<'a>(&self, url: &'a str) -> &'a str {
        // Behind a proxy, the server may know another name of itself.
        url.find("/v1/").and_then(|at| url.get(at..)).unwrap_or(url)
    }

    /// Sends a request with a JSON document, or without a body.
    pub(crate) fn send(&self, call: &Call<'_>) -> Result<Value, Failure> {
        let body = if call.body.is_null() { Vec::new() } else { call.body.to_string().into_bytes() };
        self.send_bytes(call, "application/json", &body)
    }

    /// Sends a body of another type.
    pub(crate) fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Result<Value, Failure> {
        self.send_bytes(&Call { method: "POST", path, headers: &[], body: &Value::Null }, content_type, body)
    }

    /// Sends a request, and repeats it if the server did not process it.
    fn send_bytes(&self, call: &Call<'_>, content_type: &str, body: &[u8]) -> Result<Value, Failure> {
        let mut attempt = 1;
        loop {
            let mut request = Request::builder()
                .method(call.method)
                .uri(format!("{}{}", self.url, call.path))
                .header("Authorization", format!("Api-Key {}", self.key))
                .header("Content-Type", content_type);
            for (name, value) in call.headers {
                request = request.header(*name, value);
            }
            let request = request.body(body).map_err(Failure::failed)?;
            let mut response = self.agent.run(request).map_err(|error| self.unreachable(&error))?;
            let (status, pause) = (response.status(), pause(&response));
            let text = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX).read_to_vec();
            let text = text.map_err(|error| self.unreachable(&error))?;
            let is_temporary =
                [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status);
            if is_temporary && attempt < ATTEMPTS_MAX {
                attempt += 1;
                thread::sleep(pause);
                continue;
            }
            let meant = response.headers().get(DID_YOU_MEAN).and_then(|name| name.to_str().ok());
            return answer(call.path, status, meant, &text);
        }
    }

    fn unreachable(&self, error: &ureq::Error) -> Failure {
        Failure::Failed(format!("{}: {error}", self.url))
    }
}

fn pause<T>(response: &ureq::http::Response<T>) -> Duration {
    let after = response.headers().get("Retry-After").and_then(|after| after.to_str().ok()?.parse().ok());
    Duration::from_secs(after.unwrap_or(1)).min(PAUSE_MAX)
}

/// Converts a response into its body, or into the reason of the failure.
fn answer(path: &str, status: StatusCode, meant: Option<&str>, text: &[u8]) -> Result<Value, Failure> {
    if status.is_success() {
        // A removal has no body.
        return if text.is_empty() {
            Ok(json!({}))
        } else {
            serde_json::from_slice(text).map_err(Failure::failed)
        };
    }
    let body: Value = serde_json::from_slice(text).unwrap_or_default();
    let refusal = Refusal::of(&body);
    Err(match status {
        StatusCode::PRECONDITION_FAILED => Failure::PlanChanged,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Failure::NotAllowed(refusal.to_string()),
        // An unknown filter has a list of sentences, for clients that exist.
        StatusCode::BAD_REQUEST if body.is_array() => {
            Failure::UnknownFilter { path: path.to_owned(), meant: meant.map(str::to_owned) }
        }
        _ if refusal.code.is_empty() => Failure::Failed(format!("the server responded with {status}")),
        _ if status.is_client_error() && status != StatusCode::NOT_FOUND => {
            Failure::Refused(Box::new(refusal))
        }
        _ => Failure::Failed(refusal.to_string()),
    })
}
