//! The page of an error code as HTML, for clients that prefer it.

use dovetail_http::Code;
use std::fmt::Write as _;

/// The page's only style. The policy below contains its hash, so no other style or script applies.
const STYLE: &str = ":root{color-scheme:light dark}\
    body{font:16px/1.5 system-ui,sans-serif;max-width:45rem;margin:2rem auto;padding:0 1rem}\
    pre{overflow:auto;padding:1rem;border:1px solid #8888}\
    nav ul{columns:15rem;list-style:none;padding:0}";

/// The value of `Content-Security-Policy`.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'sha256-Uto1hM1yEudMrfVq3MtR+rZrGiFMUz5ZtmcCNV5TBLI='; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns whether a value of `Accept` gives HTML a higher weight than plain text.
///
/// Browsers send such a value. Other clients send `*/*` or no header, and get text.
pub(crate) fn is_preferred(accept: &str) -> bool {
    weight(accept, "html") > weight(accept, "plain")
}

/// Returns the weight of a subtype of `text`, from the most specific range that includes it (RFC 9110, 12.5.1).
fn weight(accept: &str, subtype: &str) -> f32 {
    let mut best = (0, 0.0);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let precision = match parts.next().map(str::to_ascii_lowercase).as_deref() {
            Some("*/*") => 1,
            Some("text/*") => 2,
            Some(media) if media.strip_prefix("text/") == Some(subtype) => 3,
            Some(_) | None => continue,
        };
        let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let quality = quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
        if precision > best.0 {
            best = (precision, quality);
        }
    }
    best.1
}

/// Returns the page of a code. `section` is its text form, which contains the example; `prefix` starts every path.
pub(crate) fn page(code: Code, section: &str, prefix: &str) -> String {
    let (status, name, title) = (code.status(), code.name(), code.title());
    let (meaning, remedy) = code.help();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name} · Dovetail errors</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1><code>{name}</code></h1>\n<p><strong>{status}</strong>, {}.</p>\n\
         <h2>Meaning</h2>\n<p>{}</p>\n<h2>Remedy</h2>\n<p>{}</p>\n",
        escaped(title),
        with_code(meaning),
        with_code(remedy),
    );
    if let Some(example) = example(section) {
        // Writes to a `String` cannot fail.
        let _written = writeln!(page, "<h2>Example</h2>\n<pre>{}</pre>", escaped(example));
    }
    page.push_str("</main>\n<nav>\n<h2>All error codes</h2>\n<ul>\n");
    for name in Code::ALL.map(Code::name) {
        let _written = writeln!(
            page,
            "<li><a href=\"{}/v1/errors/{name}\"><code>{name}</code></a></li>",
            escaped(prefix)
        );
    }
    page.push_str("</ul>\n</nav>\n</body>\n</html>\n");
    page
}

/// Returns the JSON in the fenced block of a section.
fn example(section: &str) -> Option<&str> {
    let (_, from) = section.split_once("```json\n")?;
    from.split_once("\n```").map(|(example, _)| example)
}

/// Returns text as HTML, with its code spans.
fn with_code(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        let part = escaped(part);
        if index % 2 == 1 {
            html.extend(["<code>", &part, "</code>"]);
        } else {
            html.push_str(&part);
        }
    }
    html
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
