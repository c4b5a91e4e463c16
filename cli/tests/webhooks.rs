//! Deliveries of the local system to `webhook listen`: their signatures, and requests of others.
#![expect(clippy::unwrap_used, reason = "test support")]

mod program;

use program::{finish, program, run};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use support::{Running, receiver::Receiver};

const ADMIN: &str = "vm-owner-key";

/// Returns a directory with a profile of a service owner.
fn directory(system: &Running) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut login = program(&["login"], directory.path());
    login.env("DOVETAIL_URL", &system.base);
    let (code, out, error) = finish(login, &format!("{ADMIN}\n"));
    assert_eq!(code, 0, "{out}{error}");
    directory
}

/// Starts `webhook listen` at a free port. Returns it with its address.
fn listen(arguments: &[&str], directory: &Path) -> (Child, String) {
    let arguments = [&["webhook", "listen", "--port", "0", "-o", "ndjson"], arguments].concat();
    let mut command = program(&arguments, directory);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let _bytes = BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let (_, address) = line.split_once("http://").unwrap();
    let (address, _) = address.split_once('/').unwrap();
    (child, address.to_owned())
}

/// Returns the lines of a receiver that has ended.
fn lines(child: Child) -> Vec<Value> {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Sends a request as it is. Returns the status of the response.
fn send(address: &str, head: &str, body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    let _bytes = stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Creates a webhook by the client, and leads it to an address.
fn create(system: &Running, directory: &Path, address: &str) -> String {
    let arguments =
        ["webhook", "create", "VM", "http://127.0.0.1:1/", "--secret-file", "secret", "--jq", ".id"];
    let (code, id, error) = run(&arguments, directory);
    assert_eq!(code, 0, "{error}");
    let id = id.trim().to_owned();
    redirect(system, &id, address);
    id
}

fn redirect(system: &Running, id: &str, address: &str) {
    let path = format!("/v1/external/serviceowner/webhooks/{id}/");
    let answer = system.call("PATCH", &path, ADMIN, &json!({"target_url": format!("http://{address}/hook")}));
    assert_eq!(answer.status, 200);
}

#[test]
fn a_receiver_accepts_deliveries_of_its_webhook_alone() {
    let system = Running::demo();
    let directory = directory(&system);
    let directory = directory.path();
    let id = create(&system, directory, "127.0.0.1:1");
    let (child, address) = listen(&["--secret-file", "secret", "--count", "4"], directory);
    redirect(&system, &id, &address);

    let (code, out, error) = run(&["webhook", "trigger", &id], directory);
    assert_eq!((code, out.as_str()), (0, "The receiver accepted the event with status 204.\n"), "{error}");
    // Requests of others.
    assert_eq!(send(&address, "POST / HTTP/1.1", "{}"), 401);
    let old = format!("POST / HTTP/1.1\r\nDovetail-Signature: t=1700000000,v1={}", "00".repeat(32));
    assert_eq!(send(&address, &old, "{}"), 401);
    let time = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let forged = format!("POST / HTTP/1.1\r\nDovetail-Signature: t={time},v1={}", "00".repeat(32));
    assert_eq!(send(&address, "GET / HTTP/1.1", ""), 405);
    assert_eq!(send(&address, &forged, r#"{"data": {"id": 7, "to": "APPROVED"}}"#), 401);

    let lines = lines(child);
    let signatures: Vec<_> = lines.iter().map(|line| line["signature"].as_str().unwrap()).collect();
    assert_eq!(
        signatures,
        ["valid", "not signed", "over 5 minutes old, or of the future", "another secret or body"]
    );
    assert_eq!(lines[0]["type"], "Webhook.Triggered.v1");
    assert_eq!(lines[3]["state"], "APPROVED");
}

#[test]
fn a_receiver_sends_accepted_deliveries_on() {
    let system = Running::demo();
    let directory = directory(&system);
    let directory = directory.path();
    let mut target = Receiver::start();
    let id = create(&system, directory, "127.0.0.1:1");
    let url = target.url("/automation");
    let (child, address) = listen(&["--secret-file", "secret", "--count", "2", "--forward", &url], directory);
    redirect(&system, &id, &address);
    assert_eq!(send(&address, "POST / HTTP/1.1", "{}"), 401);
    assert_eq!(run(&["webhook", "trigger", &id], directory).0, 0);
    let request = target.next_request();
    assert_eq!(request.path, "/automation");
    assert_eq!(request.header("dovetail-event-type"), "Webhook.Triggered.v1");
    assert!(request.header("dovetail-signature").starts_with("t="));
    let statuses: Vec<_> = lines(child).iter().map(|line| line["status"].clone()).collect();
    assert_eq!(statuses, [json!(401), json!(200)]);
}

#[test]
fn the_secret_is_in_a_file_for_its_owner_alone() {
    let system = Running::demo();
    let directory = directory(&system);
    let directory = directory.path();
    let arguments = [
        "webhook",
        "create",
        "VM",
        "http://127.0.0.1:1/hook",
        "--secret-file",
        "secret",
        "--state",
        "APPROVED",
    ];
    let (code, out, error) = run(&arguments, directory);
    assert_eq!(code, 0, "{error}");
    let secret = fs::read_to_string(directory.join("secret")).unwrap();
    assert!(secret.trim().len() > 20);
    assert!(!out.contains(secret.trim()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(directory.join("secret")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // An existing file may be the only copy of another secret.
    let (code, _, error) = run(&arguments, directory);
    assert_eq!(code, 1);
    assert!(error.contains("secret: "), "{error}");
    assert_eq!(fs::read_to_string(directory.join("secret")).unwrap(), secret);
    // A refused request leaves no file.
    let refused = ["webhook", "create", "VM", "ftp://x/", "--secret-file", "other"];
    let (code, _, error) = run(&refused, directory);
    assert_eq!(code, 3, "{error}");
    assert!(!directory.join("other").exists());
    let (code, list, _) = run(&["webhook", "list"], directory);
    assert_eq!(code, 0);
    assert!(list.contains("VM\tAPPROVED\ttrue\t\thttp://127.0.0.1:1/hook"), "{list}");
    let id = list.split('\t').next().unwrap();
    let (code, _, error) = run(&["webhook", "trigger", id], directory);
    assert_eq!(code, 1);
    assert!(error.contains("the receiver did not accept the event: unreachable\n"), "{error}");
    assert_eq!(run(&["webhook", "failures", id], directory), (0, String::new(), String::new()));
}
