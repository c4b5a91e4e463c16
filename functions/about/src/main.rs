//! The main program of `about`.

use dovetail_http::{Error, Function, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(Function::About, about::handle).await
}
