//! The main program of a function behind the HTTP API: environment, client and event loop.

use crate::Event;
use crate::answer::Answering;
use crate::authorizer::Front;
use crate::cursor::CursorKey;
use crate::log_line::told;
use crate::operation::Function;
use dovetail_aws::trace::{Tracer, traced};
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, service_fn};

/// Runs a function until Lambda ends the process.
pub async fn run(
    function: Function,
    handle: for<'a> fn(&'a Table, Event) -> Answering<'a>,
) -> Result<(), Error> {
    serve(function, |table, event| handle(table, event)).await
}

/// Runs a function that signs the cursors of its lists; `DOVETAIL_CURSOR_KEY` has the key.
pub async fn run_with_key(
    function: Function,
    handle: for<'a> fn(&'a Table, &'a CursorKey, Event) -> Answering<'a>,
) -> Result<(), Error> {
    let key = CursorKey::new(&std::env::var("DOVETAIL_CURSOR_KEY")?);
    // The handler needs the key for the life of the process, so a leak is the simplest `'static` reference.
    let key: &'static CursorKey = Box::leak(Box::new(key));
    serve(function, move |table, event| handle(table, key, event)).await
}

async fn serve(
    function: Function,
    handle: impl for<'a> Fn(&'a Table, Event) -> Answering<'a>,
) -> Result<(), Error> {
    // Connected once: later invocations of the process reuse the connections.
    let table = Table::connect(Settings::from_env()?);
    let (front, tracer) = (Front::from_env()?, Tracer::from_env());
    lambda_runtime::run(service_fn(|event: LambdaEvent<_>| async {
        let (tracer, trace) = (tracer.as_ref(), event.context.xray_trace_id);
        // Without a gateway, caller and request id in the event are the client's own claims (ADR 9).
        let event = front.event(&table, event.context.request_id, event.payload).await?;
        let answering = told(function, event, |event| handle(&table, event));
        Ok::<_, Error>(traced(tracer, function.name(), trace.as_deref(), answering).await)
    }))
    .await
}
