//! Reads the environment, makes the client once, and runs.

use dovetail_aws::{metrics, tell};
use dovetail_table::stream::StreamEvent;
use dovetail_table::{Settings, Table, spent};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let records = event.payload.records.len();
        let (reply, spent) = spent(generate::handle(&table, event.payload)).await;
        tell(metrics(&[("Function", "generate")], &spent.figures_of(records)));
        Ok::<_, Error>(reply)
    }))
    .await
}
