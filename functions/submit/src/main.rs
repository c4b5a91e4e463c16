//! The main program of `submit`.

use dovetail_http::{Function, run};
use lambda_runtime::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(Function::Submit, submit::handle).await
}
