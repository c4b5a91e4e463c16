//! Batches by what the function answers: `abc ok`, `abc fails`, `abc fails at b`, and what was given up.

use super::*;
use serde_json::json;

const LIMITS: Limits = Limits { retries: 2, bisects: false, age: Duration::from_secs(60) };
const BISECTS: Limits = Limits { bisects: true, ..LIMITS };

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn batch(names: &str) -> Vec<Value> {
    let record = |name: char| json!({"dynamodb": {"SequenceNumber": name.to_string(), "ApproximateCreationDateTime": 1_000.0}});
    names.chars().map(record).collect()
}

fn names(records: &[Value]) -> String {
    records.iter().map(sequence).collect()
}

/// Delivers a batch to a function that answers as `answer` says; tells all that happened.
fn play(records: &str, limits: Limits, answer: impl Fn(&str) -> Result<Value, String>) -> Vec<String> {
    let mut delivery = Delivery::new(batch(records), limits);
    let mut told = Vec::new();
    loop {
        match delivery.next(at(1_030)) {
            Step::Invoke(part) => {
                let reply = answer(&names(&part));
                let failed = reply.as_ref().is_err_and(|_| true);
                let pause = delivery.replied(reply);
                let done = delivery.done().unwrap_or("-").to_owned();
                told.push(match pause {
                    Some(tries) => format!("{} again {tries}, done {done}", names(&part)),
                    None => format!("{} taken, done {done}", names(&part)),
                });
                assert!(!failed || pause.is_some());
            }
            Step::GiveUp(given_up) => {
                let (records, condition) = (names(&given_up.records), given_up.condition);
                told.push(format!("{records} given up after {} tries, {condition:?}", given_up.tries));
            }
            Step::Done => return told,
        }
        assert!(told.len() < 100, "{told:?}");
    }
}

fn failing(at: &str) -> Value {
    json!({"batchItemFailures": [{"itemIdentifier": at}]})
}

fn broken() -> Result<Value, String> {
    Err("broken".to_owned())
}

#[test]
fn what_the_function_answers_decides_what_is_taken() {
    let taken = ["abc taken, done c"];
    for reply in
        [Value::Null, json!({}), json!({"batchItemFailures": []}), json!({"batchItemFailures": null})]
    {
        assert_eq!(play("abc", LIMITS, |_| Ok(reply.clone())), taken, "{reply}");
    }
    // What names no record of the batch fails all of it.
    for reply in [failing(""), failing("z"), json!({"batchItemFailures": [{"itemIdentifier": null}]})] {
        let told = play("ab", Limits { retries: 0, ..LIMITS }, |_| Ok(reply.clone()));
        assert_eq!(
            told,
            ["ab again 1, done -", "ab given up after 1 tries, RetryAttemptsExhausted"],
            "{reply}"
        );
    }
    // Of several the first counts.
    let several = json!({"batchItemFailures": [{"itemIdentifier": "c"}, {"itemIdentifier": "b"}]});
    let told = play("abcd", LIMITS, |part| Ok(if part == "abcd" { several.clone() } else { json!({}) }));
    assert_eq!(told, ["abcd again 0, done a", "bcd taken, done d"]);
}

#[test]
fn a_batch_that_fails_is_retried_and_then_given_up() {
    let told = play("ab", LIMITS, |_| broken());
    let expected = [
        "ab again 1, done -",
        "ab again 2, done -",
        "ab again 3, done -",
        "ab given up after 3 tries, RetryAttemptsExhausted",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_record_that_always_fails_holds_up_the_others_only_until_it_is_given_up() {
    let told = play("abc", Limits { retries: 1, ..LIMITS }, |part| {
        Ok(if part.contains('b') { failing("b") } else { json!({}) })
    });
    let expected = [
        "abc again 0, done a",
        "bc again 1, done a",
        "bc again 2, done a",
        "bc given up after 2 tries, RetryAttemptsExhausted",
    ];
    assert_eq!(told, expected, "without bisecting what is behind it is lost with it");
    let told = play("abc", Limits { retries: 1, ..BISECTS }, |part| {
        Ok(if part.contains('b') { failing("b") } else { json!({}) })
    });
    let expected = [
        "abc again 0, done a",
        "bc again 0, done a",
        "b again 1, done a",
        "b again 2, done a",
        "b given up after 2 tries, RetryAttemptsExhausted",
        "c taken, done c",
    ];
    assert_eq!(told, expected);
}

#[test]
fn bisecting_finds_the_record_and_is_no_retry() {
    let told = play("abcd", Limits { retries: 0, ..BISECTS }, |part| {
        if part.contains('c') { broken() } else { Ok(Value::Null) }
    });
    let expected = [
        "abcd again 0, done -",
        "ab taken, done b",
        "cd again 0, done b",
        "c again 1, done b",
        "c given up after 1 tries, RetryAttemptsExhausted",
        "d taken, done d",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_is_too_old_is_given_up_undelivered() {
    let told = play("ab", Limits { age: Duration::from_secs(29), ..LIMITS }, |_| Ok(Value::Null));
    assert_eq!(told, ["ab given up after 0 tries, RecordAgeExceeded"]);
    let mut delivery = Delivery::new(batch("a"), Limits { age: Duration::from_secs(10), ..LIMITS });
    assert!(matches!(delivery.next(at(1_005)), Step::Invoke(_)));
    assert_eq!(delivery.replied(broken()), Some(1));
    assert!(matches!(delivery.next(at(1_011)), Step::GiveUp(_)), "it grew too old while it was retried");
    assert_eq!(delivery.done(), Some("a"));
    assert_eq!(delivery.next(at(1_011)), Step::Done);
}

#[test]
fn what_is_given_up_is_kept_as_lambda_keeps_it() {
    let given_up = GivenUp { condition: Condition::RetryAttemptsExhausted, records: batch("ab"), tries: 3 };
    let record = given_up.record("notify", "arn", "shard", at(2_000));
    assert_eq!(record["requestContext"]["condition"], "RetryAttemptsExhausted");
    assert_eq!(record["DDBStreamBatchInfo"]["endSequenceNumber"], "b");
    let payload: Value = serde_json::from_str(record["payload"].as_str().unwrap()).unwrap();
    assert_eq!(payload, json!({"Records": batch("ab")}));
}
