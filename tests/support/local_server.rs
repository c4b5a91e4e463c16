//! A server on a local port that answers requests as a function of API Gateway does.

use dovetail_emulator::gateway;
use dovetail_http::{Event, EventReply};
use tokio::net::TcpListener;

/// Binds a local port. Returns its URL, and a future that serves it while polled.
pub(crate) async fn local_server<F>(
    answer: impl Fn(Event) -> F + Clone + Send + Sync + 'static,
) -> (String, impl Future<Output = ()>)
where
    F: Future<Output = EventReply> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (url, gateway::serve(listener, answer, std::future::pending()))
}
