//! Commands of a consumer: submissions, previews and reverts.

use super::reply;
use super::script::{Outcome, Step};
use super::stage::{CORE, Stage, rest_of};
use super::text::pairs;
use domain::base::json::canonical;
use serde_json::{Value, json};
use support::{ApiRequest, Site};

impl<S: Site> Stage<S> {
    pub(super) fn submit(&mut self, team: &str, step: &Step) -> Outcome {
        let (verb, options) = rest_of(step, 1).split_once(' ').unwrap_or((rest_of(step, 1), ""));
        let options: Vec<&str> = options.split(' ').filter(|word| !word.is_empty()).collect();
        let (mut reverted_to, mut idempotency_key) = (None, None);
        let (mut headers, mut parameters, mut exported) = (Vec::new(), Vec::new(), None);
        let mut left = options.as_slice();
        while !left.is_empty() {
            left = match left {
                ["reverting" | "nothing", rest @ ..] => rest,
                ["its", "declaration", rest @ ..] => {
                    exported = Some(self.declaration(team, ""));
                    rest
                }
                ["to", submission, rest @ ..] => {
                    reverted_to = Some(self.submission_named(submission));
                    rest
                }
                ["allowing", "removal", rest @ ..] => {
                    parameters.push("allow_removal=true".to_owned());
                    rest
                }
                ["with", "commit", commit, rest @ ..] => {
                    parameters.push(format!("commit_id={commit}"));
                    rest
                }
                ["with", "key", key, rest @ ..] => {
                    headers.push(("idempotency-key", *key));
                    idempotency_key = Some((*key).to_owned());
                    rest
                }
                ["as", "previewed", rest @ ..] => {
                    headers.push(("if-match", self.plans[team].as_str()));
                    rest
                }
                _ => panic!("`{left:?}` is no option"),
            };
        }
        let place = match (verb, reverted_to) {
            ("reverts", Some(submission)) => format!("{submission}/revert"),
            ("validates", Some(submission)) => format!("{submission}/revert/validate"),
            ("validates", None) => "validate".to_owned(),
            ("submits" | "patches", None) => "submit".to_owned(),
            _ => panic!("`{}` is no command", step.command),
        };
        let query = if parameters.is_empty() { String::new() } else { format!("?{}", parameters.join("&")) };
        let path = format!("{CORE}/consumer/submissions/{place}/{query}");
        let method = if verb == "patches" { "PATCH" } else { "POST" };
        let body = match exported {
            Some(exported) => canonical(&exported),
            None if reverted_to.is_some() => String::new(),
            None => self.names().with_ids(&document(team, &step.body)),
        };
        let body = body.into_bytes();
        let request = ApiRequest { method, path: &path, key: Some(self.key(team)), headers: &headers, body };
        let answer = self.system.send(&request);
        if let (200 | 201, Some(key)) = (answer.status, idempotency_key) {
            let first = self.replies.entry((team.to_owned(), key));
            let first = first.or_insert_with(|| answer.body.clone());
            assert_eq!(*first, answer.body, "the reply is repeated as it was");
        }
        self.submitters.insert(team.to_owned());
        if verb == "validates" && answer.status == 200 {
            // A preview has no plan while an earlier submission has pending work, and no plan matches `none`.
            let plan = answer.at("/plan").as_str().unwrap_or("none");
            self.plans.insert(team.to_owned(), format!("\"{plan}\""));
            return reply::preview(&answer, &self.names());
        }
        reply::submission(&answer, &self.names())
    }

    /// Returns what a team declares, in the format of a submission.
    pub(super) fn declaration(&self, team: &str, query: &str) -> Value {
        let answer = self.system.get(&format!("{CORE}/consumer/declaration/{query}"), self.key(team));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.at("/next").is_null(), "the declaration has one page");
        answer.at("/declaration").clone()
    }
}

/// Returns the declaration of a team, from lines such as `NewApp1 VM CoreVM1 cpu=8`, or from JSON.
fn document(team: &str, lines: &[String]) -> String {
    if lines.first().is_some_and(|line| line.starts_with('{')) {
        return lines.join("\n");
    }
    let mut content = json!({});
    for line in lines {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["metadata", ..] => {
                content["metadata"] = Value::Object(pairs(line.strip_prefix("metadata").unwrap()));
            }
            [application, "metadata", ..] => {
                let (_, metadata) = line.split_once(" metadata").unwrap();
                content[application]["metadata"] = Value::Object(pairs(metadata));
            }
            [application, "nothing"] => content[application]["services"] = json!({}),
            [application, service, name, rest @ ..] => {
                let mut item = rest.first().map(|rest| pairs(rest)).unwrap_or_default();
                item.insert("name".to_owned(), json!(name));
                let items = &mut content[application]["services"][service];
                if items.is_null() {
                    *items = json!([]);
                }
                items.as_array_mut().unwrap().push(Value::Object(item));
            }
            _ => panic!("`{line}` declares nothing"),
        }
    }
    canonical(&json!({team: content}))
}
