//! Reads the environment, makes the client once, and runs.

use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    run(service_fn(|event: LambdaEvent<_>| async {
        authorize::handle(&table, event.payload).await.map_err(Error::from)
    }))
    .await
}
