//! Starts, serves and stops the system: the engine, the emulated services and the API.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io::Write,
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use domain::TeamId;
use dovetail_emulator::{
    bus::{self, Address, Bus},
    engine::{Engine, Storage},
    gateway,
    invoke::Invoker,
    journal::Journal,
    mapping::{self, Consumer, Mapping, Surroundings},
    queue::{self, Deliveries, Queue},
    schedule::Sweep,
    stream::Stream,
    webhook::{Target, Webhook},
};
use dovetail_http::{CursorKey, Event, EventReply, FairUse};
use dovetail_issuer::Issuer;
use dovetail_outbound::{Outbound, Targets};
use dovetail_table::Table;
use tokio::{
    net::TcpListener,
    sync::{oneshot, watch},
    task::JoinSet,
};

use crate::{
    authorizer::Authorizer,
    control::Control,
    demo,
    error::Error,
    functions::{self, ConsoleSettings, Handles},
    load::{self, NewKey},
    ready::{self, Announced},
    settings::{Settings, WorldChoice},
    world::{self, World},
};

const JOURNAL_FILE: &str = "local.db";
/// The variable with the key for positions in lists and for masks.
const CURSOR_KEY: &str = "DOVETAIL_CURSOR_KEY";

/// The longest time for background tasks to finish after the stop.
const GRACE: Duration = Duration::from_secs(5);
/// An address of this machine with any free port.
const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Starts the system, announces on `out` that it is ready, and serves until `stop` resolves.
pub async fn start(
    settings: &Settings,
    out: &mut impl Write,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let world = chosen_world(settings.world.as_ref())?;
    let system = System::prepare(settings, &world).await?;
    // The ready file comes last, so a program that waits for it can rely on the environment file.
    let files = [(&settings.env_file, system.environment()), (&settings.ready_file, system.base_url.clone())];
    for (path, text) in files {
        if let Some(path) = path {
            ready::write_file(path, &text).map_err(Error::io(path.display().to_string()))?;
        }
    }
    ready::print(out, &system.announcement).map_err(Error::io("standard output"))?;
    system.serve(stop).await
}

/// A system that is ready to serve.
#[derive(Debug)]
pub struct System {
    listener: TcpListener,
    bus_listener: TcpListener,
    engine: Engine,
    journal: Arc<Journal>,
    webhooks: Vec<Target>,
    cursor_secret: String,
    /// Names and endpoint of the tables.
    tables: dovetail_table::Settings,
    bus: Address,
    /// Base URL of the stream's and the schedule's functions; `None` means this process.
    functions: Option<String>,
    /// Clients of the functions.
    pub handles: Arc<Handles>,
    /// Base URL of the server.
    pub base_url: String,
    /// Text for the terminal.
    pub announcement: String,
}

impl System {
    /// Listens, starts the engine and loads the world. A table with teams does not get the default world.
    pub async fn prepare(settings: &Settings, world: &World) -> Result<Self, Error> {
        let listen = settings.listen;
        let mut webhooks = world.webhooks().map_err(Error::Pattern)?;
        // The socket comes before the database: a start that fails because of a used port must not change anything.
        let listener = TcpListener::bind(listen).await.map_err(Error::io(listen.to_string()))?;
        let listening = listener.local_addr().map_err(Error::io("the listening socket"))?;
        let base_url = ready::base_url(listening);
        let (bus_listener, bus) = bus_socket().await?;
        let storage = settings.storage();
        let engine = match &settings.endpoint {
            Some(endpoint) => Engine::elsewhere(endpoint, &storage)?,
            None => Engine::start(&storage)?,
        };
        let tables = tables(settings, &engine);
        let journal = Arc::new(Journal::open(&engine.directory().join(JOURNAL_FILE))?);
        let cursor_secret = cursor_secret(settings);
        let table = Table::connect(tables.clone());
        create_tables(&engine, &journal, &table, &tables).await?;
        let is_left_out = settings.world.is_none() && has_team(&table).await?;
        let (new_keys, differences) = if is_left_out {
            // The webhooks belong to the demo world, so they are skipped together with it.
            webhooks.clear();
            (Vec::new(), Vec::new())
        } else {
            loaded(&table, world).await?
        };
        let announcement = ready::announcement(&Announced {
            base_url: &base_url,
            storage: &described(settings, &storage),
            is_demo_left_out: is_left_out,
            new_keys: &new_keys,
            differences: &differences,
        });
        let console = settings.console.clone().with_demo(demo::teams(listening, &table).await?);
        let handles = handles(settings, table, &bus, &cursor_secret, console);
        Ok(Self {
            listener,
            bus_listener,
            engine,
            journal,
            webhooks,
            cursor_secret,
            tables,
            bus,
            functions: settings.functions.clone(),
            handles: Arc::new(handles),
            base_url,
            announcement,
        })
    }

    /// Returns the names and the endpoint of the tables.
    pub fn tables(&self) -> &dovetail_table::Settings {
        &self.tables
    }

    /// Returns the environment of functions in other processes, one `KEY=value` in each line.
    pub fn environment(&self) -> String {
        let [actions_max, reuse_from] =
            [self.tables.actions_max, self.tables.reuse_from].map(|number| number.to_string());
        let queue = queue::url(&self.bus.endpoint);
        let lines = [
            ("DOVETAIL_ACTIONS_MAX", actions_max.as_str()),
            ("DOVETAIL_REUSE_FROM", &reuse_from),
            ("DOVETAIL_TABLE", &self.tables.table),
            ("DOVETAIL_KEYS_TABLE", &self.tables.keys_table),
            ("DOVETAIL_ENDPOINT", self.engine.endpoint()),
            (CURSOR_KEY, &self.cursor_secret),
            ("DOVETAIL_BUS", &self.bus.name),
            ("DOVETAIL_BUS_ENDPOINT", &self.bus.endpoint),
            ("DOVETAIL_QUEUE", &queue),
            ("DOVETAIL_QUEUE_ENDPOINT", &self.bus.endpoint),
            ("DOVETAIL_TARGETS", "any"),
        ];
        lines.map(|(key, value)| format!("{key}={value}\n")).concat()
    }

    /// Serves until `stop` resolves.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let mappings = functions::mappings().map_err(Error::Pattern)?;
        let invoker = match &self.functions {
            Some(url) => Invoker::there(url),
            None => {
                let handles = Arc::clone(&self.handles);
                Invoker::here(move |name, payload| {
                    let handles = Arc::clone(&handles);
                    async move { functions::invoke(&handles, &name, payload).await }
                })
            }
        };
        self.run(mappings, invoker, stop).await
    }

    async fn run(
        self,
        mappings: Vec<Mapping>,
        invoker: Invoker,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let (stopping, stopped) = watch::channel(false);
        let (api, mut tasks) = self.start(mappings, invoker, &stopped).await?;
        let (bus, queue, bus_listener) =
            (api.control.bus.clone(), Queue::clone(&api.control.queue), self.bus_listener);
        let (stop_bus, bus_stopped) = oneshot::channel::<()>();
        let serving_bus = tokio::spawn(async move {
            let answer = move |event: Event| {
                let (bus, queue) = (bus.clone(), queue.clone());
                async move { queue.answer(&event).unwrap_or_else(|| bus.answer(&event)) }
            };
            gateway::serve(bus_listener, answer, async { drop(bus_stopped.await) }).await;
        });

        let mut failure = None;
        let stop = async {
            tokio::select! {
                () = stop => {}
                error = first_failure(&mut tasks) => failure = Some(error),
            }
        };
        gateway::serve(self.listener, move |event| api.clone().answer(event), stop).await;
        // The API accepts no requests from here on. The background tasks stop only afterwards, so no task misses work.
        stopping.send_replace(true);
        // Unfinished work is cut off. It was not acknowledged, so the next start repeats it.
        let finishing = async {
            while let Some(ended) = tasks.join_next().await {
                failure = failure.take().or(ended.map_err(Error::from).flatten().err());
            }
        };
        drop(tokio::time::timeout(GRACE, finishing).await);
        tasks.shutdown().await;
        // The bus stops after the functions, because they still publish events while they finish.
        drop(stop_bus);
        serving_bus.await?;
        self.engine.stop()?;
        failure.map_or(Ok(()), Err)
    }

    /// Starts the background tasks, and returns them with the handler of the API.
    async fn start(
        &self,
        mappings: Vec<Mapping>,
        invoker: Invoker,
        stopped: &watch::Receiver<bool>,
    ) -> Result<(Api, JoinSet<Result<(), Error>>), Error> {
        let stream = Stream::open(self.engine.endpoint(), &self.tables.table).await?;
        let (journal, bus) = (Arc::clone(&self.journal), Bus::new(Arc::clone(&self.journal)));
        let (wake, sweep) = (watch::Sender::default(), Sweep::new(invoker.clone()));
        let mut tasks = JoinSet::new();
        for target in self.webhooks.clone() {
            let webhook = Webhook::new(target, &bus, Arc::clone(&journal), stopped.clone())?;
            tasks.spawn(async { Ok(webhook.run().await?) });
        }
        let (queue, delivering) = (Queue::new(Arc::clone(&journal)), watch::Sender::new(true));
        let (rule, enabled) = (queue::rule().map_err(Error::Pattern)?, delivering.subscribe());
        let deliveries =
            Deliveries::new(queue.clone(), &bus, rule, invoker.clone(), enabled, stopped.clone())?;
        tasks.spawn(async { Ok(deliveries.run().await?) });
        let mut consumers = Vec::new();
        for mapping in mappings {
            let with = Surroundings {
                stream: stream.clone(),
                invoker: invoker.clone(),
                journal: Arc::clone(&journal),
                wake: wake.clone(),
                clock: SystemTime::now,
            };
            let consumer = Consumer::new(mapping, with, stopped.clone());
            consumers.push(consumer.handle());
            tasks.spawn(async { Ok(consumer.run().await?) });
        }
        let scheduled = sweep.clone().repeat(stopped.clone());
        tasks.spawn(async {
            scheduled.await;
            Ok(())
        });
        let table = self.handles.table.clone();
        let control = Control { bus, queue, delivering, journal, invoker, sweep, wake, consumers, table };
        Ok((Api { handles: Arc::clone(&self.handles), control }, tasks))
    }
}

/// The handler of all requests.
#[derive(Clone, Debug)]
struct Api {
    handles: Arc<Handles>,
    control: Control,
}

impl Api {
    async fn answer(self, event: Event) -> EventReply {
        if let Some(reply) = self.control.answer(&event).await {
            return reply;
        }
        // A GET never writes, so it need not wake the consumers.
        let may_write = event.request_context.http.method != hyper::Method::GET;
        let Handles { table, cursor_key, authorizer, fair_use, console, .. } = &*self.handles;
        let reply = functions::answer(table, cursor_key, authorizer, fair_use, console, event).await;
        if may_write {
            mapping::wake(&self.control.wake);
        }
        reply
    }
}

/// Waits for the first task that fails, and never ends if all tasks succeed.
async fn first_failure(tasks: &mut JoinSet<Result<(), Error>>) -> Error {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended.map_err(Error::from).flatten() {
            return error;
        }
    }
    std::future::pending().await
}

/// Returns the names of the tables and the endpoint of their engine.
fn tables(settings: &Settings, engine: &Engine) -> dovetail_table::Settings {
    dovetail_table::Settings {
        table: settings.table.clone(),
        keys_table: format!("{}-keys", settings.table),
        endpoint: Some(engine.endpoint().to_owned()),
        actions_max: settings.actions_max,
        reuse_from: settings.reuse_from,
    }
}

/// Returns the clients of the functions.
fn handles(
    settings: &Settings,
    table: Table,
    bus: &Address,
    cursor_secret: &str,
    console: ConsoleSettings,
) -> Handles {
    let queue =
        dovetail_queue::Settings { url: queue::url(&bus.endpoint), endpoint: Some(bus.endpoint.clone()) };
    let fair_use = FairUse::new(settings.team_requests_per_second, settings.team_requests_burst)
        .with_turns(settings.team_requests_at_once);
    Handles {
        table,
        bus: bus.connect(),
        queue: dovetail_queue::Queue::connect(queue),
        outbound: Outbound::new(Targets::Any),
        cursor_key: CursorKey::new(cursor_secret),
        authorizer: Authorizer::default().with(settings.issuer.clone().map(Issuer::new)),
        fair_use: Arc::new(fair_use),
        console,
    }
}

/// Returns the chosen world.
fn chosen_world(choice: Option<&WorldChoice>) -> Result<World, Error> {
    match choice {
        Some(WorldChoice::Demo) | None => {
            let problems = |problems| Error::World { file: "the demo world".to_owned(), problems };
            world::parse(world::DEMO).map_err(problems)
        }
        Some(WorldChoice::File(path)) => world::read_file(path),
    }
}

/// Creates missing tables. A table that this directory had before must still exist.
async fn create_tables(
    engine: &Engine,
    journal: &Journal,
    table: &Table,
    tables: &dovetail_table::Settings,
) -> Result<(), Error> {
    let names = [&tables.table, &tables.keys_table];
    for name in names {
        if journal.has_created(name)? {
            engine.require_table(name)?;
        }
    }
    // The journal notes a table only after its creation, so that a crash in between does not count as damage.
    table.create().await?;
    if engine.is_embedded() {
        for name in names {
            journal.set_created(name)?;
        }
    }
    Ok(())
}

/// Returns whether the table has a team. Teams are numbered from 1 and never removed.
async fn has_team(table: &Table) -> Result<bool, Error> {
    Ok(match TeamId::new(1) {
        Some(first) => table.team(first).await?.is_some(),
        None => false,
    })
}

/// Loads a world, and returns the new keys and the differences.
async fn loaded(table: &Table, world: &World) -> Result<(Vec<NewKey>, Vec<String>), Error> {
    let mut keys = Vec::new();
    let mut keep = |key: &NewKey| {
        keys.push(key.clone());
        Ok(())
    };
    let differences = load::world(table, world, dovetail_aws::now(), &mut keep).await?;
    Ok((keys, differences))
}

/// Returns a sentence about the location of the data.
fn described(settings: &Settings, storage: &Storage) -> String {
    let files = match storage {
        Storage::Directory(directory) => format!("in {}", directory.display()),
        Storage::Memory => "in memory until this process ends".to_owned(),
    };
    match &settings.endpoint {
        None => format!("Data is stored {files}"),
        Some(endpoint) => {
            let table = &settings.table;
            let tables = format!("Data is stored at {endpoint}, in the tables {table} and {table}-keys");
            format!("{tables}; positions, events and messages {files}")
        }
    }
}

/// Returns the socket of the event bus and its address.
async fn bus_socket() -> Result<(TcpListener, Address), Error> {
    let listener = TcpListener::bind(LOOPBACK).await.map_err(Error::io("the bus's socket"))?;
    let address = listener.local_addr().map_err(Error::io("the bus's socket"))?;
    Ok((listener, Address { name: bus::NAME.to_owned(), endpoint: format!("http://{address}") }))
}

/// Returns the key for positions in lists, and for masks: the chosen one, or a random one.
fn cursor_secret(settings: &Settings) -> String {
    let of_environment = || std::env::var(CURSOR_KEY).ok();
    settings.cursor_secret.clone().or_else(of_environment).unwrap_or_else(random_secret)
}

/// Returns a random key for positions in lists, which are valid until this process ends, and for masks.
fn random_secret() -> String {
    // `RandomState` has random keys from the operating system, so this needs no further crate.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests;
