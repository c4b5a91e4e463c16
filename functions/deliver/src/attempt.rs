//! One try of one delivery, and what follows from it.

use crate::{Did, Handles, Undone};
use domain::event::CHANGE_INSTANCE;
use domain::timestamp::Timestamp;
use domain::webhook::Webhook;
use domain::webhook::delivery::{Delivery, Ended, Next, Replied, Turn, next, turn};
use dovetail_aws::{log, now, pause};
use dovetail_table::Keyed;

/// How often the turn of a delivery is decided anew because others came between.
const TURNS_MAX: u32 = 8;

/// Tries a delivery, unless its webhook is gone, rests, cools or is down.
pub(crate) async fn attempt(handles: &Handles, delivery: Delivery) -> Result<Did, Undone> {
    let webhook = handles.table.webhook(delivery.webhook).await?;
    let Some(webhook) = webhook.filter(|webhook| webhook.settings.active) else { return Ok(Did::default()) };
    let last = handles.table.replied(webhook.id).await?;
    if last.as_ref().is_some_and(|last| last.is_down(now())) {
        return follow(handles, delivery, Ended::HeldBack, now()).await;
    }
    if webhook.settings.cooling_seconds > 0 && !may_go(handles, &webhook, &delivery).await? {
        return Ok(Did::default());
    }
    let ended =
        dovetail_outbound::deliver(&handles.outbound, &webhook, CHANGE_INSTANCE, &delivery, now()).await;
    let ended_at = now();
    let replied = Replied::after(last.as_ref(), &delivery, ended, ended_at);
    if let Err(error) = handles.table.put_replied(&replied).await {
        // It was sent: to send it again for this would be worse.
        log(&format!("reply to webhook {}", webhook.id), &error.to_string());
    }
    follow(handles, delivery, ended, ended_at).await
}

/// Whether it is a delivery's turn; if not, it waits, or another one that waits stands for it.
async fn may_go(handles: &Handles, webhook: &Webhook, delivery: &Delivery) -> Result<bool, Undone> {
    for attempt in 0..TURNS_MAX {
        let before = handles.table.cooling(webhook.id).await?;
        let (after, wait) = match turn(webhook, delivery.event_id(), before.as_ref(), now()) {
            Turn::Joined => return Ok(false),
            Turn::Now(after) => (after, None),
            Turn::Later(after, seconds) => (after, Some(seconds)),
        };
        let revision = before.map(|before| before.revision);
        if handles.table.put_cooling(revision, &after).await? == Keyed::Stored {
            return match wait {
                None => Ok(true),
                Some(seconds) => {
                    handles.queue.send(delivery.to_message(), seconds).await?;
                    Ok(false)
                }
            };
        }
        pause(attempt).await;
    }
    Err(dovetail_table::Error::Unavailable("the webhook's turns keep changing".to_owned()).into())
}

/// Does what follows from a try.
async fn follow(handles: &Handles, delivery: Delivery, ended: Ended, at: Timestamp) -> Result<Did, Undone> {
    match next(delivery, ended, at) {
        Next::Done => Ok(Did { delivered: 1, ..Did::default() }),
        Next::Again(delivery, seconds) => {
            handles.queue.send(delivery.to_message(), seconds).await?;
            Ok(Did { not_taken: 1, ..Did::default() })
        }
        Next::GivenUp(given_up) => {
            handles.table.give_up(&given_up).await?;
            Ok(Did { not_taken: 1, given_up: 1, ..Did::default() })
        }
    }
}
