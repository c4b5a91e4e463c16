//! The error table: each expected failure with its status, code and title.
//!
//! The order is the precedence: the first applicable code is the answer. Codes are part of the contract and never
//! change.

mod help;

/// A kind of error. [`Code::row`] has its title, and `help` its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    NoSuchRoute,
    MethodNotAllowed,
    Unauthenticated,
    ChooseTeam,
    NotAMember,
    ReadOnlyKey,
    NeedsAdmin,
    NotFound,
    UnknownFilter,
    InvalidFilter,
    InvalidCursor,
    InvalidBody,
    UnknownFields,
    InvalidField,
    InvalidIdempotencyKey,
    IdempotencyKeyReused,
    InvalidDeclaration,
    RevertTooLarge,
    Blocked,
    PlanChanged,
    InvalidSchema,
    ForeignService,
    NotOwner,
    IllegalTransition,
    ManualApproval,
    ManualCompletion,
    NotRetryable,
    Overtaken,
    DeployedItemNotMain,
    DeployedItemTooEarly,
    DeployedItemTooLarge,
    DeployedItemNotLatest,
    LogTooLong,
    LogFull,
    TooManyAttempts,
    ChargeProcessed,
    DividedJustNow,
    NameTaken,
    TooManyKeys,
    AlreadyMember,
    TooManyMembers,
    AlreadyRotated,
    TooManyWebhooks,
    TooManyMessages,
    NotInService,
    AskedJustNow,
    OutOfNumbers,
    SubmissionInFlight,
    Contended,
    StorageFull,
    Unavailable,
    Broken,
}

impl Code {
    /// All codes in order of precedence.
    pub const ALL: [Self; 52] = [
        Self::NoSuchRoute,
        Self::MethodNotAllowed,
        Self::Unauthenticated,
        Self::ChooseTeam,
        Self::NotAMember,
        Self::ReadOnlyKey,
        Self::NeedsAdmin,
        Self::NotFound,
        Self::UnknownFilter,
        Self::InvalidFilter,
        Self::InvalidCursor,
        Self::InvalidBody,
        Self::UnknownFields,
        Self::InvalidField,
        Self::InvalidIdempotencyKey,
        Self::InvalidDeclaration,
        Self::IdempotencyKeyReused,
        Self::RevertTooLarge,
        Self::Blocked,
        Self::PlanChanged,
        Self::InvalidSchema,
        Self::ForeignService,
        Self::NotOwner,
        Self::IllegalTransition,
        Self::ManualApproval,
        Self::ManualCompletion,
        Self::NotRetryable,
        Self::Overtaken,
        Self::DeployedItemNotMain,
        Self::DeployedItemTooEarly,
        Self::DeployedItemTooLarge,
        Self::DeployedItemNotLatest,
        Self::LogTooLong,
        Self::LogFull,
        Self::TooManyAttempts,
        Self::ChargeProcessed,
        Self::DividedJustNow,
        Self::NameTaken,
        Self::TooManyKeys,
        Self::AlreadyMember,
        Self::TooManyMembers,
        Self::AlreadyRotated,
        Self::TooManyWebhooks,
        Self::TooManyMessages,
        Self::NotInService,
        Self::AskedJustNow,
        Self::OutOfNumbers,
        Self::SubmissionInFlight,
        Self::Contended,
        Self::StorageFull,
        Self::Unavailable,
        Self::Broken,
    ];

    /// Returns status, code and title.
    pub const fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::NoSuchRoute => (404, "no_such_route", "no route has this path"),
            Self::MethodNotAllowed => (405, "method_not_allowed", "the route does not support this method"),
            Self::Unauthenticated => (401, "unauthenticated", "a valid API key or token is required"),
            Self::ChooseTeam => (403, "choose_team", "you are a member of several teams: set Dovetail-Team"),
            Self::NotAMember => (403, "not_a_member", "you are not a member of this team"),
            Self::ReadOnlyKey => (403, "read_only_key", "the role READ_ONLY may only read"),
            Self::NeedsAdmin => (403, "needs_admin", "the role ADMIN is required"),
            Self::NotFound => (404, "not_found", "the object does not exist for this team"),
            Self::UnknownFilter => (400, "unknown_filter", "a query parameter is unknown"),
            Self::InvalidFilter => (400, "invalid_filter", "a query parameter has an invalid value"),
            Self::InvalidCursor => {
                (400, "invalid_cursor", "the cursor is invalid or expired: read the list from its start")
            }
            Self::InvalidBody => (400, "invalid_body", "the body must be a JSON object"),
            Self::UnknownFields => (400, "unknown_fields", "the body has no known field"),
            Self::InvalidField => (400, "invalid_field", "a field has an invalid value"),
            Self::InvalidIdempotencyKey => {
                (400, "invalid_idempotency_key", "the idempotency key is not valid")
            }
            Self::IdempotencyKeyReused => {
                (422, "idempotency_key_reused", "another request used this idempotency key")
            }
            Self::InvalidDeclaration => (400, "invalid_declaration", "the declaration is not valid"),
            Self::RevertTooLarge => (400, "revert_too_large", "the revert is too large for one request"),
            Self::Blocked => (400, "blocked", "rejected or failed change instances block the submission"),
            Self::PlanChanged => (412, "plan_changed", "the effects differ from the preview"),
            Self::InvalidSchema => (400, "invalid_schema", "the schema is not valid"),
            Self::ForeignService => (403, "foreign_service", "the service belongs to another team"),
            Self::NotOwner => (403, "not_owner", "another team owns the object"),
            Self::IllegalTransition => {
                (400, "illegal_transition", "the state machine does not allow this transition")
            }
            Self::ManualApproval => (403, "manual_approval", "only an API key may approve"),
            Self::ManualCompletion => (403, "manual_completion", "only an API key may complete"),
            Self::NotRetryable => {
                (400, "not_retryable", "only a REJECTED or ERRORED change instance can be retried")
            }
            Self::Overtaken => (400, "overtaken", "a newer change instance replaces this one"),
            Self::DeployedItemNotMain => {
                (400, "deployed_item_not_main", "only the service owner may set deployed items")
            }
            Self::DeployedItemTooEarly => (
                400,
                "deployed_item_too_early",
                "a deployed item requires the state APPROVED, COMPLETED or ERRORED",
            ),
            Self::DeployedItemTooLarge => (400, "deployed_item_too_large", "the deployed item is too large"),
            Self::DeployedItemNotLatest => {
                (400, "deployed_item_not_latest", "only the newest version can be changed")
            }
            Self::LogTooLong => (400, "log_too_long", "the log text is too long"),
            Self::LogFull => (400, "log_full", "the history has the maximum number of log texts"),
            Self::TooManyAttempts => {
                (400, "too_many_attempts", "the change has the maximum number of attempts")
            }
            Self::ChargeProcessed => (400, "charge_processed", "the charge is processed, and this is final"),
            Self::DividedJustNow => {
                (400, "divided_just_now", "a running charge can be divided at most once an hour")
            }
            Self::NameTaken => (400, "name_taken", "the team has, or had, an API key with this name"),
            Self::TooManyKeys => (400, "too_many_keys", "the team has the maximum number of API keys"),
            Self::AlreadyMember => (400, "already_member", "the person is already a member"),
            Self::TooManyMembers => (
                400,
                "too_many_members",
                "the maximum number of members of a team, or teams of a person, is reached",
            ),
            Self::AlreadyRotated => (400, "already_rotated", "the API key was already rotated"),
            Self::TooManyWebhooks => {
                (400, "too_many_webhooks", "the team has the maximum number of webhooks")
            }
            Self::TooManyMessages => {
                (400, "too_many_messages", "the team has the maximum number of messages")
            }
            Self::NotInService => (400, "not_in_service", "the service item is not in service"),
            Self::AskedJustNow => (400, "asked_just_now", "the healthcheck of this item ran a moment ago"),
            Self::OutOfNumbers => (400, "out_of_numbers", "the team has used all its ids"),
            Self::SubmissionInFlight => {
                (503, "submission_in_flight", "an earlier submission of the team is still being applied")
            }
            Self::Contended => (503, "contended", "other requests change the same records"),
            Self::StorageFull => (503, "storage_full", "the storage accepts no writes"),
            Self::Unavailable => (503, "unavailable", "the storage cannot be reached"),
            Self::Broken => (500, "broken", "an internal error occurred"),
        }
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> u16 {
        self.row().0
    }

    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the sentence for people.
    pub const fn title(self) -> &'static str {
        self.row().2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_stands_in_the_table_once_under_its_own_name() {
        let names: BTreeSet<&str> = Code::ALL.into_iter().map(Code::name).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
