//! Tests of the outcome of requests, with receivers of every kind.

use super::*;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Starts a receiver that answers one request with a text, and returns the request that it got.
async fn receiver(answer: &'static str) -> (SocketAddr, oneshot::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, received) = oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut request, mut part) = (Vec::new(), [0; 1024]);
        while !request.ends_with(b"{}") {
            let read = stream.read(&mut part).await.unwrap();
            request.extend_from_slice(&part[..read]);
        }
        sender.send(String::from_utf8(request).unwrap()).unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        if answer.ends_with("endless\r\n\r\n") {
            while stream.write_all(&[b'x'; 65_536]).await.is_ok() {}
        }
        // The connection stays open, so a client that needs more waits.
        std::future::pending::<()>().await;
    });
    (address, received)
}

async fn posted(outbound: &Outbound, url: &str, timeout: Duration) -> Answer {
    outbound.post(url, &[("authorization", "Bearer one".to_owned())], "{}".to_owned(), timeout).await
}

const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn the_status_is_the_result_whatever_the_body_says() {
    let outbound = Outbound::new(Targets::Any);
    for (answer, status) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", 200),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
        // A redirect must not be followed.
        (
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            307,
        ),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404),
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", 503),
        // The client must not wait for a body that never ends or never comes.
        ("HTTP/1.1 200 OK\r\nkind: endless\r\n\r\n", 200),
        ("HTTP/1.1 201 Created\r\ncontent-length: 9000000000\r\n\r\n", 201),
    ] {
        let (address, received) = receiver(answer).await;
        let ended = posted(&outbound, &format!("http://{address}/hook?a=b"), LONG).await;
        assert_eq!(ended, Answer::Status(status), "{answer}");
        let request = received.await.unwrap().to_lowercase();
        assert!(request.starts_with("post /hook?a=b http/1.1\r\n"), "{request}");
        for line in ["content-type: application/json", "content-length: 2", "authorization: bearer one"] {
            assert!(request.contains(&format!("\r\n{line}\r\n")), "{request}");
        }
    }
}

#[tokio::test]
async fn an_answer_is_read_to_its_end_and_within_its_bounds() {
    let outbound = Outbound::new(Targets::Any);
    let body = |text: &str| Ok(ResponseBody::Body(text.as_bytes().to_vec()));
    let (long, short) = (LONG, Duration::from_millis(50));
    for (answer, timeout, expected) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n12345678", long, body("12345678")),
        ("HTTP/1.1 204 No Content\r\n\r\n", long, body("")),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789", long, Ok(ResponseBody::Nothing)),
        ("HTTP/1.1 200 OK\r\nkind: endless\r\n\r\n", long, Ok(ResponseBody::Nothing)),
        ("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n1234", short, Err(Answer::TimedOut)),
        ("HTTP/1.1 500 Internal Server Error\r\nkind: endless\r\n\r\n", long, Err(Answer::Status(500))),
        (
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
            long,
            Err(Answer::Status(307)),
        ),
    ] {
        let (address, _received) = receiver(answer).await;
        let bounds = Bounds { timeout, bytes_max: 8 };
        let url = format!("http://{address}/");
        let got = outbound.post_and_read(&url, &[], "{}".to_owned(), bounds).await;
        assert!(got == expected, "{answer}: {got:?}");
    }
    let bounds = Bounds { timeout: LONG, bytes_max: 8 };
    let public = Outbound::new(Targets::Public);
    let got = public.post_and_read("https://127.0.0.1/", &[], String::new(), bounds).await;
    assert_eq!(got, Err(Answer::NotPublic));
}

#[tokio::test]
async fn kinds_of_missing_answers_differ() {
    let outbound = Outbound::new(Targets::Any);
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(posted(&outbound, &format!("http://{free}/"), LONG).await, Answer::Unreachable);
    let (address, _received) = receiver("SSH-2.0-nothing of HTTP\r\n\r\n").await;
    assert_eq!(posted(&outbound, &format!("http://{address}/"), LONG).await, Answer::Unreachable);
    // A TLS handshake with a receiver that does not speak TLS.
    let (address, _received) = receiver("").await;
    let short = Duration::from_millis(50);
    assert_eq!(posted(&outbound, &format!("https://{address}/"), short).await, Answer::TimedOut);
    let (address, received) = receiver("").await;
    assert_eq!(posted(&outbound, &format!("http://{address}/"), short).await, Answer::TimedOut);
    drop(received);
    assert_eq!(posted(&outbound, "ftp://example.com/", LONG).await, Answer::Unreachable);
    let (headers, url) = ([("authorization", "two\r\nlines".to_owned())], format!("http://{free}/"));
    let ended = outbound.post(&url, &headers, String::new(), LONG).await;
    assert_eq!(ended, Answer::Unreachable, "no header is smuggled in");
}

#[tokio::test]
async fn what_leads_to_this_machine_is_not_connected_to() {
    let outbound = Outbound::new(Targets::Public);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0x7f000001"] {
        let ended = posted(&outbound, &format!("https://{host}:{port}/"), LONG).await;
        assert_eq!(ended, Answer::NotPublic, "{host}");
    }
    // A certificate cannot name these, so the connector rejects them earlier.
    for host in ["127.1", "2130706433"] {
        let ended = posted(&outbound, &format!("https://{host}:{port}/"), LONG).await;
        assert_eq!(ended, Answer::Unreachable, "{host}");
    }
    let connection = tokio::time::timeout(Duration::from_millis(20), listener.accept()).await;
    assert!(connection.is_err(), "a client connected");
}
