//! The main program of `webhooks`, which also calls receivers.

use dovetail_http::{CursorKey, Error, Function, serve};
use dovetail_outbound::{Outbound, Targets};
use dovetail_table::{Settings, Table};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let table = Table::connect(Settings::from_env()?);
    let key = CursorKey::new(&std::env::var("DOVETAIL_CURSOR_KEY")?);
    let outbound = Outbound::new(Targets::from_env());
    let handle = |request| webhooks::handle(&table, &key, &outbound, request);
    serve(Function::Webhooks, &table, handle).await
}
