//! Reads the environment, makes the client once, and runs.

use dovetail_aws::{metrics, tell};
use dovetail_table::{Settings, Table, spent};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let table = &table;
    run(service_fn(async |event: LambdaEvent<_>| {
        let (swept, spent) = spent(Box::pin(sweep::handle(table, event.payload))).await;
        let records = swept.as_ref().map_or(0, |swept| swept.carried_out + swept.failed);
        tell(metrics(&[("Function", "sweep")], &spent.figures_of(records)));
        let swept = swept?;
        tell(sweep::metrics(&swept));
        Ok::<_, Error>(swept)
    }))
    .await
}
