//! The main program of `history`.

use dovetail_http::{Error, Function, run_with_key};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run_with_key(Function::History, history::handle).await
}
