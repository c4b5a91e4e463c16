//! The main program of `history`.

use dovetail_http::{Error, Function, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(Function::History, history::handle).await
}
