//! Reads the environment, makes the client once, and runs.

use dovetail_aws::{metrics, tell};
use dovetail_table::{Settings, Table, spent};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    run(service_fn(|event: LambdaEvent<_>| async {
        let (reply, spent) = spent(authorize::handle(&table, event.payload)).await;
        tell(metrics(&[("Function", "authorize")], &spent.figures()));
        Ok::<_, Error>(reply?)
    }))
    .await
}
