//! Target `query`: a path and a query string.
//!
//! A path leads to the operations whose routes print it, and to no others. No parameter is lost, invented or read
//! twice.

use crate::event::call;
use domain::rules::visibility::Side;
use dovetail_http::{Access, Event, FILES, Operation, Query, ROUTES, function_of};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use std::collections::BTreeSet;

/// Maximum number of tested parameter names, more than in any list.
const NAMES_MAX: usize = 32;

const METHODS: [&str; 5] = ["GET", "POST", "PATCH", "PUT", "DELETE"];

pub(crate) fn routed(bytes: &[u8]) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(rest);
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let method = METHODS[usize::from(*first) % METHODS.len()];
    leads(method, path, query);
    parameters(query);
}

fn event(method: &str, path: &str, query: &str) -> Event {
    let event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query, "headers": {},
        "requestContext": {
            "stage": "$default", "requestId": "request",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1"},
            "authorizer": {"lambda": {"team": "1", "teamName": "Team", "role": "ADMIN", "key": "Team-1"}},
        },
        "isBase64Encoded": false,
    });
    serde_json::from_value(event).unwrap()
}

fn leads(method: &str, path: &str, query: &str) {
    let served_routes = served(path);
    let (called, reply) = call(event(method, path, query), function_of(method, path));
    let expected = served_routes.iter().find(|(methods, ..)| methods.contains(&method));
    let actual = called.as_ref().map(|call| (call.operation, call.side, call.id));
    assert_eq!(actual, expected.map(|(_, operation, side, id)| (*operation, *side, *id)), "{method} {path}");
    // The files of the console need no key, so another function serves them, with GET alone.
    let is_file = FILES.iter().any(|file| file.path == path || (path.is_empty() && file.path == "/"));
    let has_other_method = !served_routes.is_empty() || (is_file && method != "GET");
    let refusal = if has_other_method { 405 } else { 404 };
    assert_eq!(reply.status_code, if actual.is_some() { 200 } else { refusal }, "{method} {path}");
    if let Some(call) = called {
        assert_eq!((call.path.as_str(), call.query), (path, Query::parse(query)));
    }
}

type ServedRoute = (&'static [&'static str], Operation, Side, Option<u64>);

/// Returns the operations at a path. For this it prints each route with every point of view and every number of the
/// path.
fn served(path: &str) -> Vec<ServedRoute> {
    let plain = path.strip_suffix('/').unwrap_or(path);
    let ids: Vec<Option<u64>> =
        plain.split('/').map(|part| part.parse().ok().filter(|id| *id > 0)).chain([None]).collect();
    let mut served_routes = Vec::new();
    let depth = |path: &str| path.split('/').count();
    // Most routes have another depth, so they cannot match.
    let guarded = ROUTES.iter().filter(|route| route.access != Access::Anyone);
    for route in guarded.filter(|route| depth(route.path) == depth(plain)) {
        for side in Side::ALL {
            // A path without a point of view implies one.
            let implied = if route.path.contains("/consumer/") { Side::Consumer } else { Side::ServiceOwner };
            let is_printed = route.path.contains("{pov}");
            for id in ids.iter().filter(|id| id.is_some() == route.path.contains("{id}")) {
                let printed = id.map(|id| id.to_string()).unwrap_or_default();
                let printed = route.path.replace("{pov}", side.name()).replace("{id}", &printed);
                let served_route = (route.methods, route.operation, side, *id);
                if printed == plain
                    && (is_printed || side == implied)
                    && !served_routes.contains(&served_route)
                {
                    served_routes.push(served_route);
                }
            }
        }
    }
    served_routes
}

fn parameters(raw: &str) {
    let query = Query::parse(raw);
    let pairs: Vec<(&str, &str)> = query.pairs().collect();
    assert_eq!(pairs.len(), raw.split('&').filter(|pair| !pair.is_empty()).count());
    assert_eq!(pairs.iter().map(|(name, _)| *name).collect::<Vec<_>>(), query.names().collect::<Vec<_>>());
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let reencoded: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    assert_eq!(Query::parse(&reencoded.join("&")), query, "encoded by another client");
    let names: BTreeSet<&str> = query.names().collect();
    for name in names.into_iter().take(NAMES_MAX) {
        let last = pairs.iter().rev().find(|(other, _)| *other == name).map(|(_, value)| *value);
        assert_eq!(query.get(name), last.filter(|value| !value.is_empty()));
        let is_given = query.get(name).is_some();
        let list = query.list(name);
        assert_eq!(list.is_some(), is_given);
        let parts = list.unwrap_or_default();
        assert!(parts.iter().all(|part| !part.is_empty() && !part.contains(',')), "{parts:?}");
        if let Ok(Some(integers)) = query.integers(name) {
            assert_eq!(integers.len(), parts.len());
        }
        if let Ok(truth) = query.truth(name) {
            assert_eq!(truth.is_some(), is_given);
        }
        if let Ok(integer) = query.integer(name) {
            assert_eq!(integer.is_some(), is_given);
        }
    }
}
