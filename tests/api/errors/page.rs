//! The explanations of error codes: docs/reference/errors.md with the provoked responses, and the pages that the API
//! returns.

use super::{Provoked, WHOLE};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Hash;
use dovetail_http::Code;
use support::{Answer, ApiRequest};

const INTRODUCTION: &str = "# Errors

Every error response but `unknown_filter` has a stable `code`, a `title`, a `detail` and a `type`. The `type` is the
URL of the section for this code: `GET /v1/errors/<code>` returns it without a key, as text or HTML. Codes never
change, but texts may change. If several errors apply, the response contains the first of them in the order of this
page. A test generates this page from the error table ([`code.rs`](../../infra/http/src/code.rs)). Each example is a
real response.
";

/// Returns a paragraph in lines of at most 100 bytes. A longer word has its own line.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + word.len() < 100 => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// Returns the page of errors: for each code its meaning, the advice and a provoked response.
fn page(provoked: &Provoked) -> String {
    let responses = Code::ALL.iter().filter_map(|code| provoked.responses.get(code.name()));
    let sections = responses.map(|(code, answer)| section(*code, answer));
    INTRODUCTION.to_owned() + &sections.collect::<String>()
}

fn section(code: Code, answer: &Answer) -> String {
    let (name, status, title) = (code.name(), code.status(), code.title());
    let link = answer.at("/type").as_str().unwrap_or_default();
    let mut example = format!("{:#}", answer.body);
    // Port and time differ in each run, and the page must stay the same.
    if let Some(base) = link.strip_suffix(&format!("/v1/errors/{name}")) {
        example = example.replace(base, "https://api.example.com");
    }
    let since = ["/problems/0/change_instance/since", "/waits_for/0/since"];
    for since in since.iter().filter_map(|pointer| answer.at(pointer).as_str()) {
        example = example.replace(since, "2026-01-31T12:00:00.000000Z");
    }
    let (meaning, advice) = code.help();
    let (meaning, advice) = (wrapped(meaning), wrapped(&format!("*Remedy:* {advice}")));
    let heading = format!("\n## {name}\n\n**{status}**, {title}.\n\n");
    format!("{heading}{meaning}\n\n{advice}\n\n```json\n{example}\n```\n")
}

#[test]
fn every_code_has_its_section_in_the_page_and_its_type_leads_there() {
    let provoked = &*WHOLE;
    expect_test::expect_file!["../../../docs/reference/errors.md"].assert_eq(&page(provoked));
    let anyone =
        |path: &str| provoked.system.send(&ApiRequest { method: "GET", path, ..ApiRequest::default() });
    for code in Code::ALL {
        let answer = anyone(&format!("/v1/errors/{}", code.name()));
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        let text = answer.body.as_str().unwrap();
        assert!(text.starts_with(&format!("**{}**, {}.", code.status(), code.title())), "{text}");
        assert!(text.contains("*Remedy:* ") && !text.contains("\n## "), "{text}");
    }
    let answer = anyone("/v1/errors/no_such_code");
    assert_eq!(answer.code(), (404, "not_found"));
    let link = answer.at("/type").as_str().unwrap();
    assert_eq!(anyone(link).status, 200);
}

#[test]
fn a_page_of_a_code_is_html_if_the_client_prefers_html() {
    let system = &WHOLE.system;
    let get = |path: &str, accept: &str| {
        let headers: &[(&str, &str)] = if accept.is_empty() { &[] } else { &[("accept", accept)] };
        system.send(&ApiRequest { method: "GET", path, headers, ..ApiRequest::default() })
    };
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (accept, is_html) in [
        (browser, true),
        ("text/html", true),
        ("TEXT/HTML;q=0.2", true),
        ("text/plain;q=0.5, text/html;level=1;q=0.6", true),
        ("text/*;q=0.3, text/html;q=0.4", true),
        ("", false),
        ("*/*", false),
        ("text/*", false),
        ("text/plain, text/html", false),
        ("text/html;q=0.5, */*;q=0.8", false),
        ("text/html;q=0", false),
        ("text/html;q=x", false),
        ("application/json", false),
    ] {
        let answer = get("/v1/errors/not_found", accept);
        let media = if is_html { "text/html; charset=utf-8" } else { "text/plain; charset=utf-8" };
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(media)), "{accept}");
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("Accept")), "{accept}");
        assert_eq!(answer.header("content-security-policy").is_some(), is_html, "{accept}");
    }
    for code in Code::ALL {
        let answer = get(&format!("/v1/errors/{}", code.name()), browser);
        let page = answer.body.as_str().unwrap();
        assert!(page.starts_with("<!doctype html>\n"), "{page}");
        assert!(page.contains(&format!("<h1><code>{}</code></h1>", code.name())), "{page}");
        assert!(page.contains(&format!("<strong>{}</strong>", code.status())), "{page}");
        let (explanation, _) = page.split_once("<h2>Example</h2>\n<pre>").unwrap();
        assert!(!explanation.contains('`'), "{page}");
        for other in Code::ALL {
            assert!(page.contains(&format!("<a href=\"/v1/errors/{}\">", other.name())), "{page}");
        }
    }
    let unauthenticated = get("/v1/errors/unauthenticated", browser);
    let page = unauthenticated.body.as_str().unwrap();
    assert!(page.contains("<code>Authorization: Api-Key &lt;key&gt;</code>"), "{page}");
    assert!(!page.contains("<key>"), "{page}");
    // The policy allows the style of the page, and nothing else.
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, _) = style.split_once("</style>").unwrap();
    let hash = STANDARD.encode(Hash::of(style).as_bytes());
    let policy = unauthenticated.header("content-security-policy").unwrap();
    assert!(policy.starts_with(&format!("default-src 'none'; style-src 'sha256-{hash}';")), "{policy}");
    assert_eq!(get("/v1/errors/no_such_code", browser).at("/code"), "not_found");
}
