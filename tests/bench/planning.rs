//! Time of a submission without the storage: parsing, planning, and comparing two files.
#![expect(clippy::unwrap_used, reason = "benchmark")]

use bench::given::{Changed, declaration};
use bench::stored::PlannedTeam;
use divan::Bencher;
use divan::counter::ItemsCount;
use domain::model::declaration::parse;
use domain::views::compare::compare;
use std::fmt::{Display, Formatter, Result};

/// A declaration, and the share of items that differ from the stored ones.
struct Case {
    items: usize,
    changed: Changed,
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:>6} items, {}", self.items, self.changed.name())
    }
}

const SIZES: [usize; 3] = [100, 1_000, 10_000];

fn cases() -> impl Iterator<Item = Case> {
    SIZES.into_iter().flat_map(|items| Changed::EACH.map(|changed| Case { items, changed }))
}

fn main() {
    divan::main();
}

#[divan::bench(args = cases(), max_time = 3)]
fn plan(bencher: Bencher<'_, '_>, case: &Case) {
    let planned = PlannedTeam::with(case.items);
    let declaration = parse(&declaration(case.items, case.changed)).unwrap();
    let items = planned.read(&declaration);
    let changed = match case.changed {
        Changed::Nothing => 0,
        Changed::OneInHundred => case.items / 100,
        Changed::All => case.items,
    };
    bencher
        .counter(ItemsCount::new(case.items))
        .bench_local(|| planned.submit(&declaration, &items, changed));
}

#[divan::bench(name = "parse", args = SIZES, max_time = 3)]
fn parsing(bencher: Bencher<'_, '_>, items: usize) {
    let body = declaration(items, Changed::Nothing);
    bencher.counter(ItemsCount::new(items)).bench_local(|| parse(&body).unwrap());
}

#[divan::bench(name = "compare", args = cases(), max_time = 3)]
fn comparing(bencher: Bencher<'_, '_>, case: &Case) {
    let old = declaration(case.items, Changed::Nothing);
    let new = declaration(case.items, case.changed);
    bencher
        .counter(ItemsCount::new(case.items))
        .bench_local(|| compare(&old, &new).map(|differences| differences.changes.len()).unwrap());
}
