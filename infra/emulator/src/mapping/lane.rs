//! A lane: delivers the records of its items, batch by batch and in order.

use std::time::SystemTime;

use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{
    Consumer, Error,
    delivery::{self, Delivery, GivenUp, Last, Step},
    wake,
};
use crate::{
    envelope,
    journal::FailedBatch,
    stream::{Shard, sequence},
};

/// A record that waits for its lane.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) shard: Shard,
    pub(super) record: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Stop,
}

impl Consumer {
    /// Delivers the records of a lane until the stop.
    pub(super) async fn run_lane(
        &self,
        lane: usize,
        mut queue: UnboundedReceiver<Queued>,
    ) -> Result<(), Error> {
        let mut queued = Vec::new();
        while queue.recv_many(&mut queued, self.mapping.settings.batch_size).await > 0 {
            for batch in queued.chunk_by(|a, b| a.shard.id() == b.shard.id()) {
                if self.deliver(lane, batch).await? == Flow::Stop {
                    return Ok(());
                }
            }
            queued.clear();
        }
        Ok(())
    }

    /// Delivers one batch to the function until all of it is processed or given up.
    async fn deliver(&self, lane: usize, batch: &[Queued]) -> Result<Flow, Error> {
        let Some(Queued { shard, .. }) = batch.first() else { return Ok(Flow::Continue) };
        let (function, position_name) = (self.mapping.settings.function, self.position_name(shard));
        let records = batch.iter().map(|queued| queued.record.clone()).collect();
        let mut delivery = Delivery::new(self.mapping.settings.policy, records);
        let mut stop = self.stop.clone();
        loop {
            // A stop between two invocations leaves the rest undelivered. The position of the rest is not stored, so
            // its records come again.
            if self.is_stopped() {
                return Ok(Flow::Stop);
            }
            match delivery.next((self.with.clock)()) {
                Step::Pause(time) => {
                    tokio::select! {
                        () = tokio::time::sleep(time) => {}
                        _ = stop.wait_for(|stop| *stop) => {}
                    }
                }
                Step::Invoke(records) => {
                    let reply = self.with.invoker.invoke(function, event(records)).await;
                    delivery.replied(&reply);
                    if self.mapping.settings.writes {
                        wake(&self.with.wake);
                    }
                    // The position is stored after each reply, so a restart repeats at most one invocation of the
                    // oldest lane.
                    if let Some(position) = self.advance(lane, &position_name, &delivery) {
                        self.with.journal.set_position(&position_name, &position)?;
                    }
                }
                Step::GiveUp(given_up) => {
                    let batch = self.failed(shard, &given_up);
                    let position = self.advance(lane, &position_name, &delivery);
                    self.with.journal.give_up(&batch, &position_name, position.as_deref())?;
                }
                Step::Finish => return Ok(Flow::Continue),
            }
        }
    }

    /// Marks the processed records of a delivery, and returns the new position of the shard if it moves.
    fn advance(&self, lane: usize, position_name: &str, delivery: &Delivery) -> Option<String> {
        let last = delivery.done()?;
        // The batch is counted before the window changes, because otherwise `settled` could see an empty window and the
        // old count.
        self.progress.send_modify(|progress| progress.handled = progress.handled.wrapping_add(1));
        let mut position = None;
        self.window.send_modify(|window| position = window.finish(position_name, lane, last));
        position
    }

    /// Returns the record of a failed batch, as Lambda writes it to S3.
    fn failed(&self, shard: &Shard, given_up: &GivenUp) -> FailedBatch {
        let function = self.mapping.settings.function;
        let (first, last) = (given_up.records.first(), given_up.records.last());
        let number = |record: Option<&Value>| record.and_then(sequence).map(str::to_owned);
        let arrival = |record: Option<&Value>| record.and_then(delivery::created).map(text);
        let answered = |error: Option<&str>| {
            let version = "$LATEST";
            json!({"statusCode": 200, "executedVersion": version, "functionError": error})
        };
        let (response, reason) = match &given_up.last {
            None => (Value::Null, ""),
            Some(Last::Reported) => (answered(None), "the function reported failed records"),
            Some(Last::Failed(reason)) => (answered(Some("Unhandled")), reason.as_str()),
        };
        let record = json!({
            "requestContext": {
                "requestId": envelope::uuid(),
                "functionArn": format!(
                    "arn:aws:lambda:{}:{}:function:{function}", envelope::REGION, envelope::ACCOUNT
                ),
                "condition": given_up.condition.name(),
                "approximateInvokeCount": given_up.invocations,
            },
            "responseContext": response,
            "version": "1.0",
            "timestamp": text((self.with.clock)()),
            "DDBStreamBatchInfo": {
                "shardId": shard.id(),
                "startSequenceNumber": number(first),
                "endSequenceNumber": number(last),
                "approximateArrivalOfFirstRecord": arrival(first),
                "approximateArrivalOfLastRecord": arrival(last),
                "batchSize": given_up.records.len(),
                "streamArn": self.with.stream.arn(),
            },
            "payload": event(given_up.records.clone()).to_string(),
        });
        FailedBatch { function: function.to_owned(), reason: reason.to_owned(), record }
    }
}

/// Returns the event with these records.
fn event(records: Vec<Value>) -> Value {
    json!({ "Records": records })
}

pub(super) fn text(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let time =
        i64::try_from(seconds).ok().and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    time.map(envelope::time).unwrap_or_default()
}
