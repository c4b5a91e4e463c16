//! The main program of `submit`.

use dovetail_http::{Error, Function, run_with_key};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run_with_key(Function::Submit, submit::handle).await
}
