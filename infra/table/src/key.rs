//! Keys: for every record where it is, which follows from its id (docs/adr/0001).

use aws_sdk_dynamodb::types::AttributeValue;
use domain::charge::ChargeType;
use domain::id::{
    ApplicationId, ChangeId, ChargeId, ConfigId, DeployedId, ItemId, KeyId, MemberId, ServiceId,
    SubmissionId, TeamId, WebhookId,
};
use domain::json::Hash;
use domain::metadata::Of;
use domain::staging::StagingId;
use domain::state::State;
use domain::timestamp::Timestamp;
use domain::work::WorkId;
use std::collections::HashMap;
use std::fmt;

/// A record's place in the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }
}

impl From<Key> for HashMap<String, AttributeValue> {
    fn from(key: Key) -> Self {
        Self::from([
            ("pk".to_owned(), AttributeValue::S(key.pk)),
            ("sk".to_owned(), AttributeValue::S(key.sk)),
        ])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}", self.pk, self.sk)
    }
}

/// An index, with the names of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Index {
    pub(crate) name: &'static str,
    pub(crate) pk: &'static str,
    pub(crate) sk: &'static str,
}

/// All indexes.
pub(crate) const INDEXES: [Index; 3] = [
    Index { name: "gs1", pk: "gs1pk", sk: "gs1sk" },
    Index { name: "gs2", pk: "gs2pk", sk: "gs2sk" },
    Index { name: "gs3", pk: "gs3pk", sk: "gs3sk" },
];

/// The partition of a team's own records: the team, its head, its applications; one query reads them all.
pub(crate) fn team_partition(team: TeamId) -> String {
    format!("TEAM#{team}")
}

/// All partitions of a consumer team: that of its head first, and what names records before what is named.
pub(crate) fn partitions_of(team: TeamId) -> Vec<String> {
    let before = [team_partition(team), format!("STAGING#{team}"), submission_partition(team)];
    let work = [work_partition(team), format!("KEY#{team}"), charge_partition(team)];
    let items = [item_partition(team), change_partition(team)];
    let after = [deployed_partition(team), format!("{SHARE}#{team}"), format!("DECLARATION#{team}")];
    let after = [after.to_vec(), vec![replaced_partition(team)]].concat();
    [before.to_vec(), work.to_vec(), items.to_vec(), after].concat()
}

pub(crate) fn team(team: TeamId) -> Key {
    Key::new(team_partition(team), "TEAM")
}

pub(crate) fn head(team: TeamId) -> Key {
    Key::new(team_partition(team), "HEAD")
}

pub(crate) fn application(id: ApplicationId) -> Key {
    Key::new(team_partition(id.team()), format!("APP#{:04}", id.number()))
}

/// The partition of the metadata of a team and its applications that were replaced.
pub(crate) fn replaced_partition(team: TeamId) -> String {
    format!("METADATA#{team}")
}

/// How the sort keys of metadata that were replaced begin, a team's own or an application's.
pub(crate) fn replaced_prefix(of: Of) -> String {
    let number = match of {
        Of::Team(_) => 0,
        Of::Application(application) => application.number(),
    };
    format!("{number:04}#")
}

/// The metadata that a submission had declared.
pub(crate) fn replaced(of: Of, submission: u64) -> Key {
    Key::new(replaced_partition(of.team()), format!("{}{submission:011}", replaced_prefix(of)))
}

/// The partition of a team's API keys and members, in the table of keys.
pub(crate) fn access_partition(team: TeamId) -> String {
    format!("TEAM#{team}")
}

/// How the sort keys of a team's API keys begin.
pub(crate) const API_KEYS: &str = "KEY#";

pub(crate) fn api_key(hash: &str) -> Key {
    Key::new(format!("KEY#{hash}"), "KEY")
}

pub(crate) fn api_key_of(id: KeyId) -> Key {
    Key::new(access_partition(id.team()), format!("{API_KEYS}{:011}", id.number()))
}

/// Where it stands that a team has, or has had, a key of a name.
pub(crate) fn api_key_name(team: TeamId, name: &str) -> Key {
    Key::new(access_partition(team), format!("NAME#{name}"))
}

/// Where it stands how many keys a team has.
pub(crate) fn api_key_count(team: TeamId) -> Key {
    Key::new(access_partition(team), "COUNT")
}

/// The partition of a person's memberships.
pub(crate) fn person_partition(subject: &str) -> String {
    format!("PERSON#{subject}")
}

/// How the sort keys of a person's memberships begin.
pub(crate) const MEMBERSHIPS: &str = "TEAM#";

pub(crate) fn membership(subject: &str, team: TeamId) -> Key {
    Key::new(person_partition(subject), format!("{MEMBERSHIPS}{team}"))
}

/// How the sort keys of a team's members begin.
pub(crate) const MEMBERS: &str = "MEMBER#";

pub(crate) fn member_of(id: MemberId) -> Key {
    Key::new(access_partition(id.team()), format!("{MEMBERS}{:011}", id.number()))
}

/// Where it stands how many teams a person is a member of.
pub(crate) fn membership_count(subject: &str) -> Key {
    Key::new(person_partition(subject), "COUNT")
}

/// Where it stands how many members a team has.
pub(crate) fn member_count(team: TeamId) -> Key {
    Key::new(access_partition(team), "MEMBERS")
}

/// The partition of a team's webhooks, in the table of keys.
pub(crate) fn webhook_partition(team: TeamId) -> String {
    format!("WEBHOOK#{team}")
}

pub(crate) fn webhook(id: WebhookId) -> Key {
    Key::new(webhook_partition(id.team()), format!("{:011}", id.number()))
}

/// Where it stands how many webhooks a team has.
pub(crate) fn webhook_count(team: TeamId) -> Key {
    Key::new(access_partition(team), "WEBHOOKS")
}

/// The partition of what a team's receivers answered last.
pub(crate) fn replied_partition(team: TeamId) -> String {
    format!("REPLIED#{team}")
}

pub(crate) fn replied(id: WebhookId) -> Key {
    Key::new(replied_partition(id.team()), format!("{:011}", id.number()))
}

pub(crate) fn cooling(id: WebhookId) -> Key {
    Key::new(format!("COOLING#{}", id.team()), format!("{:011}", id.number()))
}

/// The partition of the deliveries to a webhook that were given up.
pub(crate) fn given_up_partition(id: WebhookId) -> String {
    format!("GIVEN_UP#{id}")
}

pub(crate) fn given_up_at(id: WebhookId, place: &str) -> Key {
    Key::new(given_up_partition(id), place)
}

/// The partition of a team's healthchecks, in the table of keys.
pub(crate) fn healthcheck_partition(team: TeamId) -> String {
    format!("HEALTHCHECK#{team}")
}

pub(crate) fn healthcheck(team: TeamId, service: ServiceId) -> Key {
    Key::new(healthcheck_partition(team), format!("{:016}", service.get()))
}

/// The partition of where a team's healthchecks stand.
pub(crate) fn course_partition(team: TeamId) -> String {
    format!("COURSE#{team}")
}

pub(crate) fn course(team: TeamId, service: ServiceId) -> Key {
    Key::new(course_partition(team), format!("{:016}", service.get()))
}

/// How an item is.
pub(crate) fn health(id: ItemId) -> Key {
    Key { pk: format!("HEALTH#{}", id.team()), ..item(id) }
}

/// When somebody asked how an item is.
pub(crate) fn asked(id: ItemId) -> Key {
    Key { pk: format!("ASKED#{}", id.team()), ..item(id) }
}

/// The partition of what was done to a team's keys, members, services and webhooks.
pub(crate) fn recorded_partition(team: TeamId) -> String {
    format!("RECORDED#{team}")
}

pub(crate) fn recorded_at(team: TeamId, place: &str) -> Key {
    Key::new(recorded_partition(team), place)
}

/// The partition of all items of a team.
pub(crate) fn item_partition(team: TeamId) -> String {
    format!("ITEM#{team}")
}

/// How the sort keys of an application's items begin.
pub(crate) fn item_prefix(application: ApplicationId) -> String {
    format!("{:04}#", application.number())
}

pub(crate) fn item(id: ItemId) -> Key {
    let application = id.application();
    Key::new(item_partition(id.team()), format!("{}{:07}", item_prefix(application), id.number()))
}

/// The partition of all change instances of a consumer.
pub(crate) fn change_partition(team: TeamId) -> String {
    format!("CHANGE#{team}")
}

pub(crate) fn change(id: ChangeId) -> Key {
    Key::new(change_partition(id.team()), format!("{:011}", id.number()))
}

/// The partition of all deployed items of a consumer.
pub(crate) fn deployed_partition(team: TeamId) -> String {
    format!("DEPLOYED#{team}")
}

pub(crate) fn deployed(id: DeployedId) -> Key {
    Key::new(deployed_partition(id.team()), format!("{:011}", id.number()))
}

/// The partition of all charges of a consumer.
pub(crate) fn charge_partition(team: TeamId) -> String {
    format!("CHARGE#{team}")
}

pub(crate) fn charge(id: ChargeId) -> Key {
    Key::new(charge_partition(id.team()), format!("{:011}", id.number()))
}

/// The partition of all submissions of a team.
pub(crate) fn submission_partition(team: TeamId) -> String {
    format!("SUBMISSION#{team}")
}

pub(crate) fn submission(id: SubmissionId) -> Key {
    Key::new(submission_partition(id.team()), format!("{:011}", id.number()))
}

/// The partition of all work of a team.
pub(crate) fn work_partition(team: TeamId) -> String {
    format!("WORK#{team}")
}

/// How the sort keys of a submission's work begin; of what was staged under its number, each staging's its own.
pub(crate) fn work_prefix(submission: SubmissionId, staging: Option<StagingId>) -> String {
    let staging = staging.map(|id| id.to_string()).unwrap_or_default();
    format!("{:011}#{staging}#", submission.number())
}

pub(crate) fn work(id: WorkId) -> Key {
    let prefix = work_prefix(id.submission, id.staging);
    Key::new(work_partition(id.submission.team()), format!("{prefix}{:05}", id.number))
}

/// The work record that is at a place; read off the key, for the record itself may be unreadable.
pub(crate) fn work_at(pk: &str, sk: &str) -> Option<WorkId> {
    let team = TeamId::new(pk.strip_prefix("WORK#")?.parse().ok()?)?;
    let (submission, rest) = sk.split_once('#')?;
    let (staging, number) = rest.split_once('#')?;
    let submission = SubmissionId::new(team, submission.parse().ok()?)?;
    let staging = match staging {
        "" => None,
        id => Some(u64::from_str_radix(id, 16).ok().and_then(StagingId::parse)?),
    };
    Some(WorkId { submission, staging, number: number.parse().ok()? })
}

pub(crate) fn staging(team: TeamId, id: StagingId) -> Key {
    Key::new(format!("STAGING#{team}"), id.to_string())
}

/// The staging that is at a place.
pub(crate) fn staging_at(pk: &str, sk: &str) -> Option<(TeamId, StagingId)> {
    let team = TeamId::new(pk.strip_prefix("STAGING#")?.parse().ok()?)?;
    Some((team, u64::from_str_radix(sk, 16).ok().and_then(StagingId::parse)?))
}

/// Where it is noted that a dependent team has a share in an item.
pub(crate) fn share(item: ItemId, owner: TeamId) -> Key {
    let item = self::item(item);
    Key::new(item.pk.replacen("ITEM", SHARE, 1), format!("{}#{owner}", item.sk))
}

/// The item that a place of a share stands for.
pub(crate) fn shared_item(share: &Key) -> Option<Key> {
    let team = share.pk.strip_prefix(SHARE)?;
    let (item, _owner) = share.sk.rsplit_once('#')?;
    Some(Key::new(format!("ITEM{team}"), item))
}

/// How the partitions of shares begin.
const SHARE: &str = "SHARE";

pub(crate) fn declaration(team: TeamId, hash: Hash) -> Key {
    Key::new(format!("DECLARATION#{team}"), hash.to_string())
}

pub(crate) fn remembered(team: TeamId, key: &str) -> Key {
    Key::new(format!("KEY#{team}"), key)
}

pub(crate) fn service(title: &str) -> Key {
    Key::new(format!("SERVICE#{title}"), "SERVICE")
}

pub(crate) fn schema(title: &str, version: u64) -> Key {
    Key::new(format!("SERVICE#{title}"), format!("SCHEMA#{version:05}"))
}

pub(crate) fn docs(title: &str) -> Key {
    Key::new(format!("SERVICE#{title}"), "DOCS")
}

/// The partition of all versions of a service's config.
pub(crate) fn config_partition(service: ServiceId) -> String {
    format!("CONFIG#{service}")
}

pub(crate) fn config(id: ConfigId) -> Key {
    Key::new(config_partition(id.service()), format!("{:07}", id.version()))
}

/// All messages of a team, in one record.
pub(crate) fn messages(owner: TeamId) -> Key {
    Key::new(format!("{MESSAGES}{owner}"), "MESSAGES")
}

/// How the partitions of messages begin.
const MESSAGES: &str = "MESSAGES#";

/// The team whose messages are in a partition.
pub(crate) fn messages_owner(pk: &str) -> Option<TeamId> {
    TeamId::new(pk.strip_prefix(MESSAGES)?.parse().ok()?)
}

/// The partition of all versions of what metadata have to be.
pub(crate) const MANDATORY: &str = "MANDATORY";

pub(crate) fn mandatory(version: u64) -> Key {
    Key::new(MANDATORY, format!("{version:07}"))
}

/// Where a service's title is found by its id.
pub(crate) fn service_id(id: ServiceId) -> Key {
    Key::new(format!("SERVICE_ID#{id}"), "SERVICE_ID")
}

/// Where a team's id is found by its name; also what keeps names unique.
pub(crate) fn team_name(name: &str) -> Key {
    Key::new(format!("TEAM_NAME#{name}"), "TEAM_NAME")
}

/// The row of the table of keys that a check of health writes.
pub(crate) fn health_check() -> Key {
    Key::new("HEALTH", "HEALTH")
}

/// The numbers that the next team and the next service get.
pub(crate) fn counters() -> Key {
    Key::new("COUNTERS", "COUNTERS")
}

/// `gs1`: the queue of an owner, one partition a state.
pub(crate) fn owner_queue(owner: TeamId, state: State) -> String {
    format!("OWNER#{owner}#{state}")
}

/// `gs2`: the items of all services of an owner.
pub(crate) fn owner_items(owner: TeamId) -> String {
    format!("OWNER#{owner}#ITEMS")
}

/// `gs2`: the deployed items of all services of an owner.
pub(crate) fn owner_deployed(owner: TeamId) -> String {
    format!("OWNER#{owner}#DEPLOYED")
}

/// `gs2`: the charges of all services of an owner, of one type, and processed or not.
pub(crate) fn owner_charges(owner: TeamId, charge_type: ChargeType, is_processed: bool) -> String {
    let processed = if is_processed { "PROCESSED" } else { "OPEN" };
    format!("OWNER#{owner}#CHARGES#{}#{processed}", charge_type.name())
}

/// `gs2`: the services of an owner.
pub(crate) fn owner_services(owner: TeamId) -> String {
    format!("OWNER#{owner}#SERVICES")
}

/// `gs2`: the configs of all services of an owner.
pub(crate) fn owner_configs(owner: TeamId) -> String {
    format!("OWNER#{owner}#CONFIGS")
}

/// `gs3`: the change instances of an item.
pub(crate) fn item_changes(item: ItemId) -> String {
    format!("ITEM#{item}#CHANGES")
}

/// `gs3`: the deployed items of an item.
pub(crate) fn item_deployed(item: ItemId) -> String {
    format!("ITEM#{item}#DEPLOYED")
}

/// `gs3`: all services.
pub(crate) const ALL_SERVICES: &str = "SERVICES";

/// `gs3`: the teams that have messages.
pub(crate) const ALL_MESSAGES: &str = "MESSAGES";

/// `gs2`: the items that a dependent team has a share in.
pub(crate) fn owner_shares(owner: TeamId) -> String {
    format!("OWNER#{owner}#SHARES")
}

/// `gs3`: all work that is owed, but for what is staged.
pub(crate) const ALL_WORK: &str = "WORK";

/// `gs3`: all stagings; their work is in no index.
pub(crate) const ALL_STAGINGS: &str = "STAGING";

/// `gs3`: all healthchecks that are due at a time.
pub(crate) const ALL_DUE: &str = "DUE";

/// `gs3`: all work that was set aside because carrying it out failed again and again.
pub(crate) const QUARANTINE: &str = "QUARANTINE";

/// A sort key by age; ids make it unique.
pub(crate) fn by_age(created: Timestamp, id: u64) -> String {
    format!("{:016}#{id:016}", created.micros())
}

/// The time in a sort key by age.
pub(crate) fn age_at(sk: &str) -> Option<Timestamp> {
    sk.split_once('#')?.0.parse().ok().map(Timestamp::from_micros)
}
