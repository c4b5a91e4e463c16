//! The program of a function that is called through HTTP: reads the environment, makes the client once, and runs.

use crate::Event;
use crate::authorizer::Front;
use crate::event::Answering;
use crate::route::Function;
use crate::told::told;
use dovetail_table::{Settings, Table};
use lambda_runtime::{Error, LambdaEvent, service_fn};

/// Answers requests until Lambda ends the process.
pub async fn run(
    function: Function,
    handle: for<'a> fn(&'a Table, Event) -> Answering<'a>,
) -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let front = Front::from_env()?;
    lambda_runtime::run(service_fn(|event: LambdaEvent<_>| async {
        let event = front.event(&table, event.context.request_id, event.payload).await?;
        Ok::<_, Error>(told(function, event, |event| handle(&table, event)).await)
    }))
    .await
}
