//! Reads the environment, makes the client once, and runs.

// The SDK's calls are futures nested deeper than the compiler follows by default.
#![recursion_limit = "256"]

use dovetail_events::{Bus, Settings};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let bus = Bus::connect(Settings::from_env()?).await;
    run(service_fn(|event: LambdaEvent<_>| async {
        Ok::<_, Error>(notify::handle(&bus, event.payload).await)
    }))
    .await
}
