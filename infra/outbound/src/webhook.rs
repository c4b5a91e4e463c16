//! The request of a webhook delivery (decision record 20).

use crate::{Answer, Outbound, signature, standard_signature};
use domain::Timestamp;
use domain::outreach::webhook::Webhook;
use domain::outreach::webhook::delivery::{Delivery, Ended};
use std::time::Duration;

/// Sends one delivery and returns its outcome.
///
/// The function ignores the webhook's cooling and its retries, about which the caller decides.
pub async fn deliver(outbound: &Outbound, webhook: &Webhook, delivery: &Delivery, now: Timestamp) -> Ended {
    let (settings, body) = (&webhook.settings, delivery.event.to_string());
    let (id, seconds) = (delivery.event_id(), now.micros() / 1_000_000);
    let standard = standard_signature(webhook.secret.as_bytes(), id, seconds, &body);
    let mut headers = vec![
        ("dovetail-event-id", id.to_owned()),
        ("dovetail-event-type", delivery.event_type.name().to_owned()),
        ("dovetail-signature", signature(&webhook.secret, seconds, &body)),
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", seconds.to_string()),
        ("webhook-signature", standard),
    ];
    headers.extend(settings.authorization.clone().map(|authorization| ("authorization", authorization)));
    let timeout = Duration::from_secs(settings.timeout_seconds);
    match outbound.post(&settings.target_url, &headers, body, timeout).await {
        Answer::Status(status) => Ended::Answered(status),
        Answer::TimedOut => Ended::TimedOut,
        Answer::Unreachable => Ended::Unreachable,
        Answer::NotPublic => Ended::NotPublic,
    }
}
