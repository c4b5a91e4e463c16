//! The main program of `sweep`: environment, clients and event loop.

use dovetail_aws::{Tracer, emit, metrics, observed};
use dovetail_queue::Queue;
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use sweep::{Answer, answer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    table.open_connection().await;
    let of_owners = std::env::var("DOVETAIL_OWNER_METRICS").is_ok_and(|value| value == "yes");
    let queue = Queue::connect(dovetail_queue::Settings::from_env()?);
    let (table, queue, tracer) = (&table, &queue, &tracer);
    run(service_fn(async |event: LambdaEvent<_>| {
        let (answered, observed) = observed(Box::pin(answer(table, queue, event.payload, of_owners))).await;
        tracer.send("sweep", event.context.xray_trace_id, &observed.trace, &[]);
        let records = answered.as_ref().map_or(0, |answered| answered.records);
        emit(metrics(&[("Function", "sweep")], &observed.figures_of(records)));
        let Answer { reply, lines, .. } = answered?;
        lines.into_iter().for_each(emit);
        Ok::<_, Error>(reply)
    }))
    .await
}
