//! Tests of the table against the world of the rule tests: both take the same transactions, then all reads compare.
#[cfg(test)]
mod audited;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod planned;
#[cfg(test)]
mod provisioned;
#[cfg(test)]
mod reads;
#[cfg(test)]
mod related;
#[cfg(test)]
mod reluctant;
#[cfg(test)]
mod stalled;
#[cfg(test)]
mod start;
#[cfg(test)]
mod twin;
#[cfg(test)]
mod user_agent;
#[cfg(test)]
mod walk;

#[cfg(test)]
use rules::world;

#[cfg(test)]
#[path = "../../../../domain/tests/rules"]
mod rules {
    #[expect(dead_code, reason = "the rules need more of it")]
    pub(crate) mod world;
}
