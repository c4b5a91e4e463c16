//! The main program of `authorize`: environment, clients and event loop.

use dovetail_aws::trace::{Tracer, traced};
use dovetail_aws::{metrics, print_log_line};
use dovetail_issuer::Issuer;
use dovetail_table::{Settings, Table, with_request_metrics};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    let issuer = dovetail_issuer::Settings::from_env()?.map(Issuer::new);
    run(service_fn(|event: LambdaEvent<_>| async {
        let authorizing = with_request_metrics(authorize::handle(&table, issuer.as_ref(), event.payload));
        let trace = event.context.xray_trace_id;
        let (reply, request_metrics) =
            traced(tracer.as_ref(), "authorize", trace.as_deref(), authorizing).await;
        print_log_line(metrics(&[("Function", "authorize")], &request_metrics.figures()));
        Ok::<_, Error>(reply?)
    }))
    .await
}
