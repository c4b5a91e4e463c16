//! The program `dovetaild`: the whole system in one process, and its commands.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use domain::audit::result::AuditOutcome;
use dovetail_daemon::{
    arguments::{self, Command},
    audit, load, move_gone_items, settings,
    signals::Signals,
    start,
};

/// The exit code of an audit with violations.
const VIOLATIONS: u8 = 2;
/// Threads for requests. There are more than cores, because a request of one team that computes for long must leave
/// threads to the other teams.
const THREADS: usize = 8;
/// The exit code for an invalid command line, as in `sysexits.h`.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let ended = match arguments::parse(env::args_os().skip(1)) {
        Ok(Command::Audit(options)) => audit(&options.into()),
        Ok(Command::Load(settings)) => load(&settings),
        Ok(Command::Bury(settings)) => bury(&settings),
        Ok(Command::Serve(settings)) => serve(&settings),
        Err(error) => {
            let is_help = !error.use_stderr();
            error.print().map_err(Into::into).map(|()| if is_help { ExitCode::SUCCESS } else { USAGE.into() })
        }
    };
    ended.unwrap_or_else(|error| {
        // Without standard error only the exit code remains.
        drop(writeln!(io::stderr(), "dovetaild: {error}"));
        ExitCode::FAILURE
    })
}

fn audit(settings: &audit::Settings) -> Result<ExitCode, Box<dyn Error>> {
    let now = dovetail_aws::now();
    let outcome = runtime()?.block_on(audit::run(settings, now, &mut io::stdout().lock()))?;
    Ok(match outcome {
        AuditOutcome::Sound => ExitCode::SUCCESS,
        AuditOutcome::Violated => VIOLATIONS.into(),
        AuditOutcome::Unsettled => ExitCode::FAILURE,
    })
}

fn load(settings: &load::Settings) -> Result<ExitCode, Box<dyn Error>> {
    runtime()?.block_on(load::run(settings, dovetail_aws::now(), &mut io::stdout().lock()))?;
    Ok(ExitCode::SUCCESS)
}

fn bury(settings: &move_gone_items::Settings) -> Result<ExitCode, Box<dyn Error>> {
    runtime()?.block_on(move_gone_items::run(settings, &mut io::stdout().lock()))?;
    Ok(ExitCode::SUCCESS)
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()
}

fn serve(settings: &settings::Settings) -> Result<ExitCode, Box<dyn Error>> {
    runtime()?.block_on(async {
        let signals = Signals::catch()?;
        start(settings, &mut io::stdout(), signals.received()).await?;
        Ok(ExitCode::SUCCESS)
    })
}
