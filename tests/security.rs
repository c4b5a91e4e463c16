//! Separation of teams, authentication, limits and hostile input.

mod caller;
mod fair_use;
mod hostile;
mod isolation;
pub(crate) mod keys;
mod limits;
pub(crate) mod people;
mod secrets;
mod trust;

use serde_json::{Value, json};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

/// Returns the demo consumer's declaration of one application with these services.
fn app(services: &Value) -> Value {
    json!({"AwesomeConsumer": {"App": {"services": services}}})
}

/// Returns a declaration of one VM with this text as its `cpu`.
fn with_cpu(text: &str) -> String {
    format!(
        r#"{{"AwesomeConsumer": {{"App": {{"services": {{"VM": [{{"name": "one", "cpu": {text}}}]}}}}}}}}"#
    )
}
