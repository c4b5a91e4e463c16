//! The properties under load, in virtual time. Each failure names its seed.
//!
//! This command prints the figures: `cargo run --profile proof -p simulation -- load`.

#![expect(clippy::print_stderr, clippy::unwrap_used, reason = "the figures of a test")]

use simulation::load::figures::quiet;
use simulation::load::flood::{Flood, Flooded};
use simulation::load::lanes::LANES_MAX;
use simulation::load::scenarios::{Throughput, lives, rejections, small_submissions};
use std::time::Duration;

/// Length of a scenario, in virtual seconds.
const SECONDS: u64 = 2;

/// A scenario with a seed, a rate per second and a number of seconds.
type Scenario = fn(u64, u32, u64) -> Result<Throughput, String>;

/// Scenarios below their ceilings: name, scenario and rate.
const BELOW: [(&str, Scenario, u32); 2] = [("rejections", rejections, 20), ("lives", lives, 60)];

/// The same scenarios with the rates of their ceilings.
const CEILINGS: [(&str, Scenario, u32); 2] = [("rejections", rejections, 40), ("lives", lives, 160)];

fn run(name: &str, scenario: Scenario, seed: u64, rate: u32) -> Throughput {
    let ran = scenario(seed, rate, SECONDS).unwrap();
    eprintln!("seed {seed}, {rate} {name}/s: {} done in {SECONDS} s, {}", ran.done, ran.summary);
    ran
}

#[test]
fn below_the_ceilings_no_request_gets_503() {
    for (name, scenario, rate) in BELOW {
        for seed in [1, 2] {
            let Throughput { summary, .. } = run(name, scenario, seed, rate);
            assert!(summary.count(200) > 0);
            let refused = summary.statuses.keys().find(|status| **status >= 300);
            assert_eq!(refused, None, "seed {seed}, {name}: {summary}");
        }
    }
}

#[test]
fn above_a_ceiling_the_throughput_does_not_collapse() {
    for (name, scenario, ceiling) in CEILINGS {
        let [at, above] = [1, 2].map(|times| run(name, scenario, 1, times * ceiling).done);
        assert!(above * 100 >= at * 80, "seed 1, {name}: {above} instead of {at}");
    }
}

#[test]
fn the_gateway_admits_its_rate_and_rejects_the_rest() {
    let (below, lags) = small_submissions(1, 80, SECONDS).unwrap();
    let (above, _) = small_submissions(1, 300, SECONDS).unwrap();
    eprintln!("80/s: {}; 400/s: {}", below.summary, above.summary);
    assert_eq!(below.summary.statuses.keys().collect::<Vec<_>>(), [&201], "{}", below.summary);
    assert!(lags.iter().all(|lag| *lag < Duration::from_secs(2)), "{lags:?}");
    assert!(above.summary.count(429) > 0 && above.summary.count(503) == 0, "{}", above.summary);
    assert!(above.done >= below.done, "{} instead of {}", above.done, below.done);
}

#[test]
fn a_large_submission_delays_no_other_tenant_even_in_its_lane() {
    // With one lane for each shard, a quarter of the tenants shares it.
    for (seed, lanes, others) in [(1, 1, 24), (1, LANES_MAX, 100), (2, LANES_MAX, 100)] {
        let ran = Flood { items: 10_000, others, lanes, ..quiet(seed) }.run().unwrap();
        let (late, most) = (ran.late(), ran.lag(100));
        let Flooded { commit, others: summary, .. } = &ran;
        eprintln!("seed {seed}, {lanes} lanes: commit {commit:?}, {summary}, {late} late, {most:?}");
        assert_eq!(ran.commit.map(|(_, stagings)| stagings), Some(1));
        assert_eq!((ran.lags.len(), ran.others.count(201)), (others, others));
        assert_eq!(late, 0, "seed {seed}, {lanes} lanes: {most:?}");
        assert!(ran.others.late < Duration::from_millis(500), "{}", ran.others);
    }
}

/// The work of such a submission takes more units than its partition has.
#[test]
fn throttling_slows_a_large_submission_down_and_refuses_nothing() {
    let ran = Flood { items: 10_000, others: 0, ..quiet(1) }.run().unwrap();
    let status = ran.large.map(|large| large.status);
    eprintln!("commit {:?}, status {status:?}", ran.commit);
    assert_eq!((status, ran.commit.map(|(_, stagings)| stagings)), (Some(201), Some(1)), "seed 1");
}

#[test]
fn many_small_submissions_delay_no_other_tenant() {
    let ran = Flood { small: 100, others: 24, ..quiet(1) }.run().unwrap();
    eprintln!("flood {}, others {}, {} late", ran.small, ran.others, ran.late());
    assert!(ran.small.count(201) > 0);
    assert_eq!((ran.others.count(201), ran.late()), (24, 0), "{}", ran.others);
    assert!(ran.others.late < Duration::from_millis(500), "{}", ran.others);
}
