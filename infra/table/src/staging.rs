//! Stagings: laying a submission out before its commit, and clearing away what was never committed.

use crate::record::StagingRecord;
use crate::{Commit, Error, Table, key, statement};
use domain::id::TeamId;
use domain::json::Hash;
use domain::plan::Staged;
use domain::staging::{Staging, StagingId, StagingState};
use domain::timestamp::Timestamp;
use domain::work::WorkId;
use domain::write::Write;
use std::collections::BTreeMap;
use std::iter;

/// How many declarations are made records at once; a function has little memory.
const DECLARATIONS_AT_ONCE: usize = 500;

/// How many work records are made at once: each is much larger as a record than as it is planned.
const WORKS_AT_ONCE: usize = 5;

impl Table {
    /// Lays a submission out, unseen: its staging, then its work and the declarations that it names.
    pub async fn stage(
        &self,
        staged: &Staged,
        declarations: &BTreeMap<Hash, String>,
    ) -> Result<Commit, Error> {
        let team = staged.submission.team.id;
        let begun = self.commit(&[Write::Staging(staged.staging)]).await?;
        if begun != Commit::Done {
            return Ok(begun);
        }
        let (staging, state) = (staged.staging.id, StagingState::Open);
        for some in staged.works.chunks(WORKS_AT_ONCE) {
            // A request that arrives when it is given up, and all is done or cleared away, must bring nothing back.
            let stays = Write::StagingStays { team, staging, state };
            let writes: Vec<Write> = iter::once(stays).chain(some.iter().cloned().map(Write::Work)).collect();
            let laid_out = self.commit(&writes).await?;
            if laid_out != Commit::Done {
                return Ok(laid_out);
            }
        }
        let declarations: Vec<(&Hash, &String)> = declarations.iter().collect();
        for some in declarations.chunks(DECLARATIONS_AT_ONCE) {
            let record = |(hash, text): &(&Hash, &String)| {
                statement::declaration(key::declaration(team, **hash), text)
            };
            self.put_all(some.iter().map(record).collect()).await?;
        }
        Ok(Commit::Done)
    }

    /// Makes the commit of a staging impossible, unless it is committed; what was laid out stays until it is cleared away.
    pub async fn abort(&self, staging: &Staging) -> Result<(), Error> {
        let (team, id) = (staging.team(), staging.id);
        let moved =
            Write::StagingMoved { team, staging: id, from: StagingState::Open, to: StagingState::Aborted };
        self.commit(&[moved]).await.map(drop)
    }

    /// Aborts a staging and clears it away, unless it is committed; tells whether it is gone.
    pub async fn clear_away(&self, staging: &Staging) -> Result<bool, Error> {
        self.abort(staging).await?;
        // Whatever the answer was: what it is now decides.
        match self.staging(staging.team(), staging.id).await? {
            Some(now) if now.state == StagingState::Aborted => self.clear(&now).await.map(|()| true),
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    async fn clear(&self, staging: &Staging) -> Result<(), Error> {
        let work = |number| WorkId { submission: staging.submission, staging: Some(staging.id), number };
        self.remove_all((1..=staging.works).map(|number| key::work(work(number))).collect()).await?;
        // Last, for what is left is found by it.
        self.remove_all(vec![key::staging(staging.team(), staging.id)]).await
    }

    /// A staging; none once it is carried out or cleared away.
    pub async fn staging(&self, team: TeamId, id: StagingId) -> Result<Option<Staging>, Error> {
        self.get::<StagingRecord>(key::staging(team, id)).await
    }

    /// Stagings that were begun before a time, oldest first, at most `limit`.
    pub async fn stagings(&self, before: Timestamp, limit: i32) -> Result<Vec<(TeamId, StagingId)>, Error> {
        let places = self.places(key::ALL_STAGINGS, before, limit).await?;
        Ok(places.iter().filter_map(|(pk, sk)| key::staging_at(pk, sk)).collect())
    }
}
