//! The local state besides the tables: stream positions, events of the bus, webhook positions, failed batches, and
//! the queue of deliveries.
//!
//! Each call writes to disk before it returns, so a crash of the process loses nothing. Calls block, but only
//! briefly.

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;

use crate::database;

// `AUTOINCREMENT` never reuses a number, even after the row with the largest one is removed. In WAL mode,
// `synchronous = NORMAL` survives a crash of the process and is much faster than a sync for each transaction.
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
    CREATE INDEX IF NOT EXISTS messages_due ON messages (due);
    CREATE TABLE IF NOT EXISTS message_groups (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;";
// As in a fair queue of SQS, groups with fewer messages in progress come first. A message without a group never waits.
const RECEIVE: &str = "\
    WITH busy AS (
        SELECT name, COUNT(*) AS messages FROM messages JOIN message_groups USING (number)
        WHERE due > ?1 AND receives > 0 GROUP BY name
    )
    SELECT number, receives + 1, body
    FROM messages LEFT JOIN message_groups USING (number) LEFT JOIN busy USING (name)
    WHERE due <= ?1 ORDER BY COALESCE(busy.messages, 0), due, number LIMIT ?2";
/// The key of the queue's position among the webhooks. A team cannot have an empty name.
pub const RULE: &str = "";
const SET_POSITION: &str = "INSERT OR REPLACE INTO positions VALUES (?1, ?2)";

/// A failure of the journal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the journal failed: {0}")]
    Database(#[from] rusqlite::Error),
    /// The file is damaged or foreign.
    #[error(transparent)]
    File(#[from] database::Error),
    /// The file holds invalid JSON.
    #[error("the journal is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

/// An open journal.
#[derive(Debug)]
pub struct Journal(Mutex<Connection>);

/// A batch of records that a function never accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedBatch {
    /// Name of the function.
    pub function: String,
    /// Last error message; empty if the function was never invoked.
    pub reason: String,
    /// Record for the on-failure destination, as Lambda writes it.
    pub record: Value,
}

/// A message for the queue; its debug form leaves out the body.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Message {{ due: {due:?}, group: {group:?}, .. }}")]
pub struct Message {
    /// Due time, in milliseconds since 1970.
    pub due: u64,
    /// Group for fairness, if it has one.
    pub group: Option<String>,
    /// Text of the message.
    pub body: String,
}

/// A received message; its debug form leaves out the body.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("Received {{ number: {number:?}, .. }}")]
pub struct Received {
    /// Number of the message.
    pub number: u64,
    /// Deliveries so far, including this one.
    pub receives: u64,
    /// Text of the message.
    pub body: String,
}

impl Journal {
    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        database::check(path, "positions")?;
        let connection = Connection::open(path)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// Returns whether a table was created in the database of this directory.
    pub fn has_created(&self, table: &str) -> Result<bool, Error> {
        let select = "SELECT EXISTS (SELECT 1 FROM created_tables WHERE name = ?1)";
        Ok(self.connection().query_row(select, [table], |row| row.get(0))?)
    }

    /// Stores that a table was created. From then on, its absence is a damage.
    pub fn set_created(&self, table: &str) -> Result<(), Error> {
        self.connection().execute("INSERT OR IGNORE INTO created_tables VALUES (?1)", [table])?;
        Ok(())
    }

    /// Returns the last sequence number of a consumer, or `None` before its first batch.
    pub fn position(&self, consumer: &str) -> Result<Option<String>, Error> {
        let select = "SELECT sequence FROM positions WHERE consumer = ?1";
        Ok(self.connection().query_row(select, [consumer], |row| row.get(0)).optional()?)
    }

    /// Stores the last sequence number of a consumer.
    pub fn set_position(&self, consumer: &str, sequence: &str) -> Result<(), Error> {
        self.connection().execute(SET_POSITION, [consumer, sequence])?;
        Ok(())
    }

    /// Stores a failed batch together with the position of its consumer, if that moves.
    pub fn give_up(&self, batch: &FailedBatch, consumer: &str, sequence: Option<&str>) -> Result<(), Error> {
        let mut connection = self.connection();
        // One transaction stores both, so a crash neither loses the batch nor stores it twice.
        let transaction = connection.transaction()?;
        transaction.execute(
            "INSERT INTO failures (function, reason, record) VALUES (?1, ?2, ?3)",
            params![batch.function, batch.reason, batch.record.to_string()],
        )?;
        if let Some(sequence) = sequence {
            transaction.execute(SET_POSITION, [consumer, sequence])?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns all failed batches with their numbers, oldest first.
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

    /// Removes a failed batch after a successful redrive.
    pub fn remove_failure(&self, number: u64) -> Result<(), Error> {
        self.connection().execute("DELETE FROM failures WHERE number = ?1", [number])?;
        Ok(())
    }

    /// Adds events to the bus, all or none, and returns the number of the last event.
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

    /// Returns at most `limit` events after a number, each with its number.
    pub fn events(&self, after: u64, limit: u64) -> Result<Vec<(u64, Value)>, Error> {
        let connection = self.connection();
        let mut select = connection
            .prepare("SELECT number, envelope FROM events WHERE number > ?1 ORDER BY number LIMIT ?2")?;
        // SQLite integers are signed, so larger numbers cannot occur.
        let largest = i64::MAX.unsigned_abs();
        let mut rows = select.query([after.min(largest), limit.min(largest)])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push((row.get(0)?, json(row, 1)?));
        }
        Ok(events)
    }

    /// Returns the position of a team's webhook.
    ///
    /// A new webhook starts at the end, as a new rule of an event bus does.
    pub fn webhook(&self, team: &str) -> Result<u64, Error> {
        let connection = self.connection();
        connection.execute(
            "INSERT OR IGNORE INTO webhooks SELECT ?1, COALESCE(MAX(number), 0) FROM events",
            [team],
        )?;
        let select = "SELECT number FROM webhooks WHERE team = ?1";
        Ok(connection.query_row(select, [team], |row| row.get(0))?)
    }

    /// Stores the position of a team's webhook.
    pub fn set_webhook(&self, team: &str, number: u64) -> Result<(), Error> {
        self.connection()
            .execute("UPDATE webhooks SET number = ?2 WHERE team = ?1", params![team, number])?;
        Ok(())
    }

    /// Adds messages to the queue.
    ///
    /// For messages from the bus, `rule_position` is the new position of the queue's rule, which the same transaction
    /// stores.
    pub fn enqueue(&self, messages: &[Message], rule_position: Option<u64>) -> Result<(), Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        for Message { due, group, body } in messages {
            let insert = "INSERT INTO messages (due, receives, body) VALUES (?1, 0, ?2)";
            transaction.execute(insert, params![due, body])?;
            if let Some(group) = group {
                let insert = "INSERT INTO message_groups VALUES (?1, ?2)";
                transaction.execute(insert, params![transaction.last_insert_rowid(), group])?;
            }
        }
        if let Some(number) = rule_position {
            transaction.execute("UPDATE webhooks SET number = ?2 WHERE team = ?1", params![RULE, number])?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns the first due messages of the least busy groups, and hides them from other receivers until `until`.
    pub fn receive(&self, now: u64, until: u64, limit: u64) -> Result<Vec<Received>, Error> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        let mut received = Vec::new();
        {
            let mut select = transaction.prepare(RECEIVE)?;
            let mut rows = select.query([now, limit])?;
            while let Some(row) = rows.next()? {
                received.push(Received { number: row.get(0)?, receives: row.get(1)?, body: row.get(2)? });
            }
        }
        // The new due time is stored in the same transaction, so another receiver cannot get the same messages.
        for message in &received {
            let update = "UPDATE messages SET due = ?2, receives = ?3 WHERE number = ?1";
            transaction.execute(update, params![message.number, until, message.receives])?;
        }
        transaction.commit()?;
        Ok(received)
    }

    /// Returns the due time of the next message.
    pub fn next_due(&self) -> Result<Option<u64>, Error> {
        Ok(self.connection().query_row("SELECT MIN(due) FROM messages", [], |row| row.get(0))?)
    }

    /// Removes a message, and stores a failed batch in the same transaction if it was given up.
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
        transaction.execute("DELETE FROM message_groups WHERE number = ?1", [number])?;
        Ok(transaction.commit()?)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic drops the transaction, which rolls it back. So the connection is usable after a poisoned lock.
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

    /// Applies `change`, and returns what a new process finds after a kill.
    fn reopened<T>(change: impl FnOnce(&Journal), look: impl FnOnce(&Journal) -> T) -> T {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("journal.db");
        let journal = Journal::open(&path).unwrap();
        change(&journal);
        // The connection is never closed, so only data on disk counts.
        std::mem::forget(journal);
        look(&Journal::open(&path).unwrap())
    }

    #[test]
    fn positions_are_remembered_by_consumer() {
        let positions = reopened(
            |journal| {
                journal.set_position("generate", "1").unwrap();
                journal.set_position("generate", "2").unwrap();
                journal.set_position("notify", "1").unwrap();
            },
            |journal| ["generate", "notify", "other"].map(|name| journal.position(name).unwrap()),
        );
        assert_eq!(positions, [Some("2".to_owned()), Some("1".to_owned()), None]);
    }

    #[test]
    fn giving_up_remembers_the_batch_and_goes_on() {
        let (failures, position) = reopened(
            |journal| {
                journal.give_up(&failed(1), "generate", Some("7")).unwrap();
                journal.give_up(&failed(2), "generate", Some("9")).unwrap();
                journal.give_up(&failed(3), "generate", None).unwrap();
            },
            |journal| (journal.failures().unwrap(), journal.position("generate").unwrap()),
        );
        assert_eq!(failures, [(1, failed(1)), (2, failed(2)), (3, failed(3))]);
        assert_eq!(position.as_deref(), Some("9"));
    }

    #[test]
    fn the_number_of_a_removed_failure_is_not_reused() {
        let failures = reopened(
            |journal| {
                journal.give_up(&failed(1), "generate", Some("1")).unwrap();
                journal.remove_failure(1).unwrap();
            },
            |journal| {
                journal.give_up(&failed(2), "generate", Some("2")).unwrap();
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
        let positions = reopened(
            |journal| {
                assert_eq!(journal.webhook("early").unwrap(), 0);
                journal.append(&[json!("a"), json!("b")]).unwrap();
                journal.set_webhook("early", 1).unwrap();
            },
            |journal| ["early", "late"].map(|team| journal.webhook(team).unwrap()),
        );
        assert_eq!(positions, [1, 2]);
    }
}
