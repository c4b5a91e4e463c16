//! The command `mcp`: a server of the Model Context Protocol on standard input and output.
//!
//! Assistants read the catalogue, plan declarations and explain changes. They write only with `--allow`.

mod input;
mod read;
mod tools;
mod write;

use self::tools::{Access, Allowed, TOOLS, Tool};
use crate::{
    api::{client::Api, suggest},
    base::failure::{Done, Failure},
};
use clap::Args;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
    transport::stdio,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// What an assistant learns about the server at the start.
const INSTRUCTIONS: &str = "Dovetail keeps the declared state of a team: applications with service items. Read the \
    catalogue and the definition of a service, write a declaration, validate it and plan it. A plan has a token; \
    `apply` makes exactly the changes of that plan, or none. A change waits for its service owner.";

/// Serves tools for assistants over standard input and output
///
/// The tools read, validate and plan. `--allow` adds tools that write.
#[derive(Args, Clone, Debug)]
pub(crate) struct Mcp {
    /// Tools that write; none by default
    #[arg(long, value_name = "TOOL", value_enum, value_delimiter = ',')]
    allow: Vec<Allowed>,
}

/// Executes `mcp` until standard input ends.
pub(crate) fn mcp(api: Api, command: &Mcp) -> Result<Done, Failure> {
    let server = Server { api: Arc::new(api), allow: command.allow.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(Failure::failed)?.block_on(async {
        let running = server.serve(stdio()).await.map_err(Failure::failed)?;
        running.waiting().await.map_err(Failure::failed)?;
        Ok(Done::Success)
    })
}

struct Server {
    api: Arc<Api>,
    allow: Vec<Allowed>,
}

impl Server {
    /// Returns the tools that this server offers.
    fn offered(&self) -> impl Iterator<Item = &'static Tool> {
        TOOLS.iter().filter(|tool| match tool.access {
            Access::Read => true,
            Access::Write(allowed) => self.allow.contains(&allowed),
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("dovetail", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offered().map(Tool::describe).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.offered().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params("no tool has this name", None));
        };
        let (api, input) = (Arc::clone(&self.api), Value::Object(request.arguments.unwrap_or_default()));
        // The client of the API blocks, and other calls must not wait for it.
        let result = tokio::task::spawn_blocking(move || tool.call(&api, &input)).await;
        Ok(match result {
            Ok(Ok(value)) => CallToolResult::structured(value),
            Ok(Err(failure)) => failed(&suggest::filter(failure)),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        }
        .into())
    }
}

/// Returns the error of a tool: a text, and the problems as data.
fn failed(failure: &Failure) -> CallToolResult {
    let problem = |located: crate::base::location::Located| {
        let problem = located.problem;
        json!({"pointer": problem.pointer, "rule": problem.rule, "detail": problem.detail})
    };
    let problems: Vec<Value> = failure.problems().unwrap_or_default().into_iter().map(problem).collect();
    let mut result =
        CallToolResult::structured_error(json!({"error": failure.to_string(), "problems": problems}));
    result.content = vec![ContentBlock::text(failure.to_string())];
    result
}
