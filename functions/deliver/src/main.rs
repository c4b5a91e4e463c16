//! The main program of `deliver`: environment, clients and event loop.

use deliver::Handles;
use dovetail_aws::trace::{Tracer, traced};
use dovetail_aws::{metrics, print_log_line};
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
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let messages = event.payload.records.len();
        let trace = event.context.xray_trace_id;
        let handled = deliver::handle(&handles, event.payload);
        let (reply, delivery_metrics) = traced(tracer.as_ref(), "deliver", trace.as_deref(), handled).await;
        let figures = [
            ("Messages", messages.into()),
            ("Delivered", delivery_metrics.delivered.into()),
            ("NotTaken", delivery_metrics.not_taken.into()),
            ("GivenUp", delivery_metrics.given_up.into()),
        ];
        print_log_line(metrics(&[("Function", "deliver")], &figures));
        Ok::<_, Error>(reply)
    }))
    .await
}
