//! The checks of options, and the exit codes of all commands.

use std::{net::SocketAddr, ops::RangeInclusive};

use domain::TeamId;
use domain::base::id::APPLICATIONS_MAX;
use dovetail_table::ACTIONS_MAX;
use hyper::Uri;

// DynamoDB allows names of 255 bytes, and the name of the keys table adds five. The embedded engine cannot name the
// stream of a table with fewer than 11 bytes.
pub(crate) const LOCAL_TABLE_BYTES: RangeInclusive<usize> = 11..=250;
// The name of a deployed table only has the limits of DynamoDB.
pub(crate) const DEPLOYED_TABLE_BYTES: RangeInclusive<usize> = 3..=255;

/// The exit codes of all commands, at the end of each help text.
pub const EXIT_CODES: &str = "\
Exit codes:
  0   done
  1   failed
  2   `audit` found violations
  64  the command line is invalid";

pub(crate) fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "must be an IP address and a port, such as 127.0.0.1:9000")
}

pub(crate) fn url(text: &str) -> Result<String, &'static str> {
    match text.parse::<Uri>() {
        Ok(url) if url.scheme_str() == Some("http") => Ok(text.to_owned()),
        Ok(_) | Err(_) => Err("must be a URL, such as http://127.0.0.1:9001"),
    }
}

pub(crate) fn actions_max(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|actions| (1..=ACTIONS_MAX).contains(actions));
    parsed.ok_or_else(|| format!("must be a number from 1 to {ACTIONS_MAX}"))
}

pub(crate) fn reuse_from(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|applications| (1..=APPLICATIONS_MAX).contains(applications));
    parsed.ok_or_else(|| format!("must be a number from 1 to {APPLICATIONS_MAX}"))
}

pub(crate) fn team_id(text: &str) -> Result<TeamId, &'static str> {
    text.parse().ok().and_then(TeamId::new).ok_or("must be the id of a team")
}

/// Returns a parser of table names with this number of bytes.
pub(crate) fn table_name(
    bytes: RangeInclusive<usize>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    move |text| {
        if bytes.contains(&text.len()) && text.bytes().all(is_plain) {
            Ok(text.to_owned())
        } else {
            let (least, most) = (bytes.start(), bytes.end());
            Err(format!("must be {least} to {most} letters, digits and `_.-`"))
        }
    }
}
