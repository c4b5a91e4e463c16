//! One attempt of one delivery, and its consequence.

use crate::{DeliveryMetrics, Handles, MessageError};
use domain::Timestamp;
use domain::outreach::event::CHANGE_INSTANCE;
use domain::outreach::webhook::Webhook;
use domain::outreach::webhook::delivery::{
    CoolingDecision, Delivery, Ended, Next, Replied, cooling_decision, next,
};
use dovetail_aws::{log, now, retry};

/// Attempts a delivery, unless its webhook is gone, inactive or cooling, or its receiver is down.
pub(crate) async fn attempt(handles: &Handles, delivery: Delivery) -> Result<DeliveryMetrics, MessageError> {
    let webhook = handles.table.webhook(delivery.webhook).await?;
    // Every attempt reads the webhook, so a removed or inactive one gets no retries.
    let Some(webhook) = webhook.filter(|webhook| webhook.settings.active) else {
        return Ok(DeliveryMetrics::default());
    };
    let last = handles.table.replied(webhook.id).await?;
    // A receiver that is down gets one request a minute, so it cannot occupy the function's concurrency (ADR 20).
    if last.as_ref().is_some_and(|last| last.is_down(now())) {
        return follow(handles, delivery, Ended::HeldBack, now()).await;
    }
    if webhook.settings.cooling_seconds > 0 && !may_go(handles, &webhook, &delivery).await? {
        return Ok(DeliveryMetrics::default());
    }
    let ended =
        dovetail_outbound::deliver(&handles.outbound, &webhook, CHANGE_INSTANCE, &delivery, now()).await;
    let ended_at = now();
    let replied = Replied::after(last.as_ref(), &delivery, ended, ended_at);
    if let Err(error) = handles.table.put_replied(&replied).await {
        // The request is sent. A repetition would be worse than a missing record.
        log(&format!("reply to webhook {}", webhook.id), &error.to_string());
    }
    follow(handles, delivery, ended, ended_at).await
}

/// Returns whether a delivery may start. If not, it waits, or another waiting event represents it (ADR 20).
async fn may_go(handles: &Handles, webhook: &Webhook, delivery: &Delivery) -> Result<bool, MessageError> {
    let mut attempts = retry::WRITE.attempts();
    while attempts.next().await.is_some() {
        let before = handles.table.cooling(webhook.id).await?;
        let (after, wait) = match cooling_decision(webhook, delivery.event_id(), before.as_ref(), now()) {
            CoolingDecision::Joined => return Ok(false),
            CoolingDecision::Now(after) => (after, None),
            CoolingDecision::Later(after, seconds) => (after, Some(seconds)),
        };
        let revision = before.map(|before| before.revision);
        // The revision decides between concurrent deliveries to one webhook.
        if handles.table.put_cooling(revision, &after).await?.is_done() {
            return match wait {
                None => Ok(true),
                Some(seconds) => {
                    // If this fails, SQS repeats the message. The record then has its own event as the waiting one,
                    // so it waits again.
                    handles.queue.send(delivery.to_message(), delivery.group(), seconds).await?;
                    Ok(false)
                }
            };
        }
    }
    Err(dovetail_table::Error::Unavailable("the webhook changed at every attempt".to_owned()).into())
}

/// Executes the consequence of an attempt.
async fn follow(
    handles: &Handles,
    delivery: Delivery,
    ended: Ended,
    at: Timestamp,
) -> Result<DeliveryMetrics, MessageError> {
    match next(delivery, ended, at) {
        Next::Done => Ok(DeliveryMetrics { delivered: 1, ..DeliveryMetrics::default() }),
        Next::Retry(delivery, seconds) => {
            handles.queue.send(delivery.to_message(), delivery.group(), seconds).await?;
            Ok(DeliveryMetrics { not_taken: 1, ..DeliveryMetrics::default() })
        }
        Next::GivenUp(given_up) => {
            handles.table.give_up(&given_up).await?;
            Ok(DeliveryMetrics { not_taken: 1, given_up: 1, ..DeliveryMetrics::default() })
        }
    }
}
