//! Properties of wildcards by their definition, and of random patterns.

use super::*;

/// Matches a wildcard by its definition, without regard to time.
fn wildcard_meaning(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|taken| wildcard_meaning(rest, &text[taken..])),
        ([next, rest @ ..], [first, others @ ..]) => next == first && wildcard_meaning(rest, others),
        (_, []) => false,
    }
}

/// Returns every text of these characters up to a length.
fn texts(characters: &str, most: usize) -> Vec<String> {
    let (mut all, mut longest) = (vec![String::new()], vec![String::new()]);
    for _ in 0..most {
        longest = longest
            .iter()
            .flat_map(|text| characters.chars().map(move |next| format!("{text}{next}")))
            .collect();
        all.extend(longest.iter().cloned());
    }
    all
}

#[test]
fn wildcards_mean_what_they_say() {
    let texts_to_match = texts("ab", 6);
    for wildcard in texts("ab*", 5).iter().filter(|wildcard| !wildcard.contains("**")) {
        let pattern = pattern(&json!({"a": [{"wildcard": wildcard}]}));
        for text in &texts_to_match {
            let expected = wildcard_meaning(wildcard.as_bytes(), text.as_bytes());
            assert_eq!(pattern.matches(&json!({"a": text})), expected, "{wildcard} on {text}");
        }
    }
}

/// A matcher that backtracks to every wildcard or array would never end here.
#[test]
fn what_fails_late_fails_soon() {
    let wildcard = format!("{}b*", "a*".repeat(500));
    let pattern_of_wildcards = pattern(&json!({"a": [{"wildcard": wildcard}]}));
    assert!(!pattern_of_wildcards.matches(&json!({"a": "a".repeat(100_000)})));

    let names: Vec<_> = (0..20).map(|index| format!("f{index:02}")).collect();
    let elements: Vec<_> = (0..50).map(|index| json!({"x": index})).collect();
    let event: Map<_, _> = names.iter().map(|name| (name.clone(), json!(elements))).collect();
    let mut fields: Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({"x": [{"exists": true}]}))).collect();
    fields.insert("z".to_owned(), json!(["missing"]));
    assert!(!pattern(&Value::Object(fields)).matches(&Value::Object(event)));
}

/// Pseudo-random numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap() % limit
    }
}

/// A generator of events with distinct leaves, so that no leaf can replace a flipped one.
struct Events {
    random: Random,
    leaves: u64,
}

impl Events {
    fn object(&mut self, depth: usize) -> Value {
        let size = 1 + self.random.below(4);
        (0..size).map(|index| (format!("f{index}"), self.value(depth))).collect::<Map<_, _>>().into()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 3 } else { 7 }) {
            0 => json!(format!("text {}", self.unique())),
            1 => json!(self.unique()),
            2 => read(&format!("-{}.5", self.unique())),
            3 | 4 => self.object(depth - 1),
            _ => (0..self.random.below(4)).map(|_| self.value(depth - 1)).collect::<Vec<_>>().into(),
        }
    }

    fn unique(&mut self) -> u64 {
        self.leaves += 1;
        self.leaves
    }

    /// Returns the pattern of a value's leaves with one element of each array, and adds the positions of these
    /// leaves; `None` if there are none.
    fn pattern(&mut self, value: &Value, at: &str, taken: &mut Vec<String>) -> Option<Value> {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter();
                let taking = fields.filter_map(|(name, value)| {
                    Some((name.clone(), self.pattern(value, &below(at, name), taken)?))
                });
                Some(taking.collect::<Map<_, _>>()).filter(|fields| !fields.is_empty()).map(Value::Object)
            }
            Value::Array(items) if items.is_empty() => None,
            Value::Array(items) => {
                let index = self.random.below(items.len());
                self.pattern(&items[index], &below(at, index), taken)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                taken.push(at.to_owned());
                Some(json!([value]))
            }
        }
    }
}

#[test]
fn an_event_matches_its_own_leaves_until_one_is_flipped() {
    let mut flipped = 0;
    for seed in 0..2000 {
        let mut events = Events { random: Random(seed), leaves: 0 };
        let event = events.object(4);
        let mut taken = Vec::new();
        let Some(own) = events.pattern(&event, "", &mut taken) else { continue };
        let pattern = pattern(&own);
        assert!(pattern.matches(&event), "seed {seed}: {own} on {event}");
        for leaf in taken {
            let mut event = event.clone();
            *event.pointer_mut(&leaf).unwrap() = json!("flipped");
            assert!(!pattern.matches(&event), "seed {seed}: {own} on {event}, flipped at {leaf}");
            flipped += 1;
        }
    }
    assert!(flipped > 2000, "only {flipped} leaves");
}
