//! Compressed bodies: a gzip request counts as its content, and a response is gzip if the client accepts it.

use crate::api::demo::{OWNER, SERVICES, SUBMIT, TEAMS, VALIDATE, numbered, vms};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};
use support::{Answer, ApiRequest, Running, timeless};

fn declaration(items: usize) -> Vec<u8> {
    vms(&numbered("CoreVM", items)).to_string().into_bytes()
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
        let (method, path, key) = ("POST", SUBMIT, Some("awesome-key"));
        system.send(&ApiRequest { method, path, key, headers: &headers, body })
    };
    let first = keyed("gzip", gzip(&body));
    let repeated = keyed("identity", body);
    assert_eq!((first.status, &first.body), (201, &repeated.body), "{repeated:?}");
    let path = format!("{OWNER}/change_instances/{}/", first.at("/change_instances/0/id"));
    let approved = gzip(br#"{"state": "APPROVED"}"#);
    for body in [approved, Vec::new()] {
        let answer = send(&system, "PATCH", &path, "vm-owner-key", "gzip", body);
        answer.assert_is(200, &json!({"/state": "APPROVED"}));
    }
}

#[test]
fn a_body_with_a_wrong_encoding_is_invalid() {
    let system = Running::demo();
    let body = declaration(1);
    let mut garbled = gzip(&body);
    let middle = garbled.len() / 2;
    garbled.splice(middle.., std::iter::repeat_n(0x55, 20));
    for (coding, body) in [("gzip", body.clone()), ("gzip", garbled), ("deflate", gzip(&body)), ("br", body)]
    {
        let answer = send(&system, "POST", SUBMIT, "awesome-key", coding, body);
        assert_eq!(answer.code(), (400, "invalid_body"), "{coding}: {answer:?}");
    }
    assert_eq!(system.get(&format!("{OWNER}/change_instances/"), "vm-owner-key").at("/count"), 0);
}

#[test]
fn a_body_over_the_limit_after_decompression_is_refused() {
    let system = Running::demo();
    let began = Instant::now();
    let (packed, service) = (gzip(&vec![b' '; 5 << 20]), format!("{SERVICES}1/"));
    // 100 MB in 20 gzip members, and a body over the limit only because of its last member.
    for bomb in [packed.repeat(20), [packed.clone(), gzip(b" ")].concat()] {
        for path in [SUBMIT, VALIDATE] {
            let answer = send(&system, "POST", path, "awesome-key", "gzip", bomb.clone());
            answer.assert_is(400, &json!({"/is_valid": false, "/problems/0/rule": "too_large"}));
        }
        let answer = send(&system, "POST", SERVICES, "vm-owner-key", "gzip", bomb.clone());
        assert_eq!(answer.code(), (400, "invalid_schema"), "{answer:?}");
        let answer = send(&system, "PATCH", &service, "vm-owner-key", "gzip", bomb);
        let detail = "the body must be at most 5242880 bytes";
        answer.assert_is(400, &json!({"/code": "invalid_body", "/detail": detail}));
    }
    // The limit must end each decompression early, so all requests together take little time.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let within = [b"{}".to_vec(), vec![b' '; (5 << 20) - 2]].concat();
    let answer = send(&system, "PATCH", &service, "vm-owner-key", "gzip", gzip(&within));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn a_large_reply_is_compressed_if_the_client_accepts_it() {
    let system = Running::demo();
    let body = declaration(20);
    assert_eq!(send(&system, "POST", SUBMIT, "awesome-key", "identity", body).status, 201);
    let list = format!("{OWNER}/change_instances/");
    let get = |path: &str, accepted: &str| {
        system.call_with(&[("accept-encoding", accepted)], "GET", path, "vm-owner-key", &Value::Null)
    };
    let plain = system.get(&list, "vm-owner-key");
    assert_eq!((plain.status, plain.at("/count")), (200, &json!(20)));
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, Some("Accept-Encoding")));
    let length = |answer: &Answer| answer.header("content-length").unwrap().parse::<usize>().unwrap();
    for (accepted, packed) in [("gzip", true), ("deflate;q=1, gzip;q=0.1", true), ("gzip;q=0", false)] {
        let answer = get(&list, accepted);
        assert_eq!(answer.header("content-encoding"), packed.then_some("gzip"), "{accepted}");
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"), "{accepted}");
        assert_eq!((answer.status, &answer.body), (200, &plain.body), "{accepted}");
        assert_eq!(length(&answer) < length(&plain) / 5, packed, "{accepted}: {} bytes", length(&answer));
    }
    let small = get(TEAMS, "gzip");
    assert_eq!((small.status, small.header("content-encoding"), small.header("vary")), (200, None, None));
}
