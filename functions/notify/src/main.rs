//! Reads the environment, makes the client once, and runs.

use dovetail_aws::{metrics, tell};
use dovetail_events::{Bus, Settings};
use dovetail_table::stream::StreamEvent;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let bus = Bus::connect(Settings::from_env()?);
    run(service_fn(|event: LambdaEvent<StreamEvent>| async {
        let records = event.payload.records.len();
        let reply = notify::handle(&bus, event.payload).await;
        tell(metrics(&[("Function", "notify")], &[("Records", records.into())]));
        Ok::<_, Error>(reply)
    }))
    .await
}
