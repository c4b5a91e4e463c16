//! The main program of `list`.

use dovetail_http::{Function, run_with_key};
use lambda_runtime::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run_with_key(Function::List, list::handle).await
}
