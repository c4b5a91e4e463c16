//! The rules of the domain, each as a test over a whole world in memory.
//!
//! Every step of every test writes under the fences that a storage would check and then audits all records.
//! `rNN` is the number of the rule in docs/reference/rules.md; the other tests are named after the guide's chapters.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod charges;
#[cfg(test)]
mod deployed;
#[cfg(test)]
mod fences;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod generation;
#[cfg(test)]
mod health;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lives;
#[cfg(test)]
mod mandatory;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod past;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod preview;
#[cfg(test)]
mod repairs;
#[cfg(test)]
mod revert;
#[cfg(test)]
mod services;
#[cfg(test)]
mod shed;
#[cfg(test)]
mod stack;
#[cfg(test)]
mod staged;
#[cfg(test)]
mod submissions;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod words;
#[cfg(test)]
mod world;
