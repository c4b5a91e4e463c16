//! The rules of the domain, each as a test on a whole world in memory.
//!
//! Every step of every test writes under the fences of a storage, and then audits all records. `rNN` is the number
//! of a rule in docs/reference/rules.md. The other tests have the names of the guide's chapters.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod charges;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod close_excess;
#[cfg(test)]
mod definitions;
#[cfg(test)]
mod deployed;
mod derived;
#[cfg(test)]
mod expansion;
#[cfg(test)]
mod fences;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod generation;
#[cfg(test)]
mod generations;
#[cfg(test)]
mod gone;
#[cfg(test)]
mod health;
#[cfg(test)]
mod history;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lives;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod metadata_policy;
#[cfg(test)]
mod observations;
mod order;
mod owners;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod preview;
#[cfg(test)]
mod reduction;
#[cfg(test)]
mod references;
#[cfg(test)]
mod reminders;
#[cfg(test)]
mod removals;
mod renames;
#[cfg(test)]
mod repairs;
mod replacement;
#[cfg(test)]
mod revert;
#[cfg(test)]
mod secrets;
mod services;
#[cfg(test)]
mod stack;
#[cfg(test)]
mod staged;
#[cfg(test)]
mod submissions;
#[cfg(test)]
mod unordered;
#[cfg(test)]
mod uses;
#[cfg(test)]
mod visibility;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod words;
#[cfg(test)]
mod world;
