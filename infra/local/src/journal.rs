//! What the local system remembers beside the tables: how far the stream is read, what was published, what failed.
//!
//! It survives a kill at any moment, as AWS's services would: each call is one transaction of a database file.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, Result, params};
use serde_json::Value;

const FILE: &str = "local.db";
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS position (reader TEXT PRIMARY KEY, place TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS event (number INTEGER PRIMARY KEY, envelope TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS failure (number INTEGER PRIMARY KEY, function TEXT NOT NULL, record TEXT NOT NULL);
";

/// A row with the number that it was given, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered<T> {
    /// The number.
    pub number: u64,
    /// The row.
    pub value: T,
}

/// A batch that was given up, as the on-failure destination holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// The function that did not take it.
    pub function: String,
    /// What Lambda writes there.
    pub record: Value,
}

/// The journal of one system.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Mutex<Connection>>);

impl Journal {
    /// Opens or creates the journal in a directory.
    pub fn open(directory: &Path) -> Result<Self> {
        let connection = Connection::open(directory.join(FILE))?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a reader has come to.
    pub fn position(&self, reader: &str) -> Result<Option<String>> {
        let query = "SELECT place FROM position WHERE reader = ?1";
        self.connection().query_row(query, [reader], |row| row.get(0)).optional()
    }

    /// Notes where a reader has come to.
    pub fn advance(&self, reader: &str, place: &str) -> Result<()> {
        let upsert = "INSERT INTO position VALUES (?1, ?2) ON CONFLICT (reader) DO UPDATE SET place = ?2";
        self.connection().execute(upsert, [reader, place]).map(drop)
    }

    /// Adds an event that the bus has taken.
    pub fn publish(&self, envelope: &Value) -> Result<()> {
        let insert = "INSERT INTO event (envelope) VALUES (?1)";
        self.connection().execute(insert, [envelope.to_string()]).map(drop)
    }

    /// The events behind a number, in the order in which the bus took them.
    pub fn events(&self, after: u64, limit: u64) -> Result<Vec<Numbered<Value>>> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT number, envelope FROM event WHERE number > ?1 ORDER BY number LIMIT ?2",
        )?;
        let rows = query.query_map(params![after, limit], |row| {
            let envelope: String = row.get(1)?;
            Ok(Numbered { number: row.get(0)?, value: parsed(&envelope) })
        })?;
        rows.collect()
    }

    /// Adds a batch that was given up.
    pub fn give_up(&self, failed: &Failed) -> Result<()> {
        let insert = "INSERT INTO failure (function, record) VALUES (?1, ?2)";
        self.connection().execute(insert, params![failed.function, failed.record.to_string()]).map(drop)
    }

    /// The batches that were given up, oldest first.
    pub fn failures(&self) -> Result<Vec<Numbered<Failed>>> {
        let connection = self.connection();
        let mut query =
            connection.prepare_cached("SELECT number, function, record FROM failure ORDER BY number")?;
        let rows = query.query_map([], |row| {
            let record: String = row.get(2)?;
            Ok(Numbered {
                number: row.get(0)?,
                value: Failed { function: row.get(1)?, record: parsed(&record) },
            })
        })?;
        rows.collect()
    }

    /// Forgets a batch that was given up.
    pub fn forget(&self, number: u64) -> Result<()> {
        self.connection().execute("DELETE FROM failure WHERE number = ?1", [number]).map(drop)
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_noted_is_there_when_it_is_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let failed = Failed { function: "notify".to_owned(), record: json!({"payload": "{}"}) };
        {
            let journal = Journal::open(directory.path()).unwrap();
            assert_eq!(journal.position("generate").unwrap(), None);
            journal.advance("generate", "1").unwrap();
            journal.advance("generate", "2").unwrap();
            for n in 1..=3 {
                journal.publish(&json!({"n": n})).unwrap();
            }
            journal.give_up(&failed).unwrap();
        }
        let journal = Journal::open(directory.path()).unwrap();
        assert_eq!(journal.position("generate").unwrap().as_deref(), Some("2"));
        let events = journal.events(1, 1).unwrap();
        assert_eq!(events, [Numbered { number: 2, value: json!({"n": 2}) }]);
        assert_eq!(journal.failures().unwrap(), [Numbered { number: 1, value: failed }]);
        journal.forget(1).unwrap();
        assert_eq!(journal.failures().unwrap(), []);
    }
}
