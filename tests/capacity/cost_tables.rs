//! The tables of quotas, bills and prices.

use crate::bill::{self, LINES};
use crate::prices::{DOLLAR, PRICES, compute_millis_with, memory};
use crate::sequence::{Direction, named};
use crate::stack::{Rates, Route};
use crate::tables::{SIZES, TRAFFIC_SECONDS, size};
use crate::text::{dollars, grouped, markdown};

/// The sizes of the bill.
const BILLED: [(u64, u64, u64); 4] =
    [(1_000, 10, 3), (100_000, 100, 10), (1_000_000, 1_000, 100), (100_000_000, 100_000, 1_000)];

/// Returns the rates that the sizes need.
pub fn quotas() -> String {
    let rows = SIZES.map(|of| {
        let ran = size(of).scenario(Rates::RAISED, TRAFFIC_SECONDS).run();
        let per_second = |count: u128| grouped(count.div_ceil(u128::from(TRAFFIC_SECONDS)));
        let of_route = |route| {
            let requests = ran.responses.iter().filter(|(of, _)| *of == route).count();
            per_second(u128::try_from(requests).unwrap())
        };
        let units = |direction| {
            let used = ran.seen.used.iter().filter(|((of, _), _)| *of == direction).map(|(_, units)| units);
            per_second(u128::from(used.sum::<u64>()) / 1_000)
        };
        vec![
            grouped(of.0.into()),
            grouped(of.1.into()),
            of_route(Route::Submissions),
            of_route(Route::Decisions),
            of_route(Route::Lists),
            ran.counters.busy_max.to_string(),
            units(Direction::Write),
            units(Direction::Read),
            per_second(ran.counters.events.into()),
        ]
    });
    let head = "items | teams | submissions/s | decisions/s | lists/s | Lambda instances, maximum | \
        write units/s | read units/s | events/s";
    markdown(head, rows)
}

/// Returns the bill of each size.
pub fn whole_bill() -> String {
    let bills = BILLED.map(|of| bill::of(size(of)));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in LINES {
        let prices = bills.iter().map(|bill| dollars(bill.lines[line]));
        rows.push(std::iter::once(line.to_owned()).chain(prices).collect());
    }
    let sums = bills.iter().map(|bill| dollars(bill.sum()));
    rows.push(std::iter::once("**sum**".to_owned()).chain(sums).collect());
    let storage = bills.iter().map(|bill| dollars(bill.storage));
    rows.push(std::iter::once("storage and recovery, after one year".to_owned()).chain(storage).collect());
    let names = BILLED
        .map(|(items, teams, _)| format!("{} items, {} teams", grouped(items.into()), grouped(teams.into())));
    markdown(&format!("$ per month | {}", names.join(" | ")), rows)
}

/// Returns compute time and price of the most frequent operations with different memory.
pub fn memories() -> String {
    let operations = [
        ("submit", "submit 10 changed items"),
        ("submit", "re-apply 20 items without a change"),
        ("update-state", "approve"),
        ("list", "read a light page of 50"),
        ("history", "read a history"),
        ("generate", "generate 1 share"),
        ("notify", "publish 1 event"),
        ("deliver", "look for webhooks of an event"),
    ];
    let rows = operations.map(|(function, operation)| {
        let sequence = named(&format!("{operation}, usual items"));
        let figures = [128, 256, 512].map(|memory| {
            let time = compute_millis_with(&sequence, memory);
            format!("{time} ms, {}", dollars(bill::of_a_million(&sequence, memory)))
        });
        let first = [format!("`{function}`"), operation.to_owned()];
        first.into_iter().chain(figures).chain([format!("{} MB", memory(&sequence))]).collect()
    });
    let head = "function | operation | 128 MB | 256 MB | 512 MB | template";
    markdown(head, rows)
}

pub fn prices() -> String {
    let price = |price: u128| {
        let millionths = price / (DOLLAR / 1_000_000);
        format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
    };
    let rows = PRICES.map(|(name, of, unit)| {
        let text = price(of);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        vec![name.to_owned(), text.to_owned(), unit.to_owned()]
    });
    markdown("service | $ | for each", rows)
}
