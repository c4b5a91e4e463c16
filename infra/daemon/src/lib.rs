//! The program: the whole system in one process, on the emulator of [`dovetail_emulator`], and its commands.
//!
//! `system` starts the emulated services, and `functions` connects them with the handlers of the Lambda functions.
//! `audit`, `load` and `bury` are commands without a system.

pub mod account;
pub mod arguments;
pub mod audit;
pub mod authorizer;
pub mod control;
mod demo;
pub mod error;
pub mod functions;
pub mod load;
pub mod move_gone_items;
pub mod option;
pub mod ready;
pub mod settings;
pub mod signals;
pub mod system;
pub mod world;

pub use error::Error;
pub use system::{System, start};
