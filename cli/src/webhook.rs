//! The commands `webhook`: those of the API, and a local receiver.

mod listen;
mod signature;

use self::listen::Listen;
use crate::{
    account::connect::connect,
    api::{
        client::{Api, Call, ORCABASE},
        object,
    },
    base::{
        failure::{Done, Failure},
        json::{self, At as _},
        text::Column,
    },
    document::file,
    output::Output,
};
use clap::{Args, Subcommand};
use domain::State;
use dovetail_terminal::plain;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

/// The path of the routes about webhooks.
const WEBHOOKS: &str = "/v1/external/serviceowner/webhooks/";

const LIST: [Column; 6] = [
    ("ID", &["/id"]),
    ("NAME", &["/name"]),
    ("STATE", &["/change_instance_state"]),
    ("ACTIVE", &["/active"]),
    ("DELIVERED", &["/last_reply/delivered"]),
    ("URL", &["/target_url"]),
];
const FAILURES: [Column; 6] = [
    ("TIME", &["/at"]),
    ("EVENT", &["/event"]),
    ("STATE", &["/state"]),
    ("ATTEMPTS", &["/attempts"]),
    ("STATUS", &["/status"]),
    ("ERROR", &["/error"]),
];

/// Works with webhooks
#[derive(Args, Clone, Debug)]
pub(crate) struct Webhook {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    /// Lists the webhooks of your team
    List,
    Create(Create),
    /// Sends a test event to a webhook at once
    Trigger {
        /// Id of the webhook
        id: u64,
    },
    /// Lists the deliveries of a webhook that failed for good
    Failures {
        /// Id of the webhook
        id: u64,
    },
    Listen(Listen),
}

/// Creates a webhook for a service of your team
#[derive(Args, Clone, Debug)]
struct Create {
    /// Name of the service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// URL of the receiver
    #[arg(value_name = "URL")]
    url: String,
    /// New file for the secret of the signatures; only you can read it
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,
    /// Name of the webhook; by default the one of the service
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Deliver when a change enters this state; by default when a change is created
    #[arg(long, value_name = "STATE")]
    state: Option<State>,
    /// Repeat the signal after this number of seconds while changes in this state wait, 300 to 86400
    #[arg(long, value_name = "SECONDS", requires = "state")]
    remind_after: Option<u64>,
    /// File with the value of the header `Authorization` of each delivery
    #[arg(long, value_name = "FILE")]
    authorization_file: Option<PathBuf>,
}

/// Executes `webhook`.
pub(crate) fn run(profile: Option<&str>, webhook: &Webhook, out: &mut Output) -> Result<Done, Failure> {
    let connect = || connect(profile);
    match &webhook.command {
        // All webhooks of a team are on one page.
        Command::List => out.list(connect()?.get(WEBHOOKS)?.list_at("/results"), &LIST)?,
        Command::Create(command) => create(&connect()?, command, out)?,
        Command::Trigger { id } => return trigger(&connect()?, *id, out),
        Command::Failures { id } => {
            out.list(&connect()?.list(&format!("{WEBHOOKS}{id}/failures/"), usize::MAX)?, &FAILURES)?;
        }
        Command::Listen(command) => return listen::listen(command, out),
    }
    Ok(Done::Success)
}

fn create(api: &Api, command: &Create, out: &mut Output) -> Result<(), Failure> {
    let services = api.list(&format!("{ORCABASE}/serviceowner/services/"), usize::MAX)?;
    let service = object::find_service(&services, &command.service)?;
    let authorization = command.authorization_file.as_deref().map(file::first_line).transpose()?;
    let body = json::object([
        ("service", Some(service.at("/id").clone())),
        ("target_url", Some(json!(command.url))),
        ("name", command.name.as_ref().map(|name| json!(name))),
        ("change_instance_state", command.state.map(|state| json!(state.name()))),
        ("remind_after", command.remind_after.map(Value::from)),
        ("authorization", authorization.map(Value::from)),
    ]);
    // Only the response has the secret, so the file must be there before.
    let secret_file = &command.secret_file;
    file::create_private(secret_file)?;
    let created = api.send(&Call { method: "POST", path: WEBHOOKS, headers: &[], body: &body });
    let mut webhook = created.inspect_err(|_| drop(fs::remove_file(secret_file)))?;
    let secret = webhook.as_object_mut().and_then(|members| members.remove("secret"));
    let secret = secret.as_ref().and_then(Value::as_str).unwrap_or_default();
    file::save(secret_file, &format!("{secret}\n"))?;
    if out.json(&webhook)? {
        return Ok(());
    }
    let (id, name) = (webhook.at("/id"), plain(&webhook.text_at("/name")));
    out.text(&format!("Created the webhook {id}, `{name}`. Its secret is in {}.\n", secret_file.display()))
}

fn trigger(api: &Api, id: u64, out: &mut Output) -> Result<Done, Failure> {
    let path = format!("{WEBHOOKS}{id}/trigger/");
    let reply = api.send(&Call { method: "POST", path: &path, headers: &[], body: &Value::Null })?;
    let is_json = out.json(&reply)?;
    let status = reply.text_at("/status");
    if !reply.is_at("/delivered") {
        // A receiver that does not respond gives no status.
        let reason = format!("{} {status}", reply.text_at("/error"));
        return Err(Failure::Failed(format!("the receiver did not accept the event: {}", reason.trim())));
    }
    if !is_json {
        out.text(&format!("The receiver accepted the event with status {status}.\n"))?;
    }
    Ok(Done::Success)
}
