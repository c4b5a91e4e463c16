//! The web console: its files with their headers, and its settings in each form.

use dovetail_daemon::functions::{self, ConsoleSettings, PLAIN_CONSOLE};
use dovetail_http::{Code, CursorKey, Event, EventReply, FILES};
use dovetail_outbound::{Outbound, Targets};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use support::issuer::Issuer;
use support::{Answer, ApiRequest, Running, Settings};

const SETTINGS: &str = "/v1/console.json";
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static DEMO: LazyLock<Running> = LazyLock::new(|| Running::start(dovetail_daemon::world::DEMO));

/// Returns the names of the built files.
fn built() -> BTreeSet<String> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../console/dist");
    let entries = fs::read_dir(dist).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Sends a request without a key.
fn open(method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    DEMO.send(&ApiRequest { method, path, headers, ..ApiRequest::default() })
}

/// Fails unless a response has these headers.
#[track_caller]
fn assert_headers(answer: &Answer, headers: &[(&str, &str)], what: &str) {
    for (name, value) in headers {
        assert_eq!(answer.header(name), Some(*value), "{what}: {name}");
    }
}

/// Headers of each file and of the settings.
const PROTECTION: [(&str, &str); 3] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
];

fn media(file: &str) -> &str {
    match file.rsplit_once('.').unwrap().1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[test]
fn every_built_file_is_served_with_its_headers_and_compressed() {
    for file in built() {
        let path = if file == "index.html" { "/".to_owned() } else { format!("/{file}") };
        let answer = open("GET", &path, &[]);
        let content = fs::read_to_string(format!("{}/../console/dist/{file}", env!("CARGO_MANIFEST_DIR")));
        assert_eq!((answer.status, answer.body.as_str()), (200, content.ok().as_deref()), "{file}");
        assert_headers(&answer, &PROTECTION, &file);
        assert_headers(&answer, &[("content-type", media(&file)), ("cache-control", "no-cache")], &file);
        let packed = open("GET", &path, &[("accept-encoding", "gzip")]);
        assert_eq!(packed.body, answer.body, "{file}");
        let is_packed = packed.header("content-encoding") == Some("gzip");
        assert_eq!(is_packed, answer.body.as_str().unwrap().len() >= 1_024, "{file}");
        assert_eq!(is_packed, packed.header("vary") == Some("Accept-Encoding"), "{file}");
    }
    assert_eq!(open("GET", "/index.html", &[]).body, open("GET", "/", &[]).body);
}

#[test]
fn every_built_file_has_a_route_and_the_page_names_only_built_files() {
    let built = built();
    let routes: BTreeSet<String> =
        FILES.iter().map(|file| file.path.trim_start_matches('/').to_owned()).collect();
    assert!(built.is_subset(&routes), "{built:?} {routes:?}");
    let page = open("GET", "/", &[]).body;
    let urls: Vec<&str> = ["src=\"", "href=\""]
        .iter()
        .flat_map(|attribute| page.as_str().unwrap().split(attribute).skip(1))
        .map(|rest| rest.split_once('"').unwrap().0)
        .collect();
    assert!(urls.len() >= 3, "{urls:?}");
    for url in urls {
        // A relative URL also works below the stage of an API Gateway.
        assert!(built.contains(url.strip_prefix("./").unwrap()), "{url}");
    }
}

#[test]
fn a_known_file_is_not_sent_again() {
    let first = open("GET", "/app.js", &[]);
    let etag = first.header("etag").unwrap();
    assert_ne!(Some(etag), open("GET", "/app.css", &[]).header("etag"));
    let packed = open("GET", "/app.js", &[("accept-encoding", "gzip")]);
    assert_eq!(packed.header("etag"), Some(etag));
    for known in [etag, "*", &format!("\"other\", {etag}"), etag.trim_start_matches("W/")] {
        let again = open("GET", "/app.js", &[("if-none-match", known)]);
        assert_eq!((again.status, &again.body), (304, &Value::Null), "{known}");
        let caching = [("etag", etag), ("cache-control", "no-cache"), ("vary", "Accept-Encoding")];
        assert_headers(&again, &[&caching[..], &PROTECTION[..1]].concat(), known);
    }
    for other in ["", "\"other\"", "W/\"\""] {
        assert_eq!(open("GET", "/app.js", &[("if-none-match", other)]).status, 200, "{other}");
    }
}

#[test]
fn other_paths_and_methods_are_problems() {
    for path in ["/favicon.ico", "/app.jss", "/assets/app.js", "//", "/v1", "/..%2fCargo.toml"] {
        let answer = open("GET", path, &[]);
        assert_eq!(answer.code(), (404, Code::NoSuchRoute.name()), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
    }
    let posted = open("POST", "/", &[]);
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
    // The file is optional, and its route always exists.
    let editor = open("GET", "/editor.js", &[]);
    assert_eq!(editor.status, if built().contains("editor.js") { 200 } else { 404 });
}

#[test]
fn a_local_system_offers_the_teams_of_the_demo_world() {
    let answer = open("GET", SETTINGS, &[]);
    let teams = [
        ("VMOwnerTeam", "vm-owner-key"),
        ("LBOwnerTeam", "lb-owner-key"),
        ("NPOwnerTeam", "np-owner-key"),
        ("AwesomeConsumer", "awesome-key"),
        ("AwesomeConsumer2", "awesome2-key"),
        ("Platform", "platform-key"),
    ];
    let teams = teams.map(|(team, key)| json!({"team": team, "key": key}));
    assert_eq!((answer.status, &answer.body), (200, &json!({"demo_teams": teams})));
    assert_headers(&answer, &PROTECTION, SETTINGS);
    let settings = [("content-type", "application/json"), ("cache-control", "no-store")];
    assert_headers(&answer, &settings, SETTINGS);
}

#[test]
fn a_world_with_own_keys_offers_none_of_them() {
    // In the demo world, the second key belongs to another team.
    for key in ["own-key", "awesome-key"] {
        let system = Running::start(&DEMO_WITH_OWN_KEYS.replace("KEY", key));
        assert_eq!(system.get("/v1/account/teams/", key).status, 200);
        let answer = system.get(SETTINGS, key);
        assert_eq!((answer.status, &answer.body), (200, &json!({})), "{key}");
    }
}

/// A team of the demo world with another key.
const DEMO_WITH_OWN_KEYS: &str =
    r#"{"teams": [{"name": "VMOwnerTeam", "api_keys": ["KEY"]}], "services": []}"#;

#[test]
fn the_settings_name_the_issuer_and_the_policy_allows_it() {
    let issuer = Issuer::start();
    let settings = issuer.settings();
    let console = ConsoleSettings::new(Some(&settings), "web", "https://tokens.example/oauth2").unwrap();
    let world = DEMO_WITH_OWN_KEYS.replace("KEY", "own-key");
    let start = Settings { issuer: Some(settings.clone()), console, ..Settings::default() };
    let system = Running::start_with(&world, start);
    let answer = system.get(SETTINGS, "own-key");
    let expected = json!({"issuer": settings.url(), "client_id": "web", "audience": settings.audience()});
    assert_eq!((answer.status, &answer.body), (200, &expected));
    let contacted = format!("connect-src 'self' {} https://tokens.example;", settings.url());
    let policy = POLICY.replace("connect-src 'self';", &contacted);
    assert_eq!(system.get("/", "own-key").header("content-security-policy"), Some(policy.as_str()));

    // Without a client, the issuer has tokens for other programs only.
    assert_eq!(ConsoleSettings::new(Some(&settings), "", "").unwrap(), PLAIN_CONSOLE);
    assert!(ConsoleSettings::new(None, "web", "").is_err());
    for wrong in ["tokens.example", "mailto:x@y", "https://a b"] {
        assert!(ConsoleSettings::new(Some(&settings), "web", wrong).is_err(), "{wrong}");
    }
}

/// Calls the function as API Gateway does, with a table that cannot answer.
fn at_gateway(stage: &str, path: &str) -> EventReply {
    let mut event = Event::default();
    event.raw_path = Some(path.to_owned());
    event.request_context.stage = Some(stage.to_owned());
    event.request_context.http.method = "GET".parse().unwrap();
    let settings =
        dovetail_table::Settings { endpoint: Some("http://127.0.0.1:9".to_owned()), ..DEMO.tables.clone() };
    let table = DEMO.block_on(async { dovetail_table::Table::connect(settings) });
    let (key, outbound) = (CursorKey::new("secret"), Outbound::new(Targets::Public));
    let function = dovetail_http::Function::WebConsole;
    DEMO.block_on(dovetail_http::respond(event, |request| {
        functions::handle(function, &table, &key, &outbound, &PLAIN_CONSOLE, request)
    }))
}

#[test]
fn the_console_works_below_a_stage_and_without_a_table() {
    for (stage, path) in [("$default", "/"), ("prod", "/prod/"), ("prod", "/prod/index.html")] {
        let reply = at_gateway(stage, path);
        assert_eq!(reply.status_code, 200, "{path}");
        assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8", "{path}");
    }
    assert_eq!(at_gateway("prod", "/prod/app.js").status_code, 200);
    assert_eq!(at_gateway("prod", "/prod/v1/console.json").status_code, 200);
    let redirected = at_gateway("prod", "/prod");
    assert_eq!(redirected.status_code, 307);
    assert_eq!(redirected.headers["location"], "/prod/index.html");
    // A request that belongs to another function.
    assert_eq!(at_gateway("$default", "/v1/health").status_code, 404);
}
