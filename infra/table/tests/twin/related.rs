//! Tests of related records: a response gets all of them and no others.

use crate::twin::Twin;
use domain::base::id::{ApplicationId, DeployedId};
use domain::rules::decide::Decided;
use domain::views::related::Related;
use domain::views::tally::Tally;
use domain::{Change, Hash, Item, ItemId, TeamId};
use dovetail_aws::observed;
use dovetail_table::RelatedKey;
use std::collections::BTreeSet;

pub(crate) async fn all(twin: &Twin) {
    let (table, snapshot) = (&twin.table, &twin.world.snapshot);
    let changes: Vec<Change> = snapshot.changes.values().cloned().collect();
    for changes in changes.chunks(1).chain([&changes[..]]) {
        let mut expected = Expected::of(twin);
        for change in changes {
            expected.change(change);
        }
        expected.is(&table.related_to_changes(changes).await.unwrap());
        expected.is(&table.related_to_queue(changes).await.unwrap());
    }
    let items: Vec<Item> = snapshot.items.values().cloned().collect();
    let mut expected = Expected::of(twin);
    for item in &items {
        expected.item(item);
        expected.add(RelatedKey::Team(item.consumer.id));
        expected.applications.insert(item.application_id());
        expected.services.insert(item.service.title.clone());
    }
    expected.is(&table.related_to_items(&items).await.unwrap());
    let newest = items.iter().filter_map(|item| item.deployed).map(|latest| RelatedKey::Deployed(latest.id));
    let mut expected = Expected::of(twin);
    newest.clone().for_each(|wanted| expected.add(wanted));
    expected.is(&table.related(newest).await.unwrap());
    let tallies = snapshot.applications.keys().map(|application| RelatedKey::Tally(*application));
    let mut expected = Expected::of(twin);
    tallies.clone().for_each(|wanted| expected.add(wanted));
    expected.is(&table.related(tallies).await.unwrap());
}

/// Asserts that the response to a decision shows the item of that decision.
pub(crate) async fn decided(twin: &Twin, decided: &Decided) {
    let Decided { change, item, .. } = decided;
    let mut expected = Expected::of(twin);
    expected.change(change);
    if let Some(before) = change.deployed_before
        && item.deployed.is_none_or(|latest| latest.id != before)
    {
        expected.deployed.remove(&before);
    }
    let (actual, observed) = observed(twin.table.related_to_decided(decided)).await;
    expected.is(&actual.unwrap());
    let brought = decided.deployed.iter().map(|brought| brought.id).collect();
    let read = [
        expected.teams.len(),
        expected.applications.len(),
        expected.services.len(),
        expected.declarations.len(),
        expected.deployed.difference(&brought).count(),
    ];
    assert_eq!(
        observed.cost.read_units.thousandths(),
        u64::try_from(500 * read.iter().sum::<usize>()).unwrap()
    );
}

/// The expected records, by id.
struct Expected<'a> {
    twin: &'a Twin,
    teams: BTreeSet<TeamId>,
    applications: BTreeSet<ApplicationId>,
    items: BTreeSet<ItemId>,
    services: BTreeSet<String>,
    declarations: BTreeSet<(TeamId, Hash)>,
    deployed: BTreeSet<DeployedId>,
    claimed: BTreeSet<(ItemId, TeamId)>,
    tallied: BTreeSet<ApplicationId>,
}

impl<'a> Expected<'a> {
    const fn of(twin: &'a Twin) -> Self {
        Self {
            twin,
            teams: BTreeSet::new(),
            applications: BTreeSet::new(),
            items: BTreeSet::new(),
            services: BTreeSet::new(),
            declarations: BTreeSet::new(),
            deployed: BTreeSet::new(),
            claimed: BTreeSet::new(),
            tallied: BTreeSet::new(),
        }
    }

    fn add(&mut self, wanted: RelatedKey) {
        match wanted {
            RelatedKey::Declaration(team, hash) => drop(self.declarations.insert((team, hash))),
            RelatedKey::Deployed(id) => drop(self.deployed.insert(id)),
            RelatedKey::Team(id) => drop(self.teams.insert(id)),
            RelatedKey::Awaited(id) => drop(self.items.insert(id)),
            RelatedKey::Claim(item, owner) => drop(self.claimed.insert((item, owner))),
            RelatedKey::Tally(id) => drop(self.tallied.insert(id)),
        }
    }

    fn item(&mut self, item: &Item) {
        self.add(RelatedKey::Declaration(item.consumer.id, item.version.hash));
        item.deployed.into_iter().for_each(|latest| self.add(RelatedKey::Deployed(latest.id)));
    }

    fn change(&mut self, change: &Change) {
        let item = &self.twin.world.snapshot.items[&change.item];
        self.items.insert(item.id);
        self.item(item);
        for version in change.new.iter().chain(&change.old) {
            self.add(RelatedKey::Declaration(change.consumer.id, version.hash));
        }
        change.deployed_before.into_iter().for_each(|id| self.add(RelatedKey::Deployed(id)));
        self.add(RelatedKey::Team(change.consumer.id));
        self.add(RelatedKey::Team(change.service_owner.id));
        self.applications.insert(change.application_id());
        self.services.insert(change.service.title.clone());
    }

    fn is(&self, actual: &Related) {
        let snapshot = &self.twin.world.snapshot;
        assert!(actual.teams.keys().eq(&self.teams), "teams");
        assert!(actual.teams.iter().all(|(id, team)| snapshot.teams[id] == *team));
        assert!(actual.applications.keys().eq(&self.applications), "applications");
        assert!(actual.applications.iter().all(|(id, one)| snapshot.applications[id] == *one));
        assert!(actual.items.keys().eq(&self.items), "items");
        assert!(actual.items.iter().all(|(id, item)| snapshot.items[id] == *item));
        assert!(actual.services.keys().eq(&self.services), "services");
        let offers = &self.twin.world.offers;
        assert!(actual.services.iter().all(|(title, service)| offers[title].service == *service));
        assert!(actual.declarations.keys().eq(&self.declarations), "declarations");
        assert!(actual.declarations.iter().all(|((_, hash), text)| Hash::of(text) == *hash));
        assert!(actual.deployed.keys().eq(&self.deployed), "deployed items");
        assert!(actual.deployed.values().all(|deployed| snapshot.deployed.contains(deployed)));
        assert!(actual.claims.keys().eq(&self.claimed), "claims");
        assert!(actual.tallies.keys().eq(&self.tallied), "tallies");
        for (application, tally) in &actual.tallies {
            let mut expected = Tally::default();
            let items = snapshot.items.values().filter(|item| item.application_id() == *application);
            items.for_each(|item| expected.add(item));
            assert_eq!(*tally, expected);
        }
    }
}
