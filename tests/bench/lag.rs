//! Time from a submission until the dependent team sees its change instance.

use crate::client::{Call, Connection, runtime};
use crate::figure::{Figure, quantile, table, time};
use crate::given::{self, CONSUMER, CONSUMER_KEY};
use crate::rates::{OWNED, SUBMIT};
use crate::session::{Page, Session};
use crate::{Scale, wait_idle};
use hyper::Method;
use serde_json::json;
use std::time::{Duration, Instant};
use support::Running;
use support::source;

const DEPENDENT_KEY: &str = "np-owner-key";
/// Maximum median lag, in seconds.
const GOAL: f64 = 0.05;
/// Interval between two reads of the dependent team's list.
const LOOKING: Duration = Duration::from_millis(1);

/// Measures the lag, and writes its block.
pub fn renew(session: &Session) {
    let figures = measure(&session.scale);
    session.renew(Page::Performance, "lag", source::Method::Measured, &table(&figures));
}

/// Measures the lag of the stream on an idle system.
fn measure(scale: &Scale) -> Vec<Figure> {
    let system = Running::start(&given::world(0));
    let client = runtime();
    let mut lags = Vec::new();
    for number in 0..scale.lags {
        wait_idle(&system);
        lags.push(client.block_on(lag(&system, number)));
    }
    let (lags, replies): (Vec<f64>, Vec<f64>) = lags.into_iter().unzip();
    let reply = quantile(&replies, 0.5);
    let what = "time from a submission to the view of the dependent team";
    vec![
        Figure::shorter(&format!("{what}, median"), GOAL, quantile(&lags, 0.5)),
        Figure::without_goal(&format!("{what}, 95th percentile"), time(quantile(&lags, 0.95))),
        Figure::without_goal("time from that submission to its response, median", time(reply)),
    ]
}

/// Submits one more load balancer and reads the dependent team's list until it has one more change instance.
///
/// Returns the seconds until that moment, and until the response.
async fn lag(system: &Running, number: usize) -> (f64, f64) {
    let mut consumer = Connection::open(&system.base).await;
    let mut dependent = Connection::open(&system.base).await;
    let list = Call::get(&format!("{OWNED}?state=PENDING&limit=100&light=true"), DEPENDENT_KEY);
    let item = json!({"name": "lb", "algorithm": "RoundRobin"});
    let body = json!({CONSUMER: {format!("App{number}"): {"services": {"LoadBalancer": [item]}}}});
    let submit = Call::new(Method::PATCH, SUBMIT, CONSUMER_KEY, body.to_string().into_bytes());
    // The first read on a connection takes longer, so it happens before the clock starts.
    dependent.send(&list).await;
    let sent = Instant::now();
    consumer.send(&submit).await;
    let reply = sent.elapsed().as_secs_f64();
    loop {
        let response = dependent.send(&list).await.json();
        if response["results"].as_array().unwrap().len() > number {
            return (sent.elapsed().as_secs_f64(), reply);
        }
        tokio::time::sleep(LOOKING).await;
    }
}
