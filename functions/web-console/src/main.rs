//! The main program of `web-console`.

use dovetail_http::{Error, Function, serve_without_table};
use web_console::Settings;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let settings = Settings::from_env()?;
    serve_without_table(Function::WebConsole, |request| web_console::handle(&settings, request)).await
}
