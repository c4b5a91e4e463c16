//! The whole system in one process: an embedded DynamoDB engine, the functions, an HTTP server in API Gateway's place,
//! a stream pump in Lambda's, a bus in EventBridge's, and a schedule.

pub mod arguments;
pub mod bus;
mod client;
pub mod control;
pub mod engine;
pub mod functions;
pub mod gateway;
pub mod invoke;
pub mod journal;
pub mod load;
pub mod mapping;
pub mod pattern;
pub mod ready;
pub mod signals;
pub mod stream;
pub mod webhook;
pub mod world;

use std::{
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    io::Write,
    sync::Arc,
    time::Duration,
};

use dovetail_http::CursorKey;
use dovetail_table::{
    Table,
    stream::{FILTER_OWED, FILTER_TOLD},
};
use futures_util::future::join_all;
use hyper::Uri;
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    arguments::Settings,
    bus::Bus,
    control::Control,
    engine::Engine,
    functions::Handles,
    invoke::Invoker,
    journal::Journal,
    mapping::{Mapping, Wake, delivery::Limits},
    pattern::Pattern,
    stream::Stream,
    webhook::Webhook,
    world::World,
};

/// The table's name on the engine.
pub const TABLE: &str = "dovetail-local";
const KEYS_TABLE: &str = "dovetail-local-keys";
/// How often the sweep runs.
const SWEEP: Duration = Duration::from_secs(60);

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
    /// The journal failed.
    #[error("the journal failed: {0}")]
    Journal(#[from] rusqlite::Error),
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
    let system = System::prepare(settings, &world).await?;
    if let Some(path) = &settings.env_file {
        let lines: String =
            system.environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        ready::write_file(path, &lines).map_err(Error::io(path.display().to_string()))?;
    }
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
    bus: Bus,
    control: Control,
    webhooks: Vec<Webhook>,
    /// What the functions reach.
    pub handles: Arc<Handles>,
    /// What every URL begins with.
    pub base_url: String,
    /// The environment of functions that run elsewhere.
    environment: Vec<(&'static str, String)>,
}

impl System {
    /// Listens, starts the engine and the bus, and loads the world.
    pub async fn prepare(settings: &Settings, world: &World) -> Result<Self, Error> {
        // Before the database is touched: a port in use should change nothing.
        let listener =
            TcpListener::bind(settings.listen).await.map_err(Error::io(settings.listen.to_string()))?;
        let base_url = ready::base_url(listener.local_addr().map_err(Error::io("the listening socket"))?);
        let engine = Engine::start(&settings.place)?;
        let journal = Journal::open(engine.directory())?;
        let bus = Bus::open(journal.clone()).await.map_err(Error::io("the bus's socket"))?;
        let bus_endpoint = bus.endpoint().map_err(Error::io("the bus's socket"))?;
        let cursor_secret = cursor_secret();
        let handles = Arc::new(Handles {
            table: tables(&engine, world).await?,
            bus: dovetail_events::Bus::connect(dovetail_events::Settings {
                bus: bus::NAME.to_owned(),
                endpoint: Some(bus_endpoint.clone()),
            })
            .await,
            cursor_key: CursorKey::new(&cursor_secret),
        });
        let environment = vec![
            ("DOVETAIL_TABLE", TABLE.to_owned()),
            ("DOVETAIL_KEYS_TABLE", KEYS_TABLE.to_owned()),
            ("DOVETAIL_ENDPOINT", engine.endpoint()),
            ("DOVETAIL_CURSOR_KEY", cursor_secret),
            ("DOVETAIL_BUS", bus::NAME.to_owned()),
            ("DOVETAIL_BUS_ENDPOINT", bus_endpoint),
        ];
        let stream = Stream::open(&engine.endpoint(), TABLE).await.map_err(Error::io("the stream"))?;
        let wake = Wake::default();
        let mapping = |settings| Mapping::new(settings, stream.clone(), journal.clone(), wake.clone());
        let mappings = mappings().into_iter().map(mapping).collect();
        let control = Control {
            table: handles.table.clone(),
            journal,
            mappings,
            wake,
            invoker: invoker(&handles, settings.functions.as_ref()),
        };
        let webhooks = world.webhooks();
        Ok(Self { listener, engine, bus, control, webhooks, handles, base_url, environment })
    }

    /// The URL of the engine.
    pub fn engine_endpoint(&self) -> String {
        self.engine.endpoint()
    }

    /// Serves until `stop` resolves.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let Self { listener, engine, bus, control, webhooks, handles, .. } = self;
        let answering = control.clone();
        let answer = move |event: dovetail_http::Event| {
            let (control, handles) = (answering.clone(), Arc::clone(&handles));
            async move {
                if event.raw_path.as_deref().is_some_and(|path| path.starts_with(control::PREFIX)) {
                    return control.answer(&event).await;
                }
                let writes = event.request_context.http.method != "GET";
                let reply = functions::answer(&handles.table, &handles.cursor_key, event).await;
                if writes {
                    control.wake.wake();
                }
                reply
            }
        };
        let invoke = |mapping: &Mapping, payload| {
            let (invoker, function) = (control.invoker.clone(), mapping.settings.function);
            async move { invoker.invoke(function, payload).await }
        };
        let pumping =
            control.mappings.iter().map(|mapping| mapping.run(move |payload| invoke(mapping, payload)));
        let telling = webhooks.iter().map(|webhook| webhook.run(&control.journal, bus.taken()));
        // What is cut off here is taken up again when the system starts: each step is noted once it is done.
        tokio::select! {
            () = gateway::serve(listener, answer, stop) => {}
            _ = join_all(pumping), if !control.mappings.is_empty() => {}
            _ = join_all(telling), if !webhooks.is_empty() => {}
            _ = bus.serve() => {}
            () = sweep(&control) => {}
        }
        Ok(engine.stop()?)
    }
}

/// The event source mappings: the settings that the deployed functions have, but for their windows.
fn mappings() -> [mapping::Settings; 2] {
    let mapping = |function, filter: &str, batch_size, retries, hours| mapping::Settings {
        function,
        filters: serde_json::from_str(filter)
            .ok()
            .and_then(|filter| Pattern::parse(&filter).ok())
            .into_iter()
            .collect(),
        batch_size,
        window: Duration::ZERO,
        limits: Limits { retries, bisects: true, age: Duration::from_hours(hours) },
    };
    [mapping("generate", FILTER_OWED, 10, 5, 1), mapping("notify", FILTER_TOLD, 100, 20, 6)]
}

fn invoker(handles: &Arc<Handles>, functions: Option<&Uri>) -> Invoker {
    functions.map_or_else(|| Invoker::Here(Arc::clone(handles)), |url| Invoker::At(url.clone()))
}

/// Invokes the sweep for ever, as its schedule does.
async fn sweep(control: &Control) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let event =
            json!({"version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}});
        match control.invoker.invoke("sweep", event).await {
            Ok(_) => drop(control.wake.wake()),
            Err(error) => dovetail_aws::log("sweep", &error),
        }
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
        table: TABLE.to_owned(),
        keys_table: KEYS_TABLE.to_owned(),
        endpoint: Some(engine.endpoint()),
    };
    let table = Table::connect(settings).await;
    table.create().await?;
    load::world(&table, world, dovetail_aws::now()).await?;
    Ok(table)
}

/// A secret for positions in lists; they are good for as long as this process runs.
fn cursor_secret() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::engine::Place;

    #[tokio::test]
    async fn the_system_starts_tells_where_and_stops() {
        let parent = tempfile::tempdir().unwrap();
        let ready_file = parent.path().join("ready");
        let settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            place: Place::Memory,
            ready_file: Some(ready_file.clone()),
            ..Settings::default()
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
            ..Settings::default()
        };
        let refused = start(&settings, &mut Vec::new(), std::future::pending()).await.unwrap_err();
        assert!(refused.to_string().contains("world.json: missing field `teams`"), "{refused}");
        assert!(!data.exists());
    }
}
