//! The command `webhook listen`: a local receiver of deliveries.

use super::signature::Secret;
use crate::{
    base::{
        failure::{Done, Failure},
        json::At as _,
        text::Column,
    },
    output::Output,
};
use clap::Args;
use serde_json::{Value, json};
use std::{
    io::{Read as _, Write as _},
    net::IpAddr,
    path::PathBuf,
    time::{Duration, SystemTime},
};
use tiny_http::{Header, Method, Request, Response, Server};
use ureq::Agent;

/// The largest delivery, in bytes.
const BODY_MAX: u64 = 1024 * 1024;
/// The longest time of a forwarded request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The headers of a delivery that a forwarded request has, too.
const FORWARDED: [&str; 8] = [
    "authorization",
    "content-type",
    "dovetail-event-id",
    "dovetail-event-type",
    "dovetail-signature",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
];

const DELIVERIES: [Column; 6] = [
    ("EVENT", &["/event"]),
    ("TYPE", &["/type"]),
    ("SUBJECT", &["/subject"]),
    ("STATE", &["/state"]),
    ("SIGNATURE", &["/signature"]),
    ("STATUS", &["/status"]),
];

/// Receives deliveries on this machine, verifies their signatures and prints a line for each
///
/// The response is 204, 401 for an invalid signature, or the status of the URL of `--forward`.
#[derive(Args, Clone, Debug)]
pub(super) struct Listen {
    /// Port to listen at; 0 for a free one
    #[arg(long, value_name = "PORT", default_value_t = 8_090)]
    port: u16,
    /// Address to listen at; by default only this machine reaches it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    address: IpAddr,
    /// File with the secret of the webhook; without it, all deliveries are accepted
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Send accepted deliveries on to this URL
    #[arg(long, value_name = "URL")]
    forward: Option<String>,
    /// End after this number of deliveries
    #[arg(long, value_name = "N")]
    count: Option<usize>,
}

/// A receiver.
struct Receiver<'a> {
    secret: Option<Secret>,
    /// URL that gets accepted deliveries, and its client.
    forward: Option<(&'a str, Agent)>,
}

/// Executes `webhook listen`.
pub(super) fn listen(command: &Listen, out: &mut Output) -> Result<Done, Failure> {
    let secret = command.secret_file.as_deref().map(Secret::read).transpose()?;
    let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
    let agent = config.max_redirects(0).build().new_agent();
    let receiver = Receiver { secret, forward: command.forward.as_deref().map(|url| (url, agent)) };
    let server = Server::http((command.address, command.port)).map_err(Failure::failed)?;
    // Standard output has the deliveries alone.
    drop(writeln!(anstream::stderr(), "Listening at http://{}/. Ctrl-C ends.", server.server_addr()));
    let deliveries = server.incoming_requests().filter_map(|request| receiver.receive(request));
    for delivery in deliveries.take(command.count.unwrap_or(usize::MAX)) {
        out.row(&delivery, &DELIVERIES)?;
    }
    Ok(Done::Success)
}

impl Receiver<'_> {
    /// Responds to a request. Returns its line; none for anything but a delivery.
    fn receive(&self, mut request: Request) -> Option<Value> {
        let mut body = Vec::new();
        let status = if *request.method() != Method::Post {
            Some(405)
        } else if request.as_reader().take(BODY_MAX + 1).read_to_end(&mut body).is_err() {
            Some(400)
        } else {
            u64::try_from(body.len()).is_ok_and(|length| length > BODY_MAX).then_some(413)
        };
        if let Some(status) = status {
            respond(request, status);
            return None;
        }
        let verified =
            self.secret.as_ref().map(|secret| secret.verify(|name| header(&request, name), &body, now()));
        let status = match verified {
            Some(Err(_)) => 401,
            Some(Ok(())) | None => self.forward(&request, &body),
        };
        let delivery = delivery(&request, &body, verified, status);
        respond(request, status);
        Some(delivery)
    }

    /// Sends a delivery on. Returns the status of its response.
    fn forward(&self, request: &Request, body: &[u8]) -> u16 {
        let Some((url, agent)) = &self.forward else { return 204 };
        let mut post = agent.post(*url);
        for name in FORWARDED {
            if let Some(value) = header(request, name) {
                post = post.header(name, value);
            }
        }
        post.send(body).map_or(502, |response| response.status().as_u16())
    }
}

/// Returns the line of a delivery.
fn delivery(request: &Request, body: &[u8], verified: Option<Result<(), &str>>, status: u16) -> Value {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let signature = match verified {
        None => "not checked",
        Some(Ok(())) => "valid",
        Some(Err(reason)) => reason,
    };
    json!({
        "event": header(request, "dovetail-event-id").or_else(|| header(request, "webhook-id")),
        "type": header(request, "dovetail-event-type"),
        "subject": body.at("/data/id"),
        "state": body.at("/data/to"),
        "signature": signature,
        "status": status,
    })
}

/// Returns the value of a header; its name is in lower case.
fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let is_named = |header: &&Header| header.field.as_str().as_str().eq_ignore_ascii_case(name);
    request.headers().iter().find(is_named).map(|header| header.value.as_str())
}

fn respond(request: Request, status: u16) {
    // A sender that is gone needs no response.
    drop(request.respond(Response::empty(status)));
}

/// Returns the time in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
