//! The command line.

use crate::{
    account::login::{Login, ProfileCommand},
    base::failure::EXIT_CODES,
    commands::{
        apply::Apply,
        claim::Claim,
        completions::Completions,
        decide::{Complete, Decide, Finish},
        definition::Definition,
        diff::Diff,
        docs::Docs,
        get::Get,
        graph::GraphCommand,
        history::History,
        init::Init,
        list::List,
        man::Man,
        open::Open,
        plan::Plan,
        publish::Publish,
        pull::Pull,
        queue::Queue,
        revert::Revert,
        services::{Schema, Services},
        settings::Settings,
        show::Show,
        validate::Validate,
        wait::Wait,
    },
    mcp::Mcp,
    output::Format,
    webhook::Webhook,
};
use clap::{Parser, Subcommand};

/// Declares service items, previews and applies their changes, and decides them as a service owner.
#[derive(Debug, Parser)]
#[command(name = "dovetail", version, after_help = EXIT_CODES)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Profile to use; by default the one of the last login
    #[arg(long, global = true, value_name = "NAME", env = "DOVETAIL_PROFILE")]
    pub(crate) profile: Option<String>,
    /// Form of the output
    #[arg(short, long, global = true, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) output: Format,
    /// Filter of jq for the JSON form of the output
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) jq: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Login(Login),
    /// Removes a profile and its API key
    Logout,
    /// Shows the team and the server
    Whoami,
    Profile(ProfileCommand),
    Services(Services),
    Schema(Schema),
    Init(Init),
    Validate(Validate),
    Plan(Plan),
    Apply(Apply),
    Revert(Revert),
    Diff(Diff),
    Wait(Wait),
    List(List),
    Get(Get),
    Show(Show),
    Open(Open),
    Pull(Pull),
    Graph(GraphCommand),
    History(History),
    Queue(Queue),
    Claim(Claim),
    /// Approves pending changes
    Approve(Decide),
    /// Rejects pending changes; say why with `--log`
    Reject(Finish),
    Complete(Complete),
    /// Reports that the work on approved changes failed; say why with `--log`
    Fail(Finish),
    /// Closes rejected or failed changes
    Close(Decide),
    /// Opens new attempts of rejected or failed changes
    Retry(Decide),
    Settings(Settings),
    Docs(Docs),
    Publish(Publish),
    Definition(Definition),
    Webhook(Webhook),
    Man(Man),
    Mcp(Mcp),
    Completions(Completions),
}
