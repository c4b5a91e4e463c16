//! The tables of a deployed stack, as whoever runs a command reaches them: with the credentials and the region of the
//! environment, a profile, or the machine.

use aws_config::BehaviorVersion;
use dovetail_aws::{Trust, Way, https};
use dovetail_table::{ACTIONS_MAX, Settings, Table};

/// The table of this name and that of its API keys; in an engine in AWS's place, if there is an endpoint.
pub(crate) async fn table(name: &str, endpoint: Option<&str>) -> Table {
    let way = match endpoint {
        Some(endpoint) => Way::Engine(endpoint.to_owned()),
        None => {
            let account = aws_config::defaults(BehaviorVersion::latest())
                .http_client(https(&Trust::Machine.unless_told()));
            Way::Account(Box::new(account.load().await))
        }
    };
    let settings = Settings {
        table: name.to_owned(),
        keys_table: format!("{name}-keys"),
        endpoint: None,
        actions_max: ACTIONS_MAX,
    };
    Table::connect_by(settings, way)
}
