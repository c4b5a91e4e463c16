//! Reads the environment, makes the client once, and runs.

// The SDK's calls are futures nested deeper than the compiler follows by default.
#![recursion_limit = "256"]

use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use std::io::Write as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?).await;
    let table = &table;
    run(service_fn(async |event: LambdaEvent<_>| {
        let swept = sweep::handle(table, event.payload).await?;
        writeln!(std::io::stdout(), "{}", sweep::metrics(&swept, dovetail_aws::now()))?;
        Ok::<_, Error>(swept)
    }))
    .await
}
