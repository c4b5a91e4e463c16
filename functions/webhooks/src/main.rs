//! The main program of `webhooks`: environment, clients and event loop.

use dovetail_aws::trace::{Tracer, traced};
use dovetail_http::{CursorKey, Front, Function, told};
use dovetail_outbound::{Outbound, Targets};
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let key = CursorKey::new(&std::env::var("DOVETAIL_CURSOR_KEY")?);
    let outbound = Outbound::new(Targets::from_env());
    let (front, tracer) = (Front::from_env()?, Tracer::from_env());
    run(service_fn(|event: LambdaEvent<_>| async {
        let (tracer, trace) = (tracer.as_ref(), event.context.xray_trace_id);
        let event = front.event(&table, event.context.request_id, event.payload).await?;
        let answering =
            told(Function::Webhooks, event, |event| webhooks::handle(&table, &key, &outbound, event));
        Ok::<_, Error>(traced(tracer, "webhooks", trace.as_deref(), answering).await)
    }))
    .await
}
