//! What the local system remembers beside the tables: how far the stream was read, the events on the bus, how
//! far each webhook got, the batches that failed, and the queue of deliveries.
//!
//! What a call has written survives the end of this process, however it ends. Calls block, but only briefly.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::database;

// Numbers are never given out twice, even when the row with the greatest one is removed.
const SCHEMA: &str = "\
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS positions (consumer TEXT PRIMARY KEY, sequence TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        envelope TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS created_tables (name TEXT PRIMARY KEY) STRICT;
    CREATE TABLE IF NOT EXISTS webhooks (team TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS failures (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        function TEXT NOT NULL,
        reason TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS messages (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        due INTEGER NOT NULL,
        receives INTEGER NOT NULL,
        body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS messages_due ON messages (due);";
/// By what it is remembered how far the queue was filled from the bus; no team has an empty name.
pub const RULE: &str = "";
const SET_POSITION: &str = "INSERT OR REPLACE INTO positions VALUES (?1, ?2)";

/// Why something could not be remembered or recalled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file failed.
    #[error("the journal failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// The file is not used.
    #[error(transparent)]
    File(#[from] database::Error),
    /// The file holds what was never written there.
    #[error("the journal is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// The journal, open.
#[derive(Debug)]
pub struct Journal(Mutex<Connection>);

/// A batch of stream records that a function never accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedBatch {
    /// The function.
    pub function: String,
    /// What it said last; empty when it was never invoked.
    pub reason: String,
    /// What Lambda writes to an on-failure destination.
    pub record: Value,
}

/// A message that was received.
#[derive(Clone, PartialEq, Eq)]
pub struct Received {
    /// Its number.
    pub number: u64,
    /// How often it was received, with this time.
    pub receives: u64,
    /// What it holds.
    pub body: String,
}

impl std::fmt::Debug for Received {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Received").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens or creates the file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        database::check(path, "positions")?;
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Returns whether a table was created in the database beside this file.
    pub fn has_created(&self, table: &str) -> Result<bool, Error> {
        let select = "SELECT EXISTS (SELECT 1 FROM created_tables WHERE name = ?1)";
        Ok(self.connection().query_row(select, [table], |row| row.get(0))?)
    }

    /// Remembers that a table was created: from then on its absence is a damage.
    pub fn set_created(&self, table: &str) -> Result<(), Error> {
        self.connection().execute("INSERT OR IGNORE INTO created_tables VALUES (?1)", [table])?;
        Ok(())
    }

    /// The sequence number up to which a consumer has read what it reads; none before its first batch.
    pub fn position(&self, consumer: &str) -> Result<Option<String>, Error> {
        let select = "SELECT sequence FROM positions WHERE consumer = ?1";
        Ok(self.connection().query_row(select, [consumer], |row| row.get(0)).optional()?)
    }

    /// A consumer is done up to `sequence`.
    pub fn set_position(&self, consumer: &str, sequence: &str) -> Result<(), Error> {
        self.connection().execute(SET_POSITION, [consumer, sequence])?;
        Ok(())
    }

    /// A consumer gives a batch up, and is done up to `sequence`.
    pub fn give_up(&self, batch: &FailedBatch, consumer: &str, sequence: &str) -> Result<(), Error> {
        let mut connection = self.connection();
        // Together, so that a batch is neither lost nor told twice.
        let transaction = connection.transaction()?;
        transaction.execute(
            "INSERT INTO failures (function, reason, record) VALUES (?1, ?2, ?3)",
            params![batch.function, batch.reason, batch.record.to_string()],
        )?;
        transaction.execute(SET_POSITION, [consumer, sequence])?;
        Ok(transaction.commit()?)
    }

    /// The failed batches that are left, each with its number, newest last.
    pub fn failures(&self) -> Result<Vec<(u64, FailedBatch)>, Error> {
        let connection = self.connection();
        let mut select =
            connection.prepare("SELECT number, function, reason, record FROM failures ORDER BY number")?;
        let mut rows = select.query([])?;
        let mut failures = Vec::new();
        while let Some(row) = rows.next()? {
            let batch = FailedBatch { function: row.get(1)?, reason: row.get(2)?, record: json(row, 3)? };
            failures.push((row.get(0)?, batch));
        }
        Ok(failures)
    }

    /// Forgets a failed batch, since it has succeeded after all.
    pub fn remove_failure(&self, number: u64) -> Result<(), Error> {
        self.connection().execute("DELETE FROM failures WHERE number = ?1", [number])?;
        Ok(())
    }

    /// Puts events on the bus, all or none; the number of the last event there is.
    pub fn append(&self, envelopes: &[Value]) -> Result<u64, Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        for envelope in envelopes {
            transaction.execute("INSERT INTO events (envelope) VALUES (?1)", [envelope.to_string()])?;
        }
        let last = last_event(&transaction)?;
        transaction.commit()?;
        Ok(last)
    }

    /// The first events after a number, at most `limit`, each with its number.
    pub fn events(&self, after: u64, limit: u64) -> Result<Vec<(u64, Value)>, Error> {
        let connection = self.connection();
        let mut select = connection
            .prepare("SELECT number, envelope FROM events WHERE number > ?1 ORDER BY number LIMIT ?2")?;
        // Beyond what the file can count to there is nothing.
        let largest = i64::MAX.unsigned_abs();
        let mut rows = select.query([after.min(largest), limit.min(largest)])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push((row.get(0)?, json(row, 1)?));
        }
        Ok(events)
    }

    /// The number of the last event that a team's webhook is done with. A new webhook gets what is published
    /// from now on, as a new rule of a bus would.
    pub fn webhook(&self, team: &str) -> Result<u64, Error> {
        let connection = self.connection();
        connection.execute(
            "INSERT OR IGNORE INTO webhooks SELECT ?1, COALESCE(MAX(number), 0) FROM events",
            [team],
        )?;
        let select = "SELECT number FROM webhooks WHERE team = ?1";
        Ok(connection.query_row(select, [team], |row| row.get(0))?)
    }

    /// A team's webhook is done with the events up to `number`.
    pub fn set_webhook(&self, team: &str, number: u64) -> Result<(), Error> {
        self.connection()
            .execute("UPDATE webhooks SET number = ?2 WHERE team = ?1", params![team, number])?;
        Ok(())
    }

    /// Puts messages into the queue, each to be seen at a time; of those that the bus has told, `told` is the last event.
    pub fn enqueue(&self, messages: &[(u64, String)], told: Option<u64>) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        for (due, body) in messages {
            let insert = "INSERT INTO messages (due, receives, body) VALUES (?1, 0, ?2)";
            transaction.execute(insert, params![due, body])?;
        }
        if let Some(number) = told {
            transaction.execute("UPDATE webhooks SET number = ?2 WHERE team = ?1", params![RULE, number])?;
        }
        Ok(transaction.commit()?)
    }

    /// The first messages that are due, not to be seen again before `until`.
    pub fn receive(&self, now: u64, until: u64, limit: u64) -> Result<Vec<Received>, Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        let mut received = Vec::new();
        {
            let select =
                "SELECT number, receives + 1, body FROM messages WHERE due <= ?1 ORDER BY due LIMIT ?2";
            let mut select = transaction.prepare(select)?;
            let mut rows = select.query([now, limit])?;
            while let Some(row) = rows.next()? {
                received.push(Received { number: row.get(0)?, receives: row.get(1)?, body: row.get(2)? });
            }
        }
        for message in &received {
            let update = "UPDATE messages SET due = ?2, receives = ?3 WHERE number = ?1";
            transaction.execute(update, params![message.number, until, message.receives])?;
        }
        transaction.commit()?;
        Ok(received)
    }

    /// When the next message is due; none if there is none.
    pub fn next_due(&self) -> Result<Option<u64>, Error> {
        Ok(self.connection().query_row("SELECT MIN(due) FROM messages", [], |row| row.get(0))?)
    }

    /// Removes a message; what has become of it in the end is kept with the failed batches, if it was given up.
    pub fn remove_message(&self, number: u64, given_up: Option<&FailedBatch>) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        if let Some(batch) = given_up {
            transaction.execute(
                "INSERT INTO failures (function, reason, record) VALUES (?1, ?2, ?3)",
                params![batch.function, batch.reason, batch.record.to_string()],
            )?;
        }
        transaction.execute("DELETE FROM messages WHERE number = ?1", [number])?;
        Ok(transaction.commit()?)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // Whoever panicked has rolled its transaction back.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn last_event(connection: &Connection) -> Result<u64, rusqlite::Error> {
    connection.query_row("SELECT COALESCE(MAX(number), 0) FROM events", [], |row| row.get(0))
}

fn json(row: &Row<'_>, column: usize) -> Result<Value, Error> {
    let text: String = row.get(column)?;
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(number: u64) -> FailedBatch {
        let record = json!({"version": "1.0", "payload": format!("{{\"n\":{number}}}")});
        FailedBatch { function: "generate".to_owned(), reason: "broken".to_owned(), record }
    }

    /// Applies `change` in one process and tells what the next one finds after it was killed.
    fn reopened<T>(change: impl FnOnce(&Journal), look: impl FnOnce(&Journal) -> T) -> T {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("journal.db");
        let journal = Journal::open(&path).unwrap();
        change(&journal);
        // Nothing is closed, so what is found was on disk before.
        std::mem::forget(journal);
        look(&Journal::open(&path).unwrap())
    }

    #[test]
    fn positions_are_remembered_by_consumer() {
        let found = reopened(
            |journal| {
                journal.set_position("generate", "1").unwrap();
                journal.set_position("generate", "2").unwrap();
                journal.set_position("notify", "1").unwrap();
            },
            |journal| ["generate", "notify", "other"].map(|name| journal.position(name).unwrap()),
        );
        assert_eq!(found, [Some("2".to_owned()), Some("1".to_owned()), None]);
    }

    #[test]
    fn giving_up_remembers_the_batch_and_goes_on() {
        let (failures, position) = reopened(
            |journal| {
                journal.give_up(&failed(1), "generate", "7").unwrap();
                journal.give_up(&failed(2), "generate", "9").unwrap();
            },
            |journal| (journal.failures().unwrap(), journal.position("generate").unwrap()),
        );
        assert_eq!(failures, [(1, failed(1)), (2, failed(2))]);
        assert_eq!(position.as_deref(), Some("9"));
    }

    #[test]
    fn the_number_of_a_removed_failure_is_not_used_again() {
        let failures = reopened(
            |journal| {
                journal.give_up(&failed(1), "generate", "1").unwrap();
                journal.remove_failure(1).unwrap();
            },
            |journal| {
                journal.give_up(&failed(2), "generate", "2").unwrap();
                journal.failures().unwrap()
            },
        );
        assert_eq!(failures, [(2, failed(2))]);
    }

    #[test]
    fn events_are_numbered_in_order_and_listed_by_page() {
        let pages = reopened(
            |journal| {
                assert_eq!(journal.append(&[json!("a"), json!("b")]).unwrap(), 2);
                assert_eq!(journal.append(&[]).unwrap(), 2);
                assert_eq!(journal.append(&[json!("c")]).unwrap(), 3);
            },
            |journal| {
                [(0, 2), (2, 2), (3, 2), (u64::MAX, u64::MAX)].map(|(a, n)| journal.events(a, n).unwrap())
            },
        );
        let expected =
            [vec![(1, json!("a")), (2, json!("b"))], vec![(3, json!("c"))], Vec::new(), Vec::new()];
        assert_eq!(pages, expected);
    }

    #[test]
    fn a_webhook_goes_on_where_it_was_and_a_new_one_begins_at_the_end() {
        let found = reopened(
            |journal| {
                assert_eq!(journal.webhook("early").unwrap(), 0);
                journal.append(&[json!("a"), json!("b")]).unwrap();
                journal.set_webhook("early", 1).unwrap();
            },
            |journal| ["early", "late"].map(|team| journal.webhook(team).unwrap()),
        );
        assert_eq!(found, [1, 2]);
    }
}
