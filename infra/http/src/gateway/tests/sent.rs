//! A generator of requests, with hostile parts.

use crate::event::Event;
use crate::operation::Function;
use crate::route::{ROUTES, function_of};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fastrand::Rng;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use std::io::Write as _;

/// Hosts, and whether a link may start with them.
const HOSTS: [(&str, bool); 30] = [
    ("api.example.com", true),
    ("API.Example.com:8443", true),
    ("127.0.0.1:9001", true),
    ("[::1]:80", true),
    ("xn--bcher-kva.example", true),
    ("a_b.example", true),
    ("1", true),
    ("", false),
    (" ", false),
    ("user@api.example.com", false),
    ("user:password@api.example.com", false),
    ("@", false),
    ("a b", false),
    ("a/b", false),
    ("a?b", false),
    ("a#b", false),
    ("a\\b", false),
    ("a%22b", false),
    ("%00", false),
    ("[::1", false),
    ("::1", false),
    ("[zz]", false),
    ("a:99999", false),
    ("a:b", false),
    ("1.2.3.4.5", false),
    ("256.256.256.256", false),
    ("xn--a", false),
    ("<script>", false),
    ("a,b.example", true),
    ("example.com, evil.example", false),
];

const METHODS: [&str; 8] = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"];
const SCHEMES: [&str; 8] = ["http", "https", "HTTP", "ftp", "javascript", "", "https://evil/", "http,https"];
const STAGES: [&str; 5] = ["$default", "prod", "a b", "ä?#", ""];
/// Pieces of paths, queries and bodies.
const PIECES: [&str; 36] = [
    "/",
    "//",
    "?",
    "#",
    "%",
    "%2",
    "%2F",
    "%00",
    "%ff",
    "%C3%A4",
    "ä",
    "\u{0}",
    "\u{7f}",
    "\u{10ffff}",
    "\\",
    "@",
    "..",
    ".",
    "&",
    "=",
    "+",
    " ",
    ";",
    ",",
    "\"",
    "<",
    "{",
    "|",
    "^",
    "`",
    "[",
    "]",
    ":",
    "limit",
    "cursor",
    "7",
];

/// A generated request.
pub(super) struct Sent {
    pub(super) rng: Rng,
    pub(super) method: Method,
    pub(super) stage: Option<String>,
    /// Path without the stage.
    pub(super) path: Option<String>,
    pub(super) query: Option<String>,
    pub(super) host: Option<(&'static str, bool)>,
    pub(super) domain: Option<(&'static str, bool)>,
    headers: Vec<(&'static str, String)>,
    authorizer: Option<Value>,
    pub(super) body: Option<String>,
    pub(super) is_base64: bool,
}

impl Sent {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let rng = &mut rng;
        let (method, path) = line(rng);
        let (method, path) = (method.parse().unwrap(), maybe(rng, |_| path));
        let stage = maybe(rng, |rng| one(rng, &STAGES).to_owned());
        let query = maybe(rng, |rng| pieces(rng, 8));
        let (host, domain) = (maybe(rng, |rng| one(rng, &HOSTS)), maybe(rng, |rng| one(rng, &HOSTS)));
        let (body, is_base64, coding) = body(rng);
        let mut headers = headers(rng);
        headers.extend(coding.map(|coding| ("content-encoding", coding)));
        let authorizer = authorizer(rng);
        let rng = rng.fork();
        Self { rng, method, stage, path, query, host, domain, headers, authorizer, body, is_base64 }
    }

    /// Returns the event of API Gateway.
    pub(super) fn event(&self) -> Event {
        let mut event = Event::default();
        let context = &mut event.request_context;
        context.http.method = self.method.clone();
        context.request_id = Some("request".to_owned());
        context.stage.clone_from(&self.stage);
        context.domain_name = self.domain.map(|(name, _)| name.to_owned());
        if let Some(fields) = &self.authorizer {
            let mut authorizer = context.authorizer.take().unwrap_or_default();
            authorizer.fields = serde_json::from_value(fields.clone()).unwrap();
            context.authorizer = Some(authorizer);
        }
        let prefix = self.stage.as_ref().filter(|stage| *stage != "$default");
        let prefix = prefix.map(|stage| format!("/{stage}")).unwrap_or_default();
        event.raw_path = self.path.as_ref().map(|path| format!("{prefix}{path}"));
        event.raw_query_string.clone_from(&self.query);
        for (name, value) in &self.headers {
            event
                .headers
                .append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        if let Some((host, _)) = self.host {
            event.headers.insert("host", HeaderValue::from_static(host));
        }
        event.body.clone_from(&self.body);
        event.is_base64_encoded = self.is_base64;
        event
    }

    /// Returns the scheme of links.
    pub(super) fn scheme(&self) -> &'static str {
        let sent = self.headers.iter().find(|(name, _)| *name == "x-forwarded-proto");
        if sent.is_some_and(|(_, value)| value == "http") { "http" } else { "https" }
    }

    /// Returns the host of links: the host, else the domain name; none if both are malformed.
    pub(super) fn link_host(&self) -> Option<&'static str> {
        let good = |(name, is_good): (&'static str, bool)| is_good.then_some(name);
        self.host.and_then(good).or(self.domain.and_then(good))
    }

    /// Returns the function of the route, sometimes another one.
    pub(super) fn function(&mut self) -> Function {
        if self.rng.u8(..10) == 0 {
            return Function::List;
        }
        function_of(self.method.as_str(), self.path.as_deref().unwrap_or_default())
    }

    /// Returns a text for a response; some are worth compressing.
    pub(super) fn response(&mut self) -> String {
        let length = self.rng.usize(..3_000);
        if self.rng.bool() {
            "abc".repeat(length / 3)
        } else {
            (0..length).map(|_| self.rng.alphanumeric()).collect()
        }
    }
}

fn one<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    *rng.choice(from).unwrap()
}

fn maybe<T>(rng: &mut Rng, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    (rng.u8(..8) > 0).then(|| make(rng))
}

fn pieces(rng: &mut Rng, most: usize) -> String {
    (0..rng.usize(..most)).map(|_| one(rng, &PIECES)).collect()
}

/// Returns method and path of a route, with a changed piece in some of them.
fn line(rng: &mut Rng) -> (&'static str, String) {
    let other = one(rng, &METHODS);
    if rng.u8(..8) == 0 {
        return (other, pieces(rng, 12));
    }
    let id = rng.u32(1..1_000).to_string();
    let side = if rng.bool() { "consumer" } else { "serviceowner" };
    let code = if rng.bool() { "not_found".to_owned() } else { pieces(rng, 3) };
    let route = one(rng, ROUTES);
    let mut path = route.path.replace("{pov}", side).replace("{id}", &id).replace("{code}", &code);
    match rng.u8(..12) {
        0 | 1 => path.push('/'),
        2 => path.push_str(&pieces(rng, 3)),
        3 => path.insert_str(path.len() / 2, one(rng, &PIECES)),
        _ => {}
    }
    (if rng.u8(..8) == 0 { other } else { one(rng, route.methods) }, path)
}

fn headers(rng: &mut Rng) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    for _ in 0..rng.u8(..3) {
        headers.push(("x-forwarded-proto", one(rng, &SCHEMES).to_owned()));
    }
    let values = ["1", "2", "gzip", "gzip;q=0", "application/json", "ä", "", "*"];
    let names = [
        "dovetail-team",
        "accept-encoding",
        "accept",
        "content-type",
        "idempotency-key",
        "if-match",
        "cookie",
    ];
    for _ in 0..rng.u8(..4) {
        headers.push((one(rng, &names), one(rng, &values).to_owned()));
    }
    headers
}

/// Returns a body, whether it is base64, and its `Content-Encoding`.
fn body(rng: &mut Rng) -> (Option<String>, bool, Option<String>) {
    let text = match rng.u8(..4) {
        0 => pieces(rng, 12),
        1 => String::new(),
        _ => json!({"state": "APPROVED", "other": pieces(rng, 4)}).to_string(),
    };
    let mut bytes = text.clone().into_bytes();
    let coding =
        maybe(rng, |rng| one(rng, &["gzip", "gzip", "gzip", "identity", "identity", "br"]).to_owned());
    if coding.as_deref() == Some("gzip") {
        let mut packing = GzEncoder::new(Vec::new(), Compression::fast());
        packing.write_all(&bytes).unwrap();
        bytes = packing.finish().unwrap();
        bytes.truncate(bytes.len() - usize::from(rng.u8(..8) == 0));
    }
    match rng.u8(..16) {
        0 => (None, rng.bool(), coding),
        1 => (Some(text), true, coding),
        2..8 => (Some(text), false, None),
        _ => (Some(STANDARD.encode(bytes)), true, coding),
    }
}

fn authorizer(rng: &mut Rng) -> Option<Value> {
    let role = one(rng, &["ADMIN", "ADMIN", "GENERAL", "READ_ONLY", "PLATFORM", "OTHER"]);
    // The end of the year 2286, and with less chance a past one.
    let expires = if rng.u8(..8) == 0 { one(rng, &["0", "soon"]) } else { "9999999999999999" };
    let of = |team: u32| json!({"team": team.to_string(), "teamName": "Team", "role": role, "person": "Ada"});
    Some(match rng.u8(..16) {
        0 => return None,
        1 => json!({}),
        2 => json!({"team": "1", "teamName": "Team", "role": role}),
        3 => json!({"subject": "ada", "expires": expires, "memberships": json!([of(1), of(2)]).to_string()}),
        4 => json!({"subject": "ada", "expires": expires, "memberships": json!([of(1)]).to_string()}),
        5 => json!({"subject": "ada", "expires": expires, "memberships": one(rng, &["[]", "", "{}"])}),
        6 => json!({"team": "1", "teamName": "Team", "role": role, "key": "k", "expires": expires}),
        _ => json!({"team": "1", "teamName": "Team", "role": "ADMIN", "key": "k"}),
    })
}
