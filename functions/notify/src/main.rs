//! The main program of `notify`: environment, client and event loop.

use dovetail_aws::trace::{Tracer, traced};
use dovetail_aws::{metrics, now, print_log_line};
use dovetail_events::{Bus, Settings};
use dovetail_table::stream::{StreamEvent, lag};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (bus, tracer) = (Bus::connect(Settings::from_env()?), Tracer::from_env());
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let (records, lag) = (event.payload.records.len(), lag(&event.payload, now()));
        let trace = event.context.xray_trace_id;
        let reply =
            traced(tracer.as_ref(), "notify", trace.as_deref(), notify::handle(&bus, event.payload)).await;
        let figures = [("Records", records.into()), ("StreamLag", lag.into())];
        print_log_line(metrics(&[("Function", "notify")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
