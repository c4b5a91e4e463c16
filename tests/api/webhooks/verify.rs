//! The Python code of docs/how-to/webhooks.md: it must accept Dovetail's signatures and no others.

use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};
use support::{Running, commands};

const PAGE: &str = include_str!("../../../docs/how-to/webhooks.md");
/// A program around the page's code: its arguments are signature and time, its standard input is the body.
const TRIED: &str = "
import sys
body = sys.stdin.buffer.read()
print(is_ours('secret', sys.argv[1], body, now=int(sys.argv[2])))
";

/// Returns the only Python block of the page.
fn code() -> &'static str {
    let mut blocks = PAGE.split("```python\n").skip(1).map(|block| block.split("```").next().unwrap());
    let code = blocks.next().unwrap();
    assert!(blocks.next().is_none(), "one block");
    code
}

fn is_ours(signature: &str, body: &str, now: u64) -> bool {
    let program = format!("{}{TRIED}", code());
    let mut python = Command::new("python3");
    python.args(["-c", &program, signature, &now.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = python.spawn().unwrap();
    running.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let ended = running.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    match String::from_utf8(ended.stdout).unwrap().trim() {
        "True" => true,
        "False" => false,
        other => panic!("{other}"),
    }
}

#[test]
fn a_receiver_with_the_code_of_the_page_accepts_genuine_signatures_only() {
    let (body, time) = (r#"{"data":{"name":"Käse"}}"#, 1_700_000_000);
    let ours = dovetail_outbound::signature("secret", time, body);
    assert!(is_ours(&ours, body, time));
    assert!(is_ours(&ours, body, time + 300), "it is a while under way");
    assert!(!is_ours(&ours, body, time + 301), "sent again by somebody, later");
    assert!(!is_ours(&ours, "{}", time), "another body");
    assert!(!is_ours(&ours.replace("1700000000", "1700000001"), body, time), "another time");
    assert!(!is_ours(&dovetail_outbound::signature("another", time, body), body, time), "another secret");
    for none in ["", "t=", "v1=", "t=1700000000", "t=x,v1=y", ",,=,"] {
        assert!(!is_ours(none, body, time), "{none}");
    }
}

#[test]
fn the_webhooks_of_the_page_are_made_as_it_says() {
    let system = Running::demo();
    let made = |number| -> Value { serde_json::from_slice(&commands(PAGE, number, &system)).unwrap() };
    let [owners, consumers] = [made(1), made(2)];
    assert!(owners["secret"].is_string(), "{owners}");
    assert_eq!((&owners["name"], &owners["authorization"]), (&"ansible".into(), &"********".into()));
    assert_eq!((&consumers["name"], &consumers["service"]), (&"rejections".into(), &Value::Null));
    assert_eq!(consumers["change_instance_state"], "REJECTED");
    let blocks = PAGE.matches("```sh\n").count();
    assert_eq!(blocks, 2, "each block is tried");
}
