//! Invoking a function by its name, as Lambda does: in this process, or where `cargo lambda watch` runs it.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use hyper::Uri;
use serde_json::Value;

use crate::{
    client,
    functions::{self, Handles},
};

/// How long a function may run, as its timeout in AWS would be; the first call elsewhere may have to build it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where functions run.
#[derive(Clone, Debug)]
pub enum Invoker {
    /// In this process.
    Here(Arc<Handles>),
    /// At the base URL of a server that takes Lambda's `Invoke`.
    At(Uri),
}

impl Invoker {
    /// Invokes a function; an error is what it failed of, and no reason to stop.
    pub async fn invoke(&self, function: &str, payload: Value) -> Result<Value, String> {
        match self {
            Self::Here(handles) => {
                let answer = AssertUnwindSafe(functions::invoke(handles, function, payload)).catch_unwind();
                answer.await.unwrap_or_else(|_| Err(format!("{function} panicked")))
            }
            Self::At(base) => elsewhere(base, function, &payload).await,
        }
    }
}

async fn elsewhere(base: &Uri, function: &str, payload: &Value) -> Result<Value, String> {
    let base = base.to_string();
    let url = format!("{}/2015-03-31/functions/{function}/invocations", base.trim_end_matches('/'));
    let url: Uri = url.parse().map_err(|error| format!("{url}: {error}"))?;
    let json = [("content-type", "application/json")];
    let reply = client::post(&url, &json, payload.to_string(), PATIENCE).await;
    let reply = reply.map_err(|error| format!("{function} cannot be reached: {error}"))?;
    if !reply.status().is_success() || reply.headers().contains_key("x-amz-function-error") {
        return Err(format!("{function} failed: {}", reply.status()));
    }
    if reply.body().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(reply.body()).map_err(|_| format!("{function} answers no JSON"))
}
