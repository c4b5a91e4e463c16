//! Tests of Lambda's semantics for batches: rows of responses and the actions that follow.

use serde_json::json;

use super::*;

const BASE: Policy = Policy {
    retries: 2,
    bisect: false,
    record_age: Duration::from_secs(60),
    pause: Duration::from_millis(100),
};
const BISECT: Policy = Policy { bisect: true, ..BASE };
/// The time of recent records, in seconds.
const NOW: u64 = 1_000_000;

fn record(number: usize, written: u64) -> Value {
    json!({"dynamodb": {"SequenceNumber": number.to_string(), "ApproximateCreationDateTime": written}})
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Returns the first and the last number of records.
fn span(records: &[Value]) -> String {
    let ends = [records.first(), records.last()].map(|record| sequence(record.unwrap()).unwrap());
    if ends[0] == ends[1] { ends[0].to_owned() } else { ends.join("-") }
}

/// Plays a function with scripted responses and returns the actions, up to the end of the script.
///
/// A response is `ok`, `fail`, `absent` for a function that cannot be invoked, or JSON.
fn play(policy: Policy, records: Vec<Value>, answers: &[&str]) -> String {
    let mut delivery = Delivery::new(policy, records);
    let (mut answers, mut lines, mut done) = (answers.iter(), Vec::new(), None);
    loop {
        let line = match delivery.next(at(NOW)) {
            Step::Pause(time) => format!("pause {}", time.as_millis()),
            Step::Invoke(records) => {
                let Some(answer) = answers.next() else {
                    lines.push(format!("invoke {}", span(&records)));
                    break;
                };
                delivery.replied(&match *answer {
                    "ok" => Ok(Value::Null),
                    "fail" => Err(Failure::Function("broken".to_owned())),
                    "absent" => Err(Failure::NotInvoked("no function".to_owned())),
                    json => Ok(serde_json::from_str(json).unwrap()),
                });
                let outcome = if answer.starts_with('{') { "reported" } else { answer };
                format!("invoke {}: {outcome}", span(&records))
            }
            Step::GiveUp(given_up) => {
                let GivenUp { records, condition, invocations, last } = given_up;
                let last = last.map_or_else(|| "never".to_owned(), |last| format!("{last:?}"));
                format!("give up {} {} {invocations}x {last}", span(&records), condition.name())
            }
            Step::Finish => break,
        };
        lines.push(line);
        if delivery.done() != done.as_deref() {
            done = delivery.done().map(str::to_owned);
            lines.push(format!("done {}", done.as_deref().unwrap_or_default()));
        }
    }
    lines.join("\n")
}

#[track_caller]
fn check(policy: Policy, count: usize, answers: &[&str], expected: &[&str]) {
    let records = (1..=count).map(|number| record(number, NOW)).collect();
    assert_eq!(play(policy, records, answers), expected.join("\n"), "{answers:?}");
}

#[test]
fn a_batch_succeeds_as_a_whole() {
    let answers =
        ["ok", "{}", r#"{"batchItemFailures":[]}"#, r#"{"batchItemFailures":null}"#, r#"{"other":[1]}"#];
    for answer in answers {
        let outcome = if answer == "ok" { "ok" } else { "reported" };
        check(BASE, 3, &[answer], &[&format!("invoke 1-3: {outcome}"), "done 3"]);
    }
    check(BASE, 0, &[], &[]);
}

#[test]
fn an_answer_that_names_no_record_of_the_batch_fails_all_of_it() {
    let first = |answer: &str| Ok::<Value, Failure>(serde_json::from_str(answer).unwrap());
    let records: Vec<Value> = (1..=3).map(|number| record(number, NOW)).collect();
    for answer in [
        r#"{"batchItemFailures":[{"itemIdentifier":""}]}"#,
        r#"{"batchItemFailures":[{"itemIdentifier":null}]}"#,
        r#"{"batchItemFailures":[{"itemIdentifier":2}]}"#,
        r#"{"batchItemFailures":[{"itemIdentifier":"9"}]}"#,
        r#"{"batchItemFailures":[{"itemIdentifier":"2"},{"itemIdentifier":"9"}]}"#,
        r#"{"batchItemFailures":[{"sequence":"2"}]}"#,
        r#"{"batchItemFailures":["2"]}"#,
        r#"{"batchItemFailures":"2"}"#,
        r#"{"batchItemFailures":[{"itemIdentifier":"1"}]}"#,
        "\"2\"",
    ] {
        assert_eq!(batch_outcome(&records, &first(answer)), BatchOutcome::Failed(Last::Reported), "{answer}");
    }
    let several = r#"{"batchItemFailures":[{"itemIdentifier":"3"},{"itemIdentifier":"2"}]}"#;
    assert_eq!(batch_outcome(&records, &first(several)), BatchOutcome::FailedFrom(1), "the lowest counts");
}

#[test]
fn a_failed_batch_is_retried_with_longer_pauses_and_then_given_up() {
    check(
        BASE,
        2,
        &["fail", "fail", "ok"],
        &["invoke 1-2: fail", "pause 100", "invoke 1-2: fail", "pause 200", "invoke 1-2: ok", "done 2"],
    );
    check(
        BASE,
        2,
        &["fail"; 3],
        &[
            "invoke 1-2: fail",
            "pause 100",
            "invoke 1-2: fail",
            "pause 200",
            "invoke 1-2: fail",
            r#"give up 1-2 RetryAttemptsExhausted 3x Failed("broken")"#,
            "done 2",
        ],
    );
    check(
        Policy { retries: 0, ..BASE },
        1,
        &["fail"],
        &["invoke 1: fail", r#"give up 1 RetryAttemptsExhausted 1x Failed("broken")"#, "done 1"],
    );
}

#[test]
fn pauses_have_a_bound() {
    let policy = Policy { retries: 40, ..BASE };
    let played = play(policy, vec![record(1, NOW)], &["fail"; 41]);
    let pauses: Vec<&str> = played.lines().filter_map(|line| line.strip_prefix("pause ")).collect();
    assert_eq!(pauses.len(), 40);
    assert_eq!(pauses[..8], ["100", "200", "400", "800", "1600", "3200", "6400", "10000"]);
    assert!(pauses[8..].iter().all(|pause| *pause == "10000"), "{pauses:?}");
}

#[test]
fn what_comes_before_the_reported_record_is_done() {
    check(
        BASE,
        4,
        &[r#"{"batchItemFailures":[{"itemIdentifier":"4"},{"itemIdentifier":"3"}]}"#, "ok"],
        &["invoke 1-4: reported", "done 2", "pause 100", "invoke 3-4: ok", "done 4"],
    );
    let third = r#"{"batchItemFailures":[{"itemIdentifier":"3"}]}"#;
    check(
        BASE,
        4,
        &[third; 3],
        &[
            "invoke 1-4: reported",
            "done 2",
            "pause 100",
            "invoke 3-4: reported",
            "pause 200",
            "invoke 3-4: reported",
            "give up 3-4 RetryAttemptsExhausted 3x Reported",
            "done 4",
        ],
    );
}

#[test]
fn a_failed_batch_is_split_and_the_split_uses_up_no_retry() {
    check(
        BISECT,
        5,
        &["fail", "ok", "fail", "fail", "fail", "fail", "ok"],
        &[
            "invoke 1-5: fail",
            "invoke 1-3: ok",
            "done 3",
            "invoke 4-5: fail",
            "invoke 4: fail",
            "pause 100",
            "invoke 4: fail",
            "pause 200",
            "invoke 4: fail",
            r#"give up 4 RetryAttemptsExhausted 5x Failed("broken")"#,
            "done 4",
            "invoke 5: ok",
            "done 5",
        ],
    );
}

#[test]
fn with_bisect_the_split_is_at_the_reported_record() {
    let reported = |number: u32| format!(r#"{{"batchItemFailures":[{{"itemIdentifier":"{number}"}}]}}"#);
    let (third, fourth) = (reported(3), reported(4));
    check(
        BISECT,
        5,
        // A failure at the first record cannot be split off, so the batch is halved as after any failure.
        &[&third, &third, &fourth, &fourth, &fourth, &fourth, "ok"],
        &[
            "invoke 1-5: reported",
            "done 2",
            "invoke 3-5: reported",
            "invoke 3-4: reported",
            "done 3",
            "invoke 4: reported",
            "pause 100",
            "invoke 4: reported",
            "pause 200",
            "invoke 4: reported",
            "give up 4 RetryAttemptsExhausted 6x Reported",
            "done 4",
            "invoke 5: ok",
            "done 5",
        ],
    );
}

#[test]
fn a_function_that_is_not_there_is_waited_for_without_a_retry_or_a_split() {
    check(
        Policy { retries: 0, ..BISECT },
        2,
        &["absent", "absent", "absent", "ok"],
        &[
            "invoke 1-2: absent",
            "pause 100",
            "invoke 1-2: absent",
            "pause 200",
            "invoke 1-2: absent",
            "pause 400",
            "invoke 1-2: ok",
            "done 2",
        ],
    );
}

#[test]
fn records_that_are_too_old_are_given_up() {
    let ages = |ages: [u64; 4]| {
        let written = ages.iter().zip(1..).map(|(age, number)| record(number, NOW - age));
        written.collect::<Vec<_>>()
    };
    assert_eq!(
        play(BASE, ages([90, 61, 60, 0]), &["ok"]),
        "give up 1-2 RecordAgeExceeded 0x never\ndone 2\ninvoke 3-4: ok\ndone 4"
    );
    assert_eq!(play(BASE, ages([99; 4]), &[]), "give up 1-4 RecordAgeExceeded 0x never\ndone 4");
}

#[test]
fn records_that_become_too_old_between_retries_are_given_up() {
    let records = vec![record(1, NOW - 50), record(2, NOW)];
    let mut delivery = Delivery::new(BISECT, records.clone());
    assert_eq!(delivery.next(at(NOW)), Step::Invoke(records.clone()));
    delivery.replied(&Err(Failure::NotInvoked("no function".to_owned())));
    assert_eq!(delivery.next(at(NOW)), Step::Pause(Duration::from_millis(100)));
    assert_eq!(delivery.next(at(NOW + 5)), Step::Invoke(records.clone()));
    delivery.replied(&Err(Failure::Function("broken".to_owned())));
    assert_eq!(delivery.next(at(NOW + 10)), Step::Invoke(records[..1].to_vec()));
    delivery.replied(&Err(Failure::Function("broken".to_owned())));
    assert_eq!(delivery.next(at(NOW + 10)), Step::Pause(Duration::from_millis(200)));
    let given_up = GivenUp {
        records: records[..1].to_vec(),
        condition: Condition::RecordAgeExceeded,
        invocations: 2,
        last: Some(Last::Failed("broken".to_owned())),
    };
    assert_eq!(delivery.next(at(NOW + 11)), Step::GiveUp(given_up));
    assert_eq!(delivery.next(at(NOW + 11)), Step::Invoke(records[1..].to_vec()));
    delivery.replied(&Ok(Value::Null));
    assert_eq!((delivery.next(at(NOW + 11)), delivery.done()), (Step::Finish, Some("2")));
}

/// For every script, each record is accepted or given up once, in order, and the delivery ends.
#[test]
fn every_record_is_finished_once_and_in_order() {
    let seed = fastrand::u64(..);
    let mut random = fastrand::Rng::with_seed(seed);
    for run in 0..500 {
        let count = random.usize(1..=12);
        let policy = Policy { retries: random.u32(0..=3), bisect: random.bool(), ..BASE };
        let records: Vec<Value> = (1..=count).map(|number| record(number, NOW)).collect();
        let mut delivery = Delivery::new(policy, records);
        let (mut finished, mut steps) = (Vec::new(), 0);
        loop {
            steps += 1;
            assert!(steps < 2_000, "seed {seed}, run {run}: no end");
            let numbers = |records: &[Value]| -> Vec<usize> {
                records.iter().map(|record| sequence(record).unwrap().parse().unwrap()).collect()
            };
            match delivery.next(at(NOW)) {
                Step::Pause(_) => {}
                Step::Invoke(records) => {
                    let numbers = numbers(&records);
                    assert_eq!(numbers[0], finished.len() + 1, "seed {seed}, run {run}: out of order");
                    let failing = random.usize(0..=records.len() * 2);
                    let reply = match numbers.get(failing) {
                        Some(number) => {
                            finished.extend_from_slice(&numbers[..failing]);
                            let identifier = number.to_string();
                            Ok(json!({"batchItemFailures": [{"itemIdentifier": identifier}]}))
                        }
                        None if random.bool() => Err(Failure::Function("broken".to_owned())),
                        None => {
                            finished.extend(numbers);
                            Ok(Value::Null)
                        }
                    };
                    delivery.replied(&reply);
                }
                Step::GiveUp(given_up) => finished.extend(numbers(&given_up.records)),
                Step::Finish => break,
            }
            let done = delivery.done().map_or(0, |done| done.parse().unwrap());
            assert_eq!(done, finished.len(), "seed {seed}, run {run}");
        }
        assert_eq!(finished, (1..=count).collect::<Vec<_>>(), "seed {seed}, run {run}");
    }
}
