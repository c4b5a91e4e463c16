//! Emulates the AWS services around the functions on one machine: API Gateway with its authorizer cache, DynamoDB with
//! its stream, event source mappings, EventBridge with targets and a schedule, and SQS.
//!
//! The emulator imports no function: an [`invoke::Invoker`] or a closure of the program calls them.

pub mod authorizer_cache;
pub mod bus;
pub mod client;
pub mod database;
pub mod engine;
pub mod envelope;
pub mod gateway;
pub mod invoke;
pub mod journal;
pub mod mapping;
pub mod pattern;
pub mod queue;
pub mod schedule;
pub mod stream;
pub mod webhook;
