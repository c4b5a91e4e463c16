//! Records: the conversion between domain values and stored attributes. `docs/reference/records.md` is generated from
//! the comments of the structs.
//!
//! Every record has a type (`ty`) and a format version (`v`). A function rejects a newer format, so an older function
//! never drops an unknown attribute.

mod api_key;
mod attributes;
mod audit_log;
mod audit_result;
mod bytes;
mod catalog;
mod change;
mod charge;
mod claim;
mod codec;
mod conversion;
mod entry;
mod healthcheck;
mod item;
mod item_use;
mod member;
mod message;
mod metadata_policy;
mod packed;
mod parts;
mod secrets;
mod service_documents;
mod settings;
pub(crate) mod size;
mod submission;
mod team;
mod webhook;

pub(crate) use api_key::ApiKeyRecord;
pub(crate) use attributes::{Attributes, integer, key, key_text, text, type_of};
pub(crate) use audit_log::AuditEntryRecord;
pub(crate) use audit_result::AuditResultRecord;
pub(crate) use catalog::{SchemaRecord, ServiceRecord, StoredSchema};
pub(crate) use change::{ChangeRecord, closed_queue};
pub(crate) use charge::ChargeRecord;
pub(crate) use claim::ClaimRecord;
pub use codec::FORMAT;
pub(crate) use codec::{FORMAT_BASE, FORMAT_USES};
pub(crate) use codec::{Record, is_of_this_format, read, write};
pub(crate) use entry::EntryRecord;
pub(crate) use healthcheck::{CheckScheduleRecord, CheckThrottleRecord, HealthRecord, HealthcheckRecord};
pub(crate) use item::{DeployedRecord, ItemRecord};
pub(crate) use item_use::UseRecord;
pub(crate) use member::MemberRecord;
pub(crate) use message::MessagesRecord;
pub(crate) use metadata_policy::MetadataPolicyRecord;
pub(crate) use secrets::SecretsRecord;
pub(crate) use service_documents::{ConfigRecord, DocsRecord};
pub(crate) use submission::{RememberedRecord, ShareRecord, StagingRecord, SubmissionRecord, WorkRecord};
pub(crate) use team::{ApplicationRecord, HeadRecord, ReplacedRecord, TeamRecord};
pub(crate) use webhook::{CoolingRecord, GivenUpRecord, ReminderRecord, RepliedRecord, WebhookRecord};
