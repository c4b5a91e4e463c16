//! The table of figures under load, printed on demand.

use super::driver::{UNLIMITED, percentile};
use super::flood::{Flood, Flooded};
use super::gateway::REQUESTS;
use super::lanes::LANES_MAX;
use super::scenarios::{Throughput, lives, rejections, small_submissions};
use std::time::Duration;

/// Length of a scenario with a rate, in seconds.
const SECONDS: u64 = 10;

/// Other tenants of a flood.
const OTHERS: usize = 100;

/// Returns the lines of the table, one scenario after the other.
pub fn figures(seed: u64) -> impl Iterator<Item = Result<String, String>> {
    let rates = [20, 40, 60, 80].into_iter().map(move |rate| {
        let ran = rejections(seed, rate, SECONDS)?;
        Ok(of_rate(&format!("one consumer, {rate} rejections/s"), &ran))
    });
    let whole = [60, 160, 320].into_iter().map(move |rate| {
        let ran = lives(seed, rate, SECONDS)?;
        Ok(of_rate(&format!("one consumer, {rate} lives/s"), &ran))
    });
    let small = [60, 90, 200].into_iter().map(move |rate| {
        let (ran, lags) = small_submissions(seed, rate, SECONDS)?;
        let [median, late] = [50, 99].map(|percent| percentile(&lags, percent));
        let line = of_rate(&format!("50 consumers, {rate} submissions/s"), &ran);
        Ok(format!("{line}; generated after {median:.0?} (median), {late:.0?} (p99)"))
    });
    let floods = [
        ("10,000 items, 1 lane", Flood { items: 10_000, lanes: 1, ..quiet(seed) }),
        ("10,000 items, 10 lanes", Flood { items: 10_000, ..quiet(seed) }),
        ("100 small submissions/s", Flood { small: 100, ..quiet(seed) }),
        ("100 small submissions/s, default gateway", Flood { small: 100, requests: REQUESTS, ..quiet(seed) }),
    ];
    let floods = floods.into_iter().map(|(name, flood)| Ok(of_flood(name, &flood.run()?)));
    rates.chain(whole).chain(small).chain(floods)
}

/// Returns other tenants without a flood.
pub const fn quiet(seed: u64) -> Flood {
    Flood { seed, items: 0, small: 0, others: OTHERS, lanes: LANES_MAX, requests: UNLIMITED }
}

fn of_rate(name: &str, ran: &Throughput) -> String {
    let of_seconds = |count: usize| count / usize::try_from(SECONDS).unwrap();
    let first = ran.rejections.first();
    let throttled = first.map_or_else(String::new, |(partition, count)| {
        format!("; {count} throttled at {} of {}", partition.key, partition.of)
    });
    let first = ran.collisions.first();
    let conflicts =
        first.map_or_else(String::new, |((pk, sk), count)| format!("; {count} conflicts at {pk} {sk}"));
    format!("{name}: {}/s; {}{throttled}{conflicts}", of_seconds(ran.done), ran.summary)
}

fn of_flood(name: &str, ran: &Flooded) -> String {
    let commit = ran.commit.map_or_else(String::new, |(time, stagings)| {
        format!("commit after {:.1} s and {stagings} stagings; ", time.as_secs_f64())
    });
    let large = ran.large.as_ref().map_or_else(String::new, |large| {
        format!("response {} after {:.1} s; ", large.status, large.time.as_secs_f64())
    });
    let small = if ran.small.statuses.is_empty() { String::new() } else { format!("flood {}; ", ran.small) };
    let [median, late, most]: [Duration; 3] = [50, 95, 100].map(|percent| ran.lag(percent));
    let (waits, all) = (ran.late(), ran.lags.len());
    format!(
        "{name}: {commit}{large}{small}others {}; generated after {median:.1?} (median), {late:.1?} (p95), \
         {most:.1?} (max), {waits} of {all} after more than 1 s",
        ran.others
    )
}
