//! Digests of what is declared: they show an unchanged application without reading its items, and a torn
//! read by not matching (docs/explanation/architecture.md, torn reads).

use crate::id::ApplicationId;
use crate::json::Hash;
use crate::team::Application;
use std::fmt::Write as _;

/// The digest of an application: its metadata and its declared items, whatever their order.
pub fn application<'a>(metadata: &str, items: impl IntoIterator<Item = (&'a str, &'a str, Hash)>) -> Hash {
    let mut items: Vec<_> = items.into_iter().collect();
    items.sort_unstable();
    let mut text = format!("{}", Hash::of(metadata));
    for (service, name, hash) in items {
        // Writing to a string cannot fail; lengths keep two lists from reading the same.
        let _infallible = write!(text, "\n{}:{service}{}:{name}{hash}", service.len(), name.len());
    }
    Hash::of(&text)
}

/// The digest of a team: its metadata and its applications.
pub fn root<'a>(metadata: &str, applications: impl IntoIterator<Item = &'a Application>) -> Hash {
    let mut applications: Vec<(ApplicationId, Hash)> =
        applications.into_iter().map(|application| (application.id, application.digest)).collect();
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
