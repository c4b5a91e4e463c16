//! The command `claim`: the work of one of the workers that share a queue.

use crate::{
    api::{
        client::{Api, Call, ORCABASE},
        kinds::{CLAIMED, Kind},
        object,
    },
    base::{
        failure::{Done, Failure},
        json::{self, At as _},
    },
    output::{Output, changes},
};
use clap::Args;
use domain::State;
use serde_json::Value;
use std::{env, fs, slice};

/// Maximum length of the name of a worker, in bytes.
const WORKER_BYTES_MAX: usize = 64;
/// The file with the name of the host, for shells that do not export `HOSTNAME`.
const HOSTNAME_FILE: &str = "/etc/hostname";
/// The units of a lease, in seconds.
const UNITS: [(char, u64); 3] = [('s', 1), ('m', 60), ('h', 3_600)];

/// Claims changes for a worker, so that no other worker gets them
///
/// Without CHANGE, the worker gets the oldest changes that no worker holds. With CHANGE, it claims this change. The
/// number of a claim ends the work: `complete --claim NUMBER`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Claim {
    /// Id of a change, or its name as APPLICATION/SERVICE/ITEM
    #[arg(value_name = "CHANGE")]
    change: Option<String>,
    /// Only changes of this service, by its name or id
    #[arg(long, value_name = "SERVICE", conflicts_with = "change")]
    service: Option<String>,
    /// Maximum number of changes; by default 10
    #[arg(long, value_name = "N", conflicts_with = "change")]
    limit: Option<u64>,
    /// Claim pending changes instead of approved ones
    #[arg(long, conflicts_with = "change")]
    pending: bool,
    /// Time until the claim ends, such as 30s, 5m or 2h; by default 5m
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    lease: Option<u64>,
    /// Name of the worker; by default your name and that of the host
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    /// Number of the claim, to extend or release it
    #[arg(long, value_name = "NUMBER", requires = "change")]
    number: Option<u64>,
    /// Release the claim
    #[arg(long, requires = "number", conflicts_with = "lease")]
    release: bool,
}

/// Executes `claim`.
pub(crate) fn claim(api: &Api, command: &Claim, out: &mut Output) -> Result<Done, Failure> {
    let worker = command.worker.clone().or_else(own_name);
    let worker = worker.ok_or_else(|| Failure::Usage("--worker must name the worker".to_owned()))?;
    let lists = format!("{ORCABASE}/serviceowner/change_instances/");
    let (path, service) = match &command.change {
        Some(change) => (format!("{lists}{}/claim/", object::id(api, Kind::Changes, change)?), None),
        None => {
            let service = command.service.as_deref();
            let service = service.map(|service| object::id(api, Kind::Services, service)).transpose()?;
            (format!("{lists}claim/"), service)
        }
    };
    let body = &command.body(worker, service);
    let claimed = api.send(&Call { method: "POST", path: &path, headers: &[], body })?;
    let one = command.change.is_some().then(|| slice::from_ref(&claimed));
    changes::list(one.unwrap_or_else(|| claimed.list_at("/results")), &CLAIMED, out)?;
    Ok(Done::Success)
}

impl Claim {
    /// Returns the body of the request. The server chooses what the command does not say.
    fn body(&self, worker: String, service: Option<u64>) -> Value {
        let lease = if self.release { Some(0) } else { self.lease };
        json::object([
            ("worker", Some(worker.into())),
            ("lease_seconds", lease.map(Value::from)),
            ("number", self.number.map(Value::from)),
            ("limit", self.limit.map(Value::from)),
            ("state", self.pending.then(|| State::Pending.name().into())),
            ("service", service.map(Value::from)),
        ])
    }
}

/// Reads a time with its unit.
fn seconds(text: &str) -> Result<u64, &'static str> {
    let units = UNITS.iter().find_map(|(unit, length)| Some((text.strip_suffix(*unit)?, *length)));
    let seconds = units.and_then(|(number, length)| number.parse::<u64>().ok()?.checked_mul(length));
    seconds.ok_or("must be a number with the unit s, m or h")
}

/// Returns the name of this user on this host; none if both are unknown.
fn own_name() -> Option<String> {
    let host = env::var("HOSTNAME").ok().or_else(|| fs::read_to_string(HOSTNAME_FILE).ok());
    worker_name(&env::var("USER").unwrap_or_default(), host.unwrap_or_default().trim())
}

/// Returns the name of a worker from user and host. A long name is that of the host alone.
fn worker_name(user: &str, host: &str) -> Option<String> {
    let names = [user, host].into_iter().filter(|name| !name.is_empty());
    let name = names.collect::<Vec<_>>().join("@");
    let name = if name.len() > WORKER_BYTES_MAX { host.to_owned() } else { name };
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use serde_json::json;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        claim: Claim,
    }

    /// Returns the command with these arguments; none if they are invalid.
    fn parsed(arguments: &str) -> Option<Claim> {
        let line = Line::try_parse_from(format!("claim {arguments}").split_whitespace());
        line.ok().map(|line| line.claim)
    }

    #[test]
    fn a_lease_is_a_number_with_a_unit() {
        for (text, expected) in [("30s", 30), ("5m", 300), ("2h", 7_200), ("0s", 0)] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "5",
            "m",
            "5d",
            "-5m",
            "1.5h",
            "5 m",
            "5min",
            "99999999999999999999s",
            "9999999999999999999h",
        ] {
            assert_eq!(seconds(text), Err("must be a number with the unit s, m or h"), "{text}");
        }
    }

    #[test]
    fn a_request_has_only_what_the_command_says() {
        for (arguments, service, expected) in [
            ("", None, json!({"worker": "w-7"})),
            (
                "--service VM --limit 2 --pending --lease 2h",
                Some(1),
                json!({"worker": "w-7", "service": 1, "limit": 2, "state": "PENDING", "lease_seconds": 7200}),
            ),
            ("16", None, json!({"worker": "w-7"})),
            ("16 --number 4 --lease 30s", None, json!({"worker": "w-7", "number": 4, "lease_seconds": 30})),
            ("16 --number 4 --release", None, json!({"worker": "w-7", "number": 4, "lease_seconds": 0})),
        ] {
            let command = parsed(arguments).unwrap();
            assert_eq!(command.body("w-7".to_owned(), service), expected, "{arguments}");
        }
    }

    #[test]
    fn options_that_contradict_each_other_are_invalid() {
        for arguments in [
            "16 --service VM",
            "16 --limit 2",
            "16 --pending",
            "--number 4",
            "16 --release",
            "16 --number 4 --release --lease 5m",
            "--lease 5",
        ] {
            assert!(parsed(arguments).is_none(), "{arguments}");
        }
    }

    #[test]
    fn the_default_worker_is_the_user_on_the_host() {
        let long = "h".repeat(60);
        for (user, host, expected) in [
            ("ana", "build-1", Some("ana@build-1")),
            ("", "build-1", Some("build-1")),
            ("ana", "", Some("ana")),
            ("root", long.as_str(), Some(long.as_str())),
            ("", "", None),
        ] {
            assert_eq!(worker_name(user, host).as_deref(), expected);
        }
    }
}
