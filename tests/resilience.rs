//! Lost answers, crashes, concurrent requests and damaged tables.

mod application_numbers;
mod audit;
mod claims;
mod close_older_changes;
mod crashes;
mod faults;
mod gone;
mod order;
mod races;
mod renames;
mod staging;
mod stream;
mod uses;
mod workers;
mod world_files;
