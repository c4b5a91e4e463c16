//! Requests per second of the system over HTTP, and of the engine below it.

use crate::client::{CONCURRENCY, Call, Connection, rate, runtime};
use crate::figure::{Figure, quantile, table};
use crate::given::{self, CONSUMER_KEY, Changed, OWNER_KEY};
use crate::replay::{Recorder, operation, transactions};
use crate::session::{Page, Session};
use crate::{Scale, wait_idle};
use hyper::Method;
use serde_json::{Value, json};
use support::Running;
use support::source;
use tokio::runtime::Runtime;

/// Path of a consumer's submissions.
pub const SUBMIT: &str = "/v1/orcabase/consumer/submissions/submit/";

/// Path of an owner's change instances.
pub const OWNED: &str = "/v1/orcabase/serviceowner/change_instances/";

/// Number of teams that submit. Submissions of one team run in sequence.
const TEAMS: usize = 100;

/// Number of measurements in each round. They alternate, so other load of the machine affects all of them.
const MEASUREMENTS_PER_ROUND: usize = 4;

/// Measures the rates, and writes their block.
pub fn renew(session: &Session) {
    let figures = measure(&session.scale);
    session.renew(Page::Performance, "rates", source::Method::Measured, &table(&figures));
}

/// Measures the rates of all kinds of requests.
fn measure(scale: &Scale) -> Vec<Figure> {
    let system = Running::start(&given::world(TEAMS));
    let measuring = Measuring { system: &system, client: runtime(), scale, recorder: Recorder::on(&system) };
    let submissions = measuring.submissions();
    let waiting = measuring.waiting();
    let listed = format!("of {} change instances", waiting.len());
    let page = format!("{OWNED}?state=PENDING&limit=50");
    let mut figures = measuring.decisions(&waiting);
    figures.extend(compare_rates("submit, one CREATE each", "its transaction", submissions));
    let poll = measuring.reads(&[format!("{page}&light=true")]);
    figures.extend(compare_rates(&format!("a page of 50 {listed}, light"), "its reads", poll));
    let counted = measuring.reads(&[page]);
    figures.extend(compare_rates(&format!("a page of 50 {listed}, counted"), "its reads", counted));
    let histories: Vec<String> = waiting.iter().map(|id| format!("{OWNED}{id}/history/")).collect();
    figures.extend(compare_rates("a history", "its reads", measuring.reads(&histories)));
    figures
}

/// Compares a rate over HTTP with the rate of the same engine calls, made directly.
fn compare_rates(what: &str, request_name: &str, (http, engine): (f64, f64)) -> [Figure; 2] {
    let compared = format!("{what}: over HTTP / {request_name} directly at the engine");
    [
        Figure::without_goal(&compared, format!("{:.2}", http / engine)),
        Figure::without_goal(&format!("{what}: over HTTP"), per_second(http)),
    ]
}

fn per_second(rate: f64) -> String {
    format!("{rate:.0}/s")
}

struct Measuring<'a> {
    system: &'a Running,
    client: Runtime,
    scale: &'a Scale,
    recorder: Recorder<'a>,
}

impl Measuring<'_> {
    /// Measures submissions of one new item, each by another team, and their transactions at the engine.
    fn submissions(&self) -> (f64, f64) {
        let (mut http, mut engine) = (Vec::new(), Vec::new());
        for round in 0..self.scale.rounds {
            let calls = |measurement: usize| -> Vec<Call> {
                (0..TEAMS).map(|team| submission(team, &format!("App{round}Turn{measurement}"))).collect()
            };
            let written: Vec<_> =
                calls(0).iter().map(|call| transactions(&self.recorder.engine_calls(call))).collect();
            engine.push(rate(&self.client, &self.system.engine, &written));
            let sent: Vec<_> = calls(1).into_iter().map(|call| vec![call]).collect();
            http.push(rate(&self.client, &self.system.base, &sent));
            wait_idle(self.system);
        }
        (quantile(&http, 0.5), quantile(&engine, 0.5))
    }

    /// Returns the ids of enough PENDING change instances for the decisions.
    fn waiting(&self) -> Vec<u64> {
        let count = self.scale.rounds * MEASUREMENTS_PER_ROUND * self.scale.requests;
        let body = given::declaration(count, Changed::Nothing);
        let submit = Call::new(Method::POST, SUBMIT, CONSUMER_KEY, body);
        self.client.block_on(async { Connection::open(&self.system.base).await.send(&submit).await });
        wait_idle(self.system);
        let mut paths = Vec::new();
        let mut next = Some(format!("{OWNED}?state=PENDING&limit=100&light=true"));
        while let Some(path) = next {
            let page = self.system.get(&path, OWNER_KEY);
            let rows = page.at("/results").as_array().unwrap();
            paths.extend(rows.iter().filter_map(|row| row["id"].as_u64()));
            next = page.at("/next").as_str().map(str::to_owned);
        }
        assert!(paths.len() >= count, "{} of {count}", paths.len());
        paths
    }

    /// Measures reads of these paths in turns, and the same engine calls made directly.
    fn reads(&self, paths: &[String]) -> (f64, f64) {
        let read = |path: &String| Call::get(path, OWNER_KEY);
        let calls: Vec<Call> = paths.iter().cycle().take(self.scale.requests).map(read).collect();
        let requests: Vec<_> = calls.iter().map(|call| self.recorder.engine_calls(call)).collect();
        let sent: Vec<_> = calls.into_iter().map(|call| vec![call]).collect();
        // The first requests fill caches, so they are not part of the measurement.
        rate(&self.client, &self.system.base, &sent[..CONCURRENCY]);
        let http = rate(&self.client, &self.system.base, &sent);
        (http, rate(&self.client, &self.system.engine, &requests))
    }

    /// Measures approvals, and the same engine calls made directly.
    fn decisions(&self, waiting: &[u64]) -> Vec<Figure> {
        let mut rounds = Vec::new();
        let Scale { rounds: count, requests, .. } = self.scale;
        for round in waiting.chunks_exact(MEASUREMENTS_PER_ROUND * requests).take(*count) {
            let measurements = round.chunks(*requests).map(|ids| ids.iter().map(approval).collect());
            rounds.push(self.round(&measurements.collect::<Vec<Vec<Call>>>()));
        }
        compared(&rounds)
    }

    fn round(&self, measurements: &[Vec<Call>]) -> Round {
        type Chains = Vec<Vec<Call>>;
        let alone = |calls: &[Call]| -> Chains { calls.iter().map(|call| vec![call.clone()]).collect() };
        let engine_calls = |calls: &[Call]| -> Chains {
            calls.iter().map(|call| self.recorder.engine_calls(call)).collect()
        };
        let all = engine_calls(&measurements[2]);
        let written =
            engine_calls(&measurements[3]).iter().map(|calls| transactions(calls)).collect::<Chains>();
        let operations = all[0].iter().map(operation).collect::<Vec<_>>().join(", ");
        let (base, engine) = (&self.system.base, &self.system.engine);
        self.at_work(true);
        let usual = rate(&self.client, base, &alone(&measurements[0]));
        self.at_work(false);
        let resting = rate(&self.client, base, &alone(&measurements[1]));
        let all = rate(&self.client, engine, &all);
        let written = rate(&self.client, engine, &written);
        let round = Round { usual, resting, all, written, operations };
        println!("{round:?}");
        round
    }

    /// Stops or starts the functions of the stream, each time on an idle system.
    fn at_work(&self, enabled: bool) {
        if !enabled {
            wait_idle(self.system);
        }
        for function in ["generate", "notify"] {
            self.system.enable(function, enabled);
        }
        if enabled {
            wait_idle(self.system);
        }
    }
}

fn submission(team: usize, application: &str) -> Call {
    let items = json!({"services": {"VM": [given::item(team, 4)]}});
    let body = json!({given::team(team): {application: items}}).to_string();
    Call::new(Method::PATCH, SUBMIT, &given::key(team), body.into_bytes())
}

fn approval(id: &u64) -> Call {
    let body = Value::to_string(&json!({"state": "APPROVED"})).into_bytes();
    Call::new(Method::PATCH, &format!("{OWNED}{id}/"), OWNER_KEY, body)
}

/// Rates of one round: approvals over HTTP, and their engine calls made directly.
#[derive(Debug)]
struct Round {
    /// Rate over HTTP, with `generate` and `notify` at work.
    usual: f64,
    /// Rate over HTTP, with `generate` and `notify` idle.
    resting: f64,
    /// Rate of all engine calls of an approval, in sequence.
    all: f64,
    /// Rate of its transaction alone.
    written: f64,
    /// Operations of an approval at the engine.
    operations: String,
}

fn compared(rounds: &[Round]) -> Vec<Figure> {
    let median = |value: &dyn Fn(&Round) -> f64| quantile(&rounds.iter().map(value).collect::<Vec<_>>(), 0.5);
    let ratio = |what: &str, value: &dyn Fn(&Round) -> f64| {
        Figure::without_goal(what, format!("{:.2}", median(value)))
    };
    let rate_figure =
        |what: &str, value: &dyn Fn(&Round) -> f64| Figure::without_goal(what, per_second(median(value)));
    let operations = &*rounds[rounds.len() - 1].operations;
    vec![
        ratio("decide over HTTP / its transaction directly at the engine", &|r| r.usual / r.written),
        ratio("decide with idle `generate` and `notify` / its transaction directly at the engine", &|r| {
            r.resting / r.written
        }),
        ratio("decide over HTTP / all its engine calls directly", &|r| r.usual / r.all),
        ratio("decide with idle `generate` and `notify` / all its engine calls directly", &|r| {
            r.resting / r.all
        }),
        ratio("all engine calls of a decision / its transaction", &|r| r.all / r.written),
        Figure::without_goal("engine calls of a decision on an unknown change instance", operations),
        rate_figure("decide over HTTP", &|r| r.usual),
        rate_figure("decide over HTTP with idle `generate` and `notify`", &|r| r.resting),
        rate_figure("all engine calls of a decision, directly", &|r| r.all),
        rate_figure("the transaction of a decision, directly", &|r| r.written),
    ]
}
