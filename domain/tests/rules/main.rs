//! The rules of the domain, each as a test over a whole world in memory.
//!
//! Every step of every test writes under the fences that a storage would check and then audits all records.

#[cfg(test)]
mod generation;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod stack;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod world;
