//! Unknown keys of a body (docs/reference/http/README.md, convention 9).
//!
//! A body without a known key is an error. Otherwise the reply lists its unknown keys in `warnings`.

use crate::code::Code;
use crate::field::FieldError;
use crate::reply::{Failure, Reply};
use domain::base::problem::pointer;
use domain::base::suggest::did_you_mean;
use serde_json::{Map, Value};

/// Maximum number of unknown keys in a reply.
const NAMED_MAX: usize = 20;
/// Maximum number of characters of an unknown key in a reply.
const KEY_CHARS_MAX: usize = 64;

/// Members of an object as read that the reply to its update omits, because they take further reads.
const ONLY_WHEN_READ: [&str; 2] = ["causes", "references"];

/// The unknown keys of a body, at most [`NAMED_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unknown(Vec<String>);

impl Unknown {
    /// Returns the keys outside of `fields`, or an error for a body without other keys.
    pub(crate) fn of(body: &Map<String, Value>, fields: &[&str]) -> Result<Self, Failure> {
        let unknown = || body.keys().filter(|key| !fields.contains(&key.as_str()));
        let few = || unknown().take(NAMED_MAX).cloned();
        // An empty body stays valid: it counts as `{}` and changes nothing.
        if !body.is_empty() && unknown().count() == body.len() {
            let errors: Vec<FieldError> = few().map(|key| error(&key, fields)).collect();
            return Err(Reply::invalid_fields(Code::UnknownFields, &errors).into());
        }
        Ok(Self(few().collect()))
    }

    /// Adds the warnings to a reply. A client may send an object back as read, so keys of the reply get no warning.
    pub(crate) fn warn(&self, reply: &mut Reply, fields: &[&str]) -> Result<(), Failure> {
        let unknown = self.0.iter().filter(|key| !reply.has(key) && !ONLY_WHEN_READ.contains(&key.as_str()));
        reply.warn(unknown.map(|key| warning(key, fields)).collect())
    }
}

fn warning(key: &str, fields: &[&str]) -> String {
    let meant = did_you_mean(key, fields.iter().copied());
    format!("{} is unknown and has no effect{meant}", pointer([shortened(key).as_str()]))
}

fn error(key: &str, fields: &[&str]) -> FieldError {
    let meant = did_you_mean(key, fields.iter().copied());
    FieldError::new(&shortened(key), format!("must be one of {}{meant}", fields.join(", ")))
}

fn shortened(key: &str) -> String {
    key.chars().take(KEY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Content;
    use serde_json::json;

    #[test]
    fn a_reply_names_few_keys_and_little_of_each() {
        let mut body: Map<String, Value> = (0..1_000).map(|n| (format!("{n}"), json!(n))).collect();
        let (long, fields) = ("x".repeat(1_000_000), ["state"]);
        body.insert(long, json!(1));
        let Err(Failure::Refused(refused)) = Unknown::of(&body, &fields) else { panic!("accepted") };
        let Content::Problem(refused) = refused.body else { panic!("no problem") };
        let refused = Value::Object(refused).to_string();
        assert!(refused.len() < 5_000, "{refused}");
        body.insert("state".to_owned(), json!("PENDING"));
        let mut reply = Reply::new(200, json!({"7": 7})).unwrap();
        Unknown::of(&body, &fields).unwrap().warn(&mut reply, &fields).unwrap();
        let Content::Text(reply) = reply.body else { panic!("no text") };
        let reply_body: Value = serde_json::from_str(&reply).unwrap();
        assert!(
            reply_body["warnings"].as_array().unwrap().len() <= NAMED_MAX && reply.len() < 5_000,
            "{reply}"
        );
    }
}
