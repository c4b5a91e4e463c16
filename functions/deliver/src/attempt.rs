//! One attempt of one delivery, and its consequence.

use crate::{DeliveryMetrics, Handles, MessageError};
use domain::Timestamp;
use domain::outreach::webhook::Webhook;
use domain::outreach::webhook::delivery::{Delivery, Ended, Next, Replied, next};
use domain::outreach::webhook::start::{StartDecision, start_decision};
use dovetail_aws::{log, now, retry};
use futures_util::future::{Either, join, select};
use std::pin::pin;
use std::time::Duration;
use tokio::time::sleep;

/// The next step of a delivery.
enum Step {
    /// The webhook is gone or inactive, or an event that already waits represents this one.
    Skip,
    /// The delivery waits for so many seconds, for its cooling time or for a slot.
    Wait(Delivery, u64),
    /// The attempt ends without a request.
    Follow(Next),
    Send(Box<Prepared>),
}

/// A delivery that may start, with the records for its request.
struct Prepared {
    webhook: Webhook,
    delivery: Delivery,
    last: Option<Replied>,
}

/// Attempts a delivery, unless its webhook is gone, inactive or cooling, or its receiver is down or slow.
pub(crate) async fn attempt(handles: &Handles, delivery: Delivery) -> Result<DeliveryMetrics, MessageError> {
    match prepare(handles, delivery).await? {
        Step::Skip => Ok(DeliveryMetrics::default()),
        Step::Wait(delivery, seconds) => {
            // If the send fails, SQS repeats the message. The repeated message then finds its own event as the waiting
            // one and waits again, or it reserves a second slot.
            handles.queue.send(delivery.to_message(), delivery.group(), seconds).await?;
            Ok(DeliveryMetrics::default())
        }
        Step::Follow(next) => follow(handles, next).await,
        Step::Send(prepared) => {
            let (ended, ended_at) = request(handles, &prepared).await;
            follow(handles, next(prepared.delivery, ended, ended_at)).await
        }
    }
}

/// Reads the webhook and the last reply of its receiver, and decides the next step.
async fn prepare(handles: &Handles, delivery: Delivery) -> Result<Step, MessageError> {
    let webhook = handles.table.webhook(delivery.webhook).await?;
    // Every attempt reads the webhook, so a removed or inactive one gets no retries.
    let Some(webhook) = webhook.filter(|webhook| webhook.settings.active) else { return Ok(Step::Skip) };
    let last = handles.table.replied(webhook.id).await?;
    // A receiver that is down gets one request a minute, so it cannot occupy the function's concurrency (ADR 20).
    if last.as_ref().is_some_and(|last| last.is_down(now())) {
        return Ok(Step::Follow(next(delivery, Ended::HeldBack, now())));
    }
    Ok(match start(handles, &webhook, &delivery, last.as_ref()).await? {
        StartDecision::Now(_) => Step::Send(Box::new(Prepared { webhook, delivery, last })),
        StartDecision::Later(_, delivery, seconds) => Step::Wait(delivery, seconds),
        StartDecision::Joined => Step::Skip,
        StartDecision::TooLate => Step::Follow(delivery.end(Ended::HeldBack, now())),
    })
}

/// Decides whether a delivery may start, and stores its slot or the cooling time.
async fn start(
    handles: &Handles,
    webhook: &Webhook,
    delivery: &Delivery,
    last: Option<&Replied>,
) -> Result<StartDecision, MessageError> {
    // Most deliveries go to fast receivers without a cooling time, and need no further read.
    if webhook.settings.cooling_seconds == 0 && !last.is_some_and(Replied::is_slow) {
        return Ok(StartDecision::Now(None));
    }
    let decided = retry::until_stored(retry::WRITE, |_| async {
        let before = handles.table.cooling(webhook.id).await?;
        let decision = start_decision(webhook, delivery, last, before.as_ref(), now());
        let (StartDecision::Now(Some(after)) | StartDecision::Later(Some(after), ..)) = &decision else {
            return Ok(Some(decision));
        };
        // The revision decides between concurrent deliveries to one webhook.
        let stored = handles.table.put_cooling(before.map(|before| before.revision), after).await?;
        Ok::<_, MessageError>(stored.is_done().then_some(decision))
    });
    // Many deliveries race for slots. After a failure, the message would come back only after the visibility timeout,
    // and count for the dead-letter queue.
    Ok(decided.await?.unwrap_or_else(|| StartDecision::Later(None, delivery.clone(), 1)))
}

/// Sends the request and stores its result. Returns the result with its time.
async fn request(handles: &Handles, prepared: &Prepared) -> (Ended, Timestamp) {
    let Prepared { webhook, delivery, last } = prepared;
    let (last, began) = (last.as_ref(), now());
    let sent = dovetail_outbound::deliver(&handles.outbound, webhook, delivery, began);
    let mut sent = pin!(async { (sent.await, now()) });
    let pause = sleep(Duration::from_millis(Replied::in_flight_millis(last)));
    let (ended, ended_at) = match select(&mut sent, pin!(pause)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => {
            // Other messages must learn during this request that the receiver is slow. After its response, all
            // instances could already wait for the same receiver.
            let during = Replied::during(last, delivery, began);
            join(sent, put_reply(handles, &during)).await.0
        }
    };
    let replied = Replied::after(last, delivery, ended, began, ended_at);
    put_reply(handles, &replied.noting_delivery(webhook, delivery)).await;
    (ended, ended_at)
}

async fn put_reply(handles: &Handles, replied: &Replied) {
    if let Err(error) = handles.table.put_replied(replied).await {
        // The request is sent. A repetition would be worse than a missing record.
        log(&format!("reply to webhook {}", replied.webhook), &error.to_string());
    }
}

/// Executes the consequence of an attempt.
async fn follow(handles: &Handles, next: Next) -> Result<DeliveryMetrics, MessageError> {
    match next {
        Next::Done => Ok(DeliveryMetrics { delivered: 1, ..DeliveryMetrics::default() }),
        Next::Retry(delivery, seconds) => {
            handles.queue.send(delivery.to_message(), delivery.group(), seconds).await?;
            Ok(DeliveryMetrics { not_taken: 1, ..DeliveryMetrics::default() })
        }
        Next::GivenUp(given_up) => {
            handles.table.give_up(&given_up).await?;
            Ok(DeliveryMetrics { not_taken: 1, given_up: 1, ..DeliveryMetrics::default() })
        }
        Next::Dropped => Ok(DeliveryMetrics { not_taken: 1, ..DeliveryMetrics::default() }),
    }
}
