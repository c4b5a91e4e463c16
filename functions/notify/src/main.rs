//! The main program of `notify`: environment, client and event loop.

use dovetail_aws::{Tracer, emit, metrics, now, observed};
use dovetail_events::{Bus, Settings};
use dovetail_table::stream::{StreamEvent, lag};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (bus, tracer) = (Bus::connect(Settings::from_env()?), Tracer::from_env());
    bus.open_connection().await;
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let (records, lag) = (event.payload.records.len(), lag(&event.payload, now()));
        let (reply, observed) = observed(notify::handle(&bus, event.payload)).await;
        tracer.send("notify", event.context.xray_trace_id, &observed.trace, &[]);
        let figures = [("Records", records.into()), ("StreamLag", lag.into())];
        emit(metrics(&[("Function", "notify")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
