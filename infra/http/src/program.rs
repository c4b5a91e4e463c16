//! The program of a function that is called through HTTP: reads the environment, makes the client once, and runs.

use crate::Event;
use crate::authorizer::Front;
use crate::cursor::CursorKey;
use crate::event::Answering;
use crate::route::Function;
use crate::told::told;
use dovetail_aws::trace::{Tracer, traced};
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, service_fn};

/// Answers requests until Lambda ends the process.
pub async fn run(
    function: Function,
    handle: for<'a> fn(&'a Table, Event) -> Answering<'a>,
) -> Result<(), Error> {
    serve(function, |table, event| handle(table, event)).await
}

/// The same for a function that signs the positions in its lists, with the key in `DOVETAIL_CURSOR_KEY`.
pub async fn run_with_key(
    function: Function,
    handle: for<'a> fn(&'a Table, &'a CursorKey, Event) -> Answering<'a>,
) -> Result<(), Error> {
    let key = CursorKey::new(&std::env::var("DOVETAIL_CURSOR_KEY")?);
    // The program ends with its process: the key lives as long.
    let key: &'static CursorKey = Box::leak(Box::new(key));
    serve(function, move |table, event| handle(table, key, event)).await
}

async fn serve(
    function: Function,
    handle: impl for<'a> Fn(&'a Table, Event) -> Answering<'a>,
) -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let (front, tracer) = (Front::from_env()?, Tracer::from_env());
    lambda_runtime::run(service_fn(|event: LambdaEvent<_>| async {
        let (tracer, trace) = (tracer.as_ref(), event.context.xray_trace_id);
        let event = front.event(&table, event.context.request_id, event.payload).await?;
        let answering = told(function, event, |event| handle(&table, event));
        Ok::<_, Error>(traced(tracer, function.name(), trace.as_deref(), answering).await)
    }))
    .await
}
