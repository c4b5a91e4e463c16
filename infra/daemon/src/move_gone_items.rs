//! The command `dovetaild bury`: moves the dead items of an older release to the gone items, once after the upgrade.

use std::{io::Write, path::PathBuf};

use clap::{ArgGroup, Args};
use domain::TeamId;
use dovetail_emulator::engine::{Engine, Storage};
use dovetail_table::{MovedItems, Table};

use crate::{
    account,
    error::{Error, printed},
    option::{DEPLOYED_TABLE_BYTES, EXIT_CODES, table_name, team_id, url},
    settings::TABLE,
};

/// Moves items whose removal was complete before version 0.3.0 out of the partitions of live items.
///
/// It moves at most 100 items per second while requests continue. It can stop at any time and run again.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = EXIT_CODES, group = ArgGroup::new("place").required(true).args(["data", "table"]))]
#[group(skip)]
pub struct Settings {
    /// Directory of a stopped local system
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Table of the stack (its output Table)
    #[arg(long, value_name = "NAME", value_parser = table_name(DEPLOYED_TABLE_BYTES))]
    table: Option<String>,
    /// DynamoDB engine to use instead of AWS
    #[arg(long, value_name = "URL", value_parser = url, conflicts_with = "data")]
    endpoint: Option<String>,
    /// Id of the only consumer team; without it, all teams
    #[arg(long, value_name = "ID", value_parser = team_id)]
    team: Option<TeamId>,
}

/// Moves the items and prints their number for each team that had any.
pub async fn run(settings: &Settings, out: &mut impl Write) -> Result<(), Error> {
    let Some(directory) = &settings.data else {
        let name = settings.table.as_deref().unwrap_or_default();
        let reached = account::reach(name, settings.endpoint.as_deref()).await?;
        let moved = move_gone_items(&reached.table, settings.team, out).await;
        return moved.map_err(|error| {
            if let Error::Table(source) = error { reached.failure(source).into() } else { error }
        });
    };
    if !Engine::is_in(directory) {
        return Err(Error::NoDatabase(directory.clone()));
    }
    let engine = Engine::start(&Storage::Directory(directory.clone()))?;
    let table = account::of_engine(TABLE, engine.endpoint());
    move_gone_items(&table, settings.team, out).await?;
    Ok(engine.stop()?)
}

async fn move_gone_items(table: &Table, only: Option<TeamId>, out: &mut impl Write) -> Result<(), Error> {
    let teams = match only {
        Some(team) => vec![team],
        None => table.team_ids().await?.collect(),
    };
    let mut all = MovedItems::default();
    for team in teams {
        let counts = table.move_gone_items(team).await?;
        if counts != MovedItems::default() {
            printed(writeln!(out, "Team {team}: {} items moved.", counts.moved))?;
        }
        all = MovedItems { moved: all.moved + counts.moved, skipped: all.skipped + counts.skipped };
    }
    printed(writeln!(out, "Moved items: {}. Changed meanwhile: {}.", all.moved, all.skipped))
}
