//! A system for scenarios: in this process or on a deployed stack.

use crate::published::Published;
use crate::request::{Answer, ApiRequest};
use crate::running::Running;
use serde_json::Value;

/// A system for scenarios: in this process or on a deployed stack.
pub trait Site {
    /// Returns the base of every URL.
    fn base(&self) -> &str;

    /// Sends a request and waits for the response.
    fn send(&self, request: &ApiRequest<'_>) -> Answer;

    /// Enables or disables the mapping that invokes a function.
    fn enable(&self, function: &str, enabled: bool);

    /// Returns the events after this number.
    fn events(&self, after: u64) -> Vec<Published>;

    /// Sends a request with a JSON body (null: no body) and waits for the response.
    fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Answer {
        self.send(&ApiRequest::with_key(method, path, key, body))
    }

    /// Sends a GET request.
    fn get(&self, path: &str, key: &str) -> Answer {
        self.call("GET", path, key, &Value::Null)
    }
}

impl Site for Running {
    fn base(&self) -> &str {
        &self.base
    }

    fn send(&self, request: &ApiRequest<'_>) -> Answer {
        self.send(request)
    }

    fn enable(&self, function: &str, enabled: bool) {
        self.enable(function, enabled);
    }

    fn events(&self, after: u64) -> Vec<Published> {
        self.events(after)
    }
}
