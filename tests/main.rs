//! The system's specification, run over HTTP against the whole system in this process.

mod tour;
