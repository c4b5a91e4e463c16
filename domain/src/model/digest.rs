//! Digests of declarations: equal digests show an unchanged application without a read of its items.
//!
//! Different digests show a torn read (docs/explanation/concurrency.md, torn reads).

use crate::base::hash::Hash;
use crate::base::id::ApplicationId;
use std::fmt::Write as _;

/// Returns the digest of an application from its metadata and its declared items, in any order.
pub fn application<'a>(metadata: &str, items: impl IntoIterator<Item = (&'a str, &'a str, Hash)>) -> Hash {
    let mut items: Vec<_> = items.into_iter().collect();
    items.sort_unstable();
    let mut text = format!("{}", Hash::of(metadata));
    for (service, name, hash) in items {
        // Writes to a `String` cannot fail. Because of the lengths, two different lists never give the same text.
        let _infallible = write!(text, "\n{}:{service}{}:{name}{hash}", service.len(), name.len());
    }
    Hash::of(&text)
}

/// Returns the digest of a team from its metadata and the digests of its applications, in any order.
pub fn root(metadata: &str, applications: impl IntoIterator<Item = (ApplicationId, Hash)>) -> Hash {
    let mut applications: Vec<_> = applications.into_iter().collect();
    applications.sort_unstable();
    let mut text = format!("{}", Hash::of(metadata));
    for (id, digest) in applications {
        let _infallible = write!(text, "\n{id}{digest}");
    }
    Hash::of(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_items_is_nothing_and_every_part_counts() {
        let (a, b) = (Hash::of("a"), Hash::of("b"));
        let digest = application("{}", [("VM", "one", a), ("VM", "two", b)]);
        assert_eq!(digest, application("{}", [("VM", "two", b), ("VM", "one", a)]));
        assert_ne!(digest, application("{}", [("VM", "one", b), ("VM", "two", a)]));
        assert_ne!(digest, application("{\"a\":1}", [("VM", "one", a), ("VM", "two", b)]));
        assert_ne!(application("{}", [("V", "Mone", a)]), application("{}", [("VM", "one", a)]));
    }
}
