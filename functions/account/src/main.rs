//! Reads the environment, makes the client once, and runs.

use dovetail_http::{Front, Function, told};
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let front = Front::from_env()?;
    run(service_fn(|event: LambdaEvent<_>| async {
        let event = front.event(&table, event.context.request_id, event.payload).await?;
        Ok::<_, Error>(told(Function::Account, event, |event| account::handle(&table, event)).await)
    }))
    .await
}
