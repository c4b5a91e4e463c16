//! The tools of the server, as data.

use super::{read, write};
use crate::{api::client::Api, base::failure::Failure};
use clap::ValueEnum;
use domain::base::suggest::did_you_mean;
use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value, json};

/// Tools that write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allowed {
    /// Apply the declarations of plans
    Apply,
    /// Decide changes as the service owner
    Decide,
}

/// What a tool may do.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Read,
    Write(Allowed),
}

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    pub(super) access: Access,
    call: fn(&Api, &Value) -> Result<Value, Failure>,
}

/// An argument of a tool: name, form, whether it is required, and description.
type Argument = (&'static str, Form, bool, &'static str);

/// The form of an argument.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Id,
    Flag,
    Object,
    OneOf(&'static [&'static str]),
}

const APPLICATIONS: Argument = (
    "applications",
    Form::Object,
    true,
    "The applications by their names, each with `services` and optional `metadata`: \
     {\"Shop\": {\"services\": {\"VM\": [{\"name\": \"web1\", \"cpu\": 4}]}}}",
);
const WHOLE: Argument =
    ("whole", Form::Flag, false, "Declare the whole team: remove every application that is absent here");
const LIMIT: Argument = ("limit", Form::Id, false, "Maximum number of results; by default 50");

/// All tools, in the order of a session.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "catalogue",
        title: "Services of the catalogue",
        description: "Lists the services that the team may declare, with their owners.",
        arguments: &[],
        access: Access::Read,
        call: read::catalogue,
    },
    Tool {
        name: "definition",
        title: "Definition of a service",
        description: "Returns the JSON Schema of the items of a service.",
        arguments: &[("service", Form::Text, true, "Name of the service")],
        access: Access::Read,
        call: read::definition,
    },
    Tool {
        name: "validate",
        title: "Check a declaration",
        description: "Checks a declaration against the rules and all schemas. Changes nothing.",
        arguments: &[APPLICATIONS, WHOLE],
        access: Access::Read,
        call: write::validate,
    },
    Tool {
        name: "plan",
        title: "Plan a declaration",
        description: "Returns the changes that `apply` would make, with prices, and the plan token. Changes nothing.",
        arguments: &[APPLICATIONS, WHOLE],
        access: Access::Read,
        call: write::plan,
    },
    Tool {
        name: "changes",
        title: "Changes of the team",
        description: "Lists the newest change instances of the team's items.",
        arguments: &[
            ("state", Form::Text, false, "States, joined by commas, such as `PENDING,REJECTED`"),
            ("submission", Form::Id, false, "Only the changes of this submission"),
            LIMIT,
        ],
        access: Access::Read,
        call: read::changes,
    },
    Tool {
        name: "explain_change",
        title: "Explain a change",
        description: "Returns a change instance with its differences and its history, and says who must act.",
        arguments: &[("change", Form::Id, true, "Id of the change instance")],
        access: Access::Read,
        call: read::explain,
    },
    Tool {
        name: "queue",
        title: "Queue of a service owner",
        description: "Lists the change instances that wait for the team as their service owner.",
        arguments: &[("service", Form::Text, false, "Only the changes of this service"), LIMIT],
        access: Access::Read,
        call: read::queue,
    },
    Tool {
        name: "history",
        title: "History of the team",
        description: "Lists the newest submissions with time, author and commit.",
        arguments: &[LIMIT],
        access: Access::Read,
        call: read::history,
    },
    Tool {
        name: "diff",
        title: "Compare two submissions",
        description: "Returns the differences between the declarations after two submissions.",
        arguments: &[
            ("from", Form::Id, true, "Id of the earlier submission"),
            ("to", Form::Id, true, "Id of the later submission"),
        ],
        access: Access::Read,
        call: read::diff,
    },
    Tool {
        name: "apply",
        title: "Apply a plan",
        description: "Makes exactly the changes of a plan, or none. Needs the token of a plan that the user has seen.",
        arguments: &[
            APPLICATIONS,
            WHOLE,
            ("plan", Form::Text, true, "The token `plan` of the tool `plan`"),
            ("commit", Form::Text, false, "Commit of the declaration"),
            ("message", Form::Text, false, "Why the team submits it: a sentence for the history"),
        ],
        access: Access::Write(Allowed::Apply),
        call: write::apply,
    },
    Tool {
        name: "decide",
        title: "Decide a change",
        description: "Moves a change instance on, as its service owner.",
        arguments: &[
            ("change", Form::Id, true, "Id of the change instance"),
            ("action", Form::OneOf(write::ACTIONS), true, "What to do"),
            ("log", Form::Text, false, "A text for the consumer and the history"),
            ("deployed_item", Form::Object, false, "The item as deployed; with `complete`"),
            ("claim", Form::Id, false, "Number of the claim; with `complete`, `fail` or `reject`"),
        ],
        access: Access::Write(Allowed::Decide),
        call: write::decide,
    },
];

impl Tool {
    /// Returns the description for a client.
    pub(super) fn describe(&self) -> rmcp::model::Tool {
        let properties: Map<String, Value> = self
            .arguments
            .iter()
            .map(|(name, form, _, description)| ((*name).to_owned(), form.schema(description)))
            .collect();
        let required =
            self.arguments.iter().filter(|(.., is_required, _)| *is_required).map(|(name, ..)| *name);
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        schema.insert("required".to_owned(), required.collect());
        schema.insert("additionalProperties".to_owned(), false.into());
        let is_read = matches!(self.access, Access::Read);
        let annotations = ToolAnnotations::new().read_only(is_read).destructive(!is_read).open_world(false);
        rmcp::model::Tool::new(self.name, self.description, schema)
            .with_title(self.title)
            .with_annotations(annotations)
    }

    /// Checks the arguments and calls the tool.
    pub(super) fn call(&self, api: &Api, input: &Value) -> Result<Value, Failure> {
        let problems = self.problems(input);
        if problems.is_empty() { (self.call)(api, input) } else { Err(Failure::Usage(problems.join("\n"))) }
    }

    /// Returns all problems of the arguments, each with its JSON pointer.
    fn problems(&self, input: &Value) -> Vec<String> {
        let names = || self.arguments.iter().map(|(name, ..)| *name);
        let unknown = input.as_object().into_iter().flat_map(Map::keys);
        let unknown = unknown.filter(|name| !names().any(|known| known == name.as_str()));
        let unknown =
            unknown.map(|name| format!("/{name}: must be an argument{}", did_you_mean(name, names())));
        let wrong = self.arguments.iter().filter_map(|(name, form, is_required, _)| match input.get(*name) {
            None if *is_required => Some(format!("/{name}: must be present")),
            None => None,
            Some(value) => form.must(value).map(|must| format!("/{name}: must be {must}")),
        });
        wrong.chain(unknown).collect()
    }
}

impl Form {
    fn schema(self, description: &str) -> Value {
        match self {
            Self::Text => json!({"type": "string", "description": description}),
            Self::Id => json!({"type": "integer", "minimum": 1, "description": description}),
            Self::Flag => json!({"type": "boolean", "description": description}),
            Self::Object => json!({"type": "object", "description": description}),
            Self::OneOf(values) => json!({"type": "string", "enum": values, "description": description}),
        }
    }

    /// Returns what must hold and does not; none for a valid value.
    fn must(self, value: &Value) -> Option<String> {
        let (is_valid, must) = match self {
            Self::Text => (value.is_string(), "a string".to_owned()),
            Self::Id => (value.as_u64().is_some_and(|id| id > 0), "a positive integer".to_owned()),
            Self::Flag => (value.is_boolean(), "true or false".to_owned()),
            Self::Object => (value.is_object(), "an object".to_owned()),
            Self::OneOf(values) => {
                let is_valid = value.as_str().is_some_and(|value| values.contains(&value));
                (is_valid, format!("one of {}", values.join(", ")))
            }
        };
        (!is_valid).then_some(must)
    }
}
