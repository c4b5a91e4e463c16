//! Load: the limits of DynamoDB, Lambda and API Gateway, in virtual time.
//!
//! The limits are the published ones (docs/explanation/verification.md). The rest of the simulation runs without them.

pub mod bucket;
pub mod conflicts;
pub mod driver;
pub mod figures;
pub mod flood;
pub mod gateway;
pub mod lanes;
pub mod latency;
pub mod limits;
pub mod partition;
pub mod rejection;
pub mod scenarios;
pub mod tenants;
pub mod trace;
