//! Tests of stream batches as Lambda sends them, built from the golden records.

use super::*;
use domain::model::submission::Progress;
use serde_json::{Value, json};

/// Returns a record of the golden files.
fn golden(name: &str) -> Value {
    let path = format!("{}/golden/record/{name}.v2.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn with(mut record: Value, attribute: &str, value: Value) -> Value {
    record[attribute] = value;
    record
}

/// Returns the meaning of one stream record.
fn read(name: &str, old: &Value, new: &Value) -> Result<Written, Error> {
    let event = json!({"Records": [{
        "eventID": "1", "eventName": name, "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "r",
        "dynamodb": {"ApproximateCreationDateTime": 1.0, "Keys": {}, "OldImage": old, "NewImage": new,
            "SequenceNumber": "111", "SizeBytes": 1, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }]});
    let mut records = records(serde_json::from_value(event).unwrap());
    let record = records.next().unwrap();
    assert_eq!(record.sequence, "111");
    record.written
}

#[test]
fn a_batch_lags_by_the_age_of_its_oldest_record() {
    let batch = |written: &[u64]| -> StreamEvent {
        let records = written.iter().map(|at| {
            json!({"eventID": "1", "eventName": "INSERT", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
                "awsRegion": "r", "dynamodb": {"ApproximateCreationDateTime": at, "Keys": {}, "SizeBytes": 1}})
        });
        serde_json::from_value(json!({"Records": records.collect::<Value>()})).unwrap()
    };
    let now = Timestamp::from_micros(100_900_000);
    for (written, seconds) in [(&[][..], 0), (&[100], 0), (&[97], 3), (&[99, 40, 100], 60), (&[200], 0)] {
        assert_eq!(lag(&batch(written), now), seconds, "{written:?}");
    }
}

#[test]
fn a_stream_record_has_the_written_record() {
    let none = Value::Null;
    let change = golden("change");
    let created = read("INSERT", &none, &change).unwrap();
    assert!(matches!(created, Written::Change { entries_before: 0, .. }), "{created:?}");
    // The embedded engine also streams a write that changes nothing.
    let same = read("MODIFY", &change, &change).unwrap();
    assert!(matches!(same, Written::Change { entries_before: 1, .. }), "{same:?}");

    let (applied, complete) = (golden("submission"), with(golden("submission"), "wl", json!({"N": "0"})));
    let Written::Submission { before, after } = read("MODIFY", &applied, &complete).unwrap() else {
        panic!("submission")
    };
    assert_eq!(before.unwrap().progress(), Progress::Applied);
    assert_eq!(after.progress(), Progress::Settled);

    assert!(matches!(read("INSERT", &none, &golden("deployed")), Ok(Written::Deployed(_))));
    for other in [golden("item"), golden("work"), json!({"pk": {"S": "COUNTERS"}})] {
        assert_eq!(read("INSERT", &none, &other).unwrap(), Written::Other);
    }
    assert_eq!(read("REMOVE", &golden("work"), &none).unwrap(), Written::Other);
}

#[test]
fn an_unreadable_record_is_reported_by_its_key() {
    let none = Value::Null;
    let newer = json!({"N": (crate::record::FORMAT + 1).to_string()});
    let newer = read("INSERT", &none, &with(golden("change"), "v", newer)).unwrap_err();
    assert_eq!(
        newer.to_string(),
        "record CHANGE#4 / 00000000016 is corrupt: its format is newer than this version supports"
    );
    let bad = read("INSERT", &none, &with(golden("change"), "st", json!({"S": "LOST"}))).unwrap_err();
    assert_eq!(bad.to_string(), "record CHANGE#4 / 00000000016 is corrupt: invalid state");
    // `generate` decodes a work record only when it processes it.
    assert!(read("INSERT", &none, &with(golden("work"), "owed", json!({"S": "?"}))).is_ok());
}

#[test]
fn a_reply_names_the_record_from_which_on_the_batch_comes_again() {
    let reply = serde_json::to_value(retry_from(Some("111".to_owned()))).unwrap();
    assert_eq!(reply, json!({"batchItemFailures": [{"itemIdentifier": "111"}]}));
    assert_eq!(serde_json::to_value(retry_from(None)).unwrap(), json!({"batchItemFailures": []}));
}
