//! The request of a healthcheck (decision record 25).

use crate::{Answer, Bounds, Outbound, ResponseBody};
use domain::outreach::healthcheck::answer::Failed;
use domain::outreach::healthcheck::{Healthcheck, TIMEOUT_SECONDS};
use serde_json::Value;
use std::time::Duration;

/// The largest response in bytes. A hundred items with the longest reasons fit several times.
const BYTES_MAX: usize = 256 * 1024;

/// Sends a question to the target of a healthcheck and returns the body of its response.
pub async fn send(
    outbound: &Outbound,
    healthcheck: &Healthcheck,
    question: &Value,
) -> Result<Vec<u8>, Failed> {
    let settings = &healthcheck.settings;
    let authorization = settings.authorization.clone().map(|authorization| ("authorization", authorization));
    let headers: Vec<_> = authorization.into_iter().collect();
    let bounds = Bounds { timeout: Duration::from_secs(TIMEOUT_SECONDS), bytes_max: BYTES_MAX };
    match outbound.post_and_read(&settings.target_url, &headers, question.to_string(), bounds).await {
        Ok(ResponseBody::Body(body)) => Ok(body),
        Ok(ResponseBody::Nothing) => Err(Failed::Malformed),
        Err(Answer::Status(status)) => Err(Failed::Status(status)),
        Err(Answer::TimedOut) => Err(Failed::TimedOut),
        Err(Answer::Unreachable) => Err(Failed::Unreachable),
        Err(Answer::NotPublic) => Err(Failed::NotPublic),
    }
}
