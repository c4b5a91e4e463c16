//! The main program of `generate`: environment, client and event loop.

use dovetail_aws::{Tracer, emit, metrics, now, observed};
use dovetail_table::stream::{StreamEvent, lag};
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    table.open_connection().await;
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let (records, lag) = (event.payload.records.len(), lag(&event.payload, now()));
        let (reply, observed) = observed(generate::handle(&table, event.payload)).await;
        tracer.send("generate", event.context.xray_trace_id, &observed.trace, &[]);
        let mut figures = observed.figures_of(records);
        figures.push(("StreamLag", lag.into()));
        emit(metrics(&[("Function", "generate")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
