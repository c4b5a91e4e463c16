//! The client `dovetail`: declare, preview, apply, decide and read from a terminal or a pipeline.
//!
//! Imports go one way: `base < document < api < output < report < account < commands < mcp`, and `account < webhook`.

/// Values and texts that every other folder uses.
mod base {
    pub(crate) mod colour;
    pub(crate) mod failure;
    pub(crate) mod interrupt;
    pub(crate) mod json;
    pub(crate) mod location;
    pub(crate) mod problem;
    pub(crate) mod progress;
    pub(crate) mod text;
}

/// The files of a user.
mod document {
    pub(crate) mod directory;
    pub(crate) mod file;
    pub(crate) mod input;
    pub(crate) mod json;
    pub(crate) mod sources;
    pub(crate) mod write;
    mod yaml;
}

/// Requests to the server, and its objects.
mod api {
    pub(crate) mod client;
    pub(crate) mod filter;
    pub(crate) mod kinds;
    pub(crate) mod object;
    pub(crate) mod suggest;
}

/// The profiles of a user, and the connection to their servers.
mod account {
    pub(crate) mod connect;
    pub(crate) mod keyring;
    pub(crate) mod login;
    pub(crate) mod profile;
}

/// The commands: one file for each command or noun.
mod commands {
    pub(crate) mod apply;
    pub(crate) mod claim;
    mod compare;
    pub(crate) mod completions;
    pub(crate) mod decide;
    pub(crate) mod definition;
    pub(crate) mod diff;
    pub(crate) mod docs;
    pub(crate) mod get;
    pub(crate) mod graph;
    pub(crate) mod history;
    pub(crate) mod init;
    pub(crate) mod list;
    pub(crate) mod man;
    pub(crate) mod open;
    pub(crate) mod plan;
    pub(crate) mod publish;
    pub(crate) mod pull;
    pub(crate) mod queue;
    pub(crate) mod request;
    pub(crate) mod revert;
    pub(crate) mod services;
    pub(crate) mod settings;
    pub(crate) mod show;
    pub(crate) mod validate;
    pub(crate) mod wait;
    mod watch;
}

mod arguments;
mod mcp;
mod output;
mod report;
mod webhook;

use crate::{
    account::{connect::connect, login},
    api::suggest,
    arguments::{Arguments, Command},
    base::{
        failure::{Done, Failure},
        interrupt,
    },
    commands::{
        apply, claim, completions,
        decide::{self, Action},
        definition, diff, docs, get, graph, history, init, list, man, open, plan, publish, pull, queue,
        revert, services, settings, show, validate, wait,
    },
    output::Output,
};
use clap::{CommandFactory as _, Parser as _};
use console::Term;
use std::{io::Write as _, process::ExitCode};

/// The exit code for an invalid command line, as in `sysexits.h`.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { USAGE.into() } else { ExitCode::SUCCESS };
            return error.print().map_or(ExitCode::FAILURE, |()| code);
        }
    };
    interrupt::end_at_interrupts();
    match run(&arguments) {
        Ok(done) => done.into(),
        Err(failure) => {
            let failure = suggest::filter(failure);
            let columns = Term::stderr().size_checked().map(|(_, columns)| columns);
            let text = columns.map_or_else(
                || format!("dovetail: {failure}\n"),
                |columns| report::render(&failure, columns),
            );
            // Without standard error only the exit code remains.
            drop(write!(anstream::stderr(), "{text}"));
            failure.exit_code()
        }
    }
}

fn run(arguments: &Arguments) -> Result<Done, Failure> {
    let out = &mut Output::new(arguments.output, arguments.jq.as_deref())?;
    let profile = arguments.profile.as_deref();
    let connect = || connect(profile);
    match &arguments.command {
        Command::Login(command) => login::login(profile, command, out),
        Command::Logout => login::logout(profile, out),
        Command::Whoami => login::whoami(&connect()?, out),
        Command::Profile(command) => login::profile(command, out),
        Command::Services(command) => services::services(&connect()?, command, out),
        Command::Schema(command) => services::schema(&connect()?, command, out),
        Command::Init(command) => init::init(&connect()?, command, out),
        Command::Validate(command) => validate::validate(&connect()?, command, out),
        Command::Plan(command) => {
            plan::compare(command, out).unwrap_or_else(|| plan::plan(&connect()?, command, out))
        }
        Command::Apply(command) => apply::apply(&connect()?, command, out),
        Command::Revert(command) => revert::revert(&connect()?, command, out),
        Command::Diff(command) => diff::diff(&connect()?, command, out),
        Command::Wait(command) => wait::wait(&connect()?, command, out),
        Command::List(command) => list::list(&connect()?, command, out),
        Command::Get(command) => get::get(&connect()?, command, out),
        Command::Show(command) => show::show(&connect()?, command, out),
        Command::Open(command) => open::open(&connect()?, command, out),
        Command::Pull(command) => pull::pull(&connect()?, command, out),
        Command::Graph(command) => graph::graph(&connect()?, command, out),
        Command::History(command) => history::history(&connect()?, command, out),
        Command::Queue(command) => queue::queue(&connect()?, command, out),
        Command::Claim(command) => claim::claim(&connect()?, command, out),
        Command::Approve(command) => decide::decide(&connect()?, Action::Approve, command, out),
        Command::Reject(command) => decide::finish(&connect()?, Action::Reject, command, out),
        Command::Complete(command) => decide::complete(&connect()?, command, out),
        Command::Fail(command) => decide::finish(&connect()?, Action::Fail, command, out),
        Command::Close(command) => decide::decide(&connect()?, Action::Close, command, out),
        Command::Retry(command) => decide::decide(&connect()?, Action::Retry, command, out),
        Command::Settings(command) => settings::settings(&connect()?, command, out),
        Command::Docs(command) => docs::docs(&connect()?, command, out),
        Command::Publish(command) => publish::publish(&connect()?, command, out),
        Command::Definition(command) => definition::definition(command, out),
        Command::Webhook(command) => webhook::run(profile, command, out),
        Command::Man(command) => man::man(command, Arguments::command(), out),
        Command::Mcp(command) => mcp::mcp(connect()?, command),
        Command::Completions(command) => completions::completions(command, Arguments::command(), out),
    }
}
