//! `cargo run`: the whole system in one process.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use dovetail_local::{
    arguments::{self, Command, HELP},
    signals::Signals,
    start,
};

fn main() -> ExitCode {
    let ended = match arguments::parse(env::args_os().skip(1)) {
        Ok(Command::Help) => io::stdout().write_all(HELP.as_bytes()).map_err(Into::into),
        Ok(Command::Serve(settings)) => serve(&settings),
        Err(problem) => Err(problem.into()),
    };
    let Err(error) = ended else {
        return ExitCode::SUCCESS;
    };
    // Where there is no standard error, the exit code has to do.
    drop(writeln!(io::stderr(), "dovetail: {error}"));
    ExitCode::FAILURE
}

fn serve(settings: &arguments::Settings) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let signals = Signals::catch()?;
        Ok(start(settings, &mut io::stdout(), signals.received()).await?)
    })
}
