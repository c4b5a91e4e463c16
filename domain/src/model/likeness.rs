//! Names that look the same: in another letter case, or with letters of another script (UTS #39, section 4).

use unicode_security::skeleton;

/// Returns whether readers could take one name for the other.
///
/// Names of teams and services decide who gets a change instance, so two of them must not look the same.
pub fn look_alike(one: &str, other: &str) -> bool {
    let have_equal_skeletons = |one: &str, other: &str| skeleton(one).eq(skeleton(other));
    have_equal_skeletons(one, other) || have_equal_skeletons(&one.to_lowercase(), &other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_and_letters_of_other_scripts_do_not_distinguish_names() {
        for (one, other) in [
            ("Conc", "conc"),
            ("ConC", "cONc"),
            // The first letter of the second name is Cyrillic.
            ("Conc", "\u{421}onc"),
            ("conc", "\u{421}onc"),
            ("IL", "il"),
            // A capital I and a small L.
            ("VMI", "VMl"),
            ("Pool0", "PoolO"),
        ] {
            assert!(look_alike(one, other) && look_alike(other, one), "{one} {other}");
        }
        for (one, other) in [("Conc", "Conk"), ("VM", "VM2"), ("Team 1", "Team 2"), ("Zürich", "Zurich")] {
            assert!(!look_alike(one, other), "{one} {other}");
        }
    }
}
