//! The limits in the code and in the documentation are the same.

use domain::account::api_key::KEYS_MAX;
use domain::account::member::{MEMBERS_MAX, TEAMS_MAX};
use domain::base::json::NUMBER_MAX;
use domain::catalog::config::CONFIG_BYTES_MAX;
use domain::catalog::docs::DOCS_BYTES_MAX;
use domain::catalog::schema::{
    CONDITIONS_BYTES_MAX, PUBLISHED_STEPS_MAX, REFERENCES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, STEPS_MAX,
    UPGRADED_VERSIONS_MAX, UPGRADES_BYTES_MAX,
};
use domain::catalog::service::{
    ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_EVER_MAX, DEPENDENT_TEAMS_MAX, TAG_BYTES_MAX, TAGS_MAX,
};
use domain::model::declaration::expansion::{ENTRIES_MAX, KEYS_BYTES_MAX, KEYS_OF_TEAM_BYTES_MAX};
use domain::model::declaration::{
    APPLICATIONS_CHANGED_MAX, BODY_BYTES_MAX, DECLARATION_BYTES_MAX, DEPTH_MAX, ITEMS_MAX,
    METADATA_BYTES_MAX, NAME_BYTES_MAX, SERVICES_MAX,
};
use domain::model::deployed::{DEPLOYED_BYTES_MAX, WHOLE_BYTES_MAX};
use domain::model::submission::{COMMIT_ID_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX, MESSAGE_CHARACTERS_MAX};
use domain::outreach::message::MESSAGES_MAX;
use domain::outreach::webhook::reminder::LOOKED_AT_MAX;
use domain::outreach::webhook::{AUTHORIZATION_BYTES_MAX, URL_BYTES_MAX, WEBHOOKS_MAX};
use domain::rules::decide::{ATTEMPTS_MAX, LOG_BYTES_MAX, LOG_ENTRIES_MAX};

const PAGE: &str = include_str!("../../../docs/reference/limits.md");

#[test]
fn the_page_of_limits_has_the_limits_of_the_code() {
    let rows = [
        ("request body, decompressed", bytes(BODY_BYTES_MAX)),
        ("nesting of a body", count(DEPTH_MAX)),
        ("number", NUMBER_MAX.to_string()),
        ("name", bytes(NAME_BYTES_MAX)),
        ("commit id", bytes(COMMIT_ID_BYTES_MAX)),
        ("message of a submission", format!("{MESSAGE_CHARACTERS_MAX} characters")),
        ("idempotency key", bytes(IDEMPOTENCY_KEY_BYTES_MAX)),
        ("items in a declaration", count(ITEMS_MAX)),
        ("services in a declaration", count(SERVICES_MAX)),
        ("applications changed by a submission", count(APPLICATIONS_CHANGED_MAX)),
        ("declaration of an item, with masks as well as with secrets", bytes(DECLARATION_BYTES_MAX)),
        ("references of an item", count(REFERENCES_MAX)),
        ("metadata of a team or an application, apart from the two keys below", bytes(METADATA_BYTES_MAX)),
        ("`dovetail_defaults` and `dovetail_each` of a team or an application", bytes(KEYS_BYTES_MAX)),
        ("both of a team and all its applications", bytes(KEYS_OF_TEAM_BYTES_MAX)),
        ("entries of `dovetail_each` of a team or an application", count(ENTRIES_MAX)),
        ("steps of all `where` of a request", STEPS_MAX.to_string()),
        ("memory of all `where` of a request, compiled", bytes(CONDITIONS_BYTES_MAX)),
        ("deployed item", bytes(DEPLOYED_BYTES_MAX)),
        ("deployed item of a verified service, with the declared values", bytes(WHOLE_BYTES_MAX)),
        ("log text", bytes(LOG_BYTES_MAX)),
        ("log texts in a history", count(LOG_ENTRIES_MAX)),
        ("attempts of a change instance", ATTEMPTS_MAX.to_string()),
        ("service definition", bytes(SCHEMA_BYTES_MAX)),
        ("nesting of a service definition", count(SCHEMA_DEPTH_MAX)),
        ("steps to check the largest item of a definition", PUBLISHED_STEPS_MAX.to_string()),
        ("steps to check all items of a request", STEPS_MAX.to_string()),
        (
            "versions of a definition from a deployed item to its change instance",
            count(UPGRADED_VERSIONS_MAX),
        ),
        ("memory of their `x-upgrade` steps", bytes(UPGRADES_BYTES_MAX)),
        ("dependent teams of a service", count(DEPENDENT_TEAMS_MAX)),
        ("different dependent teams in the life of a service", count(DEPENDENT_TEAMS_EVER_MAX)),
        ("allowed teams of a service", count(ALLOWED_TEAMS_MAX)),
        ("tags of a service", count(TAGS_MAX)),
        ("tag", bytes(TAG_BYTES_MAX)),
        ("documentation of a service", bytes(DOCS_BYTES_MAX)),
        ("config of a service", bytes(CONFIG_BYTES_MAX)),
        ("API keys of a team", KEYS_MAX.to_string()),
        ("members of a team", MEMBERS_MAX.to_string()),
        ("teams of a user", TEAMS_MAX.to_string()),
        ("webhooks of a team, in both roles", WEBHOOKS_MAX.to_string()),
        ("URL of a webhook or healthcheck", bytes(URL_BYTES_MAX)),
        ("`authorization` of a webhook or healthcheck", bytes(AUTHORIZATION_BYTES_MAX)),
        ("change instances that a reminder looks at, oldest first", count(LOOKED_AT_MAX)),
        ("messages of a team", count(MESSAGES_MAX)),
    ];
    for (limit, maximum) in rows {
        let row = format!("| {limit} | {maximum} |");
        assert!(PAGE.lines().any(|line| line == row), "docs/reference/limits.md must have the row {row}");
    }
}

fn bytes(most: usize) -> String {
    match most {
        _ if most.is_multiple_of(1 << 20) => format!("{} MiB", most >> 20),
        _ if most.is_multiple_of(1 << 10) => format!("{} KiB", most >> 10),
        _ => format!("{most} bytes"),
    }
}

/// Formats a number with a comma after the thousands.
fn count(most: usize) -> String {
    if most < 1_000 { most.to_string() } else { format!("{},{:03}", most / 1_000, most % 1_000) }
}
