//! The main program of `deliver`: environment, clients and event loop.

use deliver::Handles;
use dovetail_aws::{Tracer, emit, metrics, observed};
use dovetail_outbound::{Outbound, Targets};
use dovetail_queue::{Queue, SqsEvent};
use dovetail_table::Table;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let handles = Handles {
        table: Table::connect(dovetail_table::Settings::from_env()?),
        queue: Queue::connect(dovetail_queue::Settings::from_env()?),
        outbound: Outbound::new(Targets::from_env()),
    };
    let tracer = Tracer::from_env();
    handles.table.open_connection().await;
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let messages = event.payload.records.len();
        let ((reply, delivery_metrics), observed) = observed(deliver::handle(&handles, event.payload)).await;
        tracer.send("deliver", event.context.xray_trace_id, &observed.trace, &[]);
        let figures = [
            ("Messages", messages.into()),
            ("Delivered", delivery_metrics.delivered.into()),
            ("NotTaken", delivery_metrics.not_taken.into()),
            ("GivenUp", delivery_metrics.given_up.into()),
        ];
        emit(metrics(&[("Function", "deliver")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
