//! Filters: what a query says of the rows that are wanted; values in a list mean OR, filters mean AND.

use crate::pattern::{Pattern, WORK_MAX};
use domain::deployed::Deployed;
use domain::id::TeamId;
use domain::item::{Item, RuntimeState};
use domain::json::Hash;
use domain::related::Related;
use domain::tally::Tally;
use domain::team::Application;
use domain::timestamp::Timestamp;
use dovetail_http::{Call, Code, Failure, FieldError, Query};
use dovetail_table::{Beside, Listed};
use serde_json::Value;
use std::sync::Arc;

/// A test of one row, with what was loaded beside it.
type Test<T> = Arc<dyn Fn(&T, &Related) -> bool + Send + Sync>;

/// The work of matching a row with the filter's pattern ([`Pattern::work`]).
type Work<T> = Arc<dyn Fn(&T, &Related) -> usize + Send + Sync>;

/// Where a row's declaration is.
pub(crate) type DeclarationOf<T> = fn(&T) -> Option<(TeamId, Hash)>;

/// What a test needs beside a row.
type BesideOf<T> = Box<dyn Fn(&T) -> Option<Beside> + Send + Sync>;

/// All tests that a row has to pass.
pub struct Filter<T> {
    tests: Vec<Test<T>>,
    /// Set if a test looks at more than the row.
    beside: Option<BesideOf<T>>,
    /// Set if a test matches a pattern.
    work: Option<Work<T>>,
    /// How many rows are read and tested at once.
    pub(crate) at_once: usize,
    /// How many rows pass at least, if a record has that.
    pub(crate) known: Option<u64>,
}

impl<T: Send + 'static> Filter<T> {
    /// Returns a filter that every row passes.
    #[expect(clippy::new_without_default, reason = "a default would say less")]
    pub const fn new() -> Self {
        Self { tests: Vec::new(), beside: None, work: None, at_once: 100, known: None }
    }

    /// Whether every row passes.
    pub(crate) const fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// What has to be loaded before a row is tested.
    pub(crate) fn beside(&self, row: &T) -> Option<Beside> {
        self.beside.as_ref().and_then(|of| of(row))
    }

    fn passes(&self, row: &T, related: &Related) -> bool {
        self.tests.iter().all(|test| test(row, related))
    }

    /// Judges the rows of a batch in their order, until the work that the page has `left` is used up. Patterns are
    /// matched on a thread for blocking work, so that other requests go on meanwhile.
    pub async fn judge(
        &self,
        batch: Vec<Listed<T>>,
        related: Related,
        left: &mut usize,
    ) -> Result<Vec<(Listed<T>, bool)>, Failure> {
        let Some(work) = self.work.clone() else {
            let judged = |row: Listed<T>| {
                let passes = self.passes(&row.value, &related);
                (row, passes)
            };
            return Ok(batch.into_iter().map(judged).collect());
        };
        let (tests, mut budget) = (self.tests.clone(), *left);
        let judging = move || {
            let affordable = batch.into_iter().map_while(|row| {
                budget = budget.checked_sub(work(&row.value, &related).min(WORK_MAX))?;
                let passes = tests.iter().all(|test| test(&row.value, &related));
                Some((row, passes))
            });
            let judged: Vec<_> = affordable.collect();
            (judged, budget)
        };
        let (judged, budget) = tokio::task::spawn_blocking(judging).await.map_err(|_| Code::Broken)?;
        *left = budget;
        Ok(judged)
    }

    pub(crate) fn test(&mut self, test: impl Fn(&T) -> bool + Send + Sync + 'static) {
        self.tests.push(Arc::new(move |row, _| test(row)));
    }

    /// A truth value.
    pub(crate) fn truth(&mut self, query: &Query, name: &str, of: fn(&T) -> bool) -> Result<(), Failure> {
        if let Some(wanted) = query.truth(name).map_err(|error| Call::bad_filter(&error))? {
            self.test(move |row| of(row) == wanted);
        }
        Ok(())
    }

    /// An id, or several.
    pub(crate) fn ids(&mut self, query: &Query, name: &str, of: fn(&T) -> u64) -> Result<(), Failure> {
        if let Some(ids) = query.integers(name).map_err(|error| Call::bad_filter(&error))? {
            self.test(move |row| ids.contains(&of(row)));
        }
        Ok(())
    }

    /// A text, or several.
    pub(crate) fn texts(&mut self, query: &Query, name: &str, of: fn(&T) -> &str) {
        if let Some(texts) = query.list(name) {
            // A name may itself hold a comma: the whole value counts too.
            let whole = query.get(name).unwrap_or_default().to_owned();
            self.test(move |row| of(row) == whole || texts.iter().any(|text| text == of(row)));
        }
    }

    /// A part of a text, whatever its case.
    pub(crate) fn contains(&mut self, query: &Query, name: &str, of: fn(&T) -> &str) {
        if let Some(part) = query.get(name).map(str::to_lowercase) {
            self.test(move |row| of(row).to_lowercase().contains(&part));
        }
    }

    /// One of a closed set of words, or several.
    pub(crate) fn words(
        &mut self,
        query: &Query,
        name: &str,
        known: &[&str],
        of: fn(&T) -> &'static str,
    ) -> Result<(), Failure> {
        let Some(words) = query.list(name) else { return Ok(()) };
        if words.iter().any(|word| !known.contains(&word.as_str())) {
            let message = format!("is none of {}", known.join(", "));
            return Err(Call::bad_filter(&FieldError::new(name, message)));
        }
        self.test(move |row| words.iter().any(|word| word == of(row)));
        Ok(())
    }

    /// Selects from `start_date` (the Go client's name is `modified`) to `end_date`, both included; a date alone means
    /// the whole day.
    pub(crate) fn dates(&mut self, query: &Query, of: fn(&T) -> Timestamp) -> Result<(), Failure> {
        for name in ["start_date", "modified"] {
            if let Some(start) = date(query, name)? {
                self.test(move |row| of(row) >= start);
            }
        }
        if let Some(end) = date(query, "end_date")? {
            let whole_day = query.get("end_date").is_some_and(|text| !text.contains('T'));
            let day_micros = if whole_day { 86_400_000_000 - 1 } else { 0 };
            let end = Timestamp::from_micros(end.micros() + day_micros);
            self.test(move |row| of(row) <= end);
        }
        Ok(())
    }

    /// What a row's declaration holds: `declaration` (a JSON object that it contains), `declaration_contains`
    /// and `declaration_regex` (on its canonical text).
    pub(crate) fn declarations(&mut self, query: &Query, of: DeclarationOf<T>) -> Result<(), Failure> {
        let TextTests { tests, pattern } = TextTests::of(query)?;
        if !tests.is_empty() {
            self.beside =
                Some(Box::new(move |row| of(row).map(|(team, hash)| Beside::Declaration(team, hash))));
        }
        for test in tests {
            self.tests.push(Arc::new(move |row, related| {
                of(row).and_then(|key| related.declarations.get(&key)).is_some_and(|text| test(text))
            }));
        }
        self.work = pattern.map(|pattern| -> Work<T> {
            Arc::new(move |row, related| {
                let text = of(row).and_then(|key| related.declarations.get(&key));
                text.map_or(0, |text| pattern.work(text))
            })
        });
        Ok(())
    }

    /// Adds the same tests for a text that the row holds itself.
    pub fn texts_of(&mut self, query: &Query, of: fn(&T) -> &str) -> Result<(), Failure> {
        let TextTests { tests, pattern } = TextTests::of(query)?;
        for test in tests {
            self.test(move |row| test(of(row)));
        }
        self.work = pattern.map(|pattern| -> Work<T> { Arc::new(move |row, _| pattern.work(of(row))) });
        Ok(())
    }
}

impl Filter<Application> {
    /// Items in one of some runtime states, which takes reading the items.
    pub(crate) fn with_items(&mut self, states: Vec<RuntimeState>, at_once: usize) {
        self.at_once = at_once;
        self.beside = Some(Box::new(|application: &Application| Some(Beside::Tally(application.id))));
        self.tests.push(Arc::new(move |application, related| {
            let tally = related.tallies.get(&application.id).into_iter();
            tally.flat_map(Tally::runtime_states).any(|(state, items)| items > 0 && states.contains(&state))
        }));
    }
}

impl Filter<Item> {
    /// The newest deployed item, which is loaded only if it has anything to pass.
    pub(crate) fn newest(&mut self, filter: Filter<Deployed>) {
        self.test(|item| item.deployed.is_some());
        if filter.is_empty() {
            return;
        }
        self.beside = Some(Box::new(|item: &Item| Some(Beside::Deployed(item.deployed?.id))));
        if let Some(work) = filter.work.clone() {
            self.work = Some(Arc::new(move |item, related| {
                newest_of(item, related).map_or(0, |newest| work(newest, related))
            }));
        }
        self.tests.push(Arc::new(move |item, related| {
            newest_of(item, related).is_some_and(|deployed| filter.passes(deployed, related))
        }));
    }
}

fn newest_of<'a>(item: &Item, related: &'a Related) -> Option<&'a Deployed> {
    related.deployed.get(&item.deployed?.id)
}

/// The value of an id filter that names exactly one.
pub(crate) fn single(query: &Query, name: &str) -> Result<Option<u64>, Failure> {
    let ids = query.integers(name).map_err(|error| Call::bad_filter(&error))?;
    Ok(ids.and_then(|ids| if let [id] = ids[..] { Some(id) } else { None }))
}

/// A test of a declaration's canonical text.
type TextTest = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// What a query asks of a declaration's canonical text.
struct TextTests {
    tests: Vec<TextTest>,
    /// The pattern of one of them.
    pattern: Option<Arc<Pattern>>,
}

impl TextTests {
    fn of(query: &Query) -> Result<Self, Failure> {
        let bad = |message| Call::bad_filter(&FieldError::new("declaration_regex", message));
        let mut tests = document_tests(query)?;
        let pattern =
            query.get("declaration_regex").map(Pattern::parse).transpose().map_err(bad)?.map(Arc::new);
        if let Some(pattern) = pattern.clone() {
            tests.push(Box::new(move |text| pattern.matches(text)));
        }
        Ok(Self { tests, pattern })
    }
}

/// The tests for `declaration` and `declaration_contains`.
fn document_tests(query: &Query) -> Result<Vec<TextTest>, Failure> {
    let mut tests: Vec<TextTest> = Vec::new();
    let bad = |name: &str, message: String| Call::bad_filter(&FieldError::new(name, message));
    if let Some(text) = query.get("declaration") {
        let wanted: Value =
            serde_json::from_str(text).map_err(|_| bad("declaration", "must be JSON".to_owned()))?;
        tests.push(Box::new(move |text| {
            serde_json::from_str(text).is_ok_and(|declared: Value| holds(&declared, &wanted))
        }));
    }
    if let Some(part) = query.get("declaration_contains").map(str::to_owned) {
        tests.push(Box::new(move |text| text.contains(&part)));
    }
    Ok(tests)
}

/// Whether `declared` has everything that `wanted` has, object by object.
fn holds(declared: &Value, wanted: &Value) -> bool {
    match (declared, wanted) {
        (Value::Object(declared), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| declared.get(key).is_some_and(|declared| holds(declared, wanted))),
        (declared, wanted) => domain::json::canonical(declared) == domain::json::canonical(wanted),
    }
}

pub(crate) fn date(query: &Query, name: &str) -> Result<Option<Timestamp>, Failure> {
    // A plus sign that came unencoded has been read as a space.
    let text = query.get(name).map(|text| text.replace(' ', "+"));
    let parsed = text.map(|text| {
        Timestamp::parse(&text).ok_or_else(|| Call::bad_filter(&FieldError::new(name, "is no date or time")))
    });
    parsed.transpose()
}
