//! Generated events: no event causes a panic, and each reaches its handler as sent.

mod old;
mod sent;

use super::*;
use crate::answer::answer;
use crate::call::Call;
use crate::gateway::tests::sent::Sent;
use crate::operation::{Function, Operation};
use crate::reply::{Content, Reply};
use domain::TeamRef;
use futures_util::FutureExt as _;
use serde_json::json;
use std::sync::Mutex;

/// The call of an event, if there was one, the response, and operation and team for the log line.
type Seen = (Option<Call>, EventReply, (Option<Operation>, Option<TeamRef>));

fn seen(event: Event, function: Function, reply: &Reply) -> Seen {
    let called = Mutex::new(None);
    let handle = async |call: Call| {
        *called.lock().unwrap() = Some(call);
        Ok(reply.clone())
    };
    let logged = Mutex::new(None);
    let handled = |request| -> Answering<'_> {
        let answering = answer(request, function, handle);
        Box::pin(async {
            let handled = answering.await;
            let team = handled.caller.as_ref().map(|caller| caller.team.clone());
            *logged.lock().unwrap() = Some((handled.operation, team));
            handled
        })
    };
    let reply = respond(event, handled).now_or_never().unwrap();
    (called.into_inner().unwrap(), reply, logged.into_inner().unwrap().unwrap())
}

fn reply(sent: &mut Sent) -> Reply {
    let text = sent.response();
    let mut reply = Reply::new(200, json!({"state": text}));
    if sent.rng.bool() {
        reply.headers.push(("vary", "Accept".to_owned()));
        reply.body = Content::Text(text.into());
    }
    reply
}

#[test]
fn the_new_reading_is_the_old_one() {
    let mut counts = [0_u32; 4];
    for seed in 0..200_000 {
        let mut sent = Sent::new(seed);
        let (event, function) = (sent.event(), sent.function());
        let reply = reply(&mut sent);
        let old = old::seen(sent.expected(), function, &reply);
        let (call, response, logged) = seen(event.clone(), function, &reply);
        assert_eq!(logged, old.2, "{seed}");
        assert_eq!(serde_json::to_value(&response).unwrap(), serde_json::to_value(&old.1).unwrap(), "{seed}");
        counts[usize::try_from(response.status_code / 100).unwrap() - 2] += 1;
        assert_eq!(call.is_some(), old.0.is_some(), "{seed}");
        if let Some((new, mut old)) = call.zip(old.0) {
            counts[3] += 1;
            old.now = new.now;
            assert!(new == old, "{seed}: {event:?}");
        }
    }
    println!("2xx {}, 4xx {}, calls {}", counts[0], counts[2], counts[3]);
}
