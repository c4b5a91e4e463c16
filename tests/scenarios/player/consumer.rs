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
        let mut options: Vec<&str> = options.split(' ').filter(|word| !word.is_empty()).collect();
        let method = if verb == "patches" { "PATCH" } else { "POST" };
        let reverted_to = match options.as_slice() {
            ["reverting", "to", submission, rest @ ..] | ["to", submission, rest @ ..] => {
                let id = self.submission_named(submission);
                options = rest.to_vec();
                Some(format!("{CORE}/consumer/submissions/{id}/revert/"))
            }
            _ => None,
        };
        let mut path = match verb {
            "reverts" => reverted_to.clone().unwrap(),
            "validates" if reverted_to.is_some() => format!("{}validate/", reverted_to.as_ref().unwrap()),
            "validates" => format!("{CORE}/consumer/submissions/validate/"),
            _ => format!("{CORE}/consumer/submissions/submit/"),
        };
        let (mut headers, mut idempotency_key) = (Vec::new(), None);
        if let [rest @ .., "as", "previewed"] = options.as_slice() {
            headers.push(("if-match", self.plans[team].as_str()));
            options = rest.to_vec();
        }
        if let [rest @ .., "with", "key", key] = options.as_slice() {
            headers.push(("idempotency-key", *key));
            idempotency_key = Some((*key).to_owned());
            options = rest.to_vec();
        }
        let mut parameters = Vec::new();
        if let [rest @ .., "with", "commit", commit] = options.as_slice() {
            parameters.push(format!("commit_id={commit}"));
            options = rest.to_vec();
        }
        if let [rest @ .., "allowing", "removal"] = options.as_slice() {
            parameters.push("allow_removal=true".to_owned());
            options = rest.to_vec();
        }
        if !parameters.is_empty() {
            path = format!("{path}?{}", parameters.join("&"));
        }
        assert!(matches!(options.as_slice(), [] | ["nothing"]), "`{options:?}` is no option");
        let body = if reverted_to.is_some() { String::new() } else { document(team, &step.body) };
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
            // A preview has no plan while an earlier submission has pending work. No plan matches `none`.
            let plan = answer.at("/plan").as_str().unwrap_or("none");
            self.plans.insert(team.to_owned(), format!("\"{plan}\""));
            return reply::preview(&answer, &self.names());
        }
        reply::submission(&answer, &self.names())
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
