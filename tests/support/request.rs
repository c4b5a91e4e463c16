//! Requests of a client and their responses.

use flate2::bufread::GzDecoder;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::io::Read as _;
use tokio::net::TcpStream;

/// A response as a client sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body, decompressed: null if empty, a string for `text/*` and SVG, JSON for all other types.
    pub body: Value,
}

impl Answer {
    /// Fails unless the response has this status.
    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Returns the value at a JSON pointer in the body, or null.
    pub fn at(&self, pointer: &str) -> &Value {
        self.body.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// Returns the value of the first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the status and the error code. The code is empty if the response has none.
    pub fn code(&self) -> (u16, &str) {
        (self.status, self.at("/code").as_str().unwrap_or_default())
    }

    /// Fails unless the response has this status and these values. The name of each value is its JSON pointer.
    #[track_caller]
    pub fn assert_is(&self, status: u16, values: &Value) {
        assert_eq!(self.status, status, "{self:?}");
        assert_values(&self.body, values);
    }

    /// Returns the rows of this page of a list.
    #[track_caller]
    pub fn rows(&self) -> &[Value] {
        self.at("/results").as_array().unwrap_or_else(|| panic!("the response is no list: {self:?}"))
    }
}

/// Fails unless a document has these values. The name of each value is its JSON pointer, and null means absent too.
#[track_caller]
pub fn assert_values(document: &Value, values: &Value) {
    for (pointer, expected) in values.as_object().unwrap() {
        let actual = document.pointer(pointer).unwrap_or(&Value::Null);
        assert_eq!(actual, expected, "{pointer}: {document}");
    }
}

/// A request of a client.
#[derive(Clone, Debug, Default)]
pub struct ApiRequest<'a> {
    /// HTTP method, in upper case.
    pub method: &'a str,
    /// Path with its query, or an absolute URL of the system.
    pub path: &'a str,
    /// API key. Without one, the request has no `Authorization` header, unless `headers` has it.
    pub key: Option<&'a str>,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Vec<u8>,
}

impl<'a> ApiRequest<'a> {
    /// Creates a request with a JSON body (null: no body), without a key.
    pub fn new(method: &'a str, path: &'a str, body: &Value) -> Self {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Self { method, path, body, ..Self::default() }
    }

    /// Creates a request with a JSON body (null: no body) and an API key.
    pub fn with_key(method: &'a str, path: &'a str, key: &'a str, body: &Value) -> Self {
        Self { key: Some(key), ..Self::new(method, path, body) }
    }
}

/// Returns a `Content-Type` header and a multipart body. Its last part is a file in this field.
pub fn multipart(field: &str, content: &[u8]) -> ((&'static str, &'static str), Vec<u8>) {
    let head = format!(
        "--b0undary\r\ncontent-disposition: form-data; name=\"other\"\r\n\r\nx\r\n--b0undary\r\n\
         content-disposition: form-data; name=\"{field}\"; filename=\"vm.md\"\r\ncontent-type: text/markdown\r\n\r\n"
    );
    let body = [head.as_bytes(), content, b"\r\n--b0undary--\r\n"].concat();
    (("content-type", "multipart/form-data; boundary=b0undary"), body)
}

/// Returns the address of a host. Every name in `localhost` is this machine.
fn address(host: &str) -> &str {
    host.find(".localhost:").map_or(host, |at| &host[at + 1..])
}

/// Sends one request on a new connection.
pub async fn send(base: &str, api_request: &ApiRequest<'_>) -> Answer {
    let host = base.strip_prefix("http://").unwrap();
    let path = api_request.path.strip_prefix(base).unwrap_or(api_request.path);
    let stream = TcpStream::connect(address(host)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let driving = tokio::spawn(connection);
    let mut request = Request::builder().method(api_request.method).uri(path).header("host", host);
    if let Some(key) = api_request.key {
        request = request.header("authorization", format!("Api-Key {key}"));
    }
    for (name, value) in api_request.headers {
        request = request.header(*name, *value);
    }
    let has_content_type = api_request.headers.iter().any(|(name, _)| *name == "content-type");
    let request = if has_content_type { request } else { request.header("content-type", "application/json") };
    let request = request.body(Full::new(Bytes::from(api_request.body.clone()))).unwrap();
    let reply = sender.send_request(request).await.unwrap();
    let status = reply.status().as_u16();
    let headers: Vec<(String, String)> = reply
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    let mut body = reply.into_body().collect().await.unwrap().to_bytes().to_vec();
    drop(sender);
    drop(driving.await);
    if headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())) {
        let packed = std::mem::take(&mut body);
        GzDecoder::new(packed.as_slice()).read_to_end(&mut body).unwrap();
    }
    let is_text = |(name, value): &(String, String)| {
        name == "content-type" && (value.starts_with("text/") || value == "image/svg+xml")
    };
    let body = if body.is_empty() {
        Value::Null
    } else if headers.iter().any(is_text) {
        Value::String(String::from_utf8(body).unwrap())
    } else {
        let value: Value = serde_json::from_slice(&body)
            .unwrap_or_else(|_| panic!("no JSON in reply {status} to {}", api_request.path));
        // Members are in the order of their names, and each value has one spelling. The contract and the dialect are files.
        let is_file = !path.starts_with("/v1") || path.contains(".json");
        assert!(is_file || value.to_string().as_bytes() == body, "{}: {value}", api_request.path);
        value
    };
    Answer { status, headers, body }
}
