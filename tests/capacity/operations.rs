//! Runs each operation with the delivered functions, in virtual time, and records its calls.

use crate::record::Traced;
use crate::recorder::{NOTIFY, Recorder, SEED};
use crate::sequence::Sequence;
use crate::world::{HOOK, OWNER, PLAIN, SHARED, Size, key};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use deliver::Handles;
use domain::base::id::WebhookId;
use domain::outreach::webhook::delivery::Delivery;
use dovetail_aws::Endpoint;
use dovetail_daemon::authorizer::Authorizer;
use dovetail_outbound::{Outbound, Targets};
use dovetail_queue::{Queue, Settings, SqsEvent};
use serde_json::{Value, json};
use simulation::cloud::TABLE;
use simulation::load::driver::changes;
use simulation::network::Network;
use simulation::run::in_virtual_time;
use simulation::stream::GENERATE;
use simulation::system::OWNED;
use std::sync::Arc;

/// Items of the staged submission.
pub const STAGED_ITEMS: usize = 1_000;

/// Records all operations with items of each size.
pub fn record() -> Vec<Sequence> {
    let of_size = |size: Size| move || in_virtual_time(SEED, move || record_all(size)).unwrap();
    let threads = Size::EACH.map(|size| std::thread::spawn(of_size(size)));
    threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
}

/// Records a CREATE in an application with this number of gone items.
pub fn create_with_gone_items(count: usize) -> Sequence {
    let create = move || async move {
        let mut recorder = Recorder::start(Size::Small).await;
        recorder.move_gone_items(count).await;
        let (_, traced) = recorder.submit((0, "Full", PLAIN), 1, 1).await;
        recorder.add("submit 1 CREATE with gone items", traced);
        recorder.sequences.remove(0)
    };
    in_virtual_time(SEED, create).unwrap()
}

async fn record_all(size: Size) -> Vec<Sequence> {
    let mut recorder = Recorder::start(size).await;
    recorder.submissions().await;
    recorder.decisions().await;
    recorder.reads().await;
    recorder.staged().await;
    recorder.deliveries().await;
    recorder.sequences
}

impl Recorder {
    async fn submissions(&mut self) {
        let (_, calls) = self.submit((0, "Plain", PLAIN), 1, 1).await;
        self.add("submit 1 CREATE", calls);
        let (_, calls) = self.submit((0, "Shared", SHARED), 1, 1).await;
        self.add("submit 1 CREATE with a dependent team", calls);
        let calls = self.flow(GENERATE).await;
        self.add("generate 1 share", calls);
        let (answer, calls) = self.submit((0, "Ten", PLAIN), 10, 1).await;
        self.add("submit 10 new items", calls);
        for change in changes(&answer.body) {
            self.decide(&change, "APPROVED").await;
            self.decide(&change, "COMPLETED").await;
        }
        let (_, calls) = self.submit((0, "Ten", PLAIN), 10, 2).await;
        self.add("submit 10 changed items", calls);
        self.submit((1, "Applied", PLAIN), 20, 1).await;
        let (_, calls) = self.submit((1, "Applied", PLAIN), 20, 1).await;
        self.add("re-apply 20 items without a change", calls);
    }

    /// Removes an item of an application, and copies the row of the gone item.
    async fn move_gone_items(&self, count: usize) {
        for items in [1, 0] {
            let change = self.changes((0, "Full", PLAIN), items, 1).await;
            self.decide(&change[0], "APPROVED").await;
            self.decide(&change[0], "COMPLETED").await;
        }
        let consumer = self.roles.iter().find(|(_, role)| **role == "consumer").map(|(id, _)| id).unwrap();
        let engine = &self.system.cloud.engine;
        let query = json!({"TableName": TABLE, "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": format!("GONE#{consumer}")}}});
        let row = engine.call("Query", &query).body["Items"][0].take();
        let (application, _) = row["sk"]["S"].as_str().unwrap().split_once('#').unwrap();
        for number in 0..count {
            let mut copy = row.clone();
            copy["sk"]["S"] = json!(format!("{application}#{:07}", 1_000_000 + number));
            assert!(engine.call("PutItem", &json!({"TableName": TABLE, "Item": copy})).is_done());
        }
    }

    async fn decisions(&mut self) {
        let ids = self.changes((0, "Decided", PLAIN), 5, 1).await;
        let calls = self.decide(&ids[0], "APPROVED").await;
        self.add("approve", calls);
        let calls = self.flow(NOTIFY).await;
        self.add("publish 1 event", calls);
        let calls = self.decide(&ids[0], "COMPLETED").await;
        self.add("complete", calls);
        let calls = self.decide(&ids[1], "REJECTED").await;
        self.add("reject", calls);
        self.decide(&ids[2], "APPROVED").await;
        let calls = self.decide(&ids[2], "ERRORED").await;
        self.add("report an error", calls);
        self.decide(&ids[3], "APPROVED").await;
        let body =
            json!({"state": "COMPLETED", "log": self.size.log(), "deployed_item": self.size.deployed()});
        let (_, calls) = self.send("PATCH", &format!("{OWNED}{}/", ids[3]), key(OWNER), body).await;
        self.add("complete with a deployed item", calls);
        let removed = self.changes((1, "Applied", PLAIN), 0, 1).await;
        self.decide(&removed[0], "APPROVED").await;
        let calls = self.decide(&removed[0], "COMPLETED").await;
        self.add("complete a DELETE", calls);
    }

    async fn reads(&mut self) {
        let page = format!("{OWNED}?state=PENDING&limit=50");
        for application in 0..6 {
            self.submit((2, &format!("Queue{application}"), PLAIN), 10, 1).await;
        }
        let (_, calls) = self.send("GET", &format!("{page}&light=true"), key(OWNER), Value::Null).await;
        self.add("read a light page of 50", calls);
        let (answer, calls) = self.send("GET", &page, key(OWNER), Value::Null).await;
        self.add("read a page of 50", calls);
        let history = format!("{OWNED}{}/history/", answer.body["results"][0]["id"]);
        let (_, calls) = self.send("GET", &history, key(OWNER), Value::Null).await;
        self.add("read a history", calls);
        self.authorizer = Authorizer::default();
        let (_, mut calls) = self.send("GET", &history, key(OWNER), Value::Null).await;
        calls.calls.retain(|call| call.reads.iter().any(|(partition, _)| partition.of.ends_with("-keys")));
        self.add("authorize a key", calls);
    }

    /// Records a staged submission, and the first of its work records behind the stream.
    async fn staged(&mut self) {
        self.submit((3, "Warm", PLAIN), 1, 1).await;
        let (_, calls) = self.submit((3, "Staged", PLAIN), STAGED_ITEMS, 1).await;
        self.add("submit 1,000 items", calls);
        let Traced { mut calls, .. } = self.flow(GENERATE).await;
        // Each work record begins with a query. A turn may end after the first record.
        let mut queries = calls.iter().enumerate().filter(|(_, call)| call.operation == "Query");
        let second = queries.nth(1).map(|(index, _)| index);
        calls.truncate(second.unwrap_or(calls.len()));
        // All but the last transaction create a change instance. The last one updates the submission.
        let events = calls.iter().filter(|call| call.operation == "TransactWriteItems").count();
        self.add("generate 1 staged work record", Traced { calls, events, changes: events - 1 });
    }

    /// Records deliveries. The receiver has a private address, so `deliver` sends nothing and makes a next attempt.
    async fn deliveries(&mut self) {
        let webhook = json!({"service": 1, "target_url": "https://localhost/"});
        let (webhook, _) = self.send("POST", HOOK, key(OWNER), webhook).await;
        let event = self.system.cloud.events().into_iter().next().unwrap();
        let network = SharedHttpClient::new(Network(Arc::clone(&self.system.cloud)));
        let settings = Settings { url: "https://queue.example/1/deliveries".to_owned(), endpoint: None };
        let queue = Queue::connect_by(settings, Endpoint::Through(network));
        let handles =
            Handles { table: self.system.table.clone(), queue, outbound: Outbound::new(Targets::Public) };
        let id = WebhookId::parse(webhook.body["id"].as_u64().unwrap()).unwrap();
        let delivery = Delivery::new(id, event.clone()).to_message();
        let event = json!({"detail-type": "ChangeInstance.StateChanged.v1", "detail": event}).to_string();
        for (operation, message) in
            [("look for webhooks of an event", event), ("attempt a delivery", delivery)]
        {
            let event: SqsEvent =
                serde_json::from_value(json!({"Records": [{"messageId": "1", "body": message}]})).unwrap();
            let ((response, _), calls) = self.traced(deliver::handle(&handles, event)).await;
            assert!(response.batch_item_failures.is_empty(), "{operation}");
            self.add(operation, calls);
        }
    }
}
