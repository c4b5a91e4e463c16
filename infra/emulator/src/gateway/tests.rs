//! Tests of the gateway: requests become the events of API Gateway, and replies become responses.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use super::*;

/// A running gateway in front of a handler.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Running {
    async fn start<A, F>(answer: A) -> Self
    where
        A: Fn(ApiGatewayV2httpRequest) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = ApiGatewayV2httpResponse> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(serve(listener, answer, async move { drop(stopped.await) }));
        Self { address, stop, served }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends `request` on a new connection and returns the complete response.
    async fn send(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_ref()).await.unwrap();
        rest(&mut stream).await
    }
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    String::from_utf8(reply).unwrap()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
}

fn reply(status_code: i64, body: Body) -> ApiGatewayV2httpResponse {
    let mut reply = ApiGatewayV2httpResponse::default();
    reply.status_code = status_code;
    reply.body = Some(body);
    reply
}

fn request(head: &[(&str, &[u8])]) -> Parts {
    let mut request = Request::builder().method("POST").uri("/v1/a%2Fb/?x=1,0&x=%202&y=");
    for (name, value) in head {
        request = request.header(*name, HeaderValue::from_bytes(value).unwrap());
    }
    request.body(()).unwrap().into_parts().0
}

fn received() -> Received {
    Received {
        id: "id-1".to_owned(),
        at: OffsetDateTime::from_unix_timestamp(1_583_348_638).unwrap(),
        client: "192.0.2.7:50000".parse().unwrap(),
        port: 9000,
    }
}

#[test]
fn an_event_has_the_shape_of_payload_2_0() {
    let parts = request(&[
        ("Host", b"vm.example.com:9000"),
        ("User-Agent", b"agent"),
        ("X-Twice", b"a"),
        ("X-Twice", b"b"),
        ("Cookie", b"one=1; two=2"),
        ("Cookie", b"three=3"),
        ("Connection", b"keep-alive"),
        ("X-Forwarded-Proto", b"https"),
        ("X-Forwarded-Host", b"evil.example.com"),
    ]);
    let event = to_event(&parts, b"{}".to_vec(), &received());
    let mut seen = serde_json::to_value(&event).unwrap();
    let fields = seen.as_object_mut().unwrap();
    // The type of the library also has fields of other events.
    for other in ["type", "methodArn", "httpMethod", "identitySource", "authorizationToken", "resource"] {
        fields.remove(other);
    }
    fields.retain(|_, value| !value.is_null() && *value != json!({}));
    let expected = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/v1/a%2Fb/",
        "rawQueryString": "x=1,0&x=%202&y=",
        "queryStringParameters": { "x": "1,0, 2", "y": "" },
        "cookies": ["one=1", "two=2", "three=3"],
        "headers": {
            "host": "vm.example.com:9000",
            "user-agent": "agent",
            "x-twice": "a,b",
            "content-length": "2",
            "x-forwarded-for": "192.0.2.7",
            "x-forwarded-port": "9000",
            "x-forwarded-proto": "http",
        },
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": "vm.example.com:9000",
            "domainPrefix": "vm",
            "http": {
                "method": "POST",
                "path": "/v1/a%2Fb/",
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.7",
                "userAgent": "agent",
            },
            "requestId": "id-1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "04/Mar/2020:19:03:58 +0000",
            "timeEpoch": 1_583_348_638_000_i64,
        },
        "body": "{}",
        "isBase64Encoded": false,
    });
    assert_eq!(seen, expected);
    // A handler must get the same value as a Lambda function that parses the JSON.
    let read: ApiGatewayV2httpRequest = serde_json::from_value(expected).unwrap();
    assert_eq!(read, event);
}

#[test]
fn a_body_is_text_when_it_can_be() {
    let parts = request(&[]);
    let event = to_event(&parts, vec![0xff, 0x00], &received());
    assert_eq!((event.body.as_deref(), event.is_base64_encoded), (Some("/wA="), true));
    let event = to_event(&parts, "é".into(), &received());
    assert_eq!((event.body.as_deref(), event.is_base64_encoded), (Some("é"), false));
    let event = to_event(&parts, Vec::new(), &received());
    assert_eq!((event.body, event.is_base64_encoded, event.cookies), (None, false, None));
}

#[test]
fn invalid_bytes_in_headers_are_replaced() {
    let event = to_event(&request(&[("x-odd", b"a\xffb")]), Vec::new(), &received());
    assert_eq!(event.headers["x-odd"].as_bytes(), "a\u{fffd}b".as_bytes());
}

#[test]
fn request_ids_differ() {
    assert_ne!(request_id(), request_id());
}

#[tokio::test]
async fn a_reply_becomes_the_response() {
    let gateway = Running::start(|event: ApiGatewayV2httpRequest| async move {
        let mut reply = reply(201, Body::Text(format!("got {}", event.body.unwrap_or_default())));
        reply.headers.insert("x-one", HeaderValue::from_static("1"));
        reply.headers.insert("content-length", HeaderValue::from_static("999"));
        reply.multi_value_headers.append("x-many", HeaderValue::from_static("2"));
        reply.multi_value_headers.append("x-many", HeaderValue::from_static("3"));
        reply.cookies = vec!["a=1".to_owned(), "b=2".to_owned()];
        reply
    })
    .await;
    let text = gateway
        .send("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody")
        .await;
    assert!(text.starts_with("HTTP/1.1 201 Created\r\n"), "{text}");
    assert!(text.ends_with("\r\n\r\ngot body"), "{text}");
    for line in
        ["x-one: 1", "x-many: 2", "x-many: 3", "set-cookie: a=1", "set-cookie: b=2", "content-length: 8"]
    {
        assert!(text.contains(&format!("\r\n{line}\r\n")), "{line} in {text}");
    }
    assert!(text.contains("\r\napigw-requestid: "), "{text}");
    assert_eq!(text.matches("content-length").count(), 1, "{text}");
}

#[tokio::test]
async fn binary_replies_follow_their_flag() {
    let binary = |is_base64_encoded, content| {
        let mut event = reply(200, content);
        event.is_base64_encoded = is_base64_encoded;
        event
    };
    for (event, expected) in [
        (binary(true, Body::Text("/wA=".to_owned())), &b"\xff\x00"[..]),
        (binary(true, Body::Binary(vec![0xff])), b"\xff"),
        (binary(false, Body::Binary(vec![0xff, 0x00])), b"/wA="),
        (binary(false, Body::Empty), b""),
    ] {
        let response = to_response(event).unwrap();
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), expected);
    }
    assert!(to_response(binary(true, Body::Text("no base64".to_owned()))).is_none());
}

#[tokio::test]
async fn a_handler_that_fails_is_an_internal_error() {
    let gateway = Running::start(|event: ApiGatewayV2httpRequest| async move {
        match event.raw_path.as_deref() {
            Some("/panic") => panic!("on purpose"),
            Some("/status") => reply(0, Body::Empty),
            Some("/early") => reply(103, Body::Empty),
            _ => reply(200, Body::Text("fine".to_owned())),
        }
    })
    .await;
    for path in ["/panic", "/status", "/early"] {
        let text = gateway.send(get(path)).await;
        assert!(text.starts_with("HTTP/1.1 500 "), "{path}: {text}");
        assert!(text.contains("content-type: application/json"), "{path}: {text}");
        assert!(text.ends_with(r#"{"message":"Internal Server Error"}"#), "{path}: {text}");
    }
    assert!(gateway.send(get("/")).await.ends_with("fine"));
}

/// The time is virtual: it advances when all tasks wait.
#[tokio::test(start_paused = true)]
async fn a_client_has_ten_seconds_for_the_headers_and_ten_for_the_body() {
    let gateway = Running::start(|_| async { reply(200, Body::Text("fine".to_owned())) }).await;
    for (part, expected) in [
        ("GET / HTTP/1.1\r\nhost: h\r\n", ""),
        ("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{", "HTTP/1.1 408 "),
    ] {
        let began = tokio::time::Instant::now();
        let text = gateway.send(part).await;
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(began.elapsed().as_secs(), CLIENT_TIME.as_secs(), "{part}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_requests_is_closed_after_ten_seconds() {
    let gateway = Running::start(|_| async { reply(200, Body::Text("fine".to_owned())) }).await;
    let began = tokio::time::Instant::now();
    let text = gateway.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert!(text.ends_with("fine"), "{text}");
    assert_eq!(began.elapsed().as_secs(), CLIENT_TIME.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_disconnected_after_ten_seconds() {
    let large = "x".repeat(BODY_BYTES_MAX);
    let gateway = Running::start(move |_| {
        let large = large.clone();
        async { reply(200, Body::Text(large)) }
    })
    .await;
    let began = tokio::time::Instant::now();
    let mut stream = gateway.connect().await;
    stream.write_all(get("/").as_bytes()).await.unwrap();
    tokio::time::sleep(CLIENT_TIME * 2).await;
    // The client gets what the buffers of the operating system hold.
    let mut received = Vec::new();
    drop(stream.read_to_end(&mut received).await);
    assert!(!received.is_empty() && received.len() < BODY_BYTES_MAX, "{}", received.len());
    assert_eq!(began.elapsed().as_secs(), 2 * CLIENT_TIME.as_secs());
}

#[tokio::test]
async fn a_connection_too_many_waits_for_another_one_to_close() {
    let gateway = Running::start(|_| async { reply(200, Body::Text("fine".to_owned())) }).await;
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS_MAX {
        let mut stream = gateway.connect().await;
        stream.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
        assert_ne!(stream.read(&mut [0; 1024]).await.unwrap(), 0);
        open.push(stream);
    }
    let mut late = gateway.connect().await;
    late.write_all(get("/").as_bytes()).await.unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(late.try_read(&mut [0; 1024]).is_err());
    open.pop();
    assert!(rest(&mut late).await.ends_with("fine"));
}

#[tokio::test]
async fn a_request_must_name_its_host() {
    let gateway = Running::start(|_| async { reply(200, Body::Text("fine".to_owned())) }).await;
    let text = gateway.send("GET / HTTP/1.1\r\nconnection: close\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
}

#[tokio::test]
async fn the_body_limit_is_exact() {
    let gateway = Running::start(|event: ApiGatewayV2httpRequest| async move {
        reply(200, Body::Text(event.body.unwrap_or_default().len().to_string()))
    })
    .await;
    let post = |length: usize| {
        let mut request =
            format!("POST / HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
                .into_bytes();
        request.resize(request.len() + length, b'x');
        request
    };
    let text = gateway.send(post(BODY_BYTES_MAX)).await;
    assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("10485760"), "{text}");
    let text = gateway.send(post(BODY_BYTES_MAX + 1)).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    assert!(text.ends_with(r#"{"message":"Request Entity Too Large"}"#), "{text}");
}

#[tokio::test]
async fn a_stop_finishes_open_requests() {
    let (entered, mut has_entered) = mpsc::channel::<oneshot::Sender<()>>(1);
    let gateway = Running::start(move |_| {
        let entered = entered.clone();
        async move {
            let (release, released) = oneshot::channel();
            entered.send(release).await.unwrap();
            released.await.unwrap();
            reply(200, Body::Text("finished".to_owned()))
        }
    })
    .await;
    let mut idle = gateway.connect().await;
    let mut busy = gateway.connect().await;
    busy.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
    let release = has_entered.recv().await.unwrap();

    let Running { address, stop, served } = gateway;
    stop.send(()).unwrap();
    // The idle connection must close only at the stop.
    assert_eq!(rest(&mut idle).await, "");
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!served.is_finished());
    release.send(()).unwrap();
    assert!(rest(&mut busy).await.ends_with("finished"));
    served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_ever() {
    let (entered, mut has_entered) = mpsc::channel(1);
    let gateway = Running::start(move |_| {
        let entered = entered.clone();
        async move {
            entered.send(()).await.unwrap();
            std::future::pending().await
        }
    })
    .await;
    let mut busy = gateway.connect().await;
    busy.write_all(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n").await.unwrap();
    has_entered.recv().await.unwrap();
    gateway.stop.send(()).unwrap();
    gateway.served.await.unwrap();
    assert_eq!(rest(&mut busy).await, "");
}

#[tokio::test]
async fn a_handler_outlives_its_client() {
    let (entered, mut has_entered) = mpsc::channel::<oneshot::Sender<()>>(1);
    let (finished, mut has_finished) = mpsc::channel::<Value>(1);
    let gateway = Running::start(move |_| {
        let (entered, finished) = (entered.clone(), finished.clone());
        async move {
            let (release, released) = oneshot::channel();
            entered.send(release).await.unwrap();
            released.await.unwrap();
            finished.send(json!("done")).await.unwrap();
            reply(200, Body::Empty)
        }
    })
    .await;
    let mut client = gateway.connect().await;
    client.write_all(get("/").as_bytes()).await.unwrap();
    let release = has_entered.recv().await.unwrap();
    drop(client);
    release.send(()).unwrap();
    assert_eq!(has_finished.recv().await, Some(json!("done")));
}
