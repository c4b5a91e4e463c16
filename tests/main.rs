//! The system's specification, run over HTTP against the whole system in this process.

mod audit;
mod cost;
mod crashes;
mod dependents;
mod deployed;
mod documents;
mod drift;
mod errors;
mod faults;
mod filters;
mod front;
mod gzip;
mod hostile;
mod isolation;
mod limits;
mod lists;
mod races;
mod scenarios;
mod staging;
mod stream;
mod template;
mod tidy;
mod tour;
mod trust;
mod wire;
mod world;
