//! Compressed bodies: a gzip request counts as its content, and a response is gzip if the client accepts it.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};
use support::{Answer, ApiRequest, Running, timeless};

const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";
const VALIDATE: &str = "/v1/orcabase/consumer/submissions/validate/";
const OWNER: &str = "/v1/orcabase/serviceowner";

fn declaration(items: u64) -> Vec<u8> {
    let items: Vec<Value> = (1..=items).map(|n| json!({"name": format!("CoreVM{n}"), "cpu": 8})).collect();
    json!({"AwesomeConsumer": {"App": {"services": {"VM": items}}}}).to_string().into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packing = GzEncoder::new(Vec::new(), Compression::default());
    packing.write_all(bytes).unwrap();
    packing.finish().unwrap()
}

/// Sends a body with this `Content-Encoding`.
fn send(system: &Running, method: &str, path: &str, key: &str, coding: &str, body: Vec<u8>) -> Answer {
    let headers = [("content-encoding", coding)];
    system.send(&ApiRequest { method, path, key: Some(key), headers: &headers, body })
}

#[test]
fn a_compressed_declaration_equals_the_plain_one() {
    let body = declaration(5);
    let [plain, packed] = [("identity", body.clone()), ("gzip", gzip(&body))].map(|(coding, body)| {
        let system = Running::demo();
        let answer = send(&system, "POST", SUBMIT, "awesome-key", coding, body);
        assert_eq!(answer.status, 201, "{answer:?}");
        system.wait_idle();
        timeless(&system.rows())
    });
    assert_eq!(plain, packed);
}

#[test]
fn a_compressed_request_repeats_the_plain_one() {
    let system = Running::demo();
    let body = declaration(1);
    let keyed = |coding, body| {
        let headers = [("content-encoding", coding), ("idempotency-key", "k")];
        system.send(&ApiRequest {
            method: "POST",
            path: SUBMIT,
            key: Some("awesome-key"),
            headers: &headers,
            body,
        })
    };
    let first = keyed("gzip", gzip(&body));
    let repeated = keyed("identity", body);
    assert_eq!((first.status, &first.body), (201, &repeated.body), "{repeated:?}");
    let path = format!("{OWNER}/change_instances/{}/", first.at("/change_instances/0/id"));
    let approved = gzip(br#"{"state": "APPROVED"}"#);
    let answer = send(&system, "PATCH", &path, "vm-owner-key", "gzip", approved);
    assert_eq!((answer.status, answer.at("/state")), (200, &json!("APPROVED")), "{answer:?}");
    let empty = send(&system, "PATCH", &path, "vm-owner-key", "gzip", Vec::new());
    assert_eq!((empty.status, empty.at("/state")), (200, &json!("APPROVED")), "{empty:?}");
}

#[test]
fn a_body_with_a_wrong_encoding_is_invalid() {
    let system = Running::demo();
    let body = declaration(1);
    let mut garbled = gzip(&body);
    let middle = garbled.len() / 2;
    garbled.splice(middle.., std::iter::repeat_n(0x55, 20));
    let packed = gzip(&body);
    let refused = [
        ("gzip", body.clone()),
        ("gzip", garbled),
        ("gzip", packed.split_at(packed.len() - 1).0.to_vec()),
        ("gzip", [packed.clone(), body.clone()].concat()),
        ("gzip, gzip", gzip(&packed)),
        ("deflate", packed.clone()),
        ("br", body),
    ];
    for (coding, body) in refused {
        let answer = send(&system, "POST", SUBMIT, "awesome-key", coding, body);
        let actual = (answer.status, answer.at("/code"));
        assert_eq!(actual, (400, &json!("invalid_body")), "{coding}: {answer:?}");
    }
    assert_eq!(system.get(&format!("{OWNER}/change_instances/"), "vm-owner-key").at("/count"), 0);
}

#[test]
fn a_body_over_the_limit_after_decompression_is_refused() {
    let system = Running::demo();
    let began = Instant::now();
    let packed = gzip(&vec![b' '; 5 << 20]);
    // 100 MB in 20 gzip members, and a body over the limit only because of its last member.
    for bomb in [packed.repeat(20), [packed.clone(), gzip(b" ")].concat()] {
        for path in [SUBMIT, VALIDATE] {
            let answer = send(&system, "POST", path, "awesome-key", "gzip", bomb.clone());
            answer.assert_is(400, &json!({"/is_valid": false, "/problems/0/rule": "too_large"}));
        }
        let path = format!("{OWNER}/services/");
        let answer = send(&system, "POST", &path, "vm-owner-key", "gzip", bomb.clone());
        assert_eq!(answer.code(), (400, "invalid_schema"), "{answer:?}");
        let path = format!("{OWNER}/services/1/");
        let answer = send(&system, "PATCH", &path, "vm-owner-key", "gzip", bomb.clone());
        assert_eq!(answer.code(), (400, "invalid_body"), "{answer:?}");
        assert_eq!(answer.at("/detail"), "the body must be at most 5242880 bytes");
    }
    // The limit must end each decompression early, so all requests together take little time.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let within = [b"{}".to_vec(), vec![b' '; (5 << 20) - 2]].concat();
    let path = format!("{OWNER}/services/1/");
    let answer = send(&system, "PATCH", &path, "vm-owner-key", "gzip", gzip(&within));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_large_reply_is_compressed_if_the_client_accepts_it() {
    let system = Running::demo();
    let body = declaration(20);
    assert_eq!(send(&system, "POST", SUBMIT, "awesome-key", "identity", body).status, 201);
    let list = format!("{OWNER}/change_instances/");
    let get = |path: &str, accepted: &str| {
        let headers = [("accept-encoding", accepted)];
        let key = Some("vm-owner-key");
        system.send(&ApiRequest { method: "GET", path, key, headers: &headers, body: Vec::new() })
    };
    let plain = system.get(&list, "vm-owner-key");
    assert_eq!((plain.status, plain.at("/count")), (200, &json!(20)));
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    for (accepted, packed) in [
        ("gzip", true),
        ("gzip, deflate", true),
        ("deflate;q=1, gzip;q=0.1", true),
        ("gzip;q=0", false),
        ("identity", false),
        ("br", false),
    ] {
        let answer = get(&list, accepted);
        assert_eq!(answer.header("content-encoding"), packed.then_some("gzip"), "{accepted}");
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"), "{accepted}");
        assert_eq!((answer.status, &answer.body), (200, &plain.body), "{accepted}");
        assert_eq!(length(&answer) < length(&plain) / 5, packed, "{accepted}: {} bytes", length(&answer));
    }
    let small = get("/v1/account/teams/", "gzip");
    assert_eq!((small.status, small.header("content-encoding"), small.header("vary")), (200, None, None));
}
