//! Teams, services and declarations of the recorded operations.

use serde_json::{Map, Value, json};

pub const OWNER: &str = "Owner";
pub const DEPENDENT: &str = "Dependent";
/// A service without dependent teams.
pub const PLAIN: &str = "Plain";
/// A service with a dependent team.
pub const SHARED: &str = "Shared";
pub const CONSUMERS: usize = 4;
/// Path of an owner's webhooks.
pub const HOOK: &str = "/v1/external/serviceowner/webhooks/";

/// The size of items, log texts and deployed items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A name and a number, without log texts: as on the page of costs.
    Small,
    /// A declaration and a deployed item of 1,000 bytes, and log texts of 600 bytes.
    Usual,
}

impl Size {
    pub const EACH: [Self; 2] = [Self::Small, Self::Usual];

    /// Returns the name in the sequences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Usual => "usual",
        }
    }

    /// Returns the text that fills a declaration.
    fn text(self) -> String {
        self.letters(900)
    }

    /// Returns the log text of a decision.
    pub fn log(self) -> Option<String> {
        (self == Self::Usual).then(|| self.letters(600))
    }

    /// Returns a deployed item.
    pub fn deployed(self) -> Value {
        json!({"address": "10.0.0.1", "description": self.letters(960)})
    }

    fn letters(self, count: usize) -> String {
        match self {
            Self::Small => String::new(),
            Self::Usual => "x".repeat(count),
        }
    }
}

pub fn team(consumer: usize) -> String {
    format!("Consumer{consumer}")
}

pub fn key(team: &str) -> String {
    format!("{team}-key")
}

/// Returns the content of the world file.
pub fn world() -> Value {
    let teams = [OWNER.to_owned(), DEPENDENT.to_owned()].into_iter().chain((0..CONSUMERS).map(team));
    let teams: Vec<Value> = teams
        .map(|name| json!({"name": name, "api_keys": [key(&name)], "confirm_removals": false}))
        .collect();
    let service = |title: &str, dependents: &[&str]| {
        json!({"owner": OWNER, "approval_required": true, "dependent_teams": dependents, "schema": {
            "title": title, "type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "cpu": {"type": "integer"}, "description": {"type": "string"}}}})
    };
    json!({"teams": teams, "services": [service(PLAIN, &[]), service(SHARED, &[DEPENDENT])]})
}

/// An application with items of one service: its consumer, its name and the service.
pub type Application<'a> = (usize, &'a str, &'a str);

/// Returns a declaration of one application with this number of items.
pub fn declaration(of: Application<'_>, items: usize, cpu: u64, size: Size) -> Value {
    let (consumer, application, service) = of;
    // The application makes each declaration unique, as in real applications.
    let text = format!("{application}{}", size.text());
    let item =
        |number| json!({"name": format!("item{number}"), "cpu": cpu * 100_000 + number, "description": text});
    let items: Vec<Value> = (0_u64..).take(items).map(item).collect();
    let services = Map::from_iter([(service.to_owned(), Value::Array(items))]);
    json!({team(consumer): {application: {"services": services}}})
}
