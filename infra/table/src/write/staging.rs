//! Staged submissions: the writes of their work before the commit, and the removal of abandoned ones.
//!
//! The work contains the new declarations, compressed. The records of the declarations are written when the work is
//! carried out, so that 10,000 declarations do not delay the commit (docs/explanation/staging.md).

use super::commit::Commit;
use super::statement;
use crate::client::{Error, Table};
use crate::key;
use crate::record::StagingRecord;
use domain::model::staging::{Staging, StagingId, StagingState};
use domain::model::work::WorkId;
use domain::model::write::Write;
use domain::rules::plan::Staged;
use domain::{Hash, TeamId, Timestamp};
use std::collections::BTreeMap;
use std::iter;

/// The work records of one transaction. A record takes much more memory than its plan.
const WORKS_AT_ONCE: usize = 5;

impl Table {
    /// Writes a staging, then its work. Readers see none of it until the commit.
    pub async fn stage(&self, staged: &Staged) -> Result<Commit, Error> {
        let team = staged.submission.team.id;
        let begun = self.commit(&[Write::StartStaging(staged.staging)]).await?;
        if begun != Commit::Done {
            return Ok(begun);
        }
        let (staging, state) = (staged.staging.id, StagingState::Open);
        for some in staged.works.chunks(WORKS_AT_ONCE) {
            // A delayed request may arrive after the sweep has removed the staging. The check makes such a request
            // fail, so it cannot bring work back (decision record 12).
            let stays = Write::CheckStaging { team, staging, state };
            let writes: Vec<Write> =
                iter::once(stays).chain(some.iter().cloned().map(Write::CreateWork)).collect();
            let laid_out = self.commit(&writes).await?;
            if laid_out != Commit::Done {
                return Ok(laid_out);
            }
        }
        Ok(Commit::Done)
    }

    /// Writes declarations of staged work, before its items.
    ///
    /// Declarations are stored under their hash, so writing them twice does no harm, and no transaction at double cost
    /// is necessary.
    pub async fn store_declarations(
        &self,
        team: TeamId,
        declarations: &BTreeMap<Hash, String>,
    ) -> Result<(), Error> {
        let record =
            |(hash, text): (&Hash, &String)| statement::declaration(key::declaration(team, *hash), text);
        self.put_all(declarations.iter().map(record).collect()).await
    }

    /// Prevents the commit of a staging that is not committed; its records remain until they are removed.
    pub async fn abort(&self, staging: &Staging) -> Result<(), Error> {
        let (team, id) = (staging.team(), staging.id);
        let moved =
            Write::UpdateStaging { team, staging: id, from: StagingState::Open, to: StagingState::Aborted };
        self.commit(&[moved]).await.map(drop)
    }

    /// Aborts and removes a staging unless it is committed, and returns whether it is gone.
    pub async fn clear_away(&self, staging: &Staging) -> Result<bool, Error> {
        self.abort(staging).await?;
        // The abort may have lost against a commit, or its answer may be lost, so the stored state decides.
        match self.staging(staging.team(), staging.id).await? {
            Some(now) if now.state == StagingState::Aborted => self.clear(&now).await.map(|()| true),
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    async fn clear(&self, staging: &Staging) -> Result<(), Error> {
        let work = |number| WorkId { submission: staging.submission, staging: Some(staging.id), number };
        self.remove_all((1..=staging.works).map(|number| key::work(work(number))).collect()).await?;
        // The staging goes last: after a crash, the sweep finds the remaining work records by it.
        self.remove_all(vec![key::staging(staging.team(), staging.id)]).await
    }

    /// Returns a staging, or `None` once it is complete or removed.
    pub async fn staging(&self, team: TeamId, id: StagingId) -> Result<Option<Staging>, Error> {
        self.get::<StagingRecord>(key::staging(team, id)).await
    }

    /// Returns at most `limit` stagings that were begun before a time, oldest first.
    pub async fn stagings(&self, before: Timestamp, limit: i32) -> Result<Vec<(TeamId, StagingId)>, Error> {
        let keys = self.keys_before(key::ALL_STAGINGS, before, limit).await?;
        Ok(keys.iter().filter_map(|(pk, sk)| key::staging_at(pk, sk)).collect())
    }
}
