//! The main program of `update-state`.

use dovetail_http::{Error, Function, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(Function::UpdateState, update_state::handle).await
}
