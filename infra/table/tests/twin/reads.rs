//! Tests of reads by id: every record, and `None` for unknown ids.

use crate::twin::{Twin, run, whole_seconds};
use crate::world::{APP, CONSUMER, STRANGER, VM_OWNER, World, application, document, team, vm};
use domain::base::id::{ApplicationId, ChargeId, DeployedId, ServiceId};
use domain::model::claim::Claim;
use domain::model::submission::{IdempotencyRecord, Scope};
use domain::{ChangeId, ItemId, SubmissionId, TeamId, Timestamp};
use dovetail_aws::observed;
use dovetail_table::Wanted;
use std::collections::BTreeSet;

/// A number above every one that a walk allots.
const NOBODYS: u64 = 4_000;

pub(crate) async fn all(twin: &Twin) {
    teams(twin).await;
    items(twin).await;
    changes(twin).await;
    charges(twin).await;
    submissions(twin).await;
    services(twin).await;
}

async fn teams(twin: &Twin) {
    let (table, snapshot) = (&twin.table, &twin.world.snapshot);
    for (id, expected) in &snapshot.teams {
        assert_eq!(table.team(*id).await.unwrap().as_ref(), Some(expected));
        assert_eq!(table.team_by_name(&expected.name).await.unwrap().as_ref(), Some(expected));
        assert_eq!(table.head(*id).await.unwrap(), snapshot.heads.get(id).copied());
        let stored = table.stored_team(*id).await.unwrap().unwrap();
        assert_eq!((&stored.team, &stored.head), (expected, &snapshot.heads[id]));
        let applications = snapshot.applications.values().filter(|one| one.id.team() == *id);
        assert_eq!(stored.applications, applications.cloned().collect::<Vec<_>>());
    }
    for (id, expected) in &snapshot.applications {
        assert_eq!(table.application(*id).await.unwrap().as_ref(), Some(expected));
    }
    let missing = TeamId::new(NOBODYS).unwrap();
    assert_eq!(table.team(missing).await.unwrap(), None);
    assert_eq!(table.team_by_name("Nowhere").await.unwrap(), None);
    assert_eq!(table.head(missing).await.unwrap(), None);
    assert!(table.stored_team(missing).await.unwrap().is_none());
    assert_eq!(table.application(ApplicationId::new(missing, 1).unwrap()).await.unwrap(), None);
}

async fn charges(twin: &Twin) {
    for (id, stored) in &twin.world.snapshot.charges {
        assert_eq!(twin.table.charge(*id).await.unwrap().as_ref(), Some(stored));
    }
    let missing = ChargeId::new(TeamId::new(NOBODYS).unwrap(), 16).unwrap();
    assert_eq!(twin.table.charge(missing).await.unwrap(), None);
}

async fn items(twin: &Twin) {
    let (table, snapshot) = (&twin.table, &twin.world.snapshot);
    for (id, stored) in &snapshot.items {
        assert_eq!(table.item(*id).await.unwrap().as_ref(), Some(stored));
        for owner in snapshot.teams.keys() {
            let has = snapshot.shares.contains(&(*id, *owner));
            assert_eq!(table.has_share(*id, *owner).await.unwrap(), has);
        }
    }
    for application in snapshot.applications.keys() {
        let of_it = snapshot.items.values().filter(|item| item.application_id() == *application);
        assert_eq!(table.items_of(*application, |_| true).await.unwrap(), of_it.cloned().collect::<Vec<_>>());
    }
    let application = ApplicationId::new(team(CONSUMER).id, 1).unwrap();
    let nobodys = ItemId::new(application, NOBODYS).unwrap();
    assert_eq!(table.item(nobodys).await.unwrap(), None);
    let ids: Vec<ItemId> = snapshot.items.keys().copied().chain([nobodys]).collect();
    let mut actual = table.items(&ids, &ids).await.unwrap();
    actual.sort_by_key(|item| item.id);
    assert_eq!(actual, snapshot.items.values().cloned().collect::<Vec<_>>());
    for stored in &snapshot.deployed {
        assert_eq!(table.deployed(stored.id).await.unwrap().as_ref(), Some(stored));
    }
    let nobodys = DeployedId::new(team(CONSUMER).id, NOBODYS * 16 + 1);
    assert_eq!(table.deployed(nobodys.unwrap()).await.unwrap(), None);
}

async fn changes(twin: &Twin) {
    let (table, snapshot) = (&twin.table, &twin.world.snapshot);
    for (id, stored) in &snapshot.changes {
        assert_eq!(table.change(*id).await.unwrap().as_ref(), Some(stored));
        // The first read must look for the item; the later ones have it cached.
        for with_head in [true, false, true] {
            let wanted = Wanted { head: with_head, claim: !with_head };
            let actual = table.undecided(*id, stored.owner.id, wanted).await.unwrap().unwrap();
            assert_eq!((&actual.change, &actual.item), (stored, &snapshot.items[&stored.item]));
            assert_eq!(actual.head, with_head.then(|| snapshot.heads[&id.team()]));
            assert_eq!(actual.claim, (!with_head).then(|| Claim::never(stored.item, stored.owner.id)));
        }
        assert!(table.undecided(*id, team(STRANGER).id, Wanted::default()).await.unwrap().is_none());
    }
    let nobodys = ChangeId::new(team(CONSUMER).id, NOBODYS * 16).unwrap();
    assert_eq!(table.change(nobodys).await.unwrap(), None);
    assert!(table.undecided(nobodys, team(STRANGER).id, Wanted::default()).await.unwrap().is_none());
    let ids: Vec<ChangeId> = snapshot.changes.keys().rev().copied().chain([nobodys]).collect();
    assert_eq!(table.changes(&ids).await.unwrap(), snapshot.changes.values().cloned().collect::<Vec<_>>());
}

async fn submissions(twin: &Twin) {
    let (table, snapshot) = (&twin.table, &twin.world.snapshot);
    for stored in &snapshot.submissions {
        assert_eq!(table.submission(stored.id).await.unwrap().as_ref(), Some(stored));
        let direct: Vec<ChangeId> = stored.direct_changes().collect();
        for limit in [1, direct.len()] {
            let wanted = direct.iter().take(limit).filter_map(|id| snapshot.changes.get(id));
            let wanted: Vec<_> = wanted.cloned().collect();
            assert_eq!(table.changes_of(stored, limit).await.unwrap(), wanted);
        }
    }
    let nobodys = SubmissionId::new(team(CONSUMER).id, NOBODYS).unwrap();
    assert_eq!(table.submission(nobodys).await.unwrap(), None);
    for (team, stored) in &snapshot.remembered {
        let actual = async |now| table.remembered(*team, &stored.key, now).await.unwrap();
        let expires = whole_seconds(stored.expires);
        let just_before = Timestamp::from_micros(expires.micros() - 1);
        assert_eq!(actual(just_before).await, Some(IdempotencyRecord { expires, ..stored.clone() }));
        assert_eq!(actual(expires).await, None);
    }
    let now = Timestamp::from_micros(0);
    assert_eq!(table.remembered(team(CONSUMER).id, "no key", now).await.unwrap(), None);
}

async fn services(twin: &Twin) {
    let (table, offers) = (&twin.table, &twin.world.offers);
    for (title, stored) in offers {
        assert_eq!(table.service(title).await.unwrap().as_ref(), Some(&stored.service));
        assert_eq!(table.service_by_id(stored.service.id).await.unwrap().as_ref(), Some(&stored.service));
        assert_eq!(table.schema(&stored.service).await.unwrap().text, stored.schema.text);
    }
    assert_eq!(table.service("Nothing").await.unwrap(), None);
    assert_eq!(table.service_by_id(ServiceId::new(NOBODYS).unwrap()).await.unwrap(), None);
    let titles: BTreeSet<&str> = offers.keys().map(String::as_str).chain(["Nothing"]).collect();
    let of = |offers: &domain::rules::plan::Offers| -> Vec<_> {
        offers
            .iter()
            .map(|(title, offer)| (title.clone(), offer.service.clone(), offer.schema.text.clone()))
            .collect()
    };
    // The first read takes one query for each title. The second one takes one batch for the cached schemas and one
    // query for the unknown title.
    let afresh = twin.afresh().await;
    for calls in [u64::try_from(titles.len()).unwrap(), 2] {
        let (actual, observed) = observed(afresh.offers(&titles)).await;
        assert_eq!(of(&actual.unwrap()), of(offers));
        assert_eq!((observed.cost.calls, observed.cost.round_trips), (calls, 1));
    }
}

#[test]
fn a_change_instance_is_read_in_one_round_once_it_has_been_seen() {
    run(|| async {
        let mut twin = Twin::of(World::new()).await;
        let items = document(&[(APP, application(&[vm("a", 1), vm("b", 1)]))]);
        twin.world.submit(&items, Scope::Whole).unwrap();
        twin.follow().await;
        let changes: Vec<ChangeId> = twin.world.snapshot.changes.keys().copied().collect();
        let owner = team(VM_OWNER).id;
        let wanted = Wanted { head: true, claim: true };
        for (change, round_trips) in [(0, 2), (1, 2), (0, 1), (1, 1)] {
            let (actual, observed) = observed(twin.table.undecided(changes[change], owner, wanted)).await;
            assert_eq!(actual.unwrap().unwrap().change, twin.world.snapshot.changes[&changes[change]]);
            assert_eq!(observed.cost.round_trips, round_trips);
        }
    });
}
