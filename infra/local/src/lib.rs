//! The whole system in one process: an embedded DynamoDB engine, the handlers of the Lambdas, and an HTTP
//! server in API Gateway's place.

pub mod arguments;
pub mod engine;
pub mod functions;
pub mod gateway;
pub mod load;
pub mod ready;
pub mod signals;
pub mod world;

use std::{
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    io::Write,
    net::SocketAddr,
    time::SystemTime,
};

use domain::timestamp::Timestamp;
use dovetail_http::CursorKey;
use dovetail_table::Table;
use tokio::net::TcpListener;

use crate::{
    arguments::Settings,
    engine::{Engine, Place},
    world::World,
};

/// Why the system could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The world file is missing or wrong.
    #[error("{file}: {problems}")]
    World {
        /// The file, as given.
        file: String,
        /// What is wrong with it.
        problems: String,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The table failed.
    #[error(transparent)]
    Table(#[from] dovetail_table::Error),
    /// The world could not be loaded.
    #[error(transparent)]
    Load(#[from] load::Failure),
    /// A file or socket failed.
    #[error("{what}: {source}")]
    Io {
        /// Which.
        what: String,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// Starts the system, tells `out` when it is ready, and serves until `stop` resolves.
pub async fn start(
    settings: &Settings,
    out: &mut impl Write,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let world = read_world(settings)?;
    let system = System::prepare(settings.listen, &settings.place, &world).await?;
    if let Some(path) = &settings.ready_file {
        ready::write_file(path, &system.base_url).map_err(Error::io(path.display().to_string()))?;
    }
    ready::announce(out, &system.base_url, &world).map_err(Error::io("standard output"))?;
    system.serve(stop).await
}

/// The system, ready to serve.
#[derive(Debug)]
pub struct System {
    listener: TcpListener,
    engine: Engine,
    /// The tables on the engine.
    pub table: Table,
    /// What every URL begins with.
    pub base_url: String,
}

impl System {
    /// Listens, starts the engine and loads the world.
    pub async fn prepare(listen: SocketAddr, place: &Place, world: &World) -> Result<Self, Error> {
        // Before the database is touched: a port in use should change nothing.
        let listener = TcpListener::bind(listen).await.map_err(Error::io(listen.to_string()))?;
        let base_url = ready::base_url(listener.local_addr().map_err(Error::io("the listening socket"))?);
        let engine = Engine::start(place)?;
        let table = tables(&engine, world).await?;
        Ok(Self { listener, engine, table, base_url })
    }

    /// Serves until `stop` resolves.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let (table, key) = (self.table, cursor_key());
        let answer = move |event| functions::answer(table.clone(), key.clone(), event);
        gateway::serve(self.listener, answer, stop).await;
        Ok(self.engine.stop()?)
    }
}

fn read_world(settings: &Settings) -> Result<World, Error> {
    let (file, text) = match &settings.world {
        None => ("the demo world".to_owned(), world::DEMO.to_owned()),
        Some(path) => {
            let file = path.display().to_string();
            let text = fs::read_to_string(path).map_err(Error::io(file.clone()))?;
            (file, text)
        }
    };
    world::parse(&text).map_err(|problems| Error::World { file, problems })
}

/// The tables on the engine, with the world in them.
async fn tables(engine: &Engine, world: &World) -> Result<Table, Error> {
    let settings = dovetail_table::Settings {
        table: "dovetail-local".to_owned(),
        keys_table: "dovetail-local-keys".to_owned(),
        endpoint: Some(engine.endpoint()),
    };
    let table = Table::connect(settings).await;
    table.create().await?;
    load::world(&table, world, now()).await?;
    Ok(table)
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// A key for positions in lists; they are good for as long as this process runs.
fn cursor_key() -> CursorKey {
    let random = || RandomState::new().build_hasher().finish();
    CursorKey::new(&format!("{:016x}{:016x}", random(), random()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_starts_tells_where_and_stops() {
        let parent = tempfile::tempdir().unwrap();
        let ready_file = parent.path().join("ready");
        let settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            place: Place::Memory,
            world: None,
            ready_file: Some(ready_file.clone()),
        };
        let mut out = Vec::new();
        start(&settings, &mut out, std::future::ready(())).await.unwrap();
        let base_url = fs::read_to_string(ready_file).unwrap();
        assert!(base_url.strip_prefix("http://").unwrap().parse::<SocketAddr>().is_ok(), "{base_url}");
        assert!(String::from_utf8(out).unwrap().contains(&base_url));
    }

    #[tokio::test]
    async fn a_wrong_world_starts_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("world.json");
        fs::write(&file, "{}").unwrap();
        let data = parent.path().join("data");
        let settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            place: Place::Directory(data.clone()),
            world: Some(file),
            ready_file: None,
        };
        let refused = start(&settings, &mut Vec::new(), std::future::pending()).await.unwrap_err();
        assert!(refused.to_string().contains("world.json: missing field `teams`"), "{refused}");
        assert!(!data.exists());
    }
}
