//! The comments of one pull request, with the paths of GitHub's and GitLab's API.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Name and id of the pipeline's account.
const OWN: (&str, u64) = ("github-actions[bot]", 42);
/// Number of the pull request.
const NUMBER: u64 = 7;

/// A comment: name and id of its author, and its text.
type Comment = (String, u64, String);

/// The host, until the test ends.
pub(crate) struct Host {
    pub(crate) base: String,
    comments: Arc<Mutex<Vec<Comment>>>,
}

impl Host {
    /// Starts a host with one pull request, merged as this commit.
    pub(crate) fn start(commit: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let comments = Arc::<Mutex<Vec<Comment>>>::default();
        let shared = Arc::clone(&comments);
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), commit, &shared);
            }
        });
        Self { base, comments }
    }

    /// Adds a comment.
    pub(crate) fn add(&self, author: &str, id: u64, text: &str) {
        self.comments.lock().unwrap().push((author.to_owned(), id, text.to_owned()));
    }

    /// Returns the comments of the pipeline.
    pub(crate) fn own(&self) -> Vec<String> {
        let comments = self.comments.lock().unwrap();
        comments.iter().filter(|comment| comment.1 == OWN.1).map(|comment| comment.2.clone()).collect()
    }
}

/// Reads one request and responds.
fn serve(mut stream: TcpStream, commit: &str, comments: &Mutex<Vec<Comment>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut length, mut is_signed_in) = (String::new(), 0, false);
    reader.read_line(&mut line).unwrap();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => is_signed_in |= value == "Bearer host-token",
            "private-token" => is_signed_in |= value == "host-token",
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, answer) = if is_signed_in {
        respond(method, target, &body, commit, &mut comments.lock().unwrap())
    } else {
        (401, json!({}))
    };
    let answer = answer.to_string();
    let length = answer.len();
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}")
        .unwrap();
}

fn respond(
    method: &str,
    target: &str,
    body: &Value,
    commit: &str,
    comments: &mut Vec<Comment>,
) -> (u16, Value) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let text = body["body"].as_str().unwrap_or_default().to_owned();
    let is_list = [
        format!("/repos/team/shop/issues/{NUMBER}/comments"),
        format!("/projects/3/merge_requests/{NUMBER}/notes"),
    ];
    let parent = path.rsplit_once('/').unwrap_or_default();
    match method {
        "GET" if path == format!("/repos/team/shop/commits/{commit}/pulls") => (
            200,
            json!([{"number": 6, "merge_commit_sha": "other"}, {"number": NUMBER, "merge_commit_sha": commit}]),
        ),
        "GET" if path == format!("/projects/3/repository/commits/{commit}/merge_requests") => (
            200,
            json!([{"iid": 6, "state": "opened", "target_branch": "main"},
                {"iid": NUMBER, "state": "merged", "target_branch": "main"}]),
        ),
        "GET" if path == "/user" => (200, json!({"id": OWN.1})),
        "GET" if is_list.contains(&path.to_owned()) => {
            let page: usize = query.rsplit_once("page=").unwrap().1.parse().unwrap();
            let comment = |(id, (author, of, text)): (usize, &Comment)| json!({"id": id, "body": text, "user": {"login": author}, "author": {"id": of}});
            (200, comments.iter().enumerate().skip((page - 1) * 100).take(100).map(comment).collect())
        }
        "POST" if is_list.contains(&path.to_owned()) => {
            comments.push((OWN.0.to_owned(), OWN.1, text));
            (201, json!({}))
        }
        "PATCH" if parent.0 == "/repos/team/shop/issues/comments" => update(comments, parent.1, text),
        "PUT" if parent.0 == is_list[1] => update(comments, parent.1, text),
        _ => (404, json!({})),
    }
}

fn update(comments: &mut [Comment], id: &str, text: String) -> (u16, Value) {
    comments[id.parse::<usize>().unwrap()].2 = text;
    (200, json!({}))
}
