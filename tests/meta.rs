//! Documents, contract, template and costs, compared with the code.

mod cost;
mod documents;
mod drift;
mod engines;
mod figures;
mod pages;
mod records;
mod template;
