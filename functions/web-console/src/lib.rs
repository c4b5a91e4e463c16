//! The web console: its built files, and the settings that it reads first. Neither files nor settings need a key or a
//! table.

mod files;
mod settings;

use dovetail_http::{
    Answering, Code, Content, Failure, Function, Operation, Question, Reply, Request, answer_anyone,
};
use files::File;
pub use settings::{DemoTeam, Settings};

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(settings: &Settings, request: Request) -> Answering<'_> {
    answer_anyone(request, Function::WebConsole, async move |question| {
        let mut reply = match question.operation {
            Operation::GetConsoleFile => file(&question)?,
            Operation::GetConsoleSettings => console_settings(settings)?,
            _ => return Err(Code::NoSuchRoute.into()),
        };
        reply.headers.push(("content-security-policy", policy(settings)));
        reply.headers.push(("x-content-type-options", "nosniff".to_owned()));
        reply.headers.push(("referrer-policy", "no-referrer".to_owned()));
        Ok(reply)
    })
}

/// Returns the settings, which may differ after the next start, so no cache may keep them.
fn console_settings(settings: &Settings) -> Result<Reply, Failure> {
    let mut reply = Reply::new(200, settings)?;
    reply.headers.push(("cache-control", "no-store".to_owned()));
    Ok(reply)
}

fn file(question: &Question) -> Result<Reply, Failure> {
    // The URLs in the files are relative, so at the path of the stage without a slash they would lack the stage.
    if question.path.is_empty() && !question.prefix.is_empty() {
        return Ok(empty(307, ("location", format!("{}/index.html", question.prefix))));
    }
    let file = File::at(&question.path).ok_or(Code::NoSuchRoute)?;
    let mut reply = if file.is_known(&question.if_none_match) {
        empty(304, ("vary", "Accept-Encoding".to_owned()))
    } else {
        Reply { body: Content::File(&file.content), ..Reply::page(file.content_type(), "") }
    };
    reply.headers.push(("etag", file.etag()));
    // The names stay the same in each version, so a browser asks each time and mostly gets 304.
    reply.headers.push(("cache-control", "no-cache".to_owned()));
    Ok(reply)
}

/// Returns a reply without a body.
fn empty(status: u16, header: (&'static str, String)) -> Reply {
    Reply { status, headers: vec![header], body: Content::Nothing, ..Reply::page("text/plain", "") }
}

/// Returns the value of `Content-Security-Policy`: only the files of this origin, and requests to it and the issuer.
fn policy(settings: &Settings) -> String {
    let contacted: String = settings.origins().iter().map(|origin| format!(" {origin}")).collect();
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'{contacted}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
