//! The limits in the code and in the documentation are the same.

use domain::{
    decide::{ATTEMPTS_MAX, LOG_BYTES_MAX, LOG_ENTRIES_MAX},
    declaration::{
        APPLICATIONS_CHANGED_MAX, BODY_BYTES_MAX, DECLARATION_BYTES_MAX, DEPTH_MAX, ITEMS_MAX,
        METADATA_BYTES_MAX, NAME_BYTES_MAX, SERVICES_MAX,
    },
    deployed::DEPLOYED_BYTES_MAX,
    json::NUMBER_MAX,
    schema::{PUBLISHED_STEPS_MAX, REFERENCES_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, STEPS_MAX},
    service::{ALLOWED_TEAMS_MAX, DEPENDENT_TEAMS_MAX},
    submission::{COMMIT_ID_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX},
};

const CONTRACT: &str = include_str!("../../../docs/reference/http.md");

#[test]
fn the_contract_states_the_limits() {
    let rows: &[(&str, &[String])] = &[
        (
            "a body, unpacked; nesting; items in a declaration",
            &[bytes(BODY_BYTES_MAX), count(DEPTH_MAX), count(ITEMS_MAX)],
        ),
        ("services in a declaration", &[count(SERVICES_MAX)]),
        ("applications that a submission changes", &[count(APPLICATIONS_CHANGED_MAX)]),
        (
            "an item's declaration; metadata of a team or an application",
            &[bytes(DECLARATION_BYTES_MAX), bytes(METADATA_BYTES_MAX)],
        ),
        (
            "a name; a commit id; an idempotency key",
            &[bytes(NAME_BYTES_MAX), bytes(COMMIT_ID_BYTES_MAX), bytes(IDEMPOTENCY_KEY_BYTES_MAX)],
        ),
        ("a number", &[NUMBER_MAX.to_string()]),
        ("references of an item", &[count(REFERENCES_MAX)]),
        (
            "a deployed item; a log text; log texts in a history",
            &[bytes(DEPLOYED_BYTES_MAX), bytes(LOG_BYTES_MAX), count(LOG_ENTRIES_MAX)],
        ),
        ("attempts at a change instance", &[ATTEMPTS_MAX.to_string()]),
        (
            "a service definition; its nesting; dependent teams; allowed teams",
            &[
                bytes(SCHEMA_BYTES_MAX),
                count(SCHEMA_DEPTH_MAX),
                count(DEPENDENT_TEAMS_MAX),
                count(ALLOWED_TEAMS_MAX),
            ],
        ),
        (
            "steps to check the largest item of a definition; all items of a request",
            &[PUBLISHED_STEPS_MAX.to_string(), STEPS_MAX.to_string()],
        ),
    ];
    for (what, limits) in rows {
        let row = format!("| {what} | {} |", limits.join("; "));
        assert!(CONTRACT.lines().any(|line| line == row), "docs/reference/http.md does not say {row}");
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
