//! People: tokens of an issuer, their teams and roles, and forged tokens.

use super::keys::TEAMS;
use super::{SUBMIT, app};
use domain::Timestamp;
use domain::base::actor::Role;
use dovetail_aws::{Clock, by_clock};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::issuer::{Issuer, Signer, seconds};
use support::{Answer, ApiRequest, Running, Settings};

pub(crate) const MEMBERS: &str = "/v1/account/members/";
pub(crate) const OWNER: &str = "vm-owner-key";
pub(crate) const CONSUMER: &str = "awesome-key";

/// Starts the demo world with an issuer.
pub(crate) fn system() -> (Running, Issuer) {
    let issuer = Issuer::start();
    let settings = Settings { issuer: Some(issuer.settings()), ..Settings::default() };
    (Running::start_with(dovetail_daemon::world::DEMO, settings), issuer)
}

/// Sends a request with a token, and optionally `Dovetail-Team`.
pub(crate) fn by(
    system: &Running,
    token: &str,
    team: Option<&str>,
    method: &str,
    path: &str,
    body: &Value,
) -> Answer {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![("authorization", bearer.as_str())];
    headers.extend(team.map(|team| ("dovetail-team", team)));
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    system.send(&ApiRequest { method, path, body, headers: &headers, ..ApiRequest::default() })
}

pub(crate) fn teams(system: &Running, token: &str) -> Answer {
    by(system, token, None, "GET", TEAMS, &Value::Null)
}

pub(crate) fn added(system: &Running, key: &str, subject: &str, name: &str, role: Role) -> Answer {
    let body = json!({"subject": subject, "name": name, "role": role.name()});
    let answer = system.call("POST", MEMBERS, key, &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer
}

pub(crate) fn code(answer: &Answer) -> (u16, &str) {
    (answer.status, answer.body["code"].as_str().unwrap_or_default())
}

#[test]
fn a_person_acts_in_the_stored_role_for_any_claim_of_the_token() {
    let (system, issuer) = system();
    let token = issuer.token("u-17");
    let unknown = teams(&system, &token);
    assert_eq!(code(&unknown), (403, "not_a_member"));
    // The detail shows the person's own subject, because an ADMIN needs it for a new member.
    assert!(unknown.at("/detail").as_str().unwrap().ends_with("u-17"), "{unknown:?}");

    added(&system, CONSUMER, "u-18", "Jane Doe", Role::General);
    let mut claims = issuer.claims("u-18");
    claims["role"] = json!("ADMIN");
    claims["team"] = json!("1");
    let token = issuer.rsa.token(&json!({"alg": "RS256", "kid": "rsa"}), &claims);
    assert_eq!(teams(&system, &token).at("/results/0/name"), &json!("AwesomeConsumer"));
    let body = app(&json!({"VM": [{"name": "jane", "cpu": 2, "memory": 4}]}));
    let submitted = by(&system, &token, None, "POST", SUBMIT, &body);
    assert_eq!(submitted.status, 201, "{submitted:?}");
    // The history must show the person.
    let history = format!("{}history/", submitted.at("/change_instances/0/url").as_str().unwrap());
    let entry = system.get(&history, CONSUMER);
    assert_eq!(entry.at("/results/0/changed_by"), &json!("Jane Doe"), "{entry:?}");
    assert_eq!(entry.at("/results/0/changed_by_team"), &json!("AwesomeConsumer"));
    system.assert_sound();
    // A GENERAL must not manage members, and the person is not a member of team 1.
    assert_eq!(code(&by(&system, &token, None, "GET", MEMBERS, &Value::Null)), (403, "needs_admin"));
    assert_eq!(code(&by(&system, &token, Some("1"), "GET", TEAMS, &Value::Null)), (403, "not_a_member"));
}

#[test]
fn a_person_of_several_teams_says_for_which_one_they_act() {
    let (system, issuer) = system();
    added(&system, OWNER, "u-1", "Jane at VMs", Role::Admin);
    added(&system, CONSUMER, "u-1", "Jane", Role::ReadOnly);
    let token = issuer.token("u-1");
    let both = teams(&system, &token);
    let rows = both.at("/results").as_array().unwrap();
    assert_eq!((both.at("/count"), rows.len()), (&json!(2), 2));
    let members = |team: Option<&str>| by(&system, &token, team, "GET", MEMBERS, &Value::Null);
    assert_eq!(code(&members(None)), (403, "choose_team"));
    for (name, role, expected) in
        [("VMOwnerTeam", "ADMIN", (200, "")), ("AwesomeConsumer", "READ_ONLY", (403, "read_only_key"))]
    {
        let team = rows.iter().find(|team| team["name"] == name).unwrap();
        assert_eq!(team["role"], role);
        let listed = members(Some(&team["id"].to_string()));
        assert_eq!(code(&listed), expected, "{name}: {listed:?}");
    }
    for other in ["999", "x", "", "1,2", "01"] {
        assert_eq!(code(&members(Some(other))), (403, "not_a_member"), "{other:?}");
    }
    // An API key belongs to one team. The header may repeat this team, but not select another one.
    for (team, expected) in [("1", (200, "")), ("2", (403, "not_a_member"))] {
        let (key, headers) = (Some(OWNER), &[("dovetail-team", team)]);
        let request = ApiRequest { method: "GET", path: TEAMS, key, headers, ..ApiRequest::default() };
        assert_eq!(code(&system.send(&request)), expected, "an API key for team {team}");
    }
}

#[test]
fn every_forgery_is_refused() {
    let (system, issuer) = system();
    added(&system, CONSUMER, "u-1", "Jane", Role::Admin);
    let attacker = Issuer::start();
    let ec = |header: Value, claims: &Value| issuer.ec.token(&header, claims);
    let head = || json!({"alg": "ES256", "kid": "ec"});
    let right = issuer.claims("u-1");
    let claiming = |change: Value| {
        let mut claims = right.clone();
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let claims = claims.as_object().unwrap().clone().into_iter().filter(|(_, value)| !value.is_null());
        ec(head(), &Value::Object(claims.collect()))
    };
    for good in [
        ec(head(), &right),
        ec(json!({"alg": "ES256", "kid": "ec", "typ": "at+jwt"}), &right),
        claiming(json!({"aud": ["another", "dovetail"]})),
        claiming(json!({"nbf": seconds() - 1})),
        issuer.rsa.token(&json!({"alg": "RS256", "kid": "rsa", "typ": "JWT"}), &right),
    ] {
        assert_eq!(teams(&system, &good).status, 200, "{good}");
    }
    let public = issuer.rsa.published("rsa");
    let secret = |text: &str| Signer::Secret(text.as_bytes().to_vec());
    let hs = json!({"alg": "HS256", "kid": "rsa"});
    let good = ec(head(), &right);
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let other = ec(head(), &issuer.claims("u-2"));
    let other = other.split('.').nth(1).unwrap();
    let brought = json!({"alg": "ES256", "kid": "ec", "jwk": attacker.ec.published("ec")});
    let url = format!("{}/keys", attacker.url);
    let linked = json!({"alg": "ES256", "kid": "ec", "jku": url, "x5u": url});
    let none = |alg: &str| Signer::Unsigned.token(&json!({"alg": alg, "kid": "ec"}), &right);
    let forged = [
        ("no algorithm", none("none")),
        ("no algorithm, spelt otherwise", none("nOnE")),
        ("no signature", none("ES256")),
        ("no header of algorithm", ec(json!({"kid": "ec"}), &right)),
        ("a public key as a secret", secret(&public.to_string()).token(&hs, &right)),
        ("its modulus as a secret", secret(public["n"].as_str().unwrap()).token(&hs, &right)),
        ("an empty secret", secret("").token(&json!({"alg": "HS256", "kid": "ec"}), &right)),
        ("RSA's name for a key of P-256", ec(json!({"alg": "RS256", "kid": "ec"}), &right)),
        ("P-256's name for a key of RSA", issuer.rsa.token(&json!({"alg": "ES256", "kid": "rsa"}), &right)),
        ("the other key's id", ec(json!({"alg": "ES256", "kid": "rsa"}), &right)),
        ("a stronger algorithm", issuer.rsa.token(&json!({"alg": "RS512", "kid": "rsa"}), &right)),
        ("another's key under this id", attacker.ec.token(&head(), &right)),
        ("a key that the token brings", attacker.ec.token(&brought, &right)),
        ("a URL that the token names", attacker.ec.token(&linked, &right)),
        ("an unknown key id", ec(json!({"alg": "ES256", "kid": "another"}), &right)),
        ("a path for a key id", ec(json!({"alg": "ES256", "kid": "../../keys"}), &right)),
        ("a long key id", ec(json!({"alg": "ES256", "kid": "k".repeat(4_000)}), &right)),
        ("a key id that is no text", ec(json!({"alg": "ES256", "kid": ["ec"]}), &right)),
        ("no key id", ec(json!({"alg": "ES256"}), &right)),
        ("what must be understood", ec(json!({"alg": "ES256", "kid": "ec", "crit": ["exp"]}), &right)),
        ("a token for signing out", ec(json!({"alg": "ES256", "kid": "ec", "typ": "logout+jwt"}), &right)),
        ("another issuer", claiming(json!({"iss": attacker.url}))),
        ("the issuer with a slash", claiming(json!({"iss": format!("{}/", issuer.url)}))),
        ("no issuer", claiming(json!({"iss": null}))),
        ("another audience", claiming(json!({"aud": "another"}))),
        ("other audiences", claiming(json!({"aud": ["another", "dovetail2"]}))),
        ("no audience", claiming(json!({"aud": null}))),
        ("an empty audience", claiming(json!({"aud": []}))),
        ("expired", claiming(json!({"exp": seconds() - 60}))),
        ("no end", claiming(json!({"exp": null}))),
        ("an end that is no number", claiming(json!({"exp": "tomorrow"}))),
        ("an end beyond all time", claiming(json!({"exp": u64::MAX}))),
        ("not yet", claiming(json!({"nbf": seconds() + 600}))),
        ("nobody", claiming(json!({"sub": null}))),
        ("an empty name", claiming(json!({"sub": ""}))),
        ("a name of control characters", claiming(json!({"sub": "u-1\u{0}"}))),
        ("another's claims", format!("{header}.{other}.{signature}")),
        ("half a signature", format!("{signed}.{}", &signature[..40])),
        ("two parts", signed.to_owned()),
        ("four parts", format!("{good}.{payload}")),
        ("no JSON", format!("e30x.{payload}.{signature}")),
        ("no base64", format!("{header}.{payload}.***")),
        ("no token", "x".to_owned()),
        ("a key for a token", CONSUMER.to_owned()),
    ];
    for (what, token) in &forged {
        let answer = teams(&system, token);
        assert_eq!(code(&answer), (401, "unauthenticated"), "{what}: {answer:?}");
    }
    assert_eq!(attacker.requests(), 0, "only the issuer gets requests for keys");
    // Two requests at the first token: configuration and keys. Unknown key ids within a minute cause no further
    // request, so forged tokens put no load on the issuer.
    assert_eq!(issuer.requests(), 2);
}

#[test]
fn without_an_issuer_every_token_is_refused() {
    let (system, issuer) = (Running::demo(), Issuer::start());
    added(&system, CONSUMER, "u-1", "Jane", Role::Admin);
    assert_eq!(code(&teams(&system, &issuer.token("u-1"))), (401, "unauthenticated"));
    assert_eq!(issuer.requests(), 0);
}

#[test]
fn the_issuers_keys_are_cached_and_reread_when_old_or_unknown() {
    let (system, served) = (Running::demo(), Issuer::start());
    let issuer = dovetail_issuer::Issuer::new(served.settings());
    let time = Arc::new(AtomicU64::new(1_000));
    let clock: Clock = {
        let time = Arc::clone(&time);
        Arc::new(move || Timestamp::from_micros(time.load(Ordering::SeqCst) * 1_000_000))
    };
    let person = |token: &str| {
        let person = system.block_on(by_clock(Arc::clone(&clock), issuer.person(token)));
        person.map(|person| person.map(|person| person.subject)).map_err(|error| error.to_string())
    };
    let jane = || Ok(Some("jane".to_owned()));
    let after = |seconds: u64| time.fetch_add(seconds, Ordering::SeqCst);

    // Without any keys a token cannot be checked. This is a failure of the issuer, and not a rejection of the person.
    served.is_down(true);
    assert!(person(&served.token("jane")).unwrap_err().contains("is unreachable"));
    served.is_down(false);
    assert!(person(&served.token("jane")).is_err(), "the issuer gets no second request at once");
    after(5);
    for _ in 0..2 {
        assert_eq!((person(&served.token("jane")), served.requests()), (jane(), 3));
    }

    // Cached keys stay valid during an outage of days.
    served.is_down(true);
    after(3 * 86_400);
    for _ in 0..2 {
        assert_eq!((person(&served.token("jane")), served.requests()), (jane(), 4));
    }
    served.is_down(false);
    after(60);
    assert_eq!((person(&served.token("jane")), served.requests()), (jane(), 6));

    // An unknown key id reads the keys of the issuer, but at most once a minute.
    let new = Signer::ec();
    let by_new = new.token(&json!({"alg": "ES256", "kid": "new"}), &served.claims("jane"));
    assert_eq!((person(&by_new), served.requests()), (Ok(None), 6));
    served.publish(vec![new.published("new")]);
    assert_eq!((person(&by_new), served.requests()), (Ok(None), 6));
    after(60);
    assert_eq!((person(&by_new), served.requests()), (jane(), 8));
    // The read replaced the old key.
    assert_eq!((person(&served.token("jane")), served.requests()), (Ok(None), 8));

    // The issuer publishes only an unusable key, so the cached keys stay.
    served.publish(vec![Signer::Secret(vec![7; 32]).published("new")]);
    after(3_600);
    assert_eq!((person(&by_new), served.requests()), (jane(), 10));
}
