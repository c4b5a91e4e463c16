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
            Self::MethodNotAllowed => (405, "method_not_allowed", "the route does not take this method"),
            Self::Unauthenticated => (401, "unauthenticated", "a valid API key or token is required"),
            Self::ChooseTeam => (403, "choose_team", "you are of several teams: say for which one you act"),
            Self::NotAMember => (403, "not_a_member", "you are not a member of this team"),
            Self::ReadOnlyKey => (403, "read_only_key", "the key may only read"),
            Self::NeedsAdmin => (403, "needs_admin", "the key may not change settings, keys or members"),
            Self::NotFound => (404, "not_found", "there is no such object for this team"),
            Self::UnknownFilter => (400, "unknown_filter", "a query parameter is not known"),
            Self::InvalidFilter => (400, "invalid_filter", "a query parameter has a bad value"),
            Self::InvalidCursor => {
                (400, "invalid_cursor", "the position is not valid (any more): read the list from its start")
            }
            Self::InvalidBody => (400, "invalid_body", "the body is no JSON object"),
            Self::UnknownFields => (400, "unknown_fields", "no key of the body is known"),
            Self::InvalidField => (400, "invalid_field", "a field has a bad value"),
            Self::InvalidIdempotencyKey => {
                (400, "invalid_idempotency_key", "the idempotency key is not valid")
            }
            Self::IdempotencyKeyReused => {
                (422, "idempotency_key_reused", "the idempotency key came with another request before")
            }
            Self::InvalidDeclaration => (400, "invalid_declaration", "the declaration is not valid"),
            Self::RevertTooLarge => {
                (400, "revert_too_large", "too much was changed since to be declared again at once")
            }
            Self::Blocked => (400, "blocked", "change instances wait for an answer"),
            Self::PlanChanged => (412, "plan_changed", "it would do something else than was previewed"),
            Self::InvalidSchema => (400, "invalid_schema", "the schema is not valid"),
            Self::ForeignService => (403, "foreign_service", "the service belongs to another team"),
            Self::NotOwner => (403, "not_owner", "another team decides on it"),
            Self::IllegalTransition => (400, "illegal_transition", "the state machine has no such move"),
            Self::ManualApproval => (403, "manual_approval", "only an API key may approve"),
            Self::ManualCompletion => (403, "manual_completion", "only an API key may complete"),
            Self::NotRetryable => (400, "not_retryable", "only what is rejected or failed can be retried"),
            Self::Overtaken => (400, "overtaken", "a newer change instance has taken its place"),
            Self::DeployedItemNotMain => {
                (400, "deployed_item_not_main", "only the service owner brings deployed items")
            }
            Self::DeployedItemTooEarly => {
                (400, "deployed_item_too_early", "deployed items go with APPROVED, COMPLETED or ERRORED")
            }
            Self::DeployedItemTooLarge => (400, "deployed_item_too_large", "the deployed item is too large"),
            Self::DeployedItemNotLatest => {
                (400, "deployed_item_not_latest", "only the newest version can be changed further")
            }
            Self::LogTooLong => (400, "log_too_long", "the log text is too long"),
            Self::LogFull => (400, "log_full", "the history takes no more log texts"),
            Self::TooManyAttempts => (400, "too_many_attempts", "the change instance was retried too often"),
            Self::ChargeProcessed => (400, "charge_processed", "the charge is processed, and stays so"),
            Self::DividedJustNow => {
                (400, "divided_just_now", "a running charge divides at most once an hour")
            }
            Self::NameTaken => (400, "name_taken", "the team has, or has had, an API key of this name"),
            Self::TooManyKeys => (400, "too_many_keys", "the team has as many API keys as it may"),
            Self::AlreadyMember => (400, "already_member", "the person is a member already"),
            Self::TooManyMembers => (
                400,
                "too_many_members",
                "the team has as many members as it may, or the person as many teams",
            ),
            Self::AlreadyRotated => (400, "already_rotated", "another API key takes its place already"),
            Self::TooManyWebhooks => (400, "too_many_webhooks", "the team has as many webhooks as it may"),
            Self::TooManyMessages => (400, "too_many_messages", "the team has as many messages as it may"),
            Self::NotInService => (400, "not_in_service", "the service item is not in service"),
            Self::AskedJustNow => (400, "asked_just_now", "somebody has asked about the item just now"),
            Self::OutOfNumbers => (400, "out_of_numbers", "the team's numbers have run out"),
            Self::SubmissionInFlight => {
                (503, "submission_in_flight", "an earlier submission of the team is still being applied")
            }
            Self::Contended => (503, "contended", "others change the same records right now"),
            Self::StorageFull => (503, "storage_full", "the storage takes no writes"),
            Self::Unavailable => (503, "unavailable", "the storage cannot be reached"),
            Self::Broken => (500, "broken", "something is broken on our side"),
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
