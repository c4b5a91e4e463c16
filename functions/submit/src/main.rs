//! The main program of `submit`.

use dovetail_http::{Error, Function, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(Function::Submit, submit::handle).await
}
