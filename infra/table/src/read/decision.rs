//! The records that an owner's decision reads, and the records that its response shows.

use super::batch::Consistency;
use crate::client::caches::CachedChange;
use crate::client::{Error, Table};
use crate::key;
use crate::record::{self, ChangeRecord, ClaimRecord, HeadRecord, ItemRecord, Record};
use domain::base::id::DeployedId;
use domain::model::claim::Claim;
use domain::model::team::Head;
use domain::rules::decide::Decided;
use domain::views::related::Related;
use domain::{Change, ChangeId, Item, TeamId};
use dovetail_aws::{now, retry};

/// A change instance with the records that a decision on it needs.
#[derive(Clone, Debug)]
pub struct Undecided {
    pub change: Change,
    pub item: Item,
    /// The head of its consumer team, if the caller requested it.
    pub head: Option<Head>,
    /// The claim on the work, if the caller requested it.
    pub claim: Option<Claim>,
}

/// The further records to read with a change instance and its item.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The head of the consumer team.
    pub head: bool,
    /// The claim of the reading team on the work.
    pub claim: bool,
}

#[derive(Default)]
struct DecisionRows {
    change: Option<Change>,
    item: Option<Item>,
    head: Option<Head>,
    claim: Option<Claim>,
}

impl Table {
    /// Returns a change instance with its item, or `None` unless it concerns `team`.
    ///
    /// The id of a change instance does not contain its item. The read therefore takes one round if this process has
    /// seen the change instance before, or two if it has not. For another team, the function reads the change instance
    /// alone, or nothing.
    pub async fn undecided(
        &self,
        id: ChangeId,
        team: TeamId,
        wanted: Wanted,
    ) -> Result<Option<Undecided>, Error> {
        let cached = self.caches.changes.get(&id, now());
        if cached.is_some_and(|cached| !cached.parties.contains(&team)) {
            return Ok(None);
        }
        let head = wanted.head.then(|| key::head(id.team()));
        let further = |item| {
            let claim = wanted.claim.then(|| key::claim(item, team));
            head.clone().into_iter().chain(claim)
        };
        let at_once = cached
            .into_iter()
            .flat_map(|cached| std::iter::once(key::item(cached.item)).chain(further(cached.item)));
        let mut decision_rows =
            self.rows_of_keys(std::iter::once(key::change(id)).chain(at_once).collect()).await?;
        let change = decision_rows.change.take().filter(|change| change.parties().contains(&team));
        let Some(change) = change else { return Ok(None) };
        let is_its = |item: &Item| item.id == change.item;
        // One transaction creates both records, but a batch read next to it may see only one of them
        // (docs/explanation/concurrency.md). The first of these reads needs no pause: usually no item was read yet.
        let mut reads = retry::TORN_READ.attempts();
        let mut has_tried_live = cached.is_some();
        while !decision_rows.item.as_ref().is_some_and(is_its) && reads.next().await.is_some() {
            // A missing item may be gone. Only a read of both keys finds it during its move (R44).
            let gone = has_tried_live.then(|| key::gone(change.item));
            let keys = std::iter::once(key::item(change.item)).chain(gone).chain(further(change.item));
            decision_rows = self.rows_of_keys(keys.collect()).await?;
            has_tried_live = true;
        }
        let missing = || Error::Unavailable(format!("the item of change instance {id} does not exist yet"));
        let item = decision_rows.item.filter(is_its).ok_or_else(missing)?;
        let facts = CachedChange { item: item.id, parties: change.parties() };
        self.caches.changes.insert(id, facts, now());
        let claim = decision_rows.claim.unwrap_or_else(|| Claim::never(item.id, team));
        let claim = wanted.claim.then_some(claim);
        Ok(Some(Undecided { change, item, head: decision_rows.head, claim }))
    }

    async fn rows_of_keys(&self, keys: Vec<key::Key>) -> Result<DecisionRows, Error> {
        let mut decision_rows = DecisionRows::default();
        for row in self.batch_get_rows(keys, Consistency::Strong).await? {
            match record::type_of(&row) {
                Some(ChangeRecord::TYPE) => decision_rows.change = Some(record::read::<ChangeRecord>(row)?),
                Some(ItemRecord::TYPE) => {
                    let item = record::read::<ItemRecord>(row)?;
                    // A batch can see both rows of a moving item, because its reads happen at several moments.
                    let newest = decision_rows.item.take().filter(|other| other.revision > item.revision);
                    decision_rows.item = newest.or(Some(item));
                }
                Some(ClaimRecord::TYPE) => decision_rows.claim = Some(record::read::<ClaimRecord>(row)?),
                Some(HeadRecord::TYPE) => decision_rows.head = Some(record::read::<HeadRecord>(row)?),
                other => {
                    return Err(Error::corrupt(
                        record::key_text(&row),
                        format!("unexpected record type {other:?}"),
                    ));
                }
            }
        }
        Ok(decision_rows)
    }

    /// Returns the records that the response to a decision shows. The item and its deployed item come from the
    /// decision itself.
    pub async fn related_to_decided(&self, decided: &Decided) -> Result<Related, Error> {
        let Decided { change, item, deployed, .. } = decided;
        let newest = item.shown_deployed().map(|latest| latest.id);
        let stored = newest.filter(|id| deployed.as_ref().is_none_or(|brought| brought.id != *id));
        let mut related = self.related_to_decision(change, item, stored).await?;
        related.add_decided(decided);
        Ok(related)
    }

    /// Returns the records that the response to a decision shows, without the item. The read comes before the decision,
    /// because its check needs some of them.
    pub async fn related_to_decision(
        &self,
        change: &Change,
        item: &Item,
        deployed: impl IntoIterator<Item = DeployedId>,
    ) -> Result<Related, Error> {
        let declarations = change.new.iter().chain(&change.old).chain(std::iter::once(&item.version));
        let mut keys = vec![
            key::service(&change.service.title),
            key::team(change.consumer.id),
            key::team(change.service_owner.id),
            key::application(item.application_id()),
        ];
        let hashes = declarations.map(|version| version.hash).chain(change.planned());
        keys.extend(hashes.map(|hash| key::declaration(change.consumer.id, hash)));
        keys.extend(deployed.into_iter().map(key::deployed));
        let mut related = self.batch_get_related(keys, Consistency::Complete).await?;
        self.add_retired([change.application_id()], &mut related).await?;
        Ok(related)
    }
}
