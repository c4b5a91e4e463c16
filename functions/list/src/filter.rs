//! Filters: the conditions of a query on the rows. Several values mean OR, several filters mean AND.

use crate::pattern::{Pattern, WORK_MAX};
use domain::base::state::{RuntimeState, Stage};
use domain::model::claim::Claim;
use domain::model::deployed::Deployed;
use domain::model::team::Application;
use domain::model::wait::Wait;
use domain::rules::order::left;
use domain::views::related::Related;
use domain::views::tally::Tally;
use domain::{Change, Hash, Item, TeamId, Timestamp};
use dovetail_http::{Call, Code, Failure, FieldError, Query};
use dovetail_table::{Listed, RelatedKey};
use serde_json::Value;
use std::sync::Arc;

/// A test of one row with its related records.
type Test<T> = Arc<dyn Fn(&T, &Related) -> bool + Send + Sync>;

/// The work of the filter's pattern on a row ([`Pattern::work`]).
type Work<T> = Arc<dyn Fn(&T, &Related) -> usize + Send + Sync>;

/// The key of a row's declaration.
pub(crate) type DeclarationOf<T> = fn(&T) -> Option<(TeamId, Hash)>;

/// The keys of the related records for the tests of a row.
type RelatedOf<T> = Box<dyn Fn(&T) -> Vec<RelatedKey> + Send + Sync>;

/// The tests of a row, all of which it must pass.
pub struct Filter<T> {
    tests: Vec<Test<T>>,
    /// The related records that the tests need.
    related: Vec<RelatedOf<T>>,
    /// Set if a test has a pattern.
    work: Option<Work<T>>,
    /// Number of rows in one read.
    pub(crate) at_once: usize,
    /// Minimum number of matches, if a record has one, so that the request reads no rows for the count.
    pub(crate) matches_min: Option<u64>,
}

impl<T: Send + 'static> Filter<T> {
    /// Returns a filter without tests.
    #[expect(clippy::new_without_default, reason = "a default would say less")]
    pub const fn new() -> Self {
        Self { tests: Vec::new(), related: Vec::new(), work: None, at_once: 100, matches_min: None }
    }

    /// Returns whether the filter has no tests.
    pub(crate) const fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the keys of the related records for the tests of a row.
    pub(crate) fn related(&self, row: &T) -> impl Iterator<Item = RelatedKey> {
        self.related.iter().flat_map(move |of| of(row))
    }

    fn passes(&self, row: &T, related: &Related) -> bool {
        self.tests.iter().all(|test| test(row, related))
    }

    /// Tests the rows of a batch in order, until the page has used up its work.
    ///
    /// Patterns run on a thread for blocking work, so other requests continue meanwhile.
    pub async fn check(
        &self,
        batch: Vec<Listed<T>>,
        related: Related,
        left: &mut usize,
    ) -> Result<Vec<(Listed<T>, bool)>, Failure> {
        let Some(work) = self.work.clone() else {
            let checked = |row: Listed<T>| {
                let passes = self.passes(&row.value, &related);
                (row, passes)
            };
            return Ok(batch.into_iter().map(checked).collect());
        };
        let (tests, mut budget) = (self.tests.clone(), *left);
        let checking = move || {
            let affordable = batch.into_iter().map_while(|row| {
                // One row alone never exceeds the whole budget, so each page makes progress.
                budget = budget.checked_sub(work(&row.value, &related).min(WORK_MAX))?;
                let passes = tests.iter().all(|test| test(&row.value, &related));
                Some((row, passes))
            });
            let checked: Vec<_> = affordable.collect();
            (checked, budget)
        };
        let (checked, budget) = tokio::task::spawn_blocking(checking).await.map_err(|_| Code::Broken)?;
        *left = budget;
        Ok(checked)
    }

    pub(crate) fn test(&mut self, test: impl Fn(&T) -> bool + Send + Sync + 'static) {
        self.tests.push(Arc::new(move |row, _| test(row)));
    }

    /// Adds a boolean filter.
    pub(crate) fn truth(&mut self, query: &Query, name: &str, of: fn(&T) -> bool) -> Result<(), Failure> {
        if let Some(wanted) = query.truth(name)? {
            self.test(move |row| of(row) == wanted);
        }
        Ok(())
    }

    /// Adds a filter for one or several ids.
    pub(crate) fn ids(&mut self, query: &Query, name: &str, of: fn(&T) -> u64) -> Result<(), Failure> {
        if let Some(ids) = query.integers(name)? {
            self.test(move |row| ids.contains(&of(row)));
        }
        Ok(())
    }

    /// Adds a filter for one or several texts.
    pub(crate) fn texts(&mut self, query: &Query, name: &str, of: fn(&T) -> &str) {
        if let Some(texts) = texts(query, name) {
            self.test(move |row| texts.iter().any(|text| text == of(row)));
        }
    }

    /// Adds a filter for a part of a text, in any case.
    pub(crate) fn contains(&mut self, query: &Query, name: &str, of: fn(&T) -> &str) {
        if let Some(part) = query.get(name).map(str::to_lowercase) {
            self.test(move |row| of(row).to_lowercase().contains(&part));
        }
    }

    /// Adds a filter for one or several words of a closed set.
    pub(crate) fn words(
        &mut self,
        query: &Query,
        name: &str,
        names: &[&str],
        of: fn(&T) -> &'static str,
    ) -> Result<(), Failure> {
        let Some(words) = query.list(name) else { return Ok(()) };
        if words.iter().any(|word| !names.contains(&word.as_str())) {
            let message = format!("must be one of {}", names.join(", "));
            return Err(Call::bad_filter(&FieldError::new(name, message)));
        }
        self.test(move |row| words.iter().any(|word| word == of(row)));
        Ok(())
    }

    /// Adds the filters `start_date` and `end_date`, both inclusive. A date alone means the whole day.
    ///
    /// The Go client sends `modified` instead of `start_date`.
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

    /// Adds the filters on a declaration: `declaration`, `declaration_contains` and `declaration_regex`.
    ///
    /// The first filter is a JSON object that the declaration must contain. The other two apply to the declaration's
    /// canonical text.
    pub(crate) fn declarations(&mut self, query: &Query, of: DeclarationOf<T>) -> Result<(), Failure> {
        let TextTests { tests, pattern } = TextTests::of(query)?;
        if !tests.is_empty() {
            let key = move |row: &T| of(row).map(|(team, hash)| RelatedKey::Declaration(team, hash));
            self.related.push(Box::new(move |row| key(row).into_iter().collect()));
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

    /// Adds the filters of `declarations` for a text in the row.
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
    /// Adds a filter for applications with items in some runtime states, which needs the counts of their items.
    pub(crate) fn with_items(&mut self, states: Vec<RuntimeState>, at_once: usize) {
        self.at_once = at_once;
        self.related.push(Box::new(|application: &Application| vec![RelatedKey::Tally(application.id)]));
        self.tests.push(Arc::new(move |application, related| {
            let tally = related.tallies.get(&application.id).into_iter();
            tally.flat_map(Tally::runtime_states).any(|(state, items)| items > 0 && states.contains(&state))
        }));
    }
}

impl Filter<Item> {
    /// Adds a filter on the newest deployed item, and reads that item only for a filter with tests.
    pub(crate) fn newest(&mut self, filter: Filter<Deployed>) {
        self.test(|item| item.shown_deployed().is_some());
        if filter.is_empty() {
            return;
        }
        self.related.push(Box::new(|item: &Item| {
            item.shown_deployed().map(|latest| RelatedKey::Deployed(latest.id)).into_iter().collect()
        }));
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

impl Filter<Change> {
    /// Adds a filter on the claim of a row at this time; work that was never claimed has none.
    pub(crate) fn claim(&mut self, test: impl Fn(Option<&Claim>) -> bool + Send + Sync + 'static) {
        self.related.push(Box::new(|change: &Change| vec![RelatedKey::Claim(change.item, change.owner.id)]));
        self.tests
            .push(Arc::new(move |change, related| test(related.claims.get(&(change.item, change.owner.id)))));
    }

    /// Adds a filter for open change instances that are ready, or for those that are not (R74).
    pub(crate) fn is_ready(&mut self, wanted: bool) {
        self.test(|change| change.state.stage() != Stage::Resolved);
        let awaited =
            |change: &Change| change.waits.iter().flat_map(Wait::items).map(RelatedKey::Awaited).collect();
        self.related.push(Box::new(awaited));
        self.tests.push(Arc::new(move |change, related| left(change, &related.items).is_empty() == wanted));
    }
}

fn newest_of<'a>(item: &Item, related: &'a Related) -> Option<&'a Deployed> {
    related.deployed.get(&item.shown_deployed()?.id)
}

/// Returns the texts in a parameter.
pub(crate) fn texts(query: &Query, name: &str) -> Option<Vec<String>> {
    let mut texts = query.list(name)?;
    // A name may contain a comma, so the whole value is one candidate.
    texts.extend(query.get(name).map(str::to_owned));
    Some(texts)
}

/// Returns the id in a filter with exactly one id.
pub(crate) fn single(query: &Query, name: &str) -> Result<Option<u64>, Failure> {
    let ids = query.integers(name)?;
    Ok(ids.and_then(|ids| if let [id] = ids[..] { Some(id) } else { None }))
}

/// A test of a canonical text.
type TextTest = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// The tests of a query on a canonical text.
struct TextTests {
    tests: Vec<TextTest>,
    /// Pattern of one of the tests.
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

/// Returns the tests of `declaration` and `declaration_contains`.
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

/// Returns whether `declared` contains `wanted`, object by object.
fn holds(declared: &Value, wanted: &Value) -> bool {
    match (declared, wanted) {
        (Value::Object(declared), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, wanted)| declared.get(key).is_some_and(|declared| holds(declared, wanted))),
        (declared, wanted) => {
            domain::base::json::canonical(declared) == domain::base::json::canonical(wanted)
        }
    }
}

pub(crate) fn date(query: &Query, name: &str) -> Result<Option<Timestamp>, Failure> {
    // The unencoded plus sign of a time zone arrives as a space.
    let text = query.get(name).map(|text| text.replace(' ', "+"));
    let parsed = text.map(|text| {
        Timestamp::parse(&text)
            .ok_or_else(|| Call::bad_filter(&FieldError::new(name, "must be a date or a time")))
    });
    parsed.transpose()
}
