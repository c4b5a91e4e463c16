//! Routes without a key: health, contract, dialect of definitions and explanations of errors.

mod html;

use domain::catalog::schema::DIALECT;
use dovetail_http::{Answering, Code, Failure, Function, Operation, Question, Reply, Request, answer_anyone};
use dovetail_table::{RECORD_FORMAT, Table};
use serde_json::json;

/// The OpenAPI document `infra/openapi.yaml` as JSON.
pub const CONTRACT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Version of Dovetail, the same for all its crates.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Git commit of the build; `unknown` without a repository.
pub const COMMIT: &str = env!("COMMIT");

/// Version of the contract, `info.version` of the OpenAPI document.
pub const CONTRACT_VERSION: &str = env!("CONTRACT_VERSION");

/// A section for each error code, generated from the error table.
const ERRORS: &str = include_str!("../../../docs/reference/errors.md");

/// Answers one request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations are other functions'")]
pub fn handle(table: &Table, request: Request) -> Answering<'_> {
    answer_anyone(request, Function::About, async move |question| match question.operation {
        Operation::GetHealth => health(table).await,
        Operation::GetContract => Ok(Reply::page("application/json", CONTRACT)),
        Operation::GetDefinitionSchema => Ok(Reply::page("application/schema+json", DIALECT)),
        Operation::GetErrorPage => error_page(&question),
        _ => Err(Code::NoSuchRoute.into()),
    })
}

/// Returns success with the versions of this build if the table is usable.
async fn health(table: &Table) -> Result<Reply, Failure> {
    table.check_health().await?;
    let body = json!({
        "status": "ok",
        "version": VERSION,
        "commit": COMMIT,
        "contract": CONTRACT_VERSION,
        "record_format": RECORD_FORMAT,
    });
    Reply::new(200, body)
}

fn error_page(question: &Question) -> Result<Reply, Failure> {
    let code = question.code.as_deref().unwrap_or_default();
    // The path comes from the client, so only a known code may select a heading.
    let code = Code::parse(code).ok_or(Code::NotFound)?;
    let section = section(code).ok_or(Code::NotFound)?;
    let mut reply = if html::is_preferred(&question.accept) {
        let page = html::page(code, section, &question.prefix);
        let mut reply = Reply::page("text/html; charset=utf-8", page);
        reply.headers.push(("content-security-policy", html::POLICY.to_owned()));
        reply
    } else {
        Reply::page("text/plain; charset=utf-8", section)
    };
    reply.headers.push(("vary", "Accept".to_owned()));
    Ok(reply)
}

/// Returns the section of a code, from its heading to the next one.
fn section(code: Code) -> Option<&'static str> {
    let (_, from) = ERRORS.split_once(&format!("\n## {}\n", code.name()))?;
    Some(from.split_once("\n## ").map_or(from, |(section, _)| section).trim())
}
