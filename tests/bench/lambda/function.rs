//! A function in the environment of Lambda: a separate process with a Runtime API for events and responses.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::convert::Infallible;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Deadline of an invocation: 15 minutes, the maximum of Lambda.
const DEADLINE: Duration = Duration::from_secs(900);

/// A running function, whose process ends when it is dropped.
pub(super) struct Function {
    process: Child,
    runtime: Runtime,
    events: UnboundedSender<Bytes>,
    replies: UnboundedReceiver<Result<Bytes, Bytes>>,
    began: Instant,
    /// Time of the first request for an event.
    first_request: Arc<OnceLock<Instant>>,
    stdout: File,
}

impl Function {
    /// Starts a program with the environment of a function of 128 MB and these lines of `KEY=value`.
    pub(super) fn start(program: &Path, environment: &str) -> Self {
        Self::spawn(Command::new(program), program, environment)
    }

    /// Starts a program the same way, under `valgrind`. The end of the function writes the counts to a file.
    pub(super) fn start_counted(program: &Path, environment: &str, counts: &Path) -> Self {
        let mut command = Command::new("valgrind");
        command.args(["--tool=cachegrind", "--cache-sim=no", "--log-file=/dev/null"]);
        command.arg(format!("--cachegrind-out-file={}", counts.display())).arg(program);
        Self::spawn(command, program, environment)
    }

    fn spawn(mut command: Command, program: &Path, environment: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (events, event_sender) = unbounded_channel();
        let (to_answer, replies) = unbounded_channel();
        let first_request = Arc::<OnceLock<Instant>>::default();
        let api = Api {
            events: Mutex::new(event_sender),
            replies: to_answer,
            count: AtomicU64::new(0),
            first_request: Arc::clone(&first_request),
        };
        runtime.spawn(serve(listener, Arc::new(api)));
        let stdout = tempfile::tempfile().unwrap();
        let began = Instant::now();
        let process = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("AWS_LAMBDA_RUNTIME_API", address.to_string())
            .env("AWS_LAMBDA_FUNCTION_NAME", program.file_name().unwrap())
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", "log")
            .env("AWS_LAMBDA_LOG_STREAM_NAME", "log")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "none")
            .env("AWS_SECRET_ACCESS_KEY", "none")
            .envs(environment.lines().filter_map(|line| line.split_once('=')))
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().unwrap())
            .spawn()
            .unwrap();
        Self { process, runtime, events, replies, began, first_request, stdout }
    }

    /// Invokes the function and waits for its response.
    pub(super) fn invoke(&mut self, event: &str) -> Bytes {
        self.events.send(Bytes::from(event.to_owned())).unwrap();
        let reply = self.runtime.block_on(self.replies.recv()).unwrap();
        reply.unwrap_or_else(|error| panic!("the function failed: {}", String::from_utf8_lossy(&error)))
    }

    /// Ends the process as Lambda does, and waits for its end.
    pub(super) fn stop(mut self) {
        let signalled = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        assert!(signalled.unwrap().success());
        self.process.wait().unwrap();
    }

    /// Returns the time from the start to the first request for an event, and panics before that request.
    pub(super) fn until_ready(&self) -> Duration {
        *self.first_request.get().unwrap() - self.began
    }

    /// Returns the sum of the write units in the metrics.
    pub(super) fn write_units(&mut self) -> f64 {
        self.log_lines().iter().filter_map(|line| line["WriteUnits"].as_f64()).sum()
    }

    /// Returns, for each event, the time with a table call in progress.
    pub(super) fn table_times(&mut self) -> Vec<Duration> {
        let lines = self.log_lines();
        let times = lines.iter().filter_map(|line| line["TableMicroseconds"].as_u64());
        times.map(Duration::from_micros).collect()
    }

    /// Returns the JSON lines of the output, which contain the metrics.
    fn log_lines(&mut self) -> Vec<Value> {
        let mut text = String::new();
        self.stdout.rewind().unwrap();
        self.stdout.read_to_string(&mut text).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the peak memory of the process in bytes.
    pub(super) fn memory_peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1_024
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Runtime API of one function.
struct Api {
    events: Mutex<UnboundedReceiver<Bytes>>,
    replies: UnboundedSender<Result<Bytes, Bytes>>,
    count: AtomicU64,
    first_request: Arc<OnceLock<Instant>>,
}

async fn serve(listener: TcpListener, api: Arc<Api>) -> Infallible {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream.set_nodelay(true));
        let api = Arc::clone(&api);
        let service = service_fn(move |request| {
            let api = Arc::clone(&api);
            async move { api.answer(request).await }
        });
        tokio::spawn(async move {
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

impl Api {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
        if request.method() == Method::GET {
            self.first_request.get_or_init(Instant::now);
            // The sender drops at the end. Then the response does not matter.
            let event = self.events.lock().await.recv().await.unwrap_or_default();
            return Ok(self.next(event));
        }
        let failed = request.uri().path().ends_with("/error");
        let body = request.into_body().collect().await?.to_bytes();
        // The receiver may be gone at the end, so the result does not count.
        drop(self.replies.send(if failed { Err(body) } else { Ok(body) }));
        let mut taken = Response::new(Full::new(Bytes::from_static(br#"{"status":"OK"}"#)));
        *taken.status_mut() = StatusCode::ACCEPTED;
        Ok(taken)
    }

    fn next(&self, event: Bytes) -> Response<Full<Bytes>> {
        let deadline = SystemTime::now() + DEADLINE;
        let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        Response::builder()
            .header("content-type", "application/json")
            .header("lambda-runtime-aws-request-id", format!("8476a536-e9f4-11e8-9739-{id:012x}"))
            .header("lambda-runtime-deadline-ms", deadline.to_string())
            .header("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:0:function:measured")
            .body(Full::new(event))
            .unwrap()
    }
}
