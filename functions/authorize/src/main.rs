//! The main program of `authorize`: environment, clients and event loop.

use dovetail_aws::{Tracer, emit, metrics, observed};
use dovetail_issuer::Issuer;
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let (table, tracer) = (Table::connect(Settings::from_env()?), Tracer::from_env());
    table.open_connection().await;
    let issuer = dovetail_issuer::Settings::from_env()?.map(Issuer::new);
    run(service_fn(|event: LambdaEvent<_>| async {
        let (reply, observed) = observed(authorize::handle(&table, issuer.as_ref(), event.payload)).await;
        tracer.send("authorize", event.context.xray_trace_id, &observed.trace, &[]);
        emit(metrics(&[("Function", "authorize")], &observed.figures()));
        Ok::<_, Error>(reply?)
    }))
    .await
}
