//! Tests of the whole system: it starts, processes the stream, publishes, becomes idle and stops.

use std::{fs, net::SocketAddr, sync::Mutex};

use aws_lambda_events::encodings::Body;
use dovetail_emulator::{
    client::Client,
    mapping::{GENERATE, NOTIFY},
    stream,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::settings::TABLE;

/// The filter of the records of these tests; records of the world have no number.
const NUMBERED: &str = r#"{"dynamodb":{"NewImage":{"n":{"N":[{"exists":true}]}}}}"#;

async fn prepared(world: &World) -> System {
    let listen = "127.0.0.1:0".parse().unwrap();
    let settings = Settings { listen, memory: true, ..Settings::default() };
    System::prepare(&settings, world).await.unwrap()
}

/// Writes a numbered record to the table.
async fn put(endpoint: &str, number: u64) {
    let text = |text: String| json!({ "S": text });
    let item = json!({
        "pk": text("TEST".to_owned()), "sk": text(number.to_string()), "n": { "N": number.to_string() },
    });
    let put = json!({ "TableName": TABLE, "Item": item });
    let endpoint = endpoint.parse().unwrap();
    stream::send(&Client::new(), &endpoint, "DynamoDB_20120810.PutItem", &put).await.unwrap();
}

/// Returns the numbers of the records in a payload.
fn numbers(payload: &Value) -> Vec<u64> {
    let records = payload["Records"].as_array().unwrap().iter();
    records
        .map(|record| record["dynamodb"]["NewImage"]["n"]["N"].as_str().unwrap().parse().unwrap())
        .collect()
}

async fn send(api: &Api, method: &str, path: &str) -> Value {
    let mut event = Event::default();
    event.raw_path = Some(path.to_owned());
    event.request_context.http.method = method.parse().unwrap();
    let reply = api.clone().answer(event).await;
    let Some(Body::Text(body)) = reply.body else { panic!("{:?}", reply.body) };
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn the_system_starts_prints_its_address_and_stops() {
    let parent = tempfile::tempdir().unwrap();
    let [ready_file, env_file] = ["ready", "env"].map(|name| parent.path().join(name));
    let settings = Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        memory: true,
        env_file: Some(env_file.clone()),
        ready_file: Some(ready_file.clone()),
        ..Settings::default()
    };
    let mut out = Vec::new();
    start(&settings, &mut out, std::future::ready(())).await.unwrap();
    let base_url = fs::read_to_string(ready_file).unwrap();
    assert!(base_url.strip_prefix("http://").unwrap().parse::<SocketAddr>().is_ok(), "{base_url}");
    assert!(String::from_utf8(out).unwrap().contains(&base_url));
    let environment = fs::read_to_string(env_file).unwrap();
    let keys: Vec<&str> =
        environment.lines().map(|line| line.split_once('=').unwrap()).map(|(key, _)| key).collect();
    let expected = [
        "ACTIONS_MAX",
        "REUSE_FROM",
        "TABLE",
        "KEYS_TABLE",
        "ENDPOINT",
        "CURSOR_KEY",
        "BUS",
        "BUS_ENDPOINT",
        "QUEUE",
        "QUEUE_ENDPOINT",
        "TARGETS",
    ];
    assert_eq!(keys, expected.map(|key| format!("DOVETAIL_{key}")));
    for line in ["DOVETAIL_TABLE=dovetail-local", "DOVETAIL_BUS=dovetail-local"] {
        assert!(environment.lines().any(|variable| variable == line), "{environment}");
    }
}

#[tokio::test]
async fn a_wrong_world_starts_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("world.json");
    fs::write(&file, "{}").unwrap();
    let data = parent.path().join("data");
    let settings = Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        data: data.clone(),
        world: Some(WorldChoice::File(file)),
        ..Settings::default()
    };
    let refused = start(&settings, &mut Vec::new(), std::future::pending()).await.unwrap_err();
    assert!(refused.to_string().contains("world.json: /teams: must be present"), "{refused}");
    assert!(!data.exists());
}

#[tokio::test]
async fn systems_on_one_external_engine_have_their_own_tables_and_reuse_them() {
    let engine = Engine::start(&Storage::Memory).unwrap();
    let on = |table: &str| Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        memory: true,
        endpoint: Some(engine.endpoint().to_owned()),
        table: table.to_owned(),
        ..Settings::default()
    };
    let world = |text| world::parse(text).unwrap();
    let first = System::prepare(&on("first-table"), &world(r#"{"teams": [{"name": "T"}]}"#)).await.unwrap();
    let second = System::prepare(&on("second-table"), &world(r#"{"teams": []}"#)).await.unwrap();
    let environment = first.environment();
    for line in ["DOVETAIL_TABLE=first-table", "DOVETAIL_KEYS_TABLE=first-table-keys"] {
        assert!(environment.lines().any(|variable| variable == line), "{environment}");
    }
    assert!(first.handles.table.team_by_name("T").await.unwrap().is_some());
    assert!(second.handles.table.team_by_name("T").await.unwrap().is_none());
    first.serve(std::future::ready(())).await.unwrap();
    let reopened = System::prepare(&on("first-table"), &world(r#"{"teams": []}"#)).await.unwrap();
    assert!(reopened.handles.table.team_by_name("T").await.unwrap().is_some());
}

#[tokio::test]
async fn idle_includes_indirect_effects() {
    let system = prepared(&world::parse(world::DEMO).unwrap()).await;
    let (endpoint, notified) = (system.engine.endpoint().to_owned(), Arc::new(Mutex::new(Vec::new())));
    let (writing, notices) = (endpoint.clone(), Arc::clone(&notified));
    let invoker = Invoker::here(move |name, payload| {
        let (writing, notices) = (writing.clone(), Arc::clone(&notices));
        async move {
            for number in numbers(&payload) {
                match name.as_str() {
                    "generate" if number < 5 => put(&writing, number + 1).await,
                    "generate" => {}
                    _ => notices.lock().unwrap().push(number),
                }
            }
            Ok(Value::Null)
        }
    });
    let mappings = [NOTIFY, GENERATE].map(|settings| Mapping::new(settings, &[NUMBERED]).unwrap());
    let (stop, stopped) = watch::channel(false);
    let (api, mut tasks) = system.start(mappings.into(), invoker, &stopped).await.unwrap();
    for start in [1, 0, 4] {
        put(&endpoint, start).await;
        assert_eq!(send(&api, "GET", "/_local/settled").await, json!({"settled": true}));
        let notified = std::mem::take(&mut *notified.lock().unwrap());
        assert_eq!(notified, (start..=5).collect::<Vec<_>>());
    }
    stop.send_replace(true);
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_is_not_a_read_wakes_the_consumers() {
    let system = prepared(&world::parse(world::DEMO).unwrap()).await;
    let invoker = Invoker::here(async |_, _| Ok(Value::Null));
    let (_stop, stopped) = watch::channel(false);
    let (api, _tasks) = system.start(Vec::new(), invoker, &stopped).await.unwrap();
    let woken = api.control.wake.subscribe();
    assert_eq!(send(&api, "GET", "/_local/audit").await, json!({"violations": []}));
    assert!(!woken.has_changed().unwrap());
    send(&api, "PATCH", "/v1/orcabase/serviceowner/services/1/").await;
    assert!(woken.has_changed().unwrap());
}

#[tokio::test]
async fn a_write_is_published_and_sent_to_a_webhook_and_the_system_stops() {
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", receiver.local_addr().unwrap());
    let (sender, mut received) = mpsc::unbounded_channel();
    let accept = move |event: Event| {
        let envelope: Value = serde_json::from_str(event.body.as_deref().unwrap()).unwrap();
        sender.send(envelope["detail"]["data"].clone()).unwrap();
        async {
            let mut reply = EventReply::default();
            reply.status_code = 200;
            reply
        }
    };
    let receiving = tokio::spawn(gateway::serve(receiver, accept, std::future::pending()));

    let world = json!({ "teams": [{ "name": "T", "notify": url }] }).to_string();
    let system = prepared(&world::parse(&world).unwrap()).await;
    let (endpoint, bus) = (system.engine.endpoint().to_owned(), system.bus.clone());
    let invoker = Invoker::here(move |_, payload| {
        let bus = bus.clone();
        async move {
            let entry = |number| {
                let owner = if number == 2 { "U" } else { "T" };
                let detail = json!({ "data": { "owner": owner, "n": number } }).to_string();
                json!({ "Source": "test", "DetailType": "T", "Detail": detail, "EventBusName": bus.name })
            };
            let entries: Vec<Value> = numbers(&payload).into_iter().map(entry).collect();
            let put = json!({ "Entries": entries });
            let endpoint = bus.endpoint.parse().unwrap();
            stream::send(&Client::new(), &endpoint, "AWSEvents.PutEvents", &put).await.unwrap();
            Ok(Value::Null)
        }
    });
    let mappings = vec![Mapping::new(NOTIFY, &[NUMBERED]).unwrap()];
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(system.run(mappings, invoker, async { drop(stopped.await) }));
    for number in 1..=3 {
        put(&endpoint, number).await;
    }
    for number in [1, 3] {
        assert_eq!(received.recv().await, Some(json!({ "owner": "T", "n": number })));
    }
    drop(stop);
    running.await.unwrap().unwrap();
    receiving.abort();
}

#[tokio::test]
async fn a_task_that_fails_or_panics_is_reported() {
    let mut tasks = JoinSet::new();
    tasks.spawn(async { Ok(()) });
    tasks.spawn(async { Err(Error::Pattern("no pattern".to_owned())) });
    assert_eq!(first_failure(&mut tasks).await.to_string(), "no pattern");
    tasks.spawn(async { panic!("on purpose") });
    assert!(matches!(first_failure(&mut tasks).await, Error::Task(_)));
    tokio::select! {
        error = first_failure(&mut tasks) => panic!("{error}"),
        () = tokio::task::yield_now() => {}
    }
}
