//! Tests of the queue: accepted messages, their delivery, and repeated failures.

use tokio::sync::mpsc;

use super::*;

struct Fixture {
    _parent: tempfile::TempDir,
    journal: Arc<Journal>,
    bus: Bus,
    queue: Queue,
}

impl Fixture {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let journal = Arc::new(Journal::open(&parent.path().join("journal.db")).unwrap());
        let (bus, queue) = (Bus::new(Arc::clone(&journal)), Queue::new(Arc::clone(&journal)));
        Self { _parent: parent, journal, bus, queue }
    }

    fn send(&self, target: &str, body: &Value) -> i64 {
        let mut event = Event::default();
        event.headers.insert("x-amz-target", target.parse().unwrap());
        event.body = Some(body.to_string());
        self.queue.answer(&event).unwrap().status_code
    }

    fn publish(&self, detail_type: &str) {
        let entry = json!({"Source": "dovetail.change-orchestration", "DetailType": detail_type,
            "Detail": "{}", "EventBusName": crate::bus::NAME});
        let mut event = Event::default();
        event.headers.insert("x-amz-target", "AWSEvents.PutEvents".parse().unwrap());
        event.body = Some(json!({"Entries": [entry]}).to_string());
        assert_eq!(self.bus.answer(&event).status_code, 200);
    }

    fn start(
        &self,
        invoker: Invoker,
    ) -> (watch::Sender<bool>, watch::Sender<bool>, tokio::task::JoinHandle<()>) {
        let (enable, enabled) = watch::channel(true);
        let (stop, stopped) = watch::channel(false);
        let deliveries =
            Deliveries::new(self.queue.clone(), &self.bus, rule().unwrap(), invoker, enabled, stopped)
                .unwrap();
        (enable, stop, tokio::spawn(async { deliveries.run().await.unwrap() }))
    }
}

#[test]
fn a_message_is_taken_as_sqs_takes_it() {
    let fixture = Fixture::new();
    for (target, body, status) in [
        (SEND_MESSAGE, json!({"QueueUrl": "x", "MessageBody": "{}"}), 200),
        (SEND_MESSAGE, json!({"QueueUrl": "x", "MessageBody": "{}", "DelaySeconds": 900}), 200),
        (SEND_MESSAGE, json!({"QueueUrl": "x", "MessageBody": "{}", "DelaySeconds": 901}), 400),
        (SEND_MESSAGE, json!({"QueueUrl": "x", "MessageBody": ""}), 400),
        (SEND_MESSAGE, json!({"QueueUrl": "x"}), 400),
        (SEND_MESSAGE, json!([]), 400),
        ("AmazonSQS.DeleteQueue", json!({}), 400),
    ] {
        assert_eq!(fixture.send(target, &body), status, "{target} {body}");
    }
    let (now, all) = (now(), 100);
    assert_eq!(fixture.journal.receive(now, now + 1, all).unwrap().len(), 1, "the other one waits");
    assert_eq!(fixture.journal.receive(now + 900_000, now + 900_000, all).unwrap().len(), 2);
    assert!(fixture.queue.answer(&Event::default()).is_none(), "that has no reader");
}

#[tokio::test]
async fn a_function_gets_events_and_messages_once_and_a_final_failure_is_stored() {
    let fixture = Fixture::new();
    let (sender, mut received) = mpsc::unbounded_channel();
    let invoker = Invoker::here(move |name, payload| {
        assert_eq!(name, FUNCTION);
        let failing = payload["Records"].as_array().unwrap().iter().filter_map(|record| {
            sender.send(record["body"].as_str().unwrap().to_owned()).unwrap();
            (record["body"] == "bad").then(|| json!({"itemIdentifier": record["messageId"]}))
        });
        let reply = json!({"batchItemFailures": failing.collect::<Vec<_>>()});
        async { Ok(reply) }
    });
    let (enable, stop, running) = fixture.start(invoker);
    fixture.publish("Submission.StateChanged.v1");
    fixture.publish("ChangeInstance.StateChanged.v1");
    assert!(received.recv().await.unwrap().contains("ChangeInstance.StateChanged.v1"));
    enable.send_replace(false);
    assert_eq!(fixture.send(SEND_MESSAGE, &json!({"QueueUrl": "x", "MessageBody": "bad"})), 200);
    enable.send_replace(true);
    assert_eq!(received.recv().await.unwrap(), "bad");
    stop.send_replace(true);
    running.await.unwrap();
    assert!(received.try_recv().is_err(), "nothing else was delivered");
}

#[tokio::test(start_paused = true)]
async fn a_slow_group_delays_no_other() {
    let fixture = Fixture::new();
    let (sender, mut received) = mpsc::unbounded_channel();
    let invoker = Invoker::here(move |_, payload| {
        let body = payload["Records"][0]["body"].as_str().unwrap().to_owned();
        let is_slow = body == "slow";
        sender.send(body).unwrap();
        async move {
            if is_slow {
                std::future::pending::<()>().await;
            }
            Ok(json!({}))
        }
    });
    // All messages of the slow group come first, more than there are places.
    for (group, body) in [("1", "slow"), ("2", "fast")] {
        for _ in 0..30 {
            let message = json!({"QueueUrl": "x", "MessageBody": body, "MessageGroupId": group});
            assert_eq!(fixture.send(SEND_MESSAGE, &message), 200);
        }
    }
    let (_enable, stop, running) = fixture.start(invoker);
    let fast = async {
        let mut count = 0;
        while count < 30 {
            count += usize::from(received.recv().await.unwrap() == "fast");
        }
    };
    tokio::time::timeout(Duration::from_secs(300), fast).await.expect("the other group waits");
    stop.send_replace(true);
    running.await.unwrap();
}

#[tokio::test]
async fn what_a_function_never_does_is_given_up() {
    let fixture = Fixture::new();
    let invoker = Invoker::here(|_, payload| async move {
        let id = payload["Records"][0]["messageId"].clone();
        Ok(json!({"batchItemFailures": [{"itemIdentifier": id}]}))
    });
    fixture.journal.enqueue(&[Message { due: 0, group: None, body: "bad".to_owned() }], None).unwrap();
    let mut received = 0;
    for at in 1.. {
        let batch = fixture.journal.receive(at, at, 1).unwrap();
        if batch.is_empty() {
            break;
        }
        received += 1;
        work_on(&fixture.journal, &invoker, batch).await.unwrap();
    }
    assert_eq!(received, RECEIVES_MAX);
    let (_, failure) = fixture.journal.failures().unwrap().pop().unwrap();
    assert_eq!(
        (failure.function.as_str(), failure.reason.as_str()),
        (FUNCTION, "the function reported a failure")
    );
    let payload: Value = serde_json::from_str(failure.record["payload"].as_str().unwrap()).unwrap();
    assert_eq!(payload["Records"][0]["body"], "bad");
}
