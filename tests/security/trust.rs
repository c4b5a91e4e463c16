//! Trusted certificates: a connection sends its request only to a server with a trusted certificate
//! (docs/adr/0014-amazons-roots.md).

use dovetail_aws::{Endpoint, Trust, https};
use dovetail_table::{Error, Table};
use futures_util::future::join_all;
use support::{Running, Tls};

/// How many clients may have to open a second connection, on a busy machine.
const REUSES_MAX: usize = 20;

#[test]
fn a_connection_trusts_the_configured_roots_only() {
    let system = Running::demo();
    let [server, other] = [(); 2].map(|()| Tls::before(&system.engine, &system));
    let nothing = tempfile::tempdir().unwrap();
    let table = [
        ("its own certificate", Trust::Bundle(server.bundle().to_owned()), true),
        ("another's certificate of the same name", Trust::Bundle(other.bundle().to_owned()), false),
        ("a file that is not there", Trust::Bundle(nothing.path().join("bundle.pem")), false),
        ("a directory", Trust::Bundle(nothing.path().to_owned()), false),
        ("Amazon", Trust::Amazon, false),
        ("whom the machine trusts", Trust::Machine, false),
    ];
    // Rejected connections are retried, so the test runs all of them concurrently.
    let connections = table.iter().map(|(_, trust, _)| team(&system, &server, trust));
    let actual = system.block_on(join_all(connections));
    for ((description, _, is_trusted), actual) in table.iter().zip(actual) {
        match actual {
            Ok(name) => assert!(is_trusted, "{description}: {name:?}"),
            Err(Error::Unavailable(why)) => assert!(!is_trusted, "{description}: {why}"),
            Err(error) => panic!("{description}: {error}"),
        }
    }
}

#[test]
fn the_first_request_uses_the_connection_of_the_start() {
    let system = Running::demo();
    let server = Tls::before(&system.engine, &system);
    assert_eq!(server.stood(), None);
    // The client returns a connection to its pool in the background. A request just before that opens another one.
    let has_reused = (0..REUSES_MAX).any(|_| {
        let table = table(&system, &server, &Trust::Bundle(server.bundle().to_owned()));
        system.block_on(table.open_connection());
        let opened = server.stood();
        assert!(opened.is_some());
        assert!(system.block_on(table.team_by_name("AwesomeConsumer")).unwrap().is_some());
        server.stood() == opened
    });
    assert!(has_reused, "a second handshake for each of {REUSES_MAX} clients");
}

/// Returns the table behind the server.
fn table(system: &Running, server: &Tls, trust: &Trust) -> Table {
    let endpoint = Endpoint::Engine(server.url());
    let config = dovetail_aws::config(endpoint).into_builder().http_client(https(trust)).build();
    Table::connect_by(system.tables.clone(), Endpoint::Account(Box::new(config)))
}

/// Returns the name of a team, as read from the server.
async fn team(system: &Running, server: &Tls, trust: &Trust) -> Result<Option<String>, Error> {
    let table = table(system, server, trust);
    Ok(table.team_by_name("AwesomeConsumer").await?.map(|team| team.name))
}
