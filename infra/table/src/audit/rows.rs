//! Decodes rows one by one, and checks each by itself (I3, I5, I11, I18, I24, I25).

use super::indexes::EntrySums;
use crate::client::Error;
use crate::key::{self, INDEXES, Index};
use crate::read::related;
use crate::record::{
    self, ApplicationRecord, Attributes, AuditResultRecord, ChangeRecord, ChargeRecord, CheckScheduleRecord,
    CheckThrottleRecord, ClaimRecord, ConfigRecord, CoolingRecord, DeployedRecord, DocsRecord, GivenUpRecord,
    HeadRecord, HealthRecord, ItemRecord, MessagesRecord, MetadataPolicyRecord, Record, RememberedRecord,
    ReminderRecord, ReplacedRecord, RepliedRecord, SchemaRecord, SecretsRecord, ServiceRecord, ShareRecord,
    StagingRecord, SubmissionRecord, TeamRecord, UseRecord, WorkRecord, size,
};
use domain::audit::invariant::{Definitions, SET_ASIDE, Snapshot, Subject, Violation};
use domain::base::id::ServiceId;
use domain::catalog::config::CONFIG_BYTES_MAX;
use domain::catalog::docs::DOCS_BYTES_MAX;
use domain::catalog::schema::SCHEMA_BYTES_MAX;
use domain::model::deployed::WHOLE_BYTES_MAX;
use domain::model::work::Work;
use domain::outreach::message::{DESCRIPTION_BYTES_MAX, MESSAGES_MAX, Message, SERVICES_MAX};
use domain::{TeamId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most bytes of a row, a limit of DynamoDB.
const ROW_BYTES_MAX: usize = 400 * 1024;

/// The most bytes of an item's row.
///
/// With the stacks of 101 teams and the most references, a row has less than half of this size. A row of an older
/// release may have more stacks, and this limit warns before DynamoDB refuses the row (decision record 28).
pub(crate) const ITEM_BYTES_MAX: usize = 300 * 1024;

/// The most rows that an audit keeps in memory. The audit checks a larger table team by team.
pub const ROWS_IN_MEMORY: u64 = 50_000;

/// The decoded rows, and the violations of single rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub(super) count: u64,
    pub(super) snapshot: Snapshot,
    pub(super) flaws: Vec<Violation>,
    /// Work that is set aside. The rows are correct, but an operator must act.
    pub(super) set_aside: Vec<Violation>,
    pub(super) index_entries: EntrySums,
    /// The most rows to keep; none means all.
    rows_max: Option<u64>,
    /// The teams whose rows count; none means all rows.
    only: Option<BTreeSet<TeamId>>,
    /// The number of rows by consumer.
    by_consumer: BTreeMap<TeamId, u64>,
}

impl Rows {
    /// Creates an empty set of rows, which forgets the rows of consumers if it gets more rows than `rows_max`.
    pub fn at_most(rows_max: u64) -> Self {
        Self { rows_max: Some(rows_max), ..Self::default() }
    }

    /// Creates an empty set of rows for these consumers, with the definitions of all rows. The set ignores all other
    /// rows.
    pub fn of(consumers: BTreeSet<TeamId>, all: &Self) -> Self {
        Self { only: Some(consumers), ..Self::with(Arc::clone(&all.snapshot.definitions)) }
    }

    /// Creates an empty set of rows with these definitions.
    pub(super) fn with(definitions: Arc<Definitions>) -> Self {
        Self { snapshot: Snapshot { definitions, ..Snapshot::default() }, ..Self::default() }
    }

    /// Returns whether the rows of consumers are forgotten.
    pub(super) fn has_forgotten(&self) -> bool {
        self.rows_max.is_some_and(|rows_max| self.count > rows_max)
    }

    /// Returns the consumers with forgotten rows, in groups with about as many rows as may be kept.
    pub fn forgotten(&self) -> Vec<BTreeSet<TeamId>> {
        let (mut groups, mut room) = (Vec::<BTreeSet<TeamId>>::new(), 0);
        if !self.has_forgotten() {
            return groups;
        }
        for (team, rows) in &self.by_consumer {
            if groups.is_empty() || *rows > room {
                groups.push(BTreeSet::new());
                room = self.rows_max.unwrap_or_default();
            }
            room = room.saturating_sub(*rows);
            groups.last_mut().into_iter().for_each(|group| group.extend([*team]));
        }
        groups
    }

    /// Adds a row of an export: a line `{"Item": {...}}` in DynamoDB JSON.
    pub fn add_exported(&mut self, line: &str) -> Result<(), Error> {
        #[derive(serde::Deserialize)]
        struct Exported {
            #[serde(rename = "Item")]
            item: serde_dynamo::Item,
        }
        // The message of the decoder may show values of the record, so it is not used.
        let exported: Exported = serde_json::from_str(line)
            .map_err(|_| Error::corrupt("of an export", "the line is not a row in DynamoDB JSON"))?;
        self.add(exported.item.into());
        Ok(())
    }

    /// Adds a row and its violations.
    pub(super) fn add(&mut self, row: Attributes) {
        let consumer = record::text(&row, "pk").and_then(key::consumer_of);
        if let Some(only) = &self.only
            && !consumer.is_some_and(|consumer| only.contains(&consumer))
        {
            return;
        }
        self.count += 1;
        if let Some(consumer) = consumer {
            *self.by_consumer.entry(consumer).or_default() += 1;
        }
        self.index_entries.add(&row);
        let bytes = size::of_record(&row);
        let detail = || format!("bytes: {bytes}, must be at most {ROW_BYTES_MAX}");
        self.require(bytes <= ROW_BYTES_MAX, "I24", &row, detail);
        self.note_set_aside(&row);
        if let Err(unreadable) = self.read(&row) {
            let reason = match unreadable {
                Error::Corrupt { reason, .. } => reason,
                Error::Unavailable(_) | Error::Denied(_) | Error::Full(_) | Error::NotTaken(_) => {
                    "the record is not readable".to_owned()
                }
            };
            self.require(false, "I25", &row, || reason);
        }
        if self.has_forgotten() {
            self.snapshot.forget();
        }
    }

    fn require(
        &mut self,
        holds: bool,
        rule: &'static str,
        row: &Attributes,
        detail: impl FnOnce() -> String,
    ) {
        if !holds {
            self.flaws.push(Violation { rule, subject: subject(row), detail: detail() });
        }
    }

    /// Notes work that is set aside, even if it does not decode.
    fn note_set_aside(&mut self, row: &Attributes) {
        if record::text(row, "gs3pk") == Some(key::QUARANTINE) {
            let detail = "the work is in quarantine until an operator redrives it".to_owned();
            self.set_aside.push(Violation { rule: SET_ASIDE, subject: subject(row), detail });
        }
    }

    /// Adds the value of a row to the snapshot, by its type.
    fn read(&mut self, row: &Attributes) -> Result<(), Error> {
        match record::type_of(row) {
            Some(ItemRecord::TYPE) => self.item(row),
            Some(ChangeRecord::TYPE) => self
                .keep::<ChangeRecord, _>(row, |snapshot, change| snapshot.changes.insert(change.id, change)),
            Some(DeployedRecord::TYPE) => self.deployed(row),
            Some(ChargeRecord::TYPE) => self
                .keep::<ChargeRecord, _>(row, |snapshot, charge| snapshot.charges.insert(charge.id, charge)),
            Some(ShareRecord::TYPE) => self.keep::<ShareRecord, _>(row, |snapshot, share| {
                snapshot.shares.insert((share.item, share.owner))
            }),
            Some(ClaimRecord::TYPE) => self.keep::<ClaimRecord, _>(row, |snapshot, claim| {
                snapshot.claims.insert((claim.item, claim.owner), claim)
            }),
            Some(UseRecord::TYPE) => {
                self.keep::<UseRecord, _>(row, |snapshot, item_use| snapshot.uses.insert(item_use))
            }
            Some(ty) => self.read_of_team(ty, row),
            // The counters are the only record without a type.
            None if record::text(row, "pk") == Some("COUNTERS") => {
                let counted = |name| record::integer(row, name).unwrap_or_default();
                self.snapshot.catalogue.counted = (counted("teams"), counted("services"));
                Ok(())
            }
            None => Err(unknown()),
        }
    }

    /// Adds the value of a row of a team that belongs to no item of its own.
    fn read_of_team(&mut self, ty: &str, row: &Attributes) -> Result<(), Error> {
        match ty {
            SubmissionRecord::TYPE => self.keep::<SubmissionRecord, _>(row, |snapshot, submission| {
                snapshot.submissions.push(submission);
            }),
            WorkRecord::TYPE => self.keep::<WorkRecord, _>(row, |snapshot, work| snapshot.works.push(work)),
            StagingRecord::TYPE => {
                self.keep::<StagingRecord, _>(row, |snapshot, staging| snapshot.stagings.push(staging))
            }
            RememberedRecord::TYPE => self.keep::<RememberedRecord, _>(row, |snapshot, remembered| {
                snapshot.remembered.push(remembered);
            }),
            TeamRecord::TYPE => {
                self.keep::<TeamRecord, _>(row, |snapshot, team| snapshot.teams.insert(team.id, team))
            }
            HeadRecord::TYPE => {
                self.keep::<HeadRecord, _>(row, |snapshot, head| snapshot.heads.insert(head.team, head))
            }
            ApplicationRecord::TYPE => self.keep::<ApplicationRecord, _>(row, |snapshot, application| {
                snapshot.applications.insert(application.id, application)
            }),
            SecretsRecord::TYPE => self.keep::<SecretsRecord, _>(row, |snapshot, stored| {
                snapshot.secrets.insert((stored.owner.team, stored.hash), stored)
            }),
            ReplacedRecord::TYPE => self.keep::<ReplacedRecord, _>(row, |snapshot, replaced| {
                snapshot.replaced.insert((replaced.of, replaced.since.submission), replaced)
            }),
            _ => self.read_catalogue(ty, row),
        }
    }

    fn item(&mut self, row: &Attributes) -> Result<(), Error> {
        self.within(size::of_record(row), ITEM_BYTES_MAX, "bytes of an item", row);
        self.keep::<ItemRecord, _>(row, |snapshot, item| {
            let id = item.id;
            if snapshot.items.insert(id, item).is_some() {
                snapshot.doubled.insert(id);
            }
        })
    }

    fn read_catalogue(&mut self, ty: &str, row: &Attributes) -> Result<(), Error> {
        match ty {
            ServiceRecord::TYPE => self.keep::<ServiceRecord, _>(row, |snapshot, service| {
                snapshot.catalogue.services.insert(service.title.clone(), service)
            }),
            SchemaRecord::TYPE => self.keep::<SchemaRecord, _>(row, |snapshot, schema| {
                Arc::make_mut(&mut snapshot.definitions).insert(&schema.title, schema.version, &schema.text);
                snapshot.catalogue.schemas.insert((schema.title, schema.version))
            }),
            DocsRecord::TYPE => self.docs(row),
            ConfigRecord::TYPE => self.config(row),
            MessagesRecord::TYPE => self.messages(row),
            MetadataPolicyRecord::TYPE => self.metadata_policy(row),
            "DECLARATION" => self.declaration(row),
            "TEAM_NAME" | "SERVICE_ID" => self.pointer(row),
            _ => self.read_result(ty, row),
        }
    }

    /// Decodes a schedule, a reminder, or a result of a delivery, of a healthcheck or of an audit.
    ///
    /// No other record depends on them, so decoding is the whole check.
    fn read_result(&mut self, ty: &str, row: &Attributes) -> Result<(), Error> {
        match ty {
            RepliedRecord::TYPE => self.value::<RepliedRecord>(row).map(drop),
            CoolingRecord::TYPE => self.value::<CoolingRecord>(row).map(drop),
            ReminderRecord::TYPE => self.value::<ReminderRecord>(row).map(drop),
            GivenUpRecord::TYPE => self.value::<GivenUpRecord>(row).map(drop),
            CheckScheduleRecord::TYPE => self.value::<CheckScheduleRecord>(row).map(drop),
            HealthRecord::TYPE => self.value::<HealthRecord>(row).map(drop),
            CheckThrottleRecord::TYPE => self.value::<CheckThrottleRecord>(row).map(drop),
            AuditResultRecord::TYPE => self.value::<AuditResultRecord>(row).map(drop),
            _ => Err(unknown()),
        }
    }

    fn keep<R: Record, Inserted>(
        &mut self,
        row: &Attributes,
        put: impl FnOnce(&mut Snapshot, R::Value) -> Inserted,
    ) -> Result<(), Error> {
        let value = self.value::<R>(row)?;
        put(&mut self.snapshot, value);
        Ok(())
    }

    fn deployed(&mut self, row: &Attributes) -> Result<(), Error> {
        let deployed = self.value::<DeployedRecord>(row)?;
        let own = deployed.consumer.id == deployed.id.team() && deployed.item.team() == deployed.id.team();
        self.require(own, "I5", row, || "its ids belong to several teams".to_owned());
        self.snapshot.deployed.push(deployed);
        Ok(())
    }

    fn docs(&mut self, row: &Attributes) -> Result<(), Error> {
        let docs = self.value::<DocsRecord>(row)?;
        self.within(docs.text.len(), DOCS_BYTES_MAX, "bytes of its text", row);
        self.snapshot.catalogue.documented.insert(docs.service.title, docs.service.id);
        Ok(())
    }

    fn config(&mut self, row: &Attributes) -> Result<(), Error> {
        let config = self.value::<ConfigRecord>(row)?;
        self.within(config.text.len(), CONFIG_BYTES_MAX, "bytes of its config", row);
        self.snapshot.catalogue.configs.insert(config.id, (config.service, config.owner));
        Ok(())
    }

    fn metadata_policy(&mut self, row: &Attributes) -> Result<(), Error> {
        let version = self.value::<MetadataPolicyRecord>(row)?;
        for schema in [&version.team, &version.application].into_iter().flatten() {
            self.within(schema.len(), SCHEMA_BYTES_MAX, "bytes of a schema", row);
        }
        self.require(version.compile().is_ok(), "I25", row, || "its schemas do not compile".to_owned());
        self.snapshot.catalogue.policy_versions.insert(version.number);
        Ok(())
    }

    fn messages(&mut self, row: &Attributes) -> Result<(), Error> {
        let messages = self.value::<MessagesRecord>(row)?;
        let most = |size: fn(&Message) -> usize| messages.all.iter().map(size).max().unwrap_or_default();
        self.within(messages.all.len(), MESSAGES_MAX, "messages", row);
        let bytes = most(|message| message.content.description.len());
        self.within(bytes, DESCRIPTION_BYTES_MAX, "bytes of a message", row);
        let services = most(|message| message.content.services.len());
        self.within(services, SERVICES_MAX, "services of a message", row);
        self.snapshot.catalogue.messages.insert(messages.owner.id, messages);
        Ok(())
    }

    fn within(&mut self, size: usize, limit: usize, what: &str, row: &Attributes) {
        self.require(size <= limit, "I24", row, || format!("{what}: {size}, must be at most {limit}"));
    }

    /// Decodes a record and checks that its keys, and its index positions, are those of its value.
    fn value<R: Record>(&mut self, row: &Attributes) -> Result<R::Value, Error> {
        let value = record::read::<R>(row.clone())?;
        let written = record::write::<R>(&value)?;
        let same = |name: &str| written.get(name) == row.get(name);
        let detail = || "its stored key differs from its own key".to_owned();
        self.require(same("pk") && same("sk"), "I5", row, detail);
        for Index { name, pk, sk } in INDEXES {
            let is_in_place =
                (same(pk) && same(sk)) || (R::TYPE == WorkRecord::TYPE && name == "gs3" && is_moved(row));
            self.require(is_in_place, "I18", row, || {
                format!("its position in {name} does not match the record")
            });
        }
        // Two derived values are stored for conditions and filters, and must match the rest of the record.
        let counted = R::TYPE != ChangeRecord::TYPE || same("n");
        self.require(counted, "I3", row, || "its entry count does not match its history".to_owned());
        let has_matching_state = R::TYPE != SubmissionRecord::TYPE || same("st");
        self.require(has_matching_state, "I11", row, || "its state does not match its counts".to_owned());
        Ok(value)
    }

    fn declaration(&mut self, row: &Attributes) -> Result<(), Error> {
        record::is_of_this_format(row)?;
        let (declaration_id, text) = related::declaration(row)?;
        let detail =
            || format!("bytes of a declaration or plan: {}, must be at most {WHOLE_BYTES_MAX}", text.len());
        self.require(text.len() <= WHOLE_BYTES_MAX, "I24", row, detail);
        self.snapshot.declarations.insert(declaration_id, text.into());
        Ok(())
    }

    /// Adds a pointer from a team's name to its id, or from a service's id to its title.
    fn pointer(&mut self, row: &Attributes) -> Result<(), Error> {
        record::is_of_this_format(row)?;
        let nowhere = || Error::corrupt(record::key_text(row), "the pointer has no valid target");
        let pk = record::text(row, "pk").unwrap_or_default();
        if let Some(name) = pk.strip_prefix("TEAM_NAME#") {
            let id = record::integer(row, "to").and_then(TeamId::new).ok_or_else(nowhere)?;
            self.snapshot.catalogue.names.insert(name.to_owned(), id);
            return Ok(());
        }
        let id = pk.strip_prefix("SERVICE_ID#").and_then(|id| id.parse().ok()).and_then(ServiceId::new);
        let title = record::text(row, "to").ok_or_else(nowhere)?;
        self.snapshot.catalogue.titles.insert(id.ok_or_else(nowhere)?, title.to_owned());
        Ok(())
    }
}

fn unknown() -> Error {
    Error::corrupt("", "its type is unknown")
}

/// Returns the key of a row as the subject of a violation.
fn subject(row: &Attributes) -> Subject {
    let part = |name| record::text(row, name).unwrap_or("?").to_owned();
    Subject::Record { partition: part("pk"), sort: part("sk") }
}

/// Returns whether a work record is at the index position to which failures or a redrive move it.
fn is_moved(row: &Attributes) -> bool {
    let Ok(work) = record::read::<WorkRecord>(row.clone()) else { return false };
    let pending = key::pending_work(work.id.submission.team());
    // Work of an earlier release stays in its partition until it is done.
    let allowed = [pending.as_str(), key::FORMER_WORK, key::QUARANTINE];
    let moved = record::text(row, "gs3pk").is_some_and(|partition| allowed.contains(&partition));
    moved && record::text(row, "gs3sk") == Some(&age(&work))
}

/// Returns the index position of work. Staged work has no position until it moves, and then comes first.
fn age(work: &Work) -> String {
    let since = if work.id.staging.is_none() { work.created } else { Timestamp::from_micros(0) };
    key::by_age(since, work.id.submission.get())
}
