//! The teams of the demo world that the console offers for a sign-in by one click.

use std::net::SocketAddr;

use web_console::DemoTeam;

use crate::load::NewKey;
use crate::world::{self, WorldTeam};

/// Returns the teams whose keys this start has created and the demo world contains, in its order.
///
/// Everyone can read these keys in the source of Dovetail, so they are no secret. Other machines still get none.
pub(crate) fn teams(listening: SocketAddr, new_keys: &[NewKey]) -> Vec<DemoTeam> {
    if !listening.ip().is_loopback() {
        return Vec::new();
    }
    let public = world::parse(world::DEMO).map(|demo| demo.teams).unwrap_or_default();
    let is_public = |key: &NewKey| public.iter().any(|team| has(team, key));
    let keys = new_keys.iter().filter(|key| is_public(key));
    keys.map(|key| DemoTeam { team: key.team.clone(), key: key.key.clone() }).collect()
}

/// Returns whether the demo world gives this key to this team.
fn has(team: &WorldTeam, key: &NewKey) -> bool {
    team.name == key.team && team.api_keys.iter().any(|of| of.key.as_deref() == Some(key.key.as_str()))
}

#[cfg(test)]
mod tests {
    use domain::base::actor::Role;

    use super::*;

    fn key(team: &str, key: &str) -> NewKey {
        let (team, key) = (team.to_owned(), key.to_owned());
        NewKey { team, name: "n".to_owned(), role: Role::Admin, key, is_generated: false }
    }

    #[test]
    fn only_public_keys_of_this_start_are_offered_on_loopback() {
        let new_keys = [
            key("VMOwnerTeam", "vm-owner-key"),
            key("VMOwnerTeam", "private"),
            key("Others", "vm-owner-key"),
            key("AwesomeConsumer", "awesome-key"),
        ];
        let offered = |listening: &str| -> Vec<String> {
            let teams = teams(listening.parse().unwrap(), &new_keys);
            teams.into_iter().map(|team| format!("{} {}", team.team, team.key)).collect()
        };
        let expected = ["VMOwnerTeam vm-owner-key", "AwesomeConsumer awesome-key"];
        assert_eq!(offered("127.0.0.1:9000"), expected);
        assert_eq!(offered("[::1]:9000"), expected);
        for other in ["0.0.0.0:9000", "[::]:9000", "192.0.2.1:9000"] {
            assert!(offered(other).is_empty(), "{other}");
        }
    }
}
