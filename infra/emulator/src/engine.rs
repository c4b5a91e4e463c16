//! The DynamoDB engine: the embedded one, a database file behind loopback HTTP on a separate thread, or an external
//! one.
//!
//! This file does not hide differences between an engine and AWS, and creates no tables.

use std::os::unix::fs::DirBuilderExt as _;
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::Duration,
};

use dynoxide::Database;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

use crate::database;

const DATABASE_FILE: &str = "dovetail.db";
/// A table of the engine itself, in every one of its databases.
const ENGINES_TABLE: &str = "_tables";
const LOCK_FILE: &str = "dovetail.lock";
const SHARED_MEMORY: &str = "/dev/shm";
/// The longest wait for open requests at the stop; idle connections close at once.
const GRACE: Duration = Duration::from_secs(2);

// Each stream write selects the largest sequence number of its table, and each stream read selects larger ones.
// Without an index on this very expression, both scan all stream records ever written.
const INDEX_STREAMS: &str = "CREATE INDEX IF NOT EXISTS _sr_seq \
    ON _stream_records(table_name, CAST(sequence_number AS INTEGER))";

/// The location of files: the embedded database and the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A directory, which is created if missing, and remains.
    Directory(PathBuf),
    /// A new directory, in shared memory if possible, which is removed at the end.
    ///
    /// The directory holds a file too, because the in-memory database of the engine cannot get the index over stream
    /// records.
    Memory,
}

/// The reason why the engine did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory, the lock file or the loopback socket failed.
    #[error("{what}: {source}")]
    Io {
        what: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another process uses this directory.
    #[error("{} is in use by another process; stop it, or use another directory", .0.display())]
    InUse(PathBuf),
    /// A path that is not UTF-8, which the engine cannot open.
    #[error("{} must be valid UTF-8, because the database requires it", .0.display())]
    Unreadable(PathBuf),
    /// The database file is damaged or foreign.
    #[error(transparent)]
    File(#[from] database::Error),
    /// The engine rejected the database.
    #[error("the database could not be opened: {0}")]
    Database(String),
    /// The database file is unreadable, or its index could not be created.
    #[error("the database failed: {0}")]
    Index(#[from] rusqlite::Error),
    /// The server of the engine failed.
    #[error("the engine failed: {0}")]
    Serving(String),
}

impl Error {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// A running engine. The embedded one stops when this value is dropped.
#[derive(Debug)]
pub struct Engine {
    endpoint: String,
    directory: PathBuf,
    serving: Option<Serving>,
    // Rust drops fields in order: the server, the lock, the directory. The directory therefore becomes free only after
    // the last write.
    _lock: File,
    _fresh: Option<TempDir>,
}

#[derive(Debug)]
struct Serving {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Result<(), Error>>,
}

impl Engine {
    /// Opens or creates the database in `place`, and serves it on a free port.
    pub fn start(storage: &Storage) -> Result<Self, Error> {
        let (directory, fresh) = directory(storage)?;
        let lock = lock(&directory)?;
        let database = open(&directory.join(DATABASE_FILE))?;
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(Error::io("loopback socket"))?;
        listener.set_nonblocking(true).map_err(Error::io("loopback socket"))?;
        let address = listener.local_addr().map_err(Error::io("loopback socket"))?;
        let endpoint = format!("http://{address}");
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || serve(listener, database, stopped))
            .map_err(Error::io("the engine's thread"))?;
        let serving = Some(Serving { stop, thread });
        Ok(Self { endpoint, directory, serving, _lock: lock, _fresh: fresh })
    }

    /// Returns an external engine; `place` holds only the journal.
    pub fn elsewhere(endpoint: &str, storage: &Storage) -> Result<Self, Error> {
        let (directory, fresh) = directory(storage)?;
        let lock = lock(&directory)?;
        Ok(Self { endpoint: endpoint.to_owned(), directory, serving: None, _lock: lock, _fresh: fresh })
    }

    /// Returns whether a directory has a database.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(DATABASE_FILE).is_file()
    }

    /// Returns whether the engine runs in this process.
    pub const fn is_embedded(&self) -> bool {
        self.serving.is_some()
    }

    /// Fails if the embedded engine lacks a table.
    pub fn require_table(&self, table: &str) -> Result<(), Error> {
        if !self.is_embedded() {
            return Ok(());
        }
        let path = self.directory.join(DATABASE_FILE);
        let select = "SELECT EXISTS (SELECT 1 FROM _tables WHERE table_name = ?1) \
                      AND EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
        if Connection::open(&path)?.query_row(select, [table], |row| row.get(0))? {
            Ok(())
        } else {
            Err(database::Error::NoTable { path, table: table.to_owned() }.into())
        }
    }

    /// Returns the endpoint for a DynamoDB client.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Returns the directory, which is locked for this process.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Finishes open requests within the grace time and closes the database. An external engine continues to run.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        let Some(Serving { stop, thread }) = self.serving.take() else {
            return Ok(());
        };
        // A dropped sender has the effect of a message and cannot fail.
        drop(stop);
        thread.join().unwrap_or_else(|_| Err(Error::Serving("its thread panicked".to_owned())))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // A caller that needs the outcome calls `stop`.
        drop(self.end());
    }
}

fn directory(storage: &Storage) -> Result<(PathBuf, Option<TempDir>), Error> {
    match storage {
        Storage::Directory(path) => {
            // The files contain every declaration, so only the user may read them.
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(Error::io(path.display().to_string()))?;
            Ok((path.clone(), None))
        }
        Storage::Memory => {
            let shared = Path::new(SHARED_MEMORY);
            let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
            let fresh = tempfile::Builder::new().prefix("dovetail-").tempdir_in(&parent);
            let fresh = fresh.map_err(Error::io(parent.display().to_string()))?;
            Ok((fresh.path().to_owned(), Some(fresh)))
        }
    }
}

/// Locks a directory. Two engines on one database would cache data that the other one changes.
fn lock(directory: &Path) -> Result<File, Error> {
    let path = directory.join(LOCK_FILE);
    let options = File::options().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(Error::io(path.display().to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(directory.to_owned())),
        Err(TryLockError::Error(source)) => Err(Error::io(path.display().to_string())(source)),
    }
}

fn open(path: &Path) -> Result<Database, Error> {
    let name = path.to_str().ok_or_else(|| Error::Unreadable(path.to_owned()))?;
    database::check(path, ENGINES_TABLE)?;
    let database = Database::new(name).map_err(|error| Error::Database(error.to_string()))?;
    // The engine creates its own tables when it opens the database. Only then the index is possible.
    Connection::open(path)?.execute_batch(INDEX_STREAMS)?;
    Ok(database)
}

/// Serves on a separate runtime, because the handlers of the engine block their thread.
fn serve(
    listener: std::net::TcpListener,
    database: Database,
    stopped: oneshot::Receiver<()>,
) -> Result<(), Error> {
    // The engine runs one statement at a time, so one thread is enough. The drop of this runtime closes every
    // connection and then the database, before the thread ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::io("the engine's runtime"))?;
    runtime.block_on(async move {
        let listener = TcpListener::from_std(listener).map_err(Error::io("loopback socket"))?;
        let (stopping, grace_begins) = oneshot::channel::<()>();
        let shutdown = async move {
            drop(stopped.await);
            drop(stopping);
        };
        let too_late = async move {
            drop(grace_begins.await);
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = dynoxide::server::serve_with_shutdown(listener, database, shutdown) => {
                served.map_err(Error::Serving)
            }
            // An incomplete request would keep the server running for ever.
            () = too_late => Ok(()),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read, Write},
        net::TcpStream,
    };

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_the_user_reads_the_data_directory() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        directory(&Storage::Directory(path.clone())).unwrap();
        for made in [path.as_path(), path.parent().unwrap()] {
            assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    /// A client with a persistent connection, like that of an SDK.
    struct Client(BufReader<TcpStream>);

    impl Client {
        fn new(engine: &Engine) -> Self {
            Self(BufReader::new(TcpStream::connect(engine.endpoint().trim_start_matches("http://")).unwrap()))
        }

        fn call(&mut self, operation: &str, body: &Value) -> Value {
            let body = body.to_string();
            let head = format!(
                "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n\
                 x-amz-target: DynamoDB_20120810.{operation}\r\nx-amz-date: 20250101T000000Z\r\n\
                 authorization: AWS4-HMAC-SHA256 Credential=a/20250101/local/dynamodb/aws4_request, \
                 SignedHeaders=host, Signature=0\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let stream = self.0.get_mut();
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            self.reply()
        }

        fn reply(&mut self) -> Value {
            let mut status = String::new();
            self.0.read_line(&mut status).unwrap();
            let mut length = 0;
            loop {
                let mut line = String::new();
                self.0.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).unwrap();
            let body = serde_json::from_slice(&body).unwrap();
            assert!(status.contains(" 200 "), "{status}{body}");
            body
        }
    }

    fn create_table(client: &mut Client) {
        let table = json!({
            "TableName": "dovetail-test",
            "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
        });
        client.call("CreateTable", &table);
    }

    fn put(client: &mut Client, key: &str) {
        client.call("PutItem", &json!({ "TableName": "dovetail-test", "Item": { "pk": { "S": key } } }));
    }

    fn get(client: &mut Client, key: &str) -> Value {
        client.call(
            "GetItem",
            &json!({ "TableName": "dovetail-test", "Key": { "pk": { "S": key } } }),
        )["Item"]
            .clone()
    }

    fn plan(connection: &Connection, statement: &str) -> String {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
        // Parameters do not affect the query plan, so none are bound.
        let steps = explained.raw_query().mapped(|row| row.get::<_, String>(3));
        steps.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    }

    #[test]
    fn data_survives_a_restart_in_the_same_directory() {
        let parent = tempfile::tempdir().unwrap();
        let storage = Storage::Directory(parent.path().join("new").join("data"));
        let engine = Engine::start(&storage).unwrap();
        let mut client = Client::new(&engine);
        create_table(&mut client);
        put(&mut client, "kept");
        engine.stop().unwrap();

        let engine = Engine::start(&storage).unwrap();
        assert_eq!(get(&mut Client::new(&engine), "kept"), json!({ "pk": { "S": "kept" } }));
    }

    #[test]
    fn stream_writes_and_reads_use_the_index() {
        let parent = tempfile::tempdir().unwrap();
        let engine = Engine::start(&Storage::Directory(parent.path().to_owned())).unwrap();
        let mut client = Client::new(&engine);
        create_table(&mut client);
        put(&mut client, "one");
        put(&mut client, "two");

        let connection = Connection::open(parent.path().join(DATABASE_FILE)).unwrap();
        let records: i64 =
            connection.query_row("SELECT COUNT(*) FROM _stream_records", [], |row| row.get(0)).unwrap();
        assert_eq!(records, 2);
        // The queries are the statements of the engine, word for word.
        let next = plan(
            &connection,
            "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records \
             WHERE table_name = ?1",
        );
        assert!(next.starts_with("SEARCH") && next.contains("_sr_seq"), "{next}");
        let read = plan(
            &connection,
            "SELECT event_name FROM _stream_records \
             WHERE table_name = ?1 AND shard_id = ?2 AND CAST(sequence_number AS INTEGER) > ?3 \
             ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT ?4",
        );
        assert!(read.starts_with("SEARCH") && read.contains("_sr_seq") && !read.contains("TEMP"), "{read}");
    }

    #[test]
    fn an_external_engine_continues_after_its_last_use() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        create_table(&mut Client::new(&engine));
        let user = Engine::elsewhere(engine.endpoint(), &Storage::Memory).unwrap();
        assert_eq!(user.endpoint(), engine.endpoint());
        let user_directory = user.directory().to_owned();
        assert!(user_directory.is_dir() && user_directory != engine.directory());
        user.stop().unwrap();
        assert!(!user_directory.exists());
        put(&mut Client::new(&engine), "after");
    }

    #[test]
    fn one_directory_is_served_once() {
        let parent = tempfile::tempdir().unwrap();
        let storage = Storage::Directory(parent.path().to_owned());
        let engine = Engine::start(&storage).unwrap();
        let refused = Engine::start(&storage).unwrap_err();
        assert!(matches!(&refused, Error::InUse(path) if path == parent.path()), "{refused}");
        Engine::elsewhere("http://127.0.0.1:1", &storage).unwrap_err();
        drop(engine);
        Engine::start(&storage).unwrap().stop().unwrap();
    }

    #[test]
    fn memory_leaves_nothing_behind() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let path = engine.directory().to_owned();
        let mut client = Client::new(&engine);
        create_table(&mut client);
        assert!(path.join(DATABASE_FILE).exists());
        drop(engine);
        assert!(!path.exists());
    }

    #[test]
    fn open_connections_do_not_hold_the_stop() {
        let engine = Engine::start(&Storage::Memory).unwrap();
        let mut idle = Client::new(&engine);
        create_table(&mut idle);
        let mut partial = Client::new(&engine);
        partial.0.get_mut().write_all(b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\n{").unwrap();
        engine.stop().unwrap();
        assert_eq!(idle.0.read(&mut [0]).unwrap(), 0);
    }
}
