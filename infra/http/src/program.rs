//! The main program of a function behind the HTTP API: environment, client and event loop.

use crate::answer::Answering;
use crate::auth_mode::AuthMode;
use crate::cursor::CursorKey;
use crate::fair_use::FairUse;
use crate::gateway;
use crate::log_line::logged;
use crate::operation::Function;
use dovetail_aws::Tracer;
use dovetail_table::{Settings, Table};
use lambda_http::{Error, Request, RequestExt as _};
use std::sync::Arc;

/// Runs a function until Lambda ends the process.
pub async fn run(
    function: Function,
    handle: for<'a> fn(&'a Table, Request) -> Answering<'a>,
) -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    serve(function, &table, |request| handle(&table, request)).await
}

/// Runs a function that signs the cursors of its lists; `DOVETAIL_CURSOR_KEY` has the key.
pub async fn run_with_key(
    function: Function,
    handle: for<'a> fn(&'a Table, &'a CursorKey, Request) -> Answering<'a>,
) -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let key = CursorKey::new(&std::env::var("DOVETAIL_CURSOR_KEY")?);
    serve(function, &table, |request| handle(&table, &key, request)).await
}

/// Runs a function with its own clients, which are connected once, so later invocations reuse the connections.
pub async fn serve<'t>(
    function: Function,
    table: &'t Table,
    handle: impl Fn(Request) -> Answering<'t> + Sync,
) -> Result<(), Error> {
    table.open_connection().await;
    run_loop(function, Some(table), handle).await
}

/// Runs a function that uses no table.
pub async fn serve_without_table<'t>(
    function: Function,
    handle: impl Fn(Request) -> Answering<'t> + Sync,
) -> Result<(), Error> {
    run_loop(function, None, handle).await
}

async fn run_loop<'t>(
    function: Function,
    table: Option<&'t Table>,
    handle: impl Fn(Request) -> Answering<'t> + Sync,
) -> Result<(), Error> {
    let (auth_mode, tracer) = (AuthMode::from_env()?, Tracer::from_env());
    let fair_use = Arc::new(FairUse::from_env()?);
    let observed = |mut request: Request| -> Answering<'_> {
        request.extensions_mut().insert(Arc::clone(&fair_use));
        let header = request.lambda_context_ref().and_then(|context| context.xray_trace_id.clone());
        let (tracer, handle) = (&tracer, &handle);
        Box::pin(async move { logged(function, (tracer, header), request, handle).await })
    };
    gateway::serve(auth_mode, table, &observed).await
}
