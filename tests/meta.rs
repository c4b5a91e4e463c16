//! The repository: its rules, documents, contract, template and costs.

mod cost;
mod documents;
mod drift;
mod language;
mod pages;
mod records;
mod template;
mod tidy;
mod workspace;
