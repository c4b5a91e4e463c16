//! The main program of `generate`: environment, client and event loop.

use dovetail_aws::trace::{Tracer, traced};
use dovetail_aws::{metrics, now, print_log_line};
use dovetail_table::stream::{StreamEvent, lag};
use dovetail_table::{Settings, Table, with_request_metrics};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let (records, lag) = (event.payload.records.len(), lag(&event.payload, now()));
        let generating = with_request_metrics(generate::handle(&table, event.payload));
        let trace = event.context.xray_trace_id;
        let (reply, request_metrics) =
            traced(tracer.as_ref(), "generate", trace.as_deref(), generating).await;
        let mut figures = request_metrics.figures_of(records);
        figures.push(("StreamLag", lag.into()));
        print_log_line(metrics(&[("Function", "generate")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
