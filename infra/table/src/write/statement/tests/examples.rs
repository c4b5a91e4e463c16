//! Examples for the golden files: one record of each type.

use domain::base::actor::Actor;
use domain::base::id::{ApplicationId, ChargeId, DeployedId, ServiceId};
use domain::base::money::{Amount, Prices};
use domain::base::refs::{ItemReference, ServiceRef};
use domain::base::state::{ChangeType, Kind, RuntimeState};
use domain::catalog::service::{ReferencesSee, Service, ServiceState, Settings, UpdateStrategy};
use domain::model::blockers::Blockers;
use domain::model::change::{Chain, Entry, Reason, Target, Version};
use domain::model::charge::{Charge, Charges, Processed, Running};
use domain::model::claim::{Claim, Lease};
use domain::model::declared::{Declared, Identity};
use domain::model::deployed::Deployed;
use domain::model::item::{Base, Creation, Drift, LatestDeployed, Slot, Stack};
use domain::model::metadata::Since;
use domain::model::place::Place;
use domain::model::staging::StagingState::Open;
use domain::model::staging::{Staging, StagingId};
use domain::model::strategy::Strategy;
use domain::model::submission::{IdempotencyRecord, Scope, Submission};
use domain::model::team::{Application, Head};
use domain::model::wait::Wait;
use domain::model::work::{PlannedChange, Share, Spare, Work, WorkId};
use domain::model::write::Use;
use domain::{Change, ChangeId, Hash, Item, ItemId, State, SubmissionId, TeamId, TeamRef, Timestamp};
use std::collections::BTreeMap;

pub(super) fn at(micros: u64) -> Timestamp {
    Timestamp::from_micros(1_740_748_711_000_000 + micros)
}

pub(super) fn consumer() -> TeamRef {
    TeamRef { id: TeamId::new(4).unwrap(), name: "AwesomeConsumer".to_owned() }
}

pub(super) fn owner() -> TeamRef {
    TeamRef { id: TeamId::new(1).unwrap(), name: "VMOwnerTeam".to_owned() }
}

pub(super) fn service() -> ServiceRef {
    ServiceRef { id: ServiceId::new(1).unwrap(), title: "VM".to_owned() }
}

pub(super) fn item_id() -> ItemId {
    ItemId::new(ApplicationId::new(consumer().id, 1).unwrap(), 7).unwrap()
}

pub(super) fn change_id(number: u64) -> ChangeId {
    ChangeId::new(consumer().id, number).unwrap()
}

pub(super) fn entry(from: Option<State>, to: State, micros: u64) -> Entry {
    Entry {
        from,
        to,
        at: at(micros),
        by: Actor::Key { name: "VMOwnerTeam-1".to_owned(), team: owner() },
        request: "request-1".to_owned(),
        reason: Reason::State,
        closed_by: None,
        log: Some("done".to_owned()),
        planned: None,
        change_type: ChangeType::Create,
        chain: Chain::START,
    }
    .chained(Chain::START)
}

pub(super) fn version(number: u64) -> Version {
    Version { number, hash: Hash::of(&number.to_string()) }
}

pub(super) fn change() -> Change {
    Change {
        id: change_id(16),
        item: item_id(),
        item_name: "CoreVM1".to_owned(),
        application: "NewApp1".to_owned(),
        generation: 0,
        service: service(),
        owner: owner(),
        service_owner: owner(),
        consumer: consumer(),
        kind: Kind::Direct,
        cause: Some(change_id(32)),
        causes: vec![change_id(16), change_id(48)],
        origin: change_id(16),
        waits: vec![wait()],
        unblocks: 2,
        change_type: ChangeType::Create,
        state: State::Pending,
        submission: SubmissionId::new(consumer().id, 1).unwrap(),
        commit_id: Some("51e53e".to_owned()),
        message: None,
        attempt: 1,
        new: Some(version(2)),
        old: Some(version(1)),
        schema_version: None,
        supersedes: vec![change_id(48)],
        superseded_at_creation: 1,
        never_in_service: false,
        unneeded: false,
        claim_required: false,
        runtime_state: RuntimeState::Requested,
        deployed_before: DeployedId::new(consumer().id, 17),
        log: "done".to_owned(),
        prices: prices(),
        created: at(0),
        history: vec![entry(None, State::Pending, 0)],
    }
}

pub(super) fn slot() -> Slot {
    let change = change();
    Slot {
        change: change.id,
        origin: change.origin,
        state: change.state,
        change_type: change.change_type,
        target: change.target(),
        chain_head: change.chain_head(),
        created: change.created,
        awaits_claim: false,
    }
}

pub(super) fn item() -> Item {
    let stack = Stack {
        sequence: 1,
        attempt: 1,
        blocked_sequence: 0,
        creation: Creation::Outstanding,
        place: Place::Declared { version: version(3), schema_version: Some(2), is_certain: false },
        pre_validated: Some(slot()),
        validated: None,
    };
    Item {
        id: item_id(),
        name: "CoreVM1".to_owned(),
        application: "NewApp1".to_owned(),
        generation: 0,
        service: service(),
        service_owner: owner(),
        consumer: consumer(),
        revision: 3,
        runtime_state: RuntimeState::InService,
        version: version(2),
        declared: true,
        completed_target: Some(Target::Removed),
        drift: None,
        references: vec![reference()],
        uses: Vec::new(),
        used_by: 0,
        former_names: vec!["CoreVM0".to_owned()],
        waits_for: vec![item_id()],
        schema_version: 2,
        stacks: BTreeMap::from([(owner().id, stack)]),
        deployed: Some(LatestDeployed {
            id: DeployedId::new(consumer().id, 17).unwrap(),
            version: 1,
            hash: Hash::of("{}"),
            schema_version: None,
        }),
        earlier_life: 0,
        base: Base::Newest,
        next_deployed: 18,
        shares_due: 0,
        gone: false,
        latest_change: change_id(16),
        charges: Charges {
            running: Some(Running { charge: charges()[1].id, price: prices().monthly, start: at(0) }),
            ended: prices(),
            processed: Prices { monthly: Amount::ZERO, ..prices() },
        },
        created: at(0),
        modified: at(1),
    }
}

/// Returns an item of a verified service that an observation shows with another value.
pub(super) fn drifted_item() -> Item {
    let [base, newest] = [17, 18].map(|number| DeployedId::new(consumer().id, number).unwrap());
    let hash = Hash::of("{}");
    Item {
        completed_target: None,
        drift: Some(Drift { since: at(1), declared: version(2).hash, replaces: false }),
        base: Base::Earlier(base),
        deployed: Some(LatestDeployed { id: newest, version: 2, hash, schema_version: Some(2) }),
        next_deployed: 19,
        ..item()
    }
}

pub(super) fn application() -> Application {
    Application {
        id: ApplicationId::new(consumer().id, 1).unwrap(),
        name: "NewApp1".to_owned(),
        digest: Hash::of("digest"),
        items_before: 0,
        next_item: 8,
        drifted: 0,
        uses_ever: 0,
        metadata: "{}".to_owned(),
        since: Since { submission: 1, at: at(0), before: None },
        changed: 1,
        created: at(0),
        modified: at(1),
        retired: None,
    }
}

/// Returns a retired application, and the one that has its number now.
pub(super) fn generations() -> [Application; 2] {
    let retired = Application { retired: Some(5), ..application() };
    let id = retired.id.next_generation().unwrap();
    let next = Application { id, name: "NewApp2".to_owned(), items_before: 7, next_item: 9, ..application() };
    [retired, next]
}

/// Returns a change instance of an application that has the number of a retired one.
pub(super) fn change_of_generation() -> Change {
    Change { application: "NewApp2".to_owned(), generation: 1, ..change() }
}

pub(super) fn head() -> Head {
    Head {
        team: consumer().id,
        submissions: 1,
        root: Hash::of("root"),
        blockers: Blockers::one("change/16"),
        next_application: 2,
        next_change: 64,
        in_flight: None,
    }
}

pub(super) fn deployed() -> Deployed {
    Deployed {
        id: DeployedId::new(consumer().id, 17).unwrap(),
        item: item_id(),
        generation: 0,
        service: service(),
        change: change_id(16),
        version: 1,
        schema_version: None,
        is_observed: false,
        is_drifted: false,
        data: "{\"ip\":\"10.0.0.1\"}".to_owned(),
        hash: Hash::of("{\"ip\":\"10.0.0.1\"}"),
        service_owner: owner(),
        consumer: consumer(),
        request: "request-1".to_owned(),
        created: at(0),
    }
}

pub(super) fn submission() -> Submission {
    Submission {
        id: SubmissionId::new(consumer().id, 1).unwrap(),
        team: consumer(),
        scope: Scope::Whole,
        commit_id: None,
        message: None,
        root: Some(Hash::of("root")),
        changed: true,
        first_change: 16,
        direct: 1,
        derived: 1,
        opened: 1,
        staging: None,
        direct_left: 0,
        work_left: 1,
        by: Actor::System,
        request: "request-1".to_owned(),
        created: at(0),
        modified: at(0),
    }
}

/// Returns an item that waits for the shares of a submission.
pub(super) fn waiting_item() -> Item {
    Item { shares_due: 1, ..item() }
}

pub(super) fn gone_item() -> Item {
    let idle = |(owner, stack)| (owner, Stack { pre_validated: None, validated: None, ..stack });
    let stacks = item().stacks.into_iter().map(idle).collect();
    let completed_target = Some(Target::Removed);
    Item { gone: true, declared: false, completed_target, stacks, ..item() }
}

pub(super) fn remembered() -> IdempotencyRecord {
    IdempotencyRecord {
        key: "key-1".to_owned(),
        fingerprint: Hash::of("fingerprint"),
        submission: submission().id,
        expires: Timestamp::from_micros(1_740_835_111_000_000),
    }
}

fn wait() -> Wait {
    Wait { item: item_id(), change: Some(change_id(48)), spare: None }
}

fn reference() -> ItemReference {
    ItemReference { service: "VM".to_owned(), name: "CoreVM2".to_owned(), item: Some(item_id()) }
}

pub(super) fn work() -> Work {
    let planned = PlannedChange {
        id: change_id(32),
        item: item_id(),
        owner: owner(),
        kind: Kind::Dependent,
        cause: Some(change_id(16)),
        causes: vec![change_id(32)],
        waits: vec![wait()],
        unblocks: 2,
        version: Some(version(1)),
        declared: None,
        schema_version: None,
        spare: None,
        approval_required: true,
        strategy: Strategy::Modify,
        complete_unneeded: false,
        claim_required: false,
        prices: Prices::NONE,
    };
    let id = WorkId { submission: submission().id, staging: None, number: 1 };
    Work { id, entries: vec![planned], declarations: BTreeMap::new(), created: at(0) }
}

/// Returns work whose change instances a definition checks.
pub(super) fn checked_work() -> Work {
    let of = work();
    Work { entries: vec![PlannedChange { schema_version: Some(2), ..of.entries[0].clone() }], ..of }
}

pub(super) fn staging() -> Staging {
    Staging {
        id: StagingId::of("request-1", 0),
        submission: submission().id,
        works: 1,
        state: Open,
        created: at(0),
    }
}

pub(super) fn staged_work() -> Work {
    let identity = Identity {
        name: "CoreVM1".to_owned(),
        application: "NewApp1".to_owned(),
        generation: 0,
        service: service(),
        used_by: 0,
    };
    let declared = Declared {
        version: version(1),
        stays: true,
        references: vec![ItemReference { item: None, ..reference() }],
        uses: Vec::new(),
        schema_version: 2,
        new: Some(identity),
        new_name: None,
    };
    let of = work();
    let planned = PlannedChange {
        kind: Kind::Direct,
        cause: None,
        causes: Vec::new(),
        waits: Vec::new(),
        unblocks: 0,
        version: None,
        declared: Some(declared),
        prices: prices(),
        ..of.entries[0].clone()
    };
    let declarations = BTreeMap::from([(version(1).hash, "1".to_owned())]);
    Work { id: WorkId { staging: Some(staging().id), ..of.id }, entries: vec![planned], declarations, ..of }
}

/// Returns work that declares an undeclared item again, with a new item in reserve.
pub(super) fn redeclaring_work() -> Work {
    let of = staged_work();
    let planned = of.entries[0].clone();
    let declared = planned.declared.clone().unwrap();
    let identity = declared.new.clone().unwrap();
    let spare = Some(Spare { item: ItemId::new(item_id().application(0), 9).unwrap(), identity });
    let declared = Some(Declared { new: None, ..declared });
    Work { entries: vec![PlannedChange { declared, spare, ..planned }], ..of }
}

/// Returns an item of another team that [`using_item()`] refers to.
pub(super) fn target() -> ItemId {
    ItemId::new(ApplicationId::new(owner().id, 1).unwrap(), 3).unwrap()
}

/// Returns an item that refers to an item of another team, and has users itself.
pub(super) fn using_item() -> Item {
    Item { uses: vec![target()], used_by: 2, ..item() }
}

pub(super) fn item_use() -> Use {
    Use { target: target(), user: item_id() }
}

/// Returns work with a new item that refers to an item of another team, and has a user in the same submission. The
/// work is not staged, so that its content is readable.
pub(super) fn using_work() -> Work {
    let of = staged_work();
    let planned = of.entries[0].clone();
    let declared = planned.declared.clone().unwrap();
    let new = declared.new.clone().map(|identity| Identity { used_by: 1, ..identity });
    let declared = Some(Declared { uses: vec![target()], new, ..declared });
    Work {
        id: work().id,
        entries: vec![PlannedChange { declared, ..planned }],
        declarations: BTreeMap::new(),
        ..of
    }
}

/// Returns work that gives an item another name, and waits for a new item in reserve.
pub(super) fn renaming_work() -> Work {
    let of = using_work();
    let planned = of.entries[0].clone();
    let declared = planned.declared.clone().unwrap();
    let declared = Some(Declared { new: None, new_name: Some("CoreVM3".to_owned()), ..declared });
    let spare = ItemId::new(item_id().application(0), 9).unwrap();
    let waits = vec![Wait { item: item_id(), change: None, spare: Some(spare) }];
    Work { entries: vec![PlannedChange { declared, waits, ..planned }], ..of }
}

pub(super) fn share() -> Share {
    Share { item: item_id(), owner: consumer().id, created: at(0) }
}

pub(super) fn offered() -> Service {
    Service {
        id: service().id,
        title: service().title,
        owner: owner(),
        settings: Settings {
            state: ServiceState::NoNewServiceItem,
            approval_required: true,
            allow_manual_approval: false,
            allow_manual_completion: true,
            update_strategy: UpdateStrategy::Modify,
            complete_unneeded: false,
            claim_required: false,
            references_see: ReferencesSee::State,
            require_ready: false,
            minimum_version: Some(2),
            tags: vec!["network".to_owned()],
            dependent_teams: vec![consumer()],
            allowed_teams: vec![consumer().id],
        },
        former_dependents: vec![TeamId::new(9).unwrap()],
        has_docs: true,
        schema_version: 2,
        first_with_words: None,
        revision: 5,
        created: at(0),
        modified: at(1),
    }
}

/// Returns the prices of the change instance of these tests.
pub(super) fn prices() -> Prices {
    Prices { per_change: Amount::from_millionths(100_000_000), monthly: Amount::from_millionths(49_990_000) }
}

/// Returns a processed charge for a change instance, and a running one.
pub(super) fn charges() -> [Charge; 2] {
    let change = change();
    let of_change = Charge {
        id: ChargeId::of_change(change.id),
        item: change.item,
        item_name: change.item_name,
        application: change.application,
        generation: change.generation,
        service: change.service,
        service_owner: change.service_owner,
        consumer: change.consumer,
        change: change.id,
        price: prices().per_change,
        start: at(0),
        end: Some(at(0)),
        processed: Some(Processed { at: at(5), by: entry(None, State::Pending, 0).by }),
    };
    let runs = Charge {
        id: ChargeId::of_time(change.id),
        price: prices().monthly,
        end: None,
        processed: None,
        ..of_change.clone()
    };
    [of_change, runs]
}

/// Returns a service that replaces items.
pub(super) fn replacing_service() -> Service {
    let service = offered();
    let settings = Settings {
        update_strategy: UpdateStrategy::Replace,
        complete_unneeded: true,
        ..service.settings.clone()
    };
    Service { settings, ..service }
}

/// Returns work whose change instances replace what is in place, except for one declaration.
pub(super) fn replacing_work() -> Work {
    let of = work();
    let (strategy, complete_unneeded) = (Strategy::Unless(vec![version(1).hash]), true);
    Work { entries: vec![PlannedChange { strategy, complete_unneeded, ..of.entries[0].clone() }], ..of }
}

/// Returns the first half of a replacement.
pub(super) fn first_half() -> Change {
    Change { change_type: ChangeType::Delete, new: Some(version(3)), unneeded: true, ..change() }
}

/// Returns an item with an approved CREATE whose work only a claim starts.
pub(super) fn awaiting_item() -> Item {
    let mut item = item();
    let stack = item.stacks.get_mut(&owner().id).unwrap();
    stack.validated = Some(Slot { awaits_claim: true, ..slot() });
    item
}

/// Returns the claim of a worker on the work of the owner of these tests.
pub(super) fn claim() -> Claim {
    let lease = Lease { worker: "w-7".to_owned(), until: at(300_000_000) };
    Claim { item: item_id(), owner: owner().id, number: 4, lease: Some(lease) }
}

/// Returns an item with drift that only a replacement corrects, and with an owner that has nothing in place.
pub(super) fn blocked_item() -> Item {
    let mut item = item();
    item.stacks.values_mut().for_each(|stack| stack.blocked_sequence = 2);
    item
}

pub(super) fn replaced_item() -> Item {
    let mut item = drifted_item();
    item.drift = item.drift.map(|drift| Drift { replaces: true, ..drift });
    item.stacks.insert(consumer().id, Stack::EMPTY);
    item
}
