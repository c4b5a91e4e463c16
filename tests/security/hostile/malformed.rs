//! Malformed headers, paths and queries over HTTP: each gets a response of its own, and the system goes on.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use support::Running;

const SERVICES: &str = "/v1/orcabase/consumer/services/";

/// Sends a request as text. Returns status and body; the status 0 without a response.
fn answered(system: &Running, path: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let address = system.base.strip_prefix("http://").unwrap();
    let mut request =
        format!("GET {path} HTTP/1.1\r\nConnection: close\r\nAuthorization: Api-Key awesome-key\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        write!(request, "Host: {address}\r\n").unwrap();
    }
    for (name, value) in headers {
        write!(request, "{name}: {value}\r\n").unwrap();
    }
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{request}\r\n").as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let response = String::from_utf8_lossy(&response);
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[test]
fn a_malformed_host_or_scheme_does_not_reach_a_link() {
    let system = Running::demo();
    let malformed = r#"@ user@example.com user:password@example.com a/b a?b a#b a\b a%22b %00 [::1 ::1 [zz]
        a:99999 a:b 256.256.256.256 xn--a <script> " ä"#;
    for host in ["", "a b"].into_iter().chain(malformed.split_whitespace()) {
        let (status, body) = answered(&system, SERVICES, &[("Host", host)]);
        assert_eq!(status, 200, "{host:?}: {body}");
        let url = body["results"][0]["url"].as_str().unwrap();
        // The local gateway has no domain name of its own, so links fall back to a fixed host.
        assert_eq!(url, format!("http://localhost{SERVICES}1/"), "{host:?}");
    }
    let (_, body) = answered(&system, SERVICES, &[("Host", "API.example.com:8443")]);
    assert_eq!(body["results"][0]["url"], json!(format!("http://API.example.com:8443{SERVICES}1/")));
    for scheme in ["", "HTTP", "ftp", "javascript:", "https://evil.example/", "http,https", "ä"] {
        let (status, body) = answered(&system, SERVICES, &[("X-Forwarded-Proto", scheme)]);
        let url = body["results"][0]["url"].as_str().unwrap();
        assert!(status == 200 && url.starts_with("http://127.0.0.1"), "{scheme:?}: {url}");
    }
}

#[test]
fn other_malformed_headers_are_refused_or_ignored() {
    let system = Running::demo();
    let table = [
        ("Dovetail-Team", "ä", 403),
        ("Dovetail-Team", "", 403),
        ("Accept-Encoding", "gzip;q=;;,ä", 200),
        ("Accept", "ä/*;q=x", 200),
        ("Content-Encoding", "gzip, gzip", 200),
        ("Content-Type", "multipart/form-data; boundary=", 200),
        ("Cookie", "a=b; =; ä", 200),
        ("X-Amzn-Trace-Id", "Root=;;=", 200),
        ("Idempotency-Key", "ä", 200),
        ("If-Match", "\"", 200),
    ];
    for (name, value, expected) in table {
        let (status, body) = answered(&system, SERVICES, &[(name, value)]);
        assert_eq!(status, expected, "{name}: {value}: {body}");
    }
}

#[test]
fn malformed_paths_and_queries_are_refused() {
    let system = Running::demo();
    let paths = r#"/% /%2 /%zz /%00 /%ff /%2e%2e/ /.. // //evil.example/ /\ /@evil /a:b /[::1] /| /^ /{pov} /" /ä *
        /v1/errors/%00 /v1/orcabase/consumer/services/1%2F"#;
    for path in paths.split_whitespace() {
        let (status, body) = answered(&system, path, &[]);
        assert!((400..500).contains(&status), "{path}: {status} {body}");
    }
    let long = format!("/{}", "x".repeat(60_000));
    assert_eq!(answered(&system, &long, &[]).0, 404);
    for query in ["%", "%zz", "%ff=%00", "[", "ä", "\"<>`{|}", "&&=&=", "limit=%00"] {
        let (status, body) = answered(&system, &format!("{SERVICES}?{query}"), &[]);
        assert!(status == 200 || status == 400, "{query}: {status} {body}");
    }
    let (status, body) = answered(&system, &format!("{SERVICES}?name={}", "x".repeat(60_000)), &[]);
    assert_eq!((status, &body["code"]), (400, &json!("invalid_filter")), "{body}");
    assert_eq!(answered(&system, SERVICES, &[]).0, 200);
}
