//! Generation: the stream starts `generate` after a submission, and `generate` processes the submission's work records.

use dovetail_aws::log;
use dovetail_table::Table;
use dovetail_table::stream::{StreamEvent, StreamRecord, StreamReply, Written, records, retry_from};
use dovetail_worker::{Carried, TURN, carry_out_all};
use futures_util::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// Processes the work of the submissions in a batch of stream records.
///
/// Teams proceed concurrently, and the submissions of one team in order. Only a temporary failure stops a team. A
/// broken work record is left to `sweep`, so that it delays no other team. Lambda delivers an unreadable stream record
/// again, and in the end to the on-failure destination.
pub async fn handle(table: &Table, event: StreamEvent) -> StreamReply {
    let teams = by_team(records(event));
    // One turn serves the whole batch, because a batch often has several records of one large submission.
    let turn = Instant::now() + TURN;
    let failed = join_all(teams.into_iter().map(|records| first_failed(table, records, turn))).await;
    // Lambda repeats the batch from its first failed record on. Finished work is not repeated, because it is gone.
    let first = failed.into_iter().flatten().min_by_key(|(index, _)| *index);
    retry_from(first.map(|(_, sequence)| sequence))
}

/// Divides records by the team of their submission, each with its index in the batch.
fn by_team(records: impl Iterator<Item = StreamRecord>) -> Vec<Vec<(usize, StreamRecord)>> {
    let mut teams = BTreeMap::<_, Vec<_>>::new();
    for (index, record) in records.enumerate() {
        let team = match &record.written {
            Ok(Written::Submission { after, .. }) => Some(after.id.team()),
            Ok(Written::Change { .. } | Written::Deployed(_) | Written::Other) | Err(_) => None,
        };
        teams.entry(team).or_default().push((index, record));
    }
    teams.into_values().collect()
}

/// Processes the records of one team, and returns index and sequence number of the first failed one.
async fn first_failed(
    table: &Table,
    records: Vec<(usize, StreamRecord)>,
    turn: Instant,
) -> Option<(usize, String)> {
    // These submissions have a finished work record, and their updates are later records of the stream.
    let mut woken = BTreeSet::new();
    for (index, StreamRecord { sequence, written }) in records {
        let done = match written {
            Ok(Written::Submission { after, .. }) if woken.contains(&after.id) && Instant::now() >= turn => {
                Ok(())
            }
            Ok(Written::Submission { after, .. }) => {
                carry_out_all(table, &after, turn).await.map(|carried| {
                    if carried.contains(&Carried::Out) {
                        woken.insert(after.id);
                    }
                })
            }
            Ok(Written::Change { .. } | Written::Deployed(_) | Written::Other) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            log(&format!("stream record {sequence}"), &error.to_string());
            return Some((index, sequence));
        }
    }
    None
}
