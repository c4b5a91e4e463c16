//! Lambda's operation `Invoke`: passes a JSON payload to a function, in this process or in another one.

use std::{pin::Pin, sync::Arc, time::Duration};

use hyper::{StatusCode, Uri, header::CONTENT_TYPE};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::client::{self, Client};

/// The longest time of an invocation.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest stored error message, in characters.
const REASON_CHARS_MAX: usize = 500;

/// The reason for a failed invocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The function was invoked and failed.
    #[error("{0}")]
    Function(String),
    /// The function was not reached, so it has done nothing.
    #[error("{0}")]
    NotInvoked(String),
}

type Answered = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// A client that invokes functions by name.
#[derive(Clone, Debug)]
pub struct Invoker(Functions);

#[derive(Clone, derive_more::Debug)]
enum Functions {
    #[debug("Here")]
    Here(Arc<dyn Fn(String, Value) -> Answered + Send + Sync>),
    #[debug("There({_1})")]
    There(Client, Arc<str>),
}

impl Invoker {
    /// Returns a client for functions of this process, all behind one closure of name and payload.
    pub fn here<F>(function: impl Fn(String, Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, String>> + Send + 'static,
    {
        Self(Functions::Here(Arc::new(move |name, payload| Box::pin(function(name, payload)))))
    }

    /// Returns a client for functions behind Lambda's API under a base URL.
    pub fn there(base: &str) -> Self {
        Self(Functions::There(Client::new(), base.trim_end_matches('/').into()))
    }

    /// Invokes a function and returns its response.
    pub async fn invoke(&self, name: &str, payload: Value) -> Result<Value, Failure> {
        let answered = match &self.0 {
            Functions::Here(functions) => {
                // The separate task contains a panic, and its drop ends a function that takes too long.
                let mut task = JoinSet::new();
                task.spawn(functions(name.to_owned(), payload));
                tokio::time::timeout(TIMEOUT, task.join_next()).await.map(|ended| match ended {
                    Some(Ok(answer)) => answer.map_err(|reason| function_failed(&reason)),
                    Some(Err(_)) | None => Err(function_failed("the function panicked")),
                })
            }
            Functions::There(client, base) => {
                tokio::time::timeout(TIMEOUT, call(client, base, name, &payload)).await
            }
        };
        answered
            .unwrap_or_else(|_| Err(function_failed(&format!("the function took longer than {TIMEOUT:?}"))))
    }
}

async fn call(client: &Client, base: &str, name: &str, payload: &Value) -> Result<Value, Failure> {
    let url = format!("{base}/2015-03-31/functions/{name}/invocations");
    let url: Uri = url.parse().map_err(|_| Failure::NotInvoked(format!("{url} must be a URL")))?;
    let headers = [(CONTENT_TYPE, "application/json")];
    let answer = client.post(&url, &headers, payload.to_string()).await.map_err(|error| match error {
        client::Error::Unreachable { .. } => Failure::NotInvoked(short(&error.to_string())),
        client::Error::Unanswered { .. } => function_failed(&error.to_string()),
    })?;
    // Lambda answers 200 even if the function fails; only the header shows the failure.
    let body = || serde_json::from_slice::<Value>(&answer.body);
    if answer.status != StatusCode::OK || answer.headers.contains_key("x-amz-function-error") {
        let message = body().ok().and_then(|body| body.get("errorMessage")?.as_str().map(str::to_owned));
        return Err(function_failed(&message.unwrap_or_else(|| format!("HTTP status {}", answer.status))));
    }
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    body().map_err(|_| function_failed("the response of the function is not JSON"))
}

fn function_failed(reason: &str) -> Failure {
    Failure::Function(short(reason))
}

fn short(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use aws_lambda_events::encodings::Body;
    use dovetail_http::{Event, EventReply};
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::*;
    use crate::gateway;

    #[tokio::test]
    async fn a_function_of_this_process_answers_fails_or_panics() {
        let invoker = Invoker::here(|name, payload| async move {
            match name.as_str() {
                "echo" => Ok(payload),
                "fail" => Err("a".repeat(600)),
                _ => panic!("on purpose"),
            }
        });
        assert_eq!(invoker.invoke("echo", json!({"a": 1})).await, Ok(json!({"a": 1})));
        assert_eq!(invoker.invoke("fail", Value::Null).await, Err(Failure::Function("a".repeat(500))));
        let panicked = Err(Failure::Function("the function panicked".to_owned()));
        assert_eq!(invoker.invoke("panic", Value::Null).await, panicked);
    }

    #[tokio::test(start_paused = true)]
    async fn a_function_that_hangs_is_stopped() {
        let (running, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = Arc::new(std::sync::Mutex::new(Some(running)));
        let invoker = Invoker::here(move |_, _| {
            let running = running.lock().unwrap().take();
            async move {
                let _running = running;
                std::future::pending().await
            }
        });
        let late = Err(Failure::Function("the function took longer than 60s".to_owned()));
        assert_eq!(invoker.invoke("hang", Value::Null).await, late);
        assert!(stopped.await.is_err(), "what it held is dropped");
    }

    #[tokio::test]
    async fn a_function_elsewhere_is_invoked_as_lambda_does() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/", listener.local_addr().unwrap());
        let answer = |event: Event| async move {
            let mut reply = EventReply::default();
            reply.status_code = 200;
            let path = event.raw_path.unwrap();
            let name = path.strip_prefix("/2015-03-31/functions/").unwrap();
            let text = match name.strip_suffix("/invocations").unwrap() {
                "echo" => event.body.unwrap(),
                "none" => String::new(),
                "text" => "no JSON".to_owned(),
                "handled" => {
                    reply.headers.insert("x-amz-function-error", "Unhandled".parse().unwrap());
                    json!({"errorType": "E", "errorMessage": "no such thing"}).to_string()
                }
                _ => {
                    reply.status_code = 500;
                    String::new()
                }
            };
            reply.body = Some(Body::Text(text));
            reply
        };
        let serving = tokio::spawn(gateway::serve(listener, answer, std::future::pending()));
        let invoker = Invoker::there(&base);
        let failed = |reason: &str| Err(Failure::Function(reason.to_owned()));
        for (name, expected) in [
            ("echo", Ok(json!({"a": 1}))),
            ("none", Ok(Value::Null)),
            ("text", failed("the response of the function is not JSON")),
            ("handled", failed("no such thing")),
            ("broken", failed("HTTP status 500 Internal Server Error")),
        ] {
            assert_eq!(invoker.invoke(name, json!({"a": 1})).await, expected, "{name}");
        }
        serving.abort();
    }

    #[tokio::test]
    async fn a_function_without_a_server_is_not_invoked() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let invoker = Invoker::there(&format!("http://{free}"));
        let refused = invoker.invoke("echo", Value::Null).await.unwrap_err();
        assert!(matches!(&refused, Failure::NotInvoked(reason) if reason.contains("is unreachable")));
    }
}
