//! Keys of all records. A key follows from the record's id (docs/adr/0001). `docs/reference/records.md` is generated
//! from these comments and those of the submodules: the first two code spans of a key are its partition and sort key.

mod account;
mod index;

pub(crate) use account::*;
pub(crate) use index::*;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::base::id::{ApplicationId, ChargeId, ConfigId, DeployedId, ServiceId};
use domain::model::metadata::Of;
use domain::model::staging::StagingId;
use domain::model::work::WorkId;
use domain::{ChangeId, Hash, ItemId, SubmissionId, TeamId};
use std::collections::HashMap;
use std::fmt;

/// A record's key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Returns the partition of a team: the team itself, its head and its applications. One query reads all records of the
/// partition.
pub(crate) fn team_partition(team: TeamId) -> String {
    format!("TEAM#{team}")
}

/// Returns all partitions of a consumer team. The head's partition is the first, and each record comes before the
/// records that it references.
pub(crate) fn partitions_of(team: TeamId) -> Vec<String> {
    // An application moves to its retired key, so a reader in this order never misses it either.
    let teams = [team_partition(team), retired_partition(team)];
    let before = [format!("STAGING#{team}"), submission_partition(team)];
    let work = [work_partition(team), format!("KEY#{team}"), charge_partition(team), use_partition(team)];
    // An item moves from its live key to its gone key, so a reader in this order never misses it.
    let items = [item_partition(team), gone_partition(team), change_partition(team)];
    let after = [deployed_partition(team), format!("{SHARE}#{team}"), claim_partition(team)];
    let texts = [format!("DECLARATION#{team}"), secrets_partition(team), replaced_partition(team)];
    [teams.to_vec(), before.to_vec(), work.to_vec(), items.to_vec(), after.to_vec(), texts.to_vec()].concat()
}

/// Returns the partitions of a team with the uses of its items and with the references of its items (R71).
pub(crate) fn partitions_of_uses(team: TeamId) -> Vec<String> {
    let before = [team_partition(team), format!("STAGING#{team}"), work_partition(team)];
    let items = [use_partition(team), item_partition(team), gone_partition(team)];
    [before, items].concat()
}

/// Returns the team of a partition of a consumer; none for other partitions.
pub(crate) fn consumer_of(partition: &str) -> Option<TeamId> {
    let (_, number) = partition.split_once('#')?;
    let team = TeamId::new(number.parse().ok()?)?;
    partitions_of(team).iter().any(|one| one == partition).then_some(team)
}

/// Returns the key of a team: `TEAM#{team}` / `TEAM`.
pub(crate) fn team(team: TeamId) -> Key {
    Key::new(team_partition(team), "TEAM")
}

/// Returns the key of a team's head: `TEAM#{team}` / `HEAD`.
pub(crate) fn head(team: TeamId) -> Key {
    Key::new(team_partition(team), "HEAD")
}

/// Returns the key of an application that has its number: `TEAM#{team}` / `APP#{application}`.
pub(crate) fn application(id: ApplicationId) -> Key {
    Key::new(team_partition(id.team()), format!("APP#{:04}", id.number()))
}

/// Returns the partition of all retired applications of a team (R45).
pub(crate) fn retired_partition(team: TeamId) -> String {
    format!("RETIRED#{team}")
}

/// Returns the key of a retired application: `RETIRED#{team}` / `{application}.{generation}`.
pub(crate) fn retired(id: ApplicationId) -> Key {
    Key::new(retired_partition(id.team()), format!("{:04}.{:07}", id.number(), id.generation()))
}

/// Returns the key of an application: `TEAM#{team}` / `APP#{application}`, or `RETIRED#{team}` with the sort key
/// `{application}.{generation}` once another application has its number (R45).
pub(crate) fn application_at(id: ApplicationId, is_retired: bool) -> Key {
    if is_retired { retired(id) } else { application(id) }
}

/// Returns the partition of the secrets of a team.
fn secrets_partition(team: TeamId) -> String {
    format!("SECRETS#{team}")
}

/// Returns the partition of former metadata of a team and its applications.
pub(crate) fn replaced_partition(team: TeamId) -> String {
    format!("METADATA#{team}")
}

/// Returns the prefix of the sort keys of former metadata. The team itself has application number 0.
pub(crate) fn replaced_prefix(of: Of) -> String {
    match of {
        Of::Team(_) => "0000#".to_owned(),
        Of::Application(application) if application.generation() == 0 => {
            format!("{:04}#", application.number())
        }
        Of::Application(application) => {
            format!("{:04}.{:07}#", application.number(), application.generation())
        }
    }
}

/// Returns the key of the metadata of a submission: `METADATA#{team}` / `{application}#{submission}`. The team
/// itself has application number 0. A later application with the same number has `{application}.{generation}`.
pub(crate) fn replaced(of: Of, submission: u64) -> Key {
    Key::new(replaced_partition(of.team()), format!("{}{submission:011}", replaced_prefix(of)))
}

/// Returns the partition of all items of a team.
pub(crate) fn item_partition(team: TeamId) -> String {
    format!("ITEM#{team}")
}

/// Returns the prefix of the sort keys of the items of all applications with the same number.
pub(crate) fn item_prefix(application: u64) -> String {
    format!("{application:04}#")
}

/// Returns the key of a live item: `ITEM#{team}` / `{application}#{item}`.
pub(crate) fn item(id: ItemId) -> Key {
    let prefix = item_prefix(id.application_number());
    Key::new(item_partition(id.team()), format!("{prefix}{:07}", id.number()))
}

/// Returns the partition of all gone items of a team (R44).
pub(crate) fn gone_partition(team: TeamId) -> String {
    format!("GONE#{team}")
}

/// Returns the key of a gone item: `GONE#{team}` / `{application}#{item}`, with the sort key of the live one.
pub(crate) fn gone(id: ItemId) -> Key {
    Key { pk: gone_partition(id.team()), ..item(id) }
}

/// Returns the key of a service item: `ITEM#{team}` / `{application}#{item}`, or `GONE#{team}` once it is gone (R44).
pub(crate) fn item_at(id: ItemId, is_gone: bool) -> Key {
    if is_gone { gone(id) } else { item(id) }
}

/// Returns the key at which the item of a live key is once it is gone.
pub(crate) fn gone_of(live: &Key) -> Option<Key> {
    let team = live.pk.strip_prefix("ITEM#")?;
    Some(Key::new(format!("GONE#{team}"), live.sk.clone()))
}

/// Returns the partition of all change instances of a consumer team.
pub(crate) fn change_partition(team: TeamId) -> String {
    format!("CHANGE#{team}")
}

/// Returns the key of a change instance: `CHANGE#{team}` / `{number}`.
pub(crate) fn change(id: ChangeId) -> Key {
    Key::new(change_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the partition of all deployed items of a consumer team.
pub(crate) fn deployed_partition(team: TeamId) -> String {
    format!("DEPLOYED#{team}")
}

/// Returns the key of a deployed item: `DEPLOYED#{team}` / `{number}`.
pub(crate) fn deployed(id: DeployedId) -> Key {
    Key::new(deployed_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the partition of all charges of a consumer team.
pub(crate) fn charge_partition(team: TeamId) -> String {
    format!("CHARGE#{team}")
}

/// Returns the key of a charge: `CHARGE#{team}` / `{number}`.
pub(crate) fn charge(id: ChargeId) -> Key {
    Key::new(charge_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the partition of all submissions of a team.
pub(crate) fn submission_partition(team: TeamId) -> String {
    format!("SUBMISSION#{team}")
}

/// Returns the key of a submission: `SUBMISSION#{team}` / `{number}`.
pub(crate) fn submission(id: SubmissionId) -> Key {
    Key::new(submission_partition(id.team()), format!("{:011}", id.number()))
}

/// Returns the partition of all work records of a team.
pub(crate) fn work_partition(team: TeamId) -> String {
    format!("WORK#{team}")
}

/// Returns the prefix of the sort keys of a submission's work records. Each staging has a separate prefix.
pub(crate) fn work_prefix(submission: SubmissionId, staging: Option<StagingId>) -> String {
    let staging = staging.map(|id| id.to_string()).unwrap_or_default();
    format!("{:011}#{staging}#", submission.number())
}

/// Returns the key of a work record: `WORK#{team}` / `{submission}#{staging}#{number}`.
pub(crate) fn work(id: WorkId) -> Key {
    let prefix = work_prefix(id.submission, id.staging);
    Key::new(work_partition(id.submission.team()), format!("{prefix}{:05}", id.number))
}

/// Returns the id of the work record at a key, from the key alone, because the record itself may be unreadable.
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

/// Returns the key of a staging: `STAGING#{team}` / `{staging}`.
pub(crate) fn staging(team: TeamId, id: StagingId) -> Key {
    Key::new(format!("STAGING#{team}"), id.to_string())
}

/// Returns the team and the id of the staging at a key.
pub(crate) fn staging_at(pk: &str, sk: &str) -> Option<(TeamId, StagingId)> {
    let team = TeamId::new(pk.strip_prefix("STAGING#")?.parse().ok()?)?;
    Some((team, u64::from_str_radix(sk, 16).ok().and_then(StagingId::parse)?))
}

/// Returns the key of a dependent team's share: `SHARE#{team}` / `{application}#{item}#{owner}`.
pub(crate) fn share(item: ItemId, owner: TeamId) -> Key {
    let item = self::item(item);
    Key::new(item.pk.replacen("ITEM", SHARE, 1), format!("{}#{owner}", item.sk))
}

/// Returns the key of the item of a share.
pub(crate) fn shared_item(share: &Key) -> Option<Key> {
    let team = share.pk.strip_prefix(SHARE)?;
    let (item, _owner) = share.sk.rsplit_once('#')?;
    Some(Key::new(format!("ITEM{team}"), item))
}

/// Returns the prefix of the sort keys of the uses of an item by items of a team: `{application}#{item}#{team}#`.
pub(crate) fn uses_prefix(target: ItemId, team: TeamId) -> String {
    format!("{}#{team}#", item(target).sk)
}

/// Returns the partition of all uses of a team's items by items of other applications and teams (R71).
pub(crate) fn use_partition(team: TeamId) -> String {
    format!("USE#{team}")
}

/// Returns the key of the use of an item by another one (R71): `USE#{team}` / `{application}#{item}#{team}#{user}`.
pub(crate) fn item_use(target: ItemId, user: ItemId) -> Key {
    Key::new(use_partition(target.team()), format!("{}{user}", uses_prefix(target, user.team())))
}

/// Returns the partition of all claims on work for a consumer team.
fn claim_partition(team: TeamId) -> String {
    format!("CLAIM#{team}")
}

/// Returns the key of the claim on the work of an owner on an item (R64): `CLAIM#{team}` /
/// `{application}#{item}#{owner}`.
pub(crate) fn claim(item: ItemId, owner: TeamId) -> Key {
    let live = self::item(item);
    Key::new(claim_partition(item.team()), format!("{}#{owner}", live.sk))
}

/// Prefix of the partitions of shares.
const SHARE: &str = "SHARE";

/// Returns the key of a declaration: `DECLARATION#{team}` / `{hash}`.
///
/// Attributes: `json` (S), the declaration of an item as canonical JSON.
pub(crate) fn declaration(team: TeamId, hash: Hash) -> Key {
    Key::new(format!("DECLARATION#{team}"), hash.to_string())
}

/// Returns the key of the secrets of a declaration: `SECRETS#{team}` / `{hash}`.
pub(crate) fn secrets(team: TeamId, hash: Hash) -> Key {
    Key::new(secrets_partition(team), hash.to_string())
}

/// Returns the key of an idempotency key: `KEY#{team}` / `{key}`.
pub(crate) fn remembered(team: TeamId, key: &str) -> Key {
    Key::new(format!("KEY#{team}"), key)
}

/// Returns the key of a service: `SERVICE#{title}` / `SERVICE`.
pub(crate) fn service(title: &str) -> Key {
    Key::new(format!("SERVICE#{title}"), "SERVICE")
}

/// Returns the key of a schema version: `SERVICE#{title}` / `SCHEMA#{version}`.
pub(crate) fn schema(title: &str, version: u64) -> Key {
    Key::new(format!("SERVICE#{title}"), format!("SCHEMA#{version:05}"))
}

/// Returns the key of a service's documentation: `SERVICE#{title}` / `DOCS`.
pub(crate) fn docs(title: &str) -> Key {
    Key::new(format!("SERVICE#{title}"), "DOCS")
}

/// Returns the partition of all versions of a service's config.
pub(crate) fn config_partition(service: ServiceId) -> String {
    format!("CONFIG#{service}")
}

/// Returns the key of a config version: `CONFIG#{service}` / `{version}`.
pub(crate) fn config(id: ConfigId) -> Key {
    Key::new(config_partition(id.service()), format!("{:07}", id.version()))
}

/// Returns the key of a team's messages: `MESSAGES#{team}` / `MESSAGES`.
pub(crate) fn messages(owner: TeamId) -> Key {
    Key::new(format!("{MESSAGES}{owner}"), "MESSAGES")
}

/// Prefix of the partitions of messages.
const MESSAGES: &str = "MESSAGES#";

/// Returns the team of a partition of messages.
pub(crate) fn messages_owner(pk: &str) -> Option<TeamId> {
    TeamId::new(pk.strip_prefix(MESSAGES)?.parse().ok()?)
}

/// Partition of all versions of the metadata schemas.
pub(crate) const METADATA_POLICIES: &str = "MANDATORY";

/// Returns the key of a version of the metadata schemas: `MANDATORY` / `{version}`.
pub(crate) fn metadata_policy(version: u64) -> Key {
    Key::new(METADATA_POLICIES, format!("{version:07}"))
}

/// Returns the key of the pointer from a service's id to its title: `SERVICE_ID#{service}` / `SERVICE_ID`.
///
/// Attributes: `to` (S), the title.
pub(crate) fn service_id(id: ServiceId) -> Key {
    Key::new(format!("SERVICE_ID#{id}"), "SERVICE_ID")
}

/// Returns the key of the pointer from a team's name to its id: `TEAM_NAME#{name}` / `TEAM_NAME`. The pointer keeps
/// names unique.
///
/// Attributes: `to` (N), the id.
pub(crate) fn team_name(name: &str) -> Key {
    Key::new(format!("TEAM_NAME#{name}"), "TEAM_NAME")
}

/// Returns the key of the row of the health check on a local engine: `HEALTH` / `HEALTH`.
///
/// Attributes: `at` (N), the time of the check.
pub(crate) fn health_check() -> Key {
    Key::new("HEALTH", "HEALTH")
}

/// Returns the key of the result of the last audit: `AUDIT` / `AUDIT`.
pub(crate) fn audit_result() -> Key {
    Key::new("AUDIT", "AUDIT")
}

/// Returns the key of the counters of teams and services: `COUNTERS` / `COUNTERS`.
///
/// Attributes: `teams` (N) and `services` (N), the newest numbers.
pub(crate) fn counters() -> Key {
    Key::new("COUNTERS", "COUNTERS")
}
