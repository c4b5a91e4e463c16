//! Suggestions: the known word that a caller may have meant.

/// Maximum length of a word in bytes; longer ones would cost too much.
const WORD_BYTES_MAX: usize = 64;

/// Returns `, did you mean ...?` with the known word nearest to `word`; an empty string if none is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|candidate| format!(", did you mean `{candidate}`?")).unwrap_or_default()
}

/// Returns the known word nearest to `word`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances =
        candidates.into_iter().filter_map(|candidate| Some((distance(word, candidate)?, candidate)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two words, if it is at most a third of their length.
///
/// Case does not count, nor do `-` and `_`.
pub fn distance(word: &str, candidate: &str) -> Option<usize> {
    if word.len().max(candidate.len()) > WORD_BYTES_MAX {
        return None;
    }
    let (word, candidate) = (letters(word), letters(candidate));
    let longest = word.len().max(candidate.len());
    let distance = edits(&word, &candidate);
    (distance.saturating_mul(3) <= longest).then_some(distance)
}

fn letters(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Returns the number of insertions, deletions, substitutions and swaps between two words.
fn edits(word: &[char], candidate: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=candidate.len()).collect();
    for (i, letter) in word.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in candidate.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let substituted = at(&row, j) + usize::from(letter != other);
            let changed = substituted.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let is_swap =
                i > 0 && j > 0 && word.get(i - 1) == Some(other) && candidate.get(j - 1) == Some(letter);
            next.push(if is_swap { changed.min(at(&before, j - 1) + 1) } else { changed });
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_the_word_that_was_meant() {
        let names = ["state", "log", "deployed_item", "approval_required", "allow_manual_approval"];
        let cases = [
            ("status", Some("state")),
            ("State", Some("state")),
            ("satte", Some("state")),
            ("aproval_required", Some("approval_required")),
            ("approvalRequired", Some("approval_required")),
            ("deployed-items", Some("deployed_item")),
            ("logs", Some("log")),
            ("colour", None),
            ("id", None),
            ("", None),
            (&"s".repeat(WORD_BYTES_MAX + 1), None),
        ];
        for (word, meant) in cases {
            assert_eq!(nearest(word, names), meant, "{word}");
        }
        assert_eq!(did_you_mean("status", names), ", did you mean `state`?");
        assert_eq!(did_you_mean("colour", names), "");
    }

    #[test]
    fn edits_are_counted_one_by_one() {
        let count = |a: &str, b: &str| edits(&letters(a), &letters(b));
        for (a, b, edits) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abc", "abc", 0),
        ] {
            assert_eq!(count(a, b), edits, "{a} {b}");
            assert_eq!(count(b, a), edits, "{b} {a}");
        }
    }
}
