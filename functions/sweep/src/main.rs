//! The main program of `sweep`: environment, clients and event loop.

use dovetail_aws::trace::{Tracer, traced};
use dovetail_aws::{metrics, print_log_line};
use dovetail_queue::Queue;
use dovetail_table::{Settings, Table, with_request_metrics};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use sweep::{Answer, answer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    let of_owners = std::env::var("DOVETAIL_OWNER_METRICS").is_ok_and(|value| value == "yes");
    let queue = Queue::connect(dovetail_queue::Settings::from_env()?);
    let (table, queue, tracer) = (&table, &queue, tracer.as_ref());
    run(service_fn(async |event: LambdaEvent<_>| {
        let answering = with_request_metrics(Box::pin(answer(table, queue, event.payload, of_owners)));
        let trace = event.context.xray_trace_id.as_deref();
        let (answered, request_metrics) = traced(tracer, "sweep", trace, answering).await;
        let records = answered.as_ref().map_or(0, |answered| answered.records);
        print_log_line(metrics(&[("Function", "sweep")], &request_metrics.figures_of(records)));
        let Answer { reply, lines, .. } = answered?;
        lines.into_iter().for_each(print_log_line);
        Ok::<_, Error>(reply)
    }))
    .await
}
