//! The program `dovetail`: the whole system in one process, and its commands.

use std::{
    env,
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use dovetail_daemon::{
    arguments::{self, AUDIT, Command, HELP},
    audit::{self, AuditOutcome},
    load, plan, settings,
    signals::Signals,
    start,
};

/// The exit status of a plan with changes.
const CHANGES: u8 = 2;

/// The exit status of an audit with violations, and of one that failed.
const VIOLATED: u8 = 1;
const NOT_AUDITED: u8 = 2;

fn main() -> ExitCode {
    // A script must not take a failed audit for one that found violations, so its errors have another status.
    let is_audit = env::args_os().nth(1).is_some_and(|first| first == AUDIT);
    let failure = if is_audit { NOT_AUDITED.into() } else { ExitCode::FAILURE };
    let ended = match arguments::parse(env::args_os().skip(1)) {
        Ok(Command::Help) => print(HELP),
        Ok(Command::PlanHelp) => print(plan::HELP),
        Ok(Command::Plan(settings)) => plan(&settings),
        Ok(Command::AuditHelp) => print(audit::HELP),
        Ok(Command::Audit(settings)) => audit(&settings),
        Ok(Command::LoadHelp) => print(load::HELP),
        Ok(Command::Load(settings)) => load(&settings),
        Ok(Command::Serve(settings)) => serve(&settings),
        Err(problem) => Err(problem.into()),
    };
    ended.unwrap_or_else(|error| {
        // Without standard error only the exit status remains.
        drop(writeln!(io::stderr(), "dovetail: {error}"));
        failure
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

fn audit(settings: &audit::Settings) -> Result<ExitCode, Box<dyn Error>> {
    let now = dovetail_aws::now();
    let outcome = runtime()?.block_on(audit::run(settings, now, &mut io::stdout().lock()))?;
    Ok(match outcome {
        AuditOutcome::Sound => ExitCode::SUCCESS,
        AuditOutcome::Violated => VIOLATED.into(),
        AuditOutcome::Unsettled => NOT_AUDITED.into(),
    })
}

fn load(settings: &load::Settings) -> Result<ExitCode, Box<dyn Error>> {
    runtime()?.block_on(load::run(settings, dovetail_aws::now(), &mut io::stdout().lock()))?;
    Ok(ExitCode::SUCCESS)
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

fn serve(settings: &settings::Settings) -> Result<ExitCode, Box<dyn Error>> {
    runtime()?.block_on(async {
        let signals = Signals::catch()?;
        start(settings, &mut io::stdout(), signals.received()).await?;
        Ok(ExitCode::SUCCESS)
    })
}
