//! Expired idempotency keys. DynamoDB can delete their records late, early or on time.

use crate::cloud::{Cloud, Indexes, TABLE};
use crate::run::in_virtual_time;
use crate::shape::{CONSUMERS, Shape};
use crate::stream::Stream;
use crate::system::{ApiRequest, Limits, SUBMIT, System};
use embedded::{attributes, key_of};
use fastrand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Submits twice with one idempotency key and a wait in between. Returns the status of the second, different
/// submission.
///
/// `is_removed` deletes the record of the key before the second submission.
pub fn status_after(after: Duration, is_removed: bool) -> Result<u16, String> {
    in_virtual_time(1, move || async move {
        let mut dice = Rng::with_seed(1);
        let shape = Shape::drawn(1, &mut dice);
        let cloud = Cloud::new(dice, Indexes::Exact, None);
        let system = System::start(&shape.world(), Limits::of_actions(100), cloud).await;
        assert_eq!(submit(&system, 1).await, 201);
        tokio::time::sleep(after).await;
        if is_removed {
            remove_keys(&system);
        }
        // The stream reports the deletion like any other write.
        let stream = Stream::whole(&system);
        stream.read(&system);
        stream.redeliver(&system).await;
        let status = submit(&system, 2).await;
        let audited = system.table.audit(None, &|_| ()).await.unwrap();
        assert_eq!(audited.violations, []);
        status
    })
}

async fn submit(system: &Arc<System>, cpu: u8) -> u16 {
    let (team, key) = CONSUMERS[0];
    let body = json!({team: {"App1": {"services": {"VM": [{"name": "vm1", "cpu": cpu}]}}}});
    let idempotency_key = Some("key".to_owned());
    let request = ApiRequest { idempotency_key, ..ApiRequest::new("POST", SUBMIT, key, body) };
    system.send(&request, &system.next_request()).await.unwrap().status
}

fn remove_keys(system: &System) {
    let engine = &system.cloud.engine;
    let rows = engine.rows_of(TABLE);
    let keys: Vec<&Value> = rows.iter().filter(|row| row["ty"]["S"] == "KEY").collect();
    assert_eq!(keys.len(), 1, "idempotency keys");
    for row in keys {
        let key = attributes(&key_of(row).unwrap());
        assert!(engine.call("DeleteItem", &json!({"TableName": TABLE, "Key": key})).is_done());
    }
}
