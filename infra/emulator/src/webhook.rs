//! The webhooks of the world file: posts the events of a team to its URL, in order, each until it is accepted.

use std::{sync::Arc, time::Duration};

use hyper::{Uri, header::CONTENT_TYPE};
use serde_json::Value;
use tokio::sync::watch;

use crate::{
    bus::Bus,
    client::Client,
    journal::{self, Journal},
    pattern::Pattern,
};

/// The longest time of one request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The limit of the first pause; it doubles after each further failure, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// The most events of one read.
const READ_MAX: u64 = 100;

/// The receiver of a team's events.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name of the team, the key of the stored position.
    pub team: String,
    pub url: Uri,
    /// Pattern of the events to post.
    pub pattern: Pattern,
}

/// The task that serves a target.
#[derive(Debug)]
pub struct Webhook {
    target: Target,
    client: Client,
    journal: Arc<Journal>,
    published: watch::Receiver<u64>,
    stop: watch::Receiver<bool>,
    position: u64,
}

impl Webhook {
    /// Returns the task, which continues at the position of the journal.
    pub fn new(
        target: Target,
        bus: &Bus,
        journal: Arc<Journal>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, journal::Error> {
        let position = journal.webhook(&target.team)?;
        Ok(Self { target, client: Client::new(), journal, published: bus.published(), stop, position })
    }

    /// Runs until the stop, which takes effect between two requests.
    pub async fn run(mut self) -> Result<(), journal::Error> {
        loop {
            // The mark comes before the read. An event that arrives after it wakes the `select` below.
            self.published.mark_unchanged();
            let events = self.journal.events(self.position, READ_MAX)?;
            let is_end = events.is_empty();
            for (number, envelope) in events {
                if self.target.pattern.matches(&envelope) && !self.deliver(&envelope).await {
                    return Ok(());
                }
                // The position moves only after the delivery: a crash repeats an event but loses none.
                self.position = number;
                self.journal.set_webhook(&self.target.team, number)?;
            }
            if is_end {
                tokio::select! {
                    _ = self.published.changed() => {}
                    _ = self.stop.wait_for(|stop| *stop) => return Ok(()),
                }
            }
        }
    }

    /// Posts an event until it is accepted, and returns whether that was before the stop.
    async fn deliver(&mut self, envelope: &Value) -> bool {
        let mut bound = PAUSE;
        while !*self.stop.borrow() {
            if self.is_accepted(envelope).await {
                return true;
            }
            tokio::select! {
                () = tokio::time::sleep(jittered(bound)) => {}
                _ = self.stop.wait_for(|stop| *stop) => {}
            }
            bound = bound.saturating_mul(2).min(PAUSE_MAX);
        }
        false
    }

    async fn is_accepted(&self, envelope: &Value) -> bool {
        let headers = [(CONTENT_TYPE, "application/json")];
        let sent = self.client.send(&self.target.url, &headers, envelope.to_string());
        // Only the status matters; the body is not read.
        let answered = tokio::time::timeout(TIMEOUT, sent).await;
        answered.is_ok_and(|answer| answer.is_ok_and(|answer| answer.status().is_success()))
    }
}

/// Returns a random time up to a limit, so that many senders do not retry at once.
fn jittered(bound: Duration) -> Duration {
    let bound = u64::try_from(bound.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(fastrand::u64(0..=bound))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use dovetail_http::{Event, EventReply};
    use serde_json::json;
    use tokio::{net::TcpListener, sync::mpsc};

    use super::*;
    use crate::gateway;

    /// A receiver with a scripted status for each request, which passes on the accepted events.
    struct Receiver {
        url: Uri,
        accepted: mpsc::UnboundedReceiver<u64>,
        refused: Arc<Mutex<u64>>,
        serving: tokio::task::JoinHandle<()>,
    }

    impl Receiver {
        async fn start(status: impl Fn(u64) -> i64 + Clone + Send + Sync + 'static) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/hook?a=1", listener.local_addr().unwrap()).parse().unwrap();
            let (accept, accepted) = mpsc::unbounded_channel();
            let (count, refused) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
            let refusing = Arc::clone(&refused);
            let answer = move |event: Event| {
                assert_eq!(event.raw_path.as_deref(), Some("/hook"));
                assert_eq!(event.headers["content-type"], "application/json");
                let mut count = count.lock().unwrap();
                *count += 1;
                let mut reply = EventReply::default();
                reply.status_code = status(*count);
                if reply.status_code == 307 {
                    reply.headers.insert("location", "/elsewhere".parse().unwrap());
                }
                let envelope: Value = serde_json::from_str(event.body.as_deref().unwrap()).unwrap();
                if (200..300).contains(&reply.status_code) {
                    accept.send(envelope["detail"]["n"].as_u64().unwrap()).unwrap();
                } else {
                    *refusing.lock().unwrap() += 1;
                }
                async { reply }
            };
            let serving = tokio::spawn(gateway::serve(listener, answer, std::future::pending()));
            Self { url, accepted, refused, serving }
        }

        async fn accepted(&mut self, count: usize) -> Vec<u64> {
            let mut accepted = Vec::new();
            while accepted.len() < count {
                accepted.push(self.accepted.recv().await.unwrap());
            }
            accepted
        }
    }

    struct Fixture {
        _parent: tempfile::TempDir,
        journal: Arc<Journal>,
        bus: Bus,
    }

    impl Fixture {
        fn new() -> Self {
            let parent = tempfile::tempdir().unwrap();
            let journal = Arc::new(Journal::open(&parent.path().join("journal.db")).unwrap());
            Self { _parent: parent, bus: Bus::new(Arc::clone(&journal)), journal }
        }

        fn publish(&self, numbers: impl IntoIterator<Item = u64>) {
            for number in numbers {
                let mut event = Event::default();
                event.headers.insert("x-amz-target", "AWSEvents.PutEvents".parse().unwrap());
                let owner = if number % 2 == 0 { "even" } else { "odd" };
                let detail = json!({"n": number, "data": {"owner": owner}}).to_string();
                let entry = json!({
                    "Source": "here", "DetailType": "Thing.v1", "Detail": detail,
                    "EventBusName": crate::bus::NAME,
                });
                event.body = Some(json!({ "Entries": [entry] }).to_string());
                let reply = self.bus.answer(&event);
                assert_eq!(reply.status_code, 200, "{reply:?}");
            }
        }

        fn start(&self, url: &Uri, pattern: &Value) -> (watch::Sender<bool>, tokio::task::JoinHandle<()>) {
            let pattern = Pattern::parse(pattern).unwrap();
            let target = Target { team: "T".to_owned(), url: url.clone(), pattern };
            let (stop, stopped) = watch::channel(false);
            let webhook = Webhook::new(target, &self.bus, Arc::clone(&self.journal), stopped).unwrap();
            (stop, tokio::spawn(async { webhook.run().await.unwrap() }))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_refuses_nine_of_ten_gets_all_events_once_and_in_order() {
        let fixture = Fixture::new();
        let statuses = [307, 400, 401, 404, 410, 429, 500, 503, 301];
        let refusing = move |count: u64| match usize::try_from(count % 10).unwrap() {
            0 => 204,
            row => statuses[row - 1],
        };
        let mut receiver = Receiver::start(refusing).await;
        let odd = json!({"detail": {"data": {"owner": ["odd"]}}});
        let (stop, running) = fixture.start(&receiver.url, &odd);
        fixture.publish(1..=6);
        assert_eq!(receiver.accepted(3).await, [1, 3, 5]);
        assert_eq!(*receiver.refused.lock().unwrap(), 27);
        stop.send_replace(true);
        running.await.unwrap();
        receiver.serving.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_restart_goes_on_after_what_was_accepted() {
        let fixture = Fixture::new();
        // The third request is the first one for event 3.
        let mut receiver = Receiver::start(|count| if count == 3 { 500 } else { 200 }).await;
        let all = json!({"source": ["here"]});
        let (stop, running) = fixture.start(&receiver.url, &all);
        fixture.publish([1]);
        assert_eq!(receiver.accepted(1).await, [1]);
        stop.send_replace(true);
        running.await.unwrap();

        fixture.publish([2, 3, 4]);
        let (stop, running) = fixture.start(&receiver.url, &all);
        assert_eq!(receiver.accepted(3).await, [2, 3, 4]);
        stop.send_replace(true);
        running.await.unwrap();
        receiver.serving.abort();
        assert!(receiver.accepted.try_recv().is_err(), "nothing came twice");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_does_not_wait_for_a_receiver_that_is_gone() {
        let fixture = Fixture::new();
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let (stop, running) =
            fixture.start(&format!("http://{free}/").parse().unwrap(), &json!({"source": ["here"]}));
        fixture.publish([1]);
        stop.send_replace(true);
        running.await.unwrap();
        assert_eq!(fixture.journal.webhook("T").unwrap(), 0);
    }

    #[test]
    fn pauses_vary_up_to_their_bound() {
        let pauses: Vec<Duration> = (0..1_000).map(|_| jittered(PAUSE)).collect();
        assert!(pauses.iter().all(|pause| *pause <= PAUSE));
        assert!(
            pauses.iter().any(|pause| *pause < PAUSE / 2) && pauses.iter().any(|pause| *pause > PAUSE / 2)
        );
    }
}
