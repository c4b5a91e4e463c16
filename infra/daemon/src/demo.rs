//! The teams of the demo world that the console offers for a sign-in by one click.

use std::net::SocketAddr;

use dovetail_http::key_hash;
use dovetail_table::{Error, Table};
use web_console::DemoTeam;

use crate::world;

/// Returns the teams of the demo world whose keys are stored, in its order.
pub(crate) async fn teams(listening: SocketAddr, table: &Table) -> Result<Vec<DemoTeam>, Error> {
    let mut teams = Vec::new();
    for team in public_keys(listening) {
        let stored = table.api_key(&key_hash(&team.key)).await?;
        if stored.is_some_and(|stored| stored.team.name == team.team) {
            teams.push(team);
        }
    }
    Ok(teams)
}

/// Returns the keys of the demo world. Everyone can read these keys in the source of Dovetail, so they are not secret.
/// Other machines still get none.
fn public_keys(listening: SocketAddr) -> Vec<DemoTeam> {
    if !listening.ip().is_loopback() {
        return Vec::new();
    }
    let teams = world::parse(world::DEMO).map(|demo| demo.teams).unwrap_or_default();
    let keys =
        teams.into_iter().flat_map(|team| team.api_keys.into_iter().map(move |key| (team.name.clone(), key)));
    keys.filter_map(|(team, key)| Some(DemoTeam { team, key: key.key? })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_gets_keys() {
        let keys = |listening: &str| public_keys(listening.parse().unwrap()).len();
        for own in ["127.0.0.1:9000", "[::1]:9000"] {
            assert!(keys(own) > 0, "{own}");
        }
        for other in ["0.0.0.0:9000", "[::]:9000", "192.0.2.1:9000"] {
            assert_eq!(keys(other), 0, "{other}");
        }
    }
}
