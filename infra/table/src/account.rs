//! The records of an account: API keys, members, the audit log, webhooks, healthchecks and messages.

mod api_keys;
mod audit_log;
mod healthchecks;
mod members;
mod messages;
mod webhooks;
