//! Due reminders of webhooks (R65): each is one message in the queue of deliveries.

use domain::outreach::webhook::reminder::{LOOKED_AT_MAX, Reminder, is_waiting};
use domain::{Change, Timestamp};
use dovetail_aws::{log, now};
use dovetail_queue::Queue;
use dovetail_table::{Direction, Error, Source, Table};
use futures_util::future::join_all;

/// Maximum number of reminders at once.
const AT_ONCE: usize = 10;

/// Number of change instances after which a sweep starts no further reminder; the next sweep continues.
const SWEEP_LOOKED_AT_MAX: usize = 10_000;

/// Number of change instances in the first read of a queue, and in each of ten later ones, together `LOOKED_AT_MAX`.
///
/// Most often, the oldest change instance decides.
const FIRST_READ: usize = 10;
const NEXT_READ: usize = 99;

/// The work of a reminder.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// Creation time of the oldest waiting change instance.
    oldest: Option<Timestamp>,
    /// The first time from which another change instance waits.
    first: Option<Timestamp>,
    /// Number of change instances.
    looked_at: usize,
}

/// Sends the due reminders, and returns their number.
pub(crate) async fn send(table: &Table, queue: &Queue, due: &[Reminder]) -> u64 {
    let (mut sent, mut looked_at) = (0, 0);
    for some in due.chunks(AT_ONCE) {
        // The other reminders stay due, so a long queue of an owner delays them by a minute.
        if looked_at >= SWEEP_LOOKED_AT_MAX {
            break;
        }
        let all = join_all(some.iter().map(|reminder| remind(table, queue, reminder))).await;
        for (reminder, one) in some.iter().zip(all) {
            match one {
                Ok((is_sent, count)) => {
                    sent += u64::from(is_sent);
                    looked_at += count;
                }
                // A failed reminder must not stop the others.
                Err(error) => log(&subject(reminder), &error.to_string()),
            }
        }
    }
    sent
}

/// Sends a reminder if work waits and the webhook has delivered nothing. Returns whether it did, with the number of
/// change instances that it looked at.
async fn remind(table: &Table, queue: &Queue, reminder: &Reminder) -> Result<(bool, usize), Error> {
    let (last, now) = (table.replied(reminder.webhook).await?, now());
    if let Some(put_off) = reminder.put_off(last.as_ref(), now) {
        // Another sweep may have been faster. Its record counts then, here and below.
        let _stored = table.put_reminder(reminder, &put_off).await?;
        return Ok((false, 0));
    }
    let look = look(table, reminder, now).await?;
    let Some(oldest) = look.oldest else {
        let _stored = table.put_reminder(reminder, &reminder.after_look(look.first, now)).await?;
        return Ok((false, look.looked_at));
    };
    let sent = reminder.sent(now);
    // The message comes after the conditional write, so only one of two sweeps sends it.
    if !table.put_reminder(reminder, &sent).await?.is_done() {
        return Ok((false, look.looked_at));
    }
    let delivery = reminder.delivery(oldest);
    if let Err(not_taken) = queue.send(delivery.to_message(), delivery.group(), 0).await {
        log(&subject(reminder), &format!("the queue rejected it: {}", not_taken.0));
        let _stored = table.put_reminder(&sent, &sent.put_back(now)).await?;
        return Ok((false, look.looked_at));
    }
    Ok((true, look.looked_at))
}

/// Looks for the oldest change instance that waits for a reminder.
async fn look(table: &Table, reminder: &Reminder, now: Timestamp) -> Result<Look, Error> {
    let queue = Source::<Change>::owned_by(reminder.webhook.team(), &[reminder.settings.state]);
    let mut rows = table.rows(&queue, Direction::Ascending, None).at_once(FIRST_READ);
    let mut look = Look::default();
    while look.looked_at < LOOKED_AT_MAX
        && let Some(batch) = rows.next().await?
    {
        look.looked_at += batch.len();
        // The queue is in the order of creation.
        let is_over = batch.last().is_none_or(|row| reminder.is_too_new(row.value.created, now));
        let covered = batch.into_iter().filter_map(|row| Some((reminder.waits_from(&row.value)?, row.value)));
        let (old, new): (Vec<_>, Vec<_>) = covered.partition(|(from, _)| *from <= now);
        look.first = look.first.into_iter().chain(new.into_iter().map(|(from, _)| from)).min();
        look.oldest = oldest(table, old, now).await?;
        if look.oldest.is_some() || is_over {
            break;
        }
        rows = rows.at_once(NEXT_READ);
    }
    Ok(look)
}

/// Returns the creation time of the first change instance without a live claim.
async fn oldest(
    table: &Table,
    old: Vec<(Timestamp, Change)>,
    now: Timestamp,
) -> Result<Option<Timestamp>, Error> {
    let claims = table.claims(old.iter().map(|(_, change)| (change.item, change.owner.id)).collect()).await?;
    let claim = |change: &Change| claims.get(&(change.item, change.owner.id));
    let waiting = old.into_iter().find(|(from, change)| is_waiting(*from, claim(change), now));
    Ok(waiting.map(|(_, change)| change.created))
}

fn subject(reminder: &Reminder) -> String {
    format!("reminder of webhook {}", reminder.webhook)
}
