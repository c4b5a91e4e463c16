//! HTTPS requests for the documents that the issuer publishes.

use aws_smithy_runtime_api::client::http::{HttpConnector as _, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::byte_stream::ByteStream;
use http::Uri;
use serde_json::Value;
use std::time::Duration;

/// The longest time of a request, for which a caller waits at the first token.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The largest response, in bytes.
const BYTES_MAX: usize = 512 * 1024;

/// Returns whether a URL uses TLS, or is on this machine, where plain HTTP is safe.
pub(crate) fn is_safe(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    match (url.scheme_str(), url.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => ["127.0.0.1", "[::1]", "localhost"].contains(&host),
        _ => false,
    }
}

/// Returns the JSON document at a URL.
pub(crate) async fn json(connector: &SharedHttpConnector, url: &str) -> Result<Value, String> {
    if !is_safe(url) {
        return Err(format!("{url} must be https"));
    }
    let answer = tokio::time::timeout(TIMEOUT, body(connector, url)).await;
    let body = answer.map_err(|_| format!("{url} does not respond"))??;
    serde_json::from_slice(&body).map_err(|_| format!("the response of {url} is not JSON"))
}

async fn body(connector: &SharedHttpConnector, url: &str) -> Result<Vec<u8>, String> {
    let request = HttpRequest::get(url).map_err(|error| format!("{url}: {error}"))?;
    let answer = connector.call(request).await.map_err(|error| format!("{url}: {error}"))?;
    let status = answer.status().as_u16();
    if status != 200 {
        return Err(format!("{url} responds with status {status}"));
    }
    let (mut stream, mut body) = (ByteStream::new(answer.into_body()), Vec::new());
    while let Some(part) = stream.try_next().await.map_err(|error| format!("{url}: {error}"))? {
        // The bytes are counted while reading, because the announced length may be missing or wrong.
        body.extend_from_slice(&part);
        if body.len() > BYTES_MAX {
            return Err(format!("the response of {url} is longer than {BYTES_MAX} bytes"));
        }
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_reached_without_tls() {
        for safe in ["https://id.example/realm", "http://127.0.0.1:9/x", "http://[::1]:9", "http://localhost"]
        {
            assert!(is_safe(safe), "{safe}");
        }
        for unsafe_ in
            ["http://id.example", "http://127.0.0.1.example", "ftp://localhost", "id.example", "", "//"]
        {
            assert!(!is_safe(unsafe_), "{unsafe_}");
        }
    }
}
