//! `cargo run`: the whole system in one process.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use dovetail_local::{
    arguments::{self, Command, HELP},
    plan,
    signals::Signals,
    start,
};

/// The exit code of a plan that has changes.
const CHANGES: u8 = 2;

fn main() -> ExitCode {
    let ended = match arguments::parse(env::args_os().skip(1)) {
        Ok(Command::Help) => print(HELP),
        Ok(Command::PlanHelp) => print(plan::HELP),
        Ok(Command::Plan(settings)) => plan(&settings),
        Ok(Command::Serve(settings)) => serve(&settings),
        Err(problem) => Err(problem.into()),
    };
    ended.unwrap_or_else(|error| {
        // Where there is no standard error, the exit code has to do.
        drop(writeln!(io::stderr(), "dovetail: {error}"));
        ExitCode::FAILURE
    })
}

fn print(text: &str) -> Result<ExitCode, Box<dyn Error>> {
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn plan(settings: &plan::Settings) -> Result<ExitCode, Box<dyn Error>> {
    let has_changes = plan::run(settings, &mut io::stdout().lock())?;
    Ok(if has_changes { CHANGES.into() } else { ExitCode::SUCCESS })
}

fn serve(settings: &arguments::Settings) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let signals = Signals::catch()?;
        start(settings, &mut io::stdout(), signals.received()).await?;
        Ok(ExitCode::SUCCESS)
    })
}
